package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// environ notes what an assignment makes later programs do, as the grammar's
// block of the environment says. Most names are not in it, and cost nothing.
func (in *interp) environ(name string, value data) {
	if !value.known() && strings.Trim(value.text, effect.Unknown) != "" { // what is not known of it may be nothing
		in.environ(name, data{strings.ReplaceAll(value.text, effect.Unknown, ""), value.taint})
	}
	if number, ok := strings.CutPrefix(name, "GIT_CONFIG_VALUE_"); ok {
		in.gitSetting(number, value)
		return
	}
	if function, ok := strings.CutPrefix(name, "BASH_FUNC_"); ok {
		in.imported(function, value)
		return
	}
	if target, ok := strings.CutPrefix(name, "CARGO_TARGET_"); ok { // of any target
		for _, end := range [...]string{"RUNNER", "LINKER"} {
			if strings.HasSuffix(target, "_"+end) {
				name = "CARGO_TARGET_" + end
			}
		}
	}
	if !in.Table.Variable(name) {
		if name == "BASH_XTRACEFD" {
			in.traced()
		}
		if disables(name) && value.text != "" && value.text != "0" && value.text != "false" {
			in.add(effect.Effect{Kind: effect.Permission, Target: "guard:" + name, By: name + "="})
		}
		return
	}
	in.rep.level++
	switch {
	case in.rep.level > in.rep.lim.Nesting:
		in.rep.over(overDepth)
	case name == "PROMPT_COMMAND", name == "PS0", name == "PS1", name == "PS4":
		in.hooked(name, func(*input) { in.variable(name, value) })
	default:
		in.variable(name, value)
	}
	in.rep.level--
}

// handsOver notes the files of settings that a variable names for the programs that run with it:
// GIT_TRACE, PIP_LOG and a hundred others name a file that is written.
func (in *interp) handsOver(name string) {
	value := in.value(name)
	if in.ctx.Written || in.rep.bits&effect.Remote != 0 || len(value.text) > maxMentioned || !hint(value.text) {
		return
	}
	m := mentioner{in: in, by: name + "="}
	m.scan(value.text)
	m.tell(len(in.rep.res.Effects))
}

// imported walks a function that each shell finds in its environment: whether one of
// them calls it is not known, so that it counts as called and as one that may be there.
func (in *interp) imported(name string, value data) {
	name, _ = strings.CutSuffix(name, "%%")
	name, _ = strings.CutSuffix(name, "()")
	if value.known() && !strings.HasPrefix(strings.TrimSpace(value.text), "()") {
		return // no shell takes it for a function
	}
	from := len(in.funcs)
	if strings.HasPrefix(value.text, effect.Unknown) {
		in.payload(value, "function", &input{}, nil)
		return
	}
	in.payload(data{in.arena.concat(name, " ", value.text), value.taint}, "function", &input{}, nil)
	if from < len(in.funcs) {
		in.exported(name)
	}
	for i := from; i < len(in.funcs); i++ {
		in.funcs[i].maybe = true
	}
}

func (in *interp) variable(name string, value data) {
	mark, words := len(in.fields), len(in.words)
	in.push(field{data: data{text: "="}})
	in.push(field{data: data{name + "=" + value.text, value.taint}})
	in.words = append(in.words, "=", in.fields[mark+1].text)
	argv := in.words[words:]
	a := in.borrow()
	p := &a.parsed
	in.Table.Parse(argv, p)
	a.application = application{in: in, p: p, argv: argv, mark: mark, std: &input{}, by: name + "="}
	in.apply(a, nil)
	in.giveBack(a)
	in.fields, in.words = in.fields[:mark], in.words[:words]
}

// disables reports whether a variable of that name turns a guard off.
func disables(name string) bool {
	for _, off := range [...]string{"DISABLE", "BYPASS", "SKIP", "OFF"} {
		if !strings.Contains(name, off) {
			continue
		}
		for _, guard := range [...]string{"GUARD", "SAFETY", "SHIELD", "APPROV", "WARDEN", "SENTINEL"} {
			if strings.Contains(name, guard) {
				return true
			}
		}
	}
	return strings.HasPrefix(name, "APPROVER_")
}

// agents are the programs that ask before they act because their settings, which
// they find below the home, tell them to.
var agents = map[string]bool{
	"claude": true, "claude-code": true, "codex": true, "gemini": true, "gemini-cli": true, "qwen": true, "qwen-code": true, "opencode": true, "cursor-agent": true, "copilot": true, "droid": true, "kiro-cli": true, "amp": true, "goose": true, "crush": true,
}

// homes are the variables that say where those settings are.
var homes = [...]string{"HOME", "XDG_CONFIG_HOME", "USERPROFILE", "APPDATA"}

// moved notes that an agent is started with another home than its own: it finds no
// hooks there, or others.
func (in *interp) moved(program string) {
	if !agents[program[strings.LastIndexByte(program, '/')+1:]] {
		return
	}
	for _, name := range homes {
		if now, was := in.value(name), in.vars.environment(name); now.text != was.text && (now.text != "" || name == "HOME") {
			in.add(effect.Effect{Kind: effect.Permission, Target: now.text, What: "agent-settings", By: name + "="})
			return
		}
	}
}

// takesHome reports whether env starts a program without the variable HOME, or without
// any.
func (a *applied) takesHome(u *grammar.Use) bool {
	if a.p.Program.Name != "env" && a.by != "env" && a.by != "genv" {
		return false
	}
	for i := 1; i < len(a.argv) && i < u.Word; i++ {
		switch w := a.argv[i]; {
		case w == "-", w == "--ignore-environment", w == "--unset=HOME", w == "-uHOME":
			return true
		case w == "HOME" && (a.argv[i-1] == "-u" || a.argv[i-1] == "--unset"):
			return true
		case len(w) > 1 && w[0] == '-' && w[1] != '-' && w[1] != 'u' && w[1] != 'C' && strings.Contains(w, "i"):
			return true
		}
	}
	return false
}
