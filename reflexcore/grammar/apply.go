package grammar

import (
	"slices"
	"strings"

	"approver.example/internal/glob"
	"approver.example/reflexcore/effect"
)

// apply turns flags and operands into uses.
func (o *Parsed) apply(argv []string) {
	for i := range o.seen {
		o.mask |= o.seen[i].option.mask
	}
	if o.lacksOperand(argv) {
		o.operands = append(o.operands, o.taken)
	}
	took := false
	for _, s := range o.seen {
		for i := range s.option.actions {
			a := &s.option.actions[i]
			switch {
			case !o.holds(a, argv):
			case a.Role == Dry && (s.eaten || o.ended > 0 && s.word >= o.ended): // a prompt: claude -- --help
			case a.Role == Dry && namesVersion(argv, s.word):
			case a.Role == Dry && takesBack(argv, s.value, s.end):
				took = true // of several the last one counts, or the first: neither is trusted
			case s.arity == none:
				if a.when().match == nil {
					o.emit(a, Use{Word: -1})
				}
			case s.arity == until:
				o.joined(a, argv, s.word, s.end)
			case s.arity == rest && (a.Role == Code && !a.join || a.Role == Exec):
				if s.word < s.end {
					o.addParts(a, s.value, s.word, s.word+1)
				}
			case s.split:
				o.joined(a, argv, s.word, s.end)
			default:
				o.addParts(a, s.value, s.word, s.end)
			}
		}
	}
	o.Dry = o.Dry && !took
	for b := range o.depth {
		p := o.blocks[b]
		if p != o.Program && p.parental && b < o.depth-1 {
			continue // the operands of git are those of its subcommand
		}
		for i := range p.operands {
			o.rule(&p.operands[i], argv)
		}
		o.Stdin = o.stream(o.Stdin, p.stdin, argv)
		o.Stdout = o.stream(o.Stdout, p.stdout, argv)
	}
	o.Copies = o.Program.copies
}

// lacksOperand reports whether a program that deletes its operands has none, because a flag took the
// last word. Programs of the same name differ in which flags have an argument (mkfs -F), and without
// an operand the command would do nothing, so the word is one.
func (o *Parsed) lacksOperand(argv []string) bool {
	deletes := func(r operandRule) bool { return r.Role == Delete && o.holds(&r.Action, argv) }
	return len(o.operands) == 0 && o.taken > 0 && o.taken == len(argv)-1 &&
		slices.ContainsFunc(o.Program.operands, deletes)
}

// namesVersion reports whether a flag does not ask for the program's version but says which one of
// something is meant: az vm extension set --version 2.1.
func namesVersion(argv []string, i int) bool {
	if i < 1 || argv[i] != "--version" || i+1 >= len(argv) {
		return false
	}
	next := strings.TrimPrefix(argv[i+1], "v")
	return next != "" && (next[0] >= '0' && next[0] <= '9' || next[0] == effect.Unknown[0])
}

// takesBack reports whether a flag such as --dry-run is reversed by its value or the next word, or
// by another flag: --dry-run=false, --dry-run false, or --no-dry-run. end is the index after the
// flag.
func takesBack(argv []string, value string, end int) bool {
	if isNo(value) || !effect.IsKnown(value) || end < len(argv) && isNo(argv[end]) {
		return true
	}
	return slices.ContainsFunc(argv, func(word string) bool {
		rest, found := strings.CutPrefix(word, "--no-")
		return found && rest != "" &&
			(strings.HasPrefix("dry-run", rest) || strings.HasPrefix("simulate", rest) || rest == "n")
	})
}

func isNo(value string) bool {
	switch value {
	case "false", "False", "FALSE", "f", "F", "no", "none", "off", "0":
		return true
	}
	return false
}

// stream adds what happens to a standard stream.
func (o *Parsed) stream(out []Use, actions []Action, argv []string) []Use {
	for i := range actions {
		if a := &actions[i]; o.holds(a, argv) {
			out = append(out, Use{Role: a.Role, Arg: a.Arg, Bits: a.Bits, Word: -1})
		}
	}
	return out
}

// emit adds one use, or a property of the whole command.
func (o *Parsed) emit(a *Action, u Use) {
	switch a.Role {
	case bits:
		o.Bits |= a.Bits
	case Dry:
		o.Dry = true
	case Reroute:
		o.Rerouted = true
	case Text:
		if u.Word < 0 {
			return // a flag that is named only for conditions
		}
		fallthrough
	default:
		u.Role, u.Arg, u.Bits = a.Role, a.Arg, a.Bits
		o.Uses = append(o.Uses, u)
	}
}

// joined adds one use of several words.
func (o *Parsed) joined(a *Action, argv []string, word, end int) {
	when := a.when()
	if word >= end || !when.matches(argv[word], false) {
		return
	}
	u := Use{Word: word, End: end}
	switch {
	case end == word+1:
		u.Text = argv[word]
	case a.join:
		u.Text = strings.Join(argv[word:end], " ")
	}
	o.emit(a, u)
}

