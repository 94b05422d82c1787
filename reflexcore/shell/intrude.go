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
	dir  string     // empty: it stays where it is
	left []rewiring // what it connected to descriptors, for [interp.rewiredByTraps]
}

const intruders = 32 // variables that traps may set

// intrudes walks what a trap does, in a scope of its own, and notes what that sets.
func (in *interp) intrudes(walk func(std *input)) {
	moves, was, out, wired, std := in.moves, in.plumbed(), in.out, len(in.rewired), input{}
	walk(&std)
	if in.intruder == nil {
		in.intruder = &intruder{}
	}
	i := in.intruder
	i.left = append(i.left, in.rewired[min(wired, len(in.rewired)):]...)
	if now := in.plumbed(); now != was || std.present || in.out != out {
		i.left = append(i.left, rewiring{plumbing: now, std: std, reads: std.present, moves: in.out != out, stream: in.out.to})
	}
	for _, v := range in.vars.list[in.vars.mark:] {
		if v.name == "" || v.name == "_" || v.name == "FUNCNAME" || slices.ContainsFunc(i.vars, func(have variable) bool { return have.name == v.name && have.data == v.data }) {
			continue
		}
		if len(i.vars) >= intruders {
			in.rep.over("traps")
			return
		}
		i.vars = append(i.vars, v)
	}
	if in.moves != moves {
		i.dir = in.cwd.dir
	}
}

// intrude does it before a command.
func (in *interp) intrude() {
	i := in.intruder
	for _, v := range i.vars {
		if now := in.vars.find(v.name); now == nil || now.data != v.data || now.array != v.array {
			in.vars.merge(v)
		}
	}
	if i.dir != "" && in.cwd.dir != i.dir {
		in.goesFrom(in.cwd.dir)
		in.cwd.dir, in.cwd.may = effect.Unknown, i.dir
	}
}

// signalled walks what a trap does while the text still runs, for what it sets alone: what
// else it does is walked at the end.
func (in *interp) signalled(walk func(std *input)) {
	r := in.rep.res
	counted, effects, steps, spent := *r, len(r.Effects), len(r.Steps), in.rep.steps
	in.aside(func() { in.intrudes(walk) })
	over, layers := r.Over, r.Layers
	found, list := r.Effects, r.Steps
	*r = counted
	r.Effects, r.Steps, r.Layers = found[:effects], list[:steps], max(r.Layers, layers)
	if over != "" && r.Over == "" { // what the trap does is not known: the text goes on
		in.rep.over(over)
		r.Over = ""
		if !in.repaid { // once: the text has its own steps
			in.rep.steps, in.repaid = spent, true
		}
	}
}

// rewiredByTraps makes what traps connected to descriptors one more possibility for all that
// follows, as what a command did that may have been exec.
func (in *interp) rewiredByTraps() {
	if in.intruder == nil {
		return
	}
	for i := range in.intruder.left {
		in.mayRewire(&in.intruder.left[i])
	}
	in.intruder.left = nil
}

// callsDeclared walks once more what traps do, since they may call a function that is declared now.
func (in *interp) callsDeclared() {
	if len(in.hooks) == 0 || in.late || in.rep.stopped() {
		return
	}
	in.late = true
	for _, walk := range in.hooks {
		in.signalled(walk)
	}
	in.late = false
	in.rewiredByTraps()
}
