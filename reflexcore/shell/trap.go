package shell

import (
	"slices"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// trap is the trap builtin. What a script does at its end, it does with the values that its
// variables have then. So the commands are walked at the end, at each exit, and before an
// assignment that changes a variable, if the script may have ended before.
func (bc builtinCall) trap() {
	args := bc.in.exp.fields[bc.mark+1:]
	for len(args) > 0 && (args[0].text == "--" || args[0].text == "-p" || args[0].text == "-l") {
		args = args[1:]
	}
	if len(args) < 2 || args[0].text == "-" || args[0].text == "" {
		return
	}
	signals := false
	atEnd := bc.in.rep.level == 1 && bc.in.rep.depth == 1 && len(bc.in.def.active) == 0 && bc.in.branches == 0 &&
		len(bc.in.traps.list) < 8
	for _, signal := range args[1:] {
		signals = signals || signal.text != "EXIT" && signal.text != "0"
		atEnd = atEnd && wordset.Has("EXIT 0 INT TERM HUP QUIT SIGINT SIGTERM SIGHUP SIGQUIT 2 15 1 3", signal.text)
	}
	if !atEnd {
		action := args[0].data // the fields are reused by the time it is walked
		bc.in.traps.hooked("trap", func(std *input) { bc.in.payloads.payload(action, "trap", std, nil) })
		return
	}
	if signals {
		action := args[0].data
		bc.in.traps.signaled(func(std *input) { bc.in.payloads.payload(action, "trap", std, nil) })
		bc.in.traps.rewiredByTraps()
	}
	bc.in.traps.list, bc.in.traps.trapped = append(bc.in.traps.list, args[0].data), bc.in.rep.res.Commands
}

// hooked walks what the shell runs around other commands: before each one, at each error, at each
// prompt. If that uses the network, somebody may be told about every later command. If it writes
// the commands to a place where nobody looks, it is a keylogger.
func (tr *traps) hooked(name string, walk func(std *input)) {
	tr.remember(walk)
	before, typed := len(tr.in.rep.res.Effects), tr.in.rep.typed
	tr.in.rep.typed = name == "preexec" // preexec gets the command as an argument
	tr.in.aside(func() { tr.noteChanges(walk) })
	tr.rewiredByTraps()
	reaches, spies := false, false
	for _, e := range tr.in.rep.res.Effects[min(before, len(tr.in.rep.res.Effects)):] {
		reaches = reaches || e.Kind == effect.NetIn || e.Kind == effect.NetOut
		spies = spies || tr.in.rep.typed && e.Kind == effect.Write && covert(e.Target)
	}
	tr.in.rep.typed = typed
	tr.noteHook(name, reaches, spies)
}

// noteHook adds the effects of a hook that uses the network, or records what is typed, whenever a
// command runs.
func (tr *traps) noteHook(name string, reaches, spies bool) {
	if reaches {
		tr.in.add(effect.Effect{Kind: effect.Persist, Target: name, What: "shell-hook", By: name})
	}
	if spies {
		tr.in.add(effect.Effect{Kind: effect.Attack, Target: "keys", By: name})
	}
}

// remember keeps a hook for the end of the shell that runs it: the hook may call functions, and
// see values, that are defined later.
func (tr *traps) remember(walk func(std *input)) {
	if tr.late {
		return
	}
	if len(tr.hooks) >= maxTrapVariables {
		tr.in.rep.over("traps")
		return
	}
	tr.hooks = append(tr.hooks, walk)
}

// runLate walks the hooks from index since on, with the state at the end of their shell, and
// removes them.
func (tr *traps) runLate(since int) {
	if tr.late || len(tr.hooks) <= since {
		return
	}
	tr.late = true
	for _, walk := range tr.hooks[since:] {
		again := func() { tr.in.aside(func() { walk(&input{}) }) }
		tr.in.io.onceMore(0, &input{}, nil, again)
		again()
	}
	clear(tr.hooks[since:])
	tr.hooks, tr.late = tr.hooks[:since], false
}

// beforeChange walks the traps before a variable changes, unless no command ran since they were
// walked or set.
func (tr *traps) beforeChange() {
	if len(tr.list) > 0 && tr.in.rep.res.Commands != tr.trapped {
		tr.walkTraps()
	}
}

// walkTraps walks the commands of the traps.
func (tr *traps) walkTraps() {
	traps := tr.list
	tr.list = nil // a trap that sets another does so only once
	for _, d := range traps {
		tr.in.payloads.sub(d, "trap", &input{}, nil)
	}
	tr.list, tr.trapped = traps, tr.in.rep.res.Commands
}

// exit is the exit builtin: it walks the traps.
func (bc builtinCall) exit() { bc.in.traps.walkTraps() }

const maxTrapVariables = 32 // limit on the variables that traps may set, and on hooks

// noteChanges walks a trap and records the changes that it makes.
func (tr *traps) noteChanges(walk func(std *input)) {
	moves, was, out, wired, std := tr.in.dirs.moves, tr.in.io.plumbed(), tr.in.io.out, len(tr.in.io.rewired), input{}
	walk(&std)
	if tr.changes == nil {
		tr.changes = &trapChanges{}
	}
	i := tr.changes
	i.left = append(i.left, tr.in.io.rewired[min(wired, len(tr.in.io.rewired)):]...)
	if now := tr.in.io.plumbed(); now != was || std.present || tr.in.io.out != out {
		i.left = append(i.left,
			rewiring{plumbing: now, std: std, reads: std.present, moves: tr.in.io.out != out, stream: tr.in.io.out.to})
	}
	for _, v := range tr.in.vars.list[tr.in.vars.mark:] {
		if v.name == "" || v.name == "_" || v.name == "FUNCNAME" ||
			slices.ContainsFunc(i.vars, func(have variable) bool { return have.name == v.name && have.data == v.data }) {
			continue
		}
		if len(i.vars) >= maxTrapVariables {
			tr.in.rep.over("traps")
			return
		}
		i.vars = append(i.vars, v)
	}
	if tr.in.dirs.moves != moves {
		i.dir = tr.in.cwd.dir
	}
}

// applyChanges makes the changes of the traps one more possibility, before a command.
func (tr *traps) applyChanges() {
	i := tr.changes
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

// signaled walks a trap while the text still runs, only for the changes that it makes. Its
// effects are found when it is walked at the end.
func (tr *traps) signaled(walk func(std *input)) {
	r := tr.in.rep.res
	counted, effects, steps, spent := *r, len(r.Effects), len(r.Steps), tr.in.rep.steps
	tr.in.aside(func() { tr.noteChanges(walk) })
	over, layers := r.Over, r.Layers
	found, list := r.Effects, r.Steps
	*r = counted
	r.Effects, r.Steps, r.Layers = found[:effects], list[:steps], max(r.Layers, layers)
	if over != "" && r.Over == "" { // the trap is unknown: the walk of the text continues
		tr.in.rep.over(over)
		r.Over = ""
		if !tr.repaid { // only once: the steps of the text are limited
			tr.in.rep.steps, tr.repaid = spent, true
		}
	}
}

// rewiredByTraps makes the descriptors that traps connected one more possibility for the rest of
// the text, as after a command that may have been exec.
func (tr *traps) rewiredByTraps() {
	if tr.changes == nil {
		return
	}
	for i := range tr.changes.left {
		tr.in.io.mayRewire(&tr.changes.left[i])
	}
	tr.changes.left = nil
}

// callsDeclared walks the hooks once more after a function was declared, since they may call it.
func (tr *traps) callsDeclared() {
	if len(tr.hooks) == 0 || tr.late || tr.in.rep.stopped() {
		return
	}
	tr.late = true
	for _, walk := range tr.hooks {
		tr.signaled(walk)
	}
	tr.late = false
	tr.rewiredByTraps()
}
