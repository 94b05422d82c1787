package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// combinations does something for each combination of what the variables in it may
// be. What the later ones assign is one more possibility.
func (rg *readings) combinations(do func()) {
	if rg.in.alt.choose {
		do()
		return
	}
	choices, stdin, snapshot := rg.in.alt.choices, input{}, rg.in.alt.snapshot
	if rg.in.io.stdin != nil {
		stdin = *rg.in.io.stdin
	}
	begin := start{workdir: rg.in.cwd, params: rg.in.par.params, others: rg.in.par.others}
	vars, began := len(rg.in.vars.list), rg.in.alt.began
	rg.in.alt.began = rg.in.fs.written
	rg.in.alt.choices, rg.in.alt.choose, rg.in.alt.snapshot = rg.in.alt.choices[len(rg.in.alt.choices):], true, nil
	do()
	for try := 1; rg.in.alt.nextCombination() && !rg.in.rep.stopped(); try++ {
		if try > rg.in.rep.lim.Alternatives {
			if !rg.lean { // the first ones are those that it is for
				rg.in.rep.over(overAlternatives)
			}
			break
		}
		rg.in.alt.choose, rg.in.alt.began = true, rg.in.fs.written
		if rg.in.io.stdin != nil { // each reads the same
			*rg.in.io.stdin = stdin
		}
		scope := rg.in.branch()
		rg.beginsAt(&begin)
		rg.in.alt.undo(min(vars, len(rg.in.vars.list)))
		do()
		rg.in.join(scope)
	}
	rg.in.alt.choices, rg.in.alt.choose, rg.in.alt.snapshot, rg.in.alt.began = choices, false, snapshot, began
}

// beginsAt goes back to what a command began with.
func (rg *readings) beginsAt(s *start) {
	rg.in.cwd, rg.in.par.params, rg.in.par.others = s.workdir, s.params, s.others
}

// values are all that an expansion may give.
func (rg *readings) values(w func() data) []data {
	var one [1]data
	out := one[:0]
	take := func() {
		if d := w(); !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	rg.either(take)
	return out
}

// flat reports whether a statement is simple commands in a pipe: what they choose
// is chosen for all of them.
func flat(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return c.Op != syntax.AndStmt && c.Op != syntax.OrStmt && flat(c.X) && flat(c.Y)
	}
	return false
}
