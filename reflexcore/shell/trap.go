package shell

import "approver.example/reflexcore/effect"

// trap is the builtin. What a script does when it ends, it does with the values
// that its variables have then: at its end, at each exit, and before an assignment
// that changes them, if something could have ended it before.
func (in *interp) trap(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	for len(args) > 0 && (args[0].text == "--" || args[0].text == "-p" || args[0].text == "-l") {
		args = args[1:]
	}
	if len(args) < 2 || args[0].text == "-" || args[0].text == "" {
		return
	}
	signals := false
	atEnd := in.rep.level == 1 && in.rep.depth == 1 && len(in.active) == 0 && in.branches == 0 && len(in.traps) < 8
	for _, signal := range args[1:] {
		signals = signals || signal.text != "EXIT" && signal.text != "0"
		switch signal.text {
		case "EXIT", "0", "INT", "TERM", "HUP", "QUIT", "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "2", "15", "1", "3":
		default:
			atEnd = false
		}
	}
	if !atEnd {
		action := args[0].data // the words are gone when it is walked at the end
		in.hooked("trap", func(std *input) { in.payload(action, "trap", std, nil) })
		return
	}
	if signals {
		action := args[0].data
		in.signalled(func(std *input) { in.payload(action, "trap", std, nil) })
		in.rewiredByTraps()
	}
	in.traps, in.trapped = append(in.traps, args[0].data), in.rep.res.Commands
}

// hooked walks what the shell runs by itself beside other commands: before each one,
// at each error, at each prompt. If that reaches out, somebody is told of every one
// from then on; if it writes down the commands where nobody looks, they are spied out.
func (in *interp) hooked(name string, walk func(std *input)) {
	in.remember(walk)
	before, typed := len(in.rep.res.Effects), in.rep.typed
	in.rep.typed = name == "preexec" // which is told the command
	in.aside(func() { in.intrudes(walk) })
	in.rewiredByTraps()
	reaches, spies := false, false
	for _, e := range in.rep.res.Effects[min(before, len(in.rep.res.Effects)):] {
		reaches = reaches || e.Kind == effect.NetIn || e.Kind == effect.NetOut
		spies = spies || in.rep.typed && e.Kind == effect.Write && covert(e.Target)
	}
	in.rep.typed = typed
	if reaches {
		in.add(effect.Effect{Kind: effect.Persist, Target: name, What: "shell-hook", By: name})
	}
	if spies {
		in.add(effect.Effect{Kind: effect.Attack, Target: "keys", By: name})
	}
}

// remember keeps what the shell runs by itself for the end of the shell that runs it: it may
// call functions, and have values, that come after it.
func (in *interp) remember(walk func(std *input)) {
	if in.late {
		return
	}
	if len(in.hooks) >= intruders {
		in.rep.over("traps")
		return
	}
	in.hooks = append(in.hooks, walk)
}

// runLate walks what was remembered since there were so many, with the state of the end.
func (in *interp) runLate(since int) {
	if in.late || len(in.hooks) <= since {
		return
	}
	in.late = true
	for _, walk := range in.hooks[since:] {
		again := func() { in.aside(func() { walk(&input{}) }) }
		in.onceMore(0, &input{}, nil, again)
		again()
	}
	clear(in.hooks[since:])
	in.hooks, in.late = in.hooks[:since], false
}

// settled walks the traps before a variable changes, unless nothing ran since they
// were walked or set.
func (in *interp) settled() {
	if len(in.traps) > 0 && in.rep.res.Commands != in.trapped {
		in.ended()
	}
}

// ended walks what the traps do.
func (in *interp) ended() {
	traps := in.traps
	in.traps = nil // one that sets another does it only once
	for _, d := range traps {
		in.sub(d, "trap", &input{}, nil)
	}
	in.traps, in.trapped = traps, in.rep.res.Commands
}

// exit ends the script.
func (in *interp) exit(int, *input, *data) { in.ended() }
