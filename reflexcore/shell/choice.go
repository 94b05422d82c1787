package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// A choice is a value that may be one of several.
type choice struct {
	key  string
	n    int
	at   int
	held []version // of a file: what the command found in it, see [alternatives.version]
}

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
	for try := 1; rg.in.alt.next() && !rg.in.rep.stopped(); try++ {
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

// undo gives the variables of a new branch the values that they had before the command whose
// further combinations are tried. There were so many then.
func (al *alternatives) undo(count int) {
	if al.snapshot == nil { // nothing was chosen
		return
	}
	for i := range len(al.vars.list) {
		v := &al.vars.list[i]
		switch {
		case v.name == "":
		case i >= count:
			al.vars.list = append(al.vars.list, al.snapshotOf(v.name, count))
		case i < len(al.snapshot) && !v.same(&al.snapshot[i]):
			al.vars.list = append(al.vars.list, al.snapshot[i])
		}
	}
}

// snapshotOf is a variable that the command made in its own scope, as it was before.
func (al *alternatives) snapshotOf(name string, count int) variable {
	al.rep.steps += count / 64 // looking through many is work
	for i := min(count, len(al.snapshot)) - 1; i >= 0; i-- {
		if al.snapshot[i].name == name {
			return al.snapshot[i]
		}
	}
	d := al.vars.environment(name)
	return variable{name: name, data: d, place: true, unset: al.ctx.Unset && d.text == ""}
}

// same reports whether a variable holds what it held. Elements of arrays are not looked at.
func (v *variable) same(was *variable) bool {
	return v.name != was.name || v.data == was.data && v.unset == was.unset && v.array == was.array && v.ref == was.ref &&
		len(v.list) == len(was.list) && len(v.alts) == len(was.alts) && len(v.forms) == len(was.forms)
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

// pick chooses one of n values of key. Within a command the same key gives the
// same value; the command is tried for the others.
func (al *alternatives) pick(key string, n int) int {
	for i := range al.choices {
		if al.choices[i].key == key {
			return min(al.choices[i].at, n-1)
		}
	}
	if !al.choose {
		return 0
	}
	al.chooses(choice{key: key, n: n})
	return 0
}

// chooses adds a choice.
func (al *alternatives) chooses(c choice) {
	if len(al.choices) == 0 { // before the command does anything
		al.snapshot = append([]variable{}, al.vars.list...)
	}
	al.choices = append(al.choices, c)
	al.narrow()
}

// next moves to the next combination of choices.
func (al *alternatives) next() bool {
	for i := range al.choices {
		if al.choices[i].at++; al.choices[i].at < al.choices[i].n {
			return true
		}
		al.choices[i].at = 0
	}
	return false
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