// addParts adds the uses of a word.
func (o *Parsed) addParts(a *Action, text string, word, end int) {
	when := a.when()
	for left, more := text, true; more; {
		part := left
		if more = a.each != 0; more {
			i := strings.IndexByte(left, a.each)
			if more = i >= 0; more {
				part, left = left[:i], left[i+1:]
			}
		}
		if !when.matches(part, a.Role == Dry) {
			continue
		}
		o.emit(a, Use{Text: when.part(part), Word: word, End: end})
	}
}

// rule applies one line of operands.
func (o *Parsed) rule(r *operandRule, argv []string) {
	if !o.holds(&r.Action, argv) {
		return
	}
	if r.sel.from == selAlways {
		o.emit(&r.Action, Use{Word: -1})
		return
	}
	from, to := o.span(&r.sel, argv)
	end := len(argv)
	when := r.when()
	if when.until != nil {
		for i := from; i < to; i++ {
			if slices.Contains(when.until, argv[o.operands[i]]) {
				end, to = o.operands[i], i
			}
		}
	}
	if from >= to {
		return
	}
	if r.Role == Argv || r.join || (r.Role == Shell || r.Role == Sql) && r.sel.more && when.after == "" {
		o.joined(&r.Action, argv, o.operands[from], end)
		return
	}
	for _, w := range o.operands[from:to] {
		o.addParts(&r.Action, argv[w], w, w+1)
	}
}

// span returns the range of operands that a selector means.
func (o *Parsed) span(s *selector, argv []string) (from, to int) {
	n := len(o.operands)
	switch {
	case s.from == selLast:
		return max(n-1, 0), n
	case s.from == selButLast:
		return 0, max(n-1, 0)
	case s.from == selPast:
		if o.dashes > 0 && slices.Contains(s.past, "--") {
			return o.dashes - 1, n
		}
		for i, w := range o.operands {
			if slices.Contains(s.past, argv[w]) {
				return i + 1, n
			}
		}
		return n, n
	case s.more:
		return min(int(s.from)-1, n), n
	}
	return min(int(s.from)-1, n), min(int(s.from), n)
}

// holds reports whether the conditions of an action hold. For unknown words an if holds, except for
// dry, and an unless never does.
func (o *Parsed) holds(a *Action, argv []string) bool {
	conds := a.when().conds
	for i := range conds {
		if c := &conds[i]; o.is(c, argv, c.unless != (a.Role == Dry)) == c.unless {
			return false
		}
	}
	return true
}

// is reports whether a condition holds; surely says that it must hold whatever unknown parts are.
func (o *Parsed) is(c *cond, argv []string, surely bool) bool {
	if c.dashes {
		return o.dashes > 0
	}
	if c.options != nil {
		if o.mask&c.mask == 0 {
			return false
		}
		for i := range o.seen {
			s := &o.seen[i]
			if slices.Contains(c.options, s.option) && (c.values == nil || anyMatch(c.values, s.value, surely)) {
				return true
			}
		}
		return false
	}
	from, to := o.span(&c.sel, argv)
	if c.values == nil {
		return from < to
	}
	for _, w := range o.operands[from:to] {
		if anyMatch(c.values, argv[w], surely) {
			return true
		}
	}
	return false
}

// part returns the part of a text between the first after and the first before.
func (a *terms) part(text string) string {
	if a.after == "=" {
		text = text[strings.IndexAny(text, "= ")+1:]
	} else if _, rest, found := strings.Cut(text, a.after); found {
		text = rest
	}
	if a.before != "" {
		text, _, _ = strings.Cut(text, a.before)
	}
	return text
}

// matches reports whether the action is about a word. surely says that unknown words do not match.
func (a *terms) matches(text string, surely bool) bool {
	if (a.match != nil || a.known != nil) && !anyMatch(a.match, text, surely) && !anyMatch(a.known, text, true) {
		return false
	}
	return !anyMatch(a.except, text, true)
}

// anyMatch reports whether one of the patterns matches a text. Unknown parts may be anything, so
// the text before the first one and that after the last one decide. surely says that the text must
// match whatever they are.
func anyMatch(globs []string, text string, surely bool) bool {
	known, _, partly := strings.Cut(text, effect.Unknown)
	end := text[strings.LastIndex(text, effect.Unknown)+1:]
	for _, g := range globs {
		if !partly {
			if glob.Text(g, text) {
				return true
			}
			continue
		}
		if may, sure := glob.Begins(g, known); sure || may && !surely && mayEnd(g, end) {
			return true
		}
	}
	return false
}

// mayEnd reports whether a text with a known end may match a pattern. A star in the pattern may be
// any part of that end.
func mayEnd(pattern, end string) bool {
	last := pattern[strings.LastIndexByte(pattern, '*')+1:]
	n := min(len(last), len(end))
	return strings.EqualFold(last[len(last)-n:], end[len(end)-n:]) &&
		(n == len(end) || len(last) < len(pattern))
}
