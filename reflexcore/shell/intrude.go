package shell

import (
	"slices"

	"approver.example/reflexcore/effect"
)

// An intruder is what a trap may do to the shell before any command, or at any signal:
// trap 'x=/' DEBUG. What it sets is one more possibility from then on, whatever else is
// assigned.
type intruder struct {
	vars []variable
	dir  string // empty: it stays where it is
}

const intruders = 32 // variables that traps may set

// intrudes walks what a trap does, in a scope of its own, and notes what that sets.
func (in *interp) intrudes(walk func()) {
	moves := in.moves
	walk()
	if in.intruder == nil {
		in.intruder = &intruder{}
	}
	i := in.intruder
	for _, v := range in.vars[in.mark:] {
		if v.name == "" || v.name == "_" || v.name == "FUNCNAME" || slices.ContainsFunc(i.vars, func(have variable) bool { return have.name == v.name && have.data == v.data }) {
			continue
		}
		if len(i.vars) >= intruders {
			in.over("traps")
			return
		}
		i.vars = append(i.vars, v)
	}
	if in.moves != moves {
		i.dir = in.dir
	}
}

// intrude does it before a command.
func (in *interp) intrude() {
	i := in.intruder
	for _, v := range i.vars {
		if now := in.find(v.name); now == nil || now.data != v.data || now.array != v.array {
			in.merge(v)
		}
	}
	if i.dir != "" && in.dir != i.dir {
		in.goesFrom(in.dir)
		in.dir, in.may = effect.Unknown, i.dir
	}
}

// signalled walks what a trap does while the text still runs, for what it sets alone: what
// else it does is walked at the end.
func (in *interp) signalled(d data) {
	r := in.res
	counted, effects, steps := *r, len(r.Effects), len(r.Steps)
	in.aside(func() { in.intrudes(func() { in.payload(d, "trap", &input{}, nil) }) })
	over := r.Over
	found, list := r.Effects, r.Steps
	*r = counted
	r.Effects, r.Steps, r.Over = found[:effects], list[:steps], over
}
