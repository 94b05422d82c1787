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
	held []version // of a file: what the command found in it, see [interp.version]
}

// combinations does something for each combination of what the variables in it may
// be. What the later ones assign is one more possibility.
func (in *interp) combinations(do func()) {
	if in.choose {
		do()
		return
	}
	choices, stdin, snapshot := in.choices, input{}, in.snapshot
	if in.stdin != nil {
		stdin = *in.stdin
	}
	begin := start{dir: in.dir, may: in.may, before: in.before, beside: in.beside, params: in.params, others: in.others}
	vars, began := len(in.vars), in.began
	in.began = in.written
	in.choices, in.choose, in.snapshot = in.choices[len(in.choices):], true, nil
	do()
	for try := 1; in.next() && !in.stopped(); try++ {
		if try > in.lim.Alternatives {
			if !in.lean { // the first ones are those that it is for
				in.over(overAlternatives)
			}
			break
		}
		in.choose, in.began = true, in.written
		if in.stdin != nil { // each reads the same
			*in.stdin = stdin
		}
		scope := in.branch()
		in.beginsAt(&begin)
		in.undo(min(vars, len(in.vars)))
		do()
		in.join(scope)
	}
	in.choices, in.choose, in.snapshot, in.began = choices, false, snapshot, began
}

// beginsAt goes back to what a command began with.
func (in *interp) beginsAt(s *start) {
	in.dir, in.may, in.before, in.beside, in.params, in.others = s.dir, s.may, s.before, s.beside, s.params, s.others
}

// undo gives the variables of a new branch the values that they had before the command whose
// further combinations are tried. There were so many then.
func (in *interp) undo(count int) {
	if in.snapshot == nil { // nothing was chosen
		return
	}
	for i := range len(in.vars) {
		v := &in.vars[i]
		switch {
		case v.name == "":
		case i >= count:
			in.vars = append(in.vars, in.snapshotOf(v.name, count))
		case i < len(in.snapshot) && !v.same(&in.snapshot[i]):
			in.vars = append(in.vars, in.snapshot[i])
		}
	}
}

// snapshotOf is a variable that the command made in its own scope, as it was before.
func (in *interp) snapshotOf(name string, count int) variable {
	in.steps += count / 64 // looking through many is work
	for i := min(count, len(in.snapshot)) - 1; i >= 0; i-- {
		if in.snapshot[i].name == name {
			return in.snapshot[i]
		}
	}
	d := in.environment(name)
	return variable{name: name, data: d, place: true, unset: in.ctx.Unset && d.text == ""}
}

// same reports whether a variable holds what it held. Elements of arrays are not looked at.
func (v *variable) same(was *variable) bool {
	return v.name != was.name || v.data == was.data && v.unset == was.unset && v.array == was.array && v.ref == was.ref &&
		len(v.list) == len(was.list) && len(v.alts) == len(was.alts) && len(v.forms) == len(was.forms)
}

// values are all that an expansion may give.
func (in *interp) values(w func() data) []data {
	var one [1]data
	out := one[:0]
	take := func() {
		if d := w(); !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	in.either(take)
	return out
}

// pick chooses one of n values of key. Within a command the same key gives the
// same value; the command is tried for the others.
func (in *interp) pick(key string, n int) int {
	for i := range in.choices {
		if in.choices[i].key == key {
			return min(in.choices[i].at, n-1)
		}
	}
	if !in.choose {
		return 0
	}
	in.chooses(choice{key: key, n: n})
	return 0
}

// chooses adds a choice.
func (in *interp) chooses(c choice) {
	if len(in.choices) == 0 { // before the command does anything
		in.snapshot = append([]variable{}, in.vars...)
	}
	in.choices = append(in.choices, c)
	in.narrow()
}

// next moves to the next combination of choices.
func (in *interp) next() bool {
	for i := range in.choices {
		if in.choices[i].at++; in.choices[i].at < in.choices[i].n {
			return true
		}
		in.choices[i].at = 0
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
