package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/grammar"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// tools are variables that name a program where people have set them to another than
// the one that a command gives as its default: ${PYTHON:-python3}.
var tools = map[string]bool{
	"EDITOR": true, "VISUAL": true, "GIT_EDITOR": true, "PAGER": true, "BROWSER": true, "PYTHON": true, "PYTHON3": true, "PIP": true, "NODE": true, "NPM": true, "MAKE": true, "CMAKE": true, "CC": true, "CXX": true,
	"GO": true, "CARGO": true, "RUSTC": true, "DOCKER": true, "COMPOSE": true, "KUBECTL": true, "HELM": true, "TERRAFORM": true, "JAVA": true, "RUBY": true, "PERL": true, "PHP": true,
}

// hides reports whether an inner scope of the shell has another variable of the name of
// in.vars[i], which counts and not this one.
func (vs *variables) hides(i, end int) bool {
	vs.rep.steps += (end - i) / 16 // looking through many is work
	return slices.ContainsFunc(vs.list[i+1:end], func(v variable) bool { return v.name == vs.list[i].name })
}

// alwaysPassed reports whether every shell finds that variable in its environment, so
// that what is assigned to it is exported, or sets it for itself.
func alwaysPassed(name string) bool {
	switch name {
	case "HOME", "PATH", "PWD", "USER", "LOGNAME", "SHELL", "TERM":
		return true
	}
	return isTable(name)
}

// inherit makes a variable what a new process may have of it: its value or nothing.
// From is where the variables of the process begin.
func (vs *variables) inherit(v *variable, from int) {
	vs.rep.steps += (len(vs.list) - from) / 16 // looking through many is work
	if slices.ContainsFunc(vs.list[from:], func(have variable) bool { return have.name == v.name }) {
		return // an inner one of that name hides it
	}
	if v.name == "IFS" { // no shell inherits it
		vs.list = append(vs.list, variable{name: v.name, data: data{text: " \t\n"}})
		return
	}
	gone := variable{name: v.name, unset: true}
	if _, known := vs.ctx.Env[v.name]; v.array || v.unset || v.ref != "" ||
		vs.ctx.Unset && !known && !v.passed && !vs.exportsAll {
		vs.list = append(vs.list, gone)
		return
	}
	child := gone
	child.unset = false
	switch {
	case v.forms != nil:
		child.forms = append(slices.Clone(v.forms), gone)
	case v.alts != nil:
		for _, d := range v.alts {
			child.forms = append(child.forms, variable{name: v.name, data: d})
		}
		child.forms = append(child.forms, gone)
	default:
		child.forms = []variable{{name: v.name, data: v.data, place: v.place}, gone}
	}
	child.data = v.data
	if len(child.forms) > vs.rep.lim.Alternatives {
		child.data, child.forms = data{effect.Unknown, v.taint}, nil
	}
	vs.list = append(vs.list, child)
}

// shake notes that a file was read into the shell of which it is not known what it sets:
// each variable may be another one now. Where one of them is run, that is a question; as an
// argument it stays what the text says. What lies outside of the working folder is no file
// of the call, and what activates an environment of python sets its own names.
func (vs *variables) shake(target string) {
	if path.Base(target) == "activate" || !strings.HasPrefix(target, vs.ctx.Dir+"/") && strings.HasPrefix(target, "/") && effect.IsKnown(target) ||
		strings.HasPrefix(target, effect.Unknown) {
		return
	}
	vs.shaken = true
	for i := range vs.list {
		vs.list[i].shaken = true
	}
}

// fixed reports whether a variable is known to hold a place although its value is not
// known: it is inherited, so that no command chose it, or asked from a program that
// prints where something is.
func (vs *variables) fixed(name string) bool {
	if name == unknownName || !syntax.ValidName(name) {
		return false
	}
	v := vs.find(name)
	return v == nil || v.place
}

// isTool reports whether a variable is one of them, and inherited.
func (vs *variables) isTool(name string) bool {
	if !tools[name] || vs.find(name) != nil {
		return false
	}
	_, ok := vs.ctx.Env[name]
	return !ok
}

