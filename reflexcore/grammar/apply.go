package grammar

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// apply turns flags and operands into uses.
func (o *Parsed) apply(argv []string) {
	for _, s := range o.seen {
		for i := range s.option.actions {
			a := &s.option.actions[i]
			if !o.holds(a, argv) || !a.matches(s.value) {
				continue
			}
			switch {
			case a.Role == bits:
				o.Bits |= a.Bits
			case a.Role == Dry:
				o.Dry = true
			case s.arity == none:
				o.Uses = append(o.Uses, Use{Role: a.Role, Arg: a.Arg, Bits: a.Bits, Word: -1})
			case s.arity == until:
				o.Uses = append(o.Uses, Use{Role: a.Role, Arg: a.Arg, Bits: a.Bits, Word: s.word, End: s.end})
			default:
				o.Uses = append(o.Uses, Use{Role: a.Role, Arg: a.Arg, Bits: a.Bits, Text: a.part(s.value), Word: s.word, End: s.end})
			}
		}
	}
	for b := range o.depth {
		p := o.blocks[b]
		if p != o.Program && p.subs != nil && b < o.depth-1 {
			continue // the operands of git are those of its subcommand
		}
		for i := range p.operands {
			o.rule(&p.operands[i], argv)
		}
		for i := range p.stdin {
			if a := &p.stdin[i]; o.holds(a, argv) {
				o.Stdin = append(o.Stdin, Use{Role: a.Role, Arg: a.Arg, Bits: a.Bits, Word: -1})
			}
		}
		for i := range p.stdout {
			if a := &p.stdout[i]; o.holds(a, argv) {
				o.Stdout = append(o.Stdout, Use{Role: a.Role, Arg: a.Arg, Bits: a.Bits, Word: -1})
			}
		}
	}
	o.Copies = o.Program.copies
}

// rule applies one line of operands.
func (o *Parsed) rule(r *operandRule, argv []string) {
	if !o.holds(&r.Action, argv) {
		return
	}
	if r.sel.from == selAlways {
		switch r.Role {
		case bits:
			o.Bits |= r.Bits
		case Dry:
			o.Dry = true
		default:
			o.Uses = append(o.Uses, Use{Role: r.Role, Arg: r.Arg, Bits: r.Bits, Word: -1})
		}
		return
	}
	from, to := o.span(r.sel)
	if from >= to {
		return
	}
	if r.Role == Argv || r.Role == Shell && r.sel.more {
		o.Uses = append(o.Uses, Use{Role: r.Role, Arg: r.Arg, Bits: r.Bits, Word: o.operands[from], End: len(argv)})
		return
	}
	for _, w := range o.operands[from:to] {
		if !r.matches(argv[w]) {
			continue
		}
		switch r.Role {
		case bits:
			o.Bits |= r.Bits
		case Dry:
			o.Dry = true
		default:
			o.Uses = append(o.Uses, Use{Role: r.Role, Arg: r.Arg, Bits: r.Bits, Text: r.part(argv[w]), Word: w, End: w + 1})
		}
	}
}

// span returns the range in operands that a selector means.
func (o *Parsed) span(s selector) (from, to int) {
	n := len(o.operands)
	switch {
	case s.from == selLast:
		return max(n-1, 0), n
	case s.from == selButLast:
		return 0, max(n-1, 0)
	case s.more:
		return min(s.from-1, n), n
	}
	return min(s.from-1, n), min(s.from, n)
}

// holds reports whether the conditions of an action hold.
func (o *Parsed) holds(a *Action, argv []string) bool {
	for _, c := range a.ifs {
		if !o.is(c, argv) {
			return false
		}
	}
	for _, c := range a.unless {
		if o.is(c, argv) {
			return false
		}
	}
	return true
}

func (o *Parsed) is(c *cond, argv []string) bool {
	if c.options != nil {
		for _, s := range o.seen {
			if slices.Contains(c.options, s.option) && (c.values == nil || anyMatch(c.values, s.value)) {
				return true
			}
		}
		return false
	}
	from, to := o.span(c.sel)
	for _, w := range o.operands[from:to] {
		if c.values == nil || anyMatch(c.values, argv[w]) {
			return true
		}
	}
	return false
}

func (a *Action) matches(text string) bool { return a.match == nil || anyMatch(a.match, text) }

// part is what follows the first a.after.
func (a *Action) part(text string) string {
	if a.after == 0 {
		return text
	}
	i := strings.IndexByte(text, a.after)
	if a.after == '=' {
		i = strings.IndexAny(text, "= ")
	}
	return text[i+1:]
}

func anyMatch(globs []string, text string) bool {
	for _, g := range globs {
		if match(g, text) {
			return true
		}
	}
	return false
}

// match compares a lower-case glob, in which * is any text, with a text. A part
// that is not known may be anything.
func match(glob, text string) bool {
	star, at := -1, 0
	i, j := 0, 0
	for j < len(text) {
		switch {
		case i < len(glob) && glob[i] == '*':
			star, at = i, j
			i++
		case text[j] == effect.Unknown[0]:
			// it matches what the glob still demands, if the rest can
			return true
		case i < len(glob) && glob[i] == lower(text[j]):
			i++
			j++
		case star >= 0:
			at++
			i, j = star+1, at
		default:
			return false
		}
	}
	for i < len(glob) && glob[i] == '*' {
		i++
	}
	return i == len(glob)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}
