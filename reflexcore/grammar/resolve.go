package grammar

import (
	"fmt"
	"slices"
	"strings"
)

// finish resolves like, sorts the flags and looks up the flags of conditions.
func (l *loader) finish() (*Table, error) {
	for i := range l.like {
		if err := l.inherit(l.like[i].of, 0); err != nil {
			return nil, err
		}
	}
	for _, p := range l.table.blocks {
		if !p.moded && p.parent != nil && (p.parent.mode == Long || p.parent.mode == Windows) {
			p.mode = p.parent.mode
		}
		p.own.fold = p.mode == Windows
		if f := p.own.build(l.scratch(len(p.own.flags))); f != nil {
			return nil, errTwice(p, f)
		}
	}
	for _, p := range l.table.blocks {
		if err := l.join(p); err != nil {
			return nil, err
		}
	}
	for _, p := range l.table.blocks {
		for _, c := range l.pending[p.conds[0]:p.conds[1]] {
			if err := l.resolve(p, c); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range l.table.blocks {
		l.extendConditions(p)
	}
	return l.table, nil
}

func errTwice(p *Program, f *flag) error {
	text := f.text
	if p.mode == Windows {
		text = "/" + text
	}
	return fmt.Errorf("%s:%d: %s is described twice: leave one, or name the same flags on both lines", p.file, f.line,
		text)
}

// scratch returns memory for n flags, which is valid until the next call.
func (l *loader) scratch(n int) []flag {
	if n > len(l.sorting) {
		l.sorting = make([]flag, 2*n)
	}
	return l.sorting[:n]
}

// A like is one line that begins with like.
type like struct {
	of   *Program
	name string
}

// maxLike limits chains of like.
const maxLike = 4

// inherit finds the blocks that a block is like, and copies all of their lines but the flags.
func (l *loader) inherit(p *Program, depth int) error {
	if p.ready {
		return nil
	}
	p.ready = true
	for i := range l.like {
		if l.like[i].of != p {
			continue
		}
		from := l.table.Lookup(l.like[i].name)
		if from == nil || from == p || depth > maxLike {
			return fmt.Errorf("%s:%d: like %s: there is no such block, or it is like this one: name another block", p.file,
				p.line, l.like[i].name)
		}
		if err := l.inherit(from, depth+1); err != nil {
			return err
		}
		p.likes = append(append(p.likes, from), from.likes...)
		p.operands = append(p.operands, from.operands...)
		p.stdin, p.stdout = append(p.stdin, from.stdin...), append(p.stdout, from.stdout...)
		p.copies = p.copies || from.copies
		if !p.moded && from.moded {
			p.mode, p.stop, p.moded = from.mode, from.stop, true
		}
	}
	return nil
}

// join combines the flags of a block with those of the blocks that it is like.
func (l *loader) join(p *Program) error {
	p.parts = l.partsRoom.take(1 + len(p.likes))
	p.parts[0] = &p.own
	for i, from := range p.likes {
		x := &from.own
		switch {
		case p.own.fold && !x.fold:
			var f *flag
			if x, f = x.folded(l); f != nil {
				return errTwice(p, f)
			}
		case x.fold && !p.own.fold:
			return fmt.Errorf("%s:%d: like %s: its mode is windows: say the same mode here", p.file, p.line, from.Name)
		}
		p.parts[1+i] = x
	}
	for _, x := range p.parts {
		for i := range x.flags {
			p.bare = p.bare || x.fold || x.flags[i].text[0] != '-'
		}
	}
	return nil
}

// A pending condition waits until all flags are known.
type pending struct {
	cond  *cond
	flags string
	line  int32
}

// resolve looks up the flags of a condition, in the block and those above it.
func (l *loader) resolve(in *Program, c pending) error {
	for name := range strings.SplitSeq(c.flags, "|") {
		var found *flag
		for p := in; p != nil && found == nil; p = p.parent {
			found = p.named(name)
		}
		if found == nil {
			return fmt.Errorf("%s:%d: the condition names %q, which is no flag of %s: describe the flag, or name an operand "+
				"(1, 2+, *, last, butlast) or --", in.file, c.line, name, in.Name)
		}
		c.cond.add(l.ensureOption(found))
	}
	return nil
}

func (c *cond) add(o *option) {
	if !slices.Contains(c.options, o) {
		c.options = append(c.options, o)
		c.mask |= o.mask
	}
}

// ensureOption gives a flag an option, so that conditions can refer to it.
func (l *loader) ensureOption(f *flag) *option {
	if f.option == nil {
		f.option = l.optionRoom.one(option{mask: 1 << (len(f.text) % 64)})
	}
	return f.option
}

// extendConditions extends the conditions of blocks that p is like to the flags of p with the same names.
func (l *loader) extendConditions(p *Program) {
	for i, from := range p.likes {
		for _, c := range l.pending[from.conds[0]:from.conds[1]] {
			for _, o := range slices.Clone(c.cond.options) {
				for j := range from.own.flags {
					if f := &from.own.flags[j]; f.option == o {
						for _, x := range p.parts[:1+i] {
							if have := x.find(f.text); have != nil {
								c.cond.add(l.ensureOption(have))
							}
						}
					}
				}
			}
		}
	}
}

// Lookup returns a block by its whole name, such as "git push", or nil.
func (t *Table) Lookup(name string) *Program {
	var p *Program
	for i, word := range strings.Fields(name) {
		if i == 0 {
			p = t.programs[word]
		} else {
			p = t.subs[subcommand{p, word}]
		}
		if p == nil {
			return nil
		}
	}
	return p
}
