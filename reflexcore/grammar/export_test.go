package grammar

import "slices"

// Decides reports whether a row of the command names a flag in a condition, so that the tables say
// what the flag changes.
func (o *Parsed) Decides(text string) bool {
	f := o.find(text)
	if f == nil || f.option == nil {
		return false
	}
	named := func(a *Action) bool {
		return slices.ContainsFunc(a.when().conds, func(c cond) bool { return slices.Contains(c.options, f.option) })
	}
	for _, p := range o.blocks[:o.depth] {
		for i := range p.operands {
			if named(&p.operands[i].Action) {
				return true
			}
		}
		for _, x := range p.parts {
			for _, g := range x.flags {
				if g.option != nil && slices.ContainsFunc(g.option.actions, func(a Action) bool { return named(&a) }) {
					return true
				}
			}
		}
	}
	return false
}

// After is the index of the word after the program and its subcommands, or of the end if the first
// word is flags without a dash, which may take the next words.
func (o *Parsed) After(argv []string) int {
	switch {
	case o.depth > 1:
		return o.typed[o.depth-2] + 1
	case o.mode() == Bundle && len(argv) > 1 && argv[1] != "" && argv[1][0] != '-':
		return len(argv)
	}
	return 1
}

// Bare reports whether a flag takes no argument.
func (o *Parsed) Bare(text string) bool {
	f := o.find(text)
	return f != nil && f.arity == none
}

// Taking returns the flags of the command that take the next word and of which nothing is said.
func (o *Parsed) Taking() (out []string) {
	for _, x := range o.Program.parts {
		for i := range x.flags {
			if f := &x.flags[i]; f.arity == argument && !f.does() && f.text[0] == '-' && f.text[len(f.text)-1] != '*' {
				out = append(out, f.text)
			}
		}
	}
	return out
}
