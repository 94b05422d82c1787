package shell

import (
	"slices"

	"approver.example/reflexcore/effect"
)

const intruders = 32 // variables that traps may set

// intrudes walks what a trap does, in a scope of its own, and notes what that sets.
func (tr *traps) intrudes(walk func(std *input)) {
	moves, was, out, wired, std := tr.in.dirs.moves, tr.in.io.plumbed(), tr.in.io.out, len(tr.in.io.rewired), input{}
	walk(&std)
	if tr.intruder == nil {
		tr.intruder = &intruder{}
	}
	i := tr.intruder
	i.left = append(i.left, tr.in.io.rewired[min(wired, len(tr.in.io.rewired)):]...)
	if now := tr.in.io.plumbed(); now != was || std.present || tr.in.io.out != out {
		i.left = append(i.left, rewiring{plumbing: now, std: std, reads: std.present, moves: tr.in.io.out != out, stream: tr.in.io.out.to})
	}
	for _, v := range tr.in.vars.list[tr.in.vars.mark:] {
		if v.name == "" || v.name == "_" || v.name == "FUNCNAME" || slices.ContainsFunc(i.vars, func(have variable) bool { return have.name == v.name && have.data == v.data }) {
			continue
		}
		if len(i.vars) >= intruders {
			tr.in.rep.over("traps")
			return
		}
		i.vars = append(i.vars, v)
	}
	if tr.in.dirs.moves != moves {
		i.dir = tr.in.cwd.dir
	}
}

// intrude does it before a command.
func (tr *traps) intrude() {
	i := tr.intruder
	for _, v := range i.vars {
		if now := tr.in.vars.find(v.name); now == nil || now.data != v.data || now.array != v.array {
			tr.in.vars.merge(v)
		}
	}
	if i.dir != "" && tr.in.cwd.dir != i.dir {
		tr.in.dirs.goesFrom(tr.in.cwd.dir)
		tr.in.cwd.dir, tr.in.cwd.may = effect.Unknown, i.dir
	}
}

// signalled walks what a trap does while the text still runs, for what it sets alone: what
// else it does is walked at the end.
func (tr *traps) signalled(walk func(std *input)) {
	r := tr.in.rep.res
	counted, effects, steps, spent := *r, len(r.Effects), len(r.Steps), tr.in.rep.steps
	tr.in.aside(func() { tr.intrudes(walk) })
	over, layers := r.Over, r.Layers
	found, list := r.Effects, r.Steps
	*r = counted
	r.Effects, r.Steps, r.Layers = found[:effects], list[:steps], max(r.Layers, layers)
	if over != "" && r.Over == "" { // what the trap does is not known: the text goes on
		tr.in.rep.over(over)
		r.Over = ""
		if !tr.repaid { // once: the text has its own steps
			tr.in.rep.steps, tr.repaid = spent, true
		}
	}
}

// rewiredByTraps makes what traps connected to descriptors one more possibility for all that
// follows, as what a command did that may have been exec.
func (tr *traps) rewiredByTraps() {
	if tr.intruder == nil {
		return
	}
	for i := range tr.intruder.left {
		tr.in.io.mayRewire(&tr.intruder.left[i])
	}
	tr.intruder.left = nil
}

// callsDeclared walks once more what traps do, since they may call a function that is declared now.
func (tr *traps) callsDeclared() {
	if len(tr.hooks) == 0 || tr.late || tr.in.rep.stopped() {
		return
	}
	tr.late = true
	for _, walk := range tr.hooks {
		tr.signalled(walk)
	}
	tr.late = false
	tr.rewiredByTraps()
}