// prefixed are the names of the variables that ${!prefix*} gives, in their order; none
// where the text set none, as the environment may have some.
func (vs *variables) prefixed(prefix string) (names []data) {
	for i := range vs.list {
		v := &vs.list[i]
		if v.name != "" && strings.HasPrefix(v.name, prefix) && vs.find(v.name) == v && !v.unset {
			names = append(names, data{text: v.name})
		}
	}
	for name := range vs.ctx.Env {
		if strings.HasPrefix(name, prefix) && vs.find(name) == nil {
			names = append(names, data{text: name})
		}
	}
	slices.SortFunc(names, func(a, b data) int { return strings.Compare(a.text, b.text) })
	return names
}

// environment is the value of a variable that the text did not assign.
func (vs *variables) environment(name string) data {
	switch name {
	case "PWD":
		return data{text: vs.cwd.dir}
	case "BASH":
		return data{text: "/bin/bash"} // by the shell itself, whatever it inherits
	case "BASH_COMMAND":
		vs.rep.typed = true
		return unknown
	case "_":
		return unknown // the shell's own path, or a word of the command before this text
	case "DIRSTACK":
		return data{text: vs.cwd.dir}
	case unknownName:
		return data{effect.Unknown, vs.murky}
	}
	if v, ok := vs.ctx.Env[name]; ok {
		return data{text: v}
	}
	if vs.ctx.Unset {
		return data{}
	}
	switch name {
	case "TMPDIR": // where it is not set, programs use this
		return data{text: "/tmp"}
	case "SHELL":
		return data{text: "/bin/bash"} // or another one that takes -c
	}
	if secretName(name) {
		return data{text: effect.Unknown, taint: effect.Secret}
	}
	return unknown
}

// secretName reports whether a variable of that name holds a credential.
func secretName(name string) bool {
	upper := strings.ToUpper(name)
	for _, part := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"} {
		if strings.Contains(upper, part) {
			return true
		}
	}
	return false
}

// affects notes what an assignment makes later programs do, as the grammar's
// block of the environment says. Most names are not in it, and cost nothing.
func (en *exporter) affects(name string, value data) {
	if !value.known() && strings.Trim(value.text, effect.Unknown) != "" { // what is not known of it may be nothing
		en.affects(name, data{strings.ReplaceAll(value.text, effect.Unknown, ""), value.taint})
	}
	if number, ok := strings.CutPrefix(name, "GIT_CONFIG_VALUE_"); ok {
		en.gitSetting(number, value)
		return
	}
	if function, ok := strings.CutPrefix(name, "BASH_FUNC_"); ok {
		en.in.def.imported(function, value)
		return
	}
	if target, ok := strings.CutPrefix(name, "CARGO_TARGET_"); ok { // of any target
		for _, end := range [...]string{"RUNNER", "LINKER"} {
			if strings.HasSuffix(target, "_"+end) {
				name = "CARGO_TARGET_" + end
			}
		}
	}
	if !en.in.Table.Variable(name) {
		if name == "BASH_XTRACEFD" {
			en.in.io.traced()
		}
		if disables(name) && value.text != "" && value.text != "0" && value.text != "false" {
			en.in.add(effect.Effect{Kind: effect.Permission, Target: "guard:" + name, By: name + "="})
		}
		return
	}
	en.in.rep.level++
	switch {
	case en.in.rep.level > en.in.rep.lim.Nesting:
		en.in.rep.over(overDepth)
	case name == "PROMPT_COMMAND", name == "PS0", name == "PS1", name == "PS4":
		en.in.traps.hooked(name, func(*input) { en.variable(name, value) })
	default:
		en.variable(name, value)
	}
	en.in.rep.level--
}

// handsOver notes the files of settings that a variable names for the programs that run with it:
// GIT_TRACE, PIP_LOG and a hundred others name a file that is written.
func (en *exporter) handsOver(name string) {
	value := en.in.par.valueOf(name)
	if en.in.ctx.Written || en.in.rep.bits&effect.Remote != 0 || len(value.text) > maxMentioned || !hint(value.text) {
		return
	}
	m := mentioner{in: en.in, by: name + "="}
	m.scan(value.text)
	m.tell(len(en.in.rep.res.Effects))
}

func (en *exporter) variable(name string, value data) {
	mark, words := len(en.in.exp.fields), len(en.in.programs.words)
	en.in.exp.push(field{data: data{text: "="}})
	en.in.exp.push(field{data: data{name + "=" + value.text, value.taint}})
	en.in.programs.words = append(en.in.programs.words, "=", en.in.exp.fields[mark+1].text)
	argv := en.in.programs.words[words:]
	a := en.in.programs.borrow()
	p := &a.parsed
	en.in.Table.Parse(argv, p)
	a.take(en.in, argv, mark, &input{}, name+"=")
	en.in.programs.apply(a, nil)
	en.in.programs.giveBack(a)
	en.in.exp.fields, en.in.programs.words = en.in.exp.fields[:mark], en.in.programs.words[:words]
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
var settingsReaders = map[string]bool{
	"claude": true, "claude-code": true, "codex": true, "gemini": true, "gemini-cli": true, "qwen": true, "qwen-code": true, "opencode": true, "cursor-agent": true, "copilot": true, "droid": true, "kiro-cli": true, "amp": true, "goose": true, "crush": true,
}

// homes are the variables that say where those settings are.
var homes = [...]string{"HOME", "XDG_CONFIG_HOME", "USERPROFILE", "APPDATA"}

// moved notes that an agent is started with another home than its own: it finds no
// hooks there, or others.
func (en *exporter) moved(program string) {
	if !settingsReaders[program[strings.LastIndexByte(program, '/')+1:]] {
		return
	}
	for _, name := range homes {
		if now, was := en.in.par.valueOf(name), en.in.vars.environment(name); now.text != was.text && (now.text != "" || name == "HOME") {
			en.in.add(effect.Effect{Kind: effect.Permission, Target: now.text, What: "agent-settings", By: name + "="})
			return
		}
	}
}

// takesHome reports whether env starts a program without the variable HOME, or without
// any.
func (l *commandLine) takesHome(u *grammar.Use) bool {
	if l.p.Program.Name != "env" && l.by != "env" && l.by != "genv" {
		return false
	}
	for i := 1; i < len(l.argv) && i < u.Word; i++ {
		switch w := l.argv[i]; {
		case w == "-", w == "--ignore-environment", w == "--unset=HOME", w == "-uHOME":
			return true
		case w == "HOME" && (l.argv[i-1] == "-u" || l.argv[i-1] == "--unset"):
			return true
		case len(w) > 1 && w[0] == '-' && w[1] != '-' && w[1] != 'u' && w[1] != 'C' && strings.Contains(w, "i"):
			return true
		}
	}
	return false
}

// gitSetting walks a setting that GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n give to git,
// as if it were given by -c. One whose name is not known may be any.
func (en *exporter) gitSetting(number string, value data) {
	key := en.in.par.valueOf("GIT_CONFIG_KEY_" + number)
	if en.in.rep.level >= en.in.rep.lim.Nesting {
		en.in.rep.over(overDepth)
		return
	}
	mark := len(en.in.exp.fields)
	for _, text := range [...]string{"git", "-c", key.text + "=" + value.text, "version"} {
		en.in.exp.push(field{data: data{text: text}})
	}
	en.in.exp.fields[mark+2].taint = key.taint | value.taint
	en.in.rep.level++
	en.in.programs.runProgram(mark, &input{}, nil)
	en.in.rep.level--
	en.in.exp.fields = en.in.exp.fields[:mark]
}

// environmentOf is what a program finds in a variable: of the environment, or one of
// the text, which need not be told whether it is exported.
func (en *exporter) environmentOf(name string) (text string, from effect.Taint, known bool) {
	if _, ok := en.in.ctx.Env[name]; !ok && en.in.vars.find(name) == nil {
		return "", 0, false
	}
	v := en.in.par.valueOf(name)
	return v.text, v.taint, true
}
