package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// clobber notes that the shell sourced a file, and that it is not known what it sets: each
// variable may now have another value. Running such a variable is a question; as an argument it
// keeps the value that the text gives it. A file outside the working directory is no file of the
// call, unless it is a temporary one, which anybody writes, and the activate script of a Python
// environment sets only its own names: these change nothing.
func (vs *variables) clobber(target string) {
	if path.Base(target) == "activate" || strings.HasPrefix(target, effect.Unknown) ||
		!strings.HasPrefix(target, vs.ctx.Dir+"/") && strings.HasPrefix(target, "/") && effect.IsKnown(target) &&
			!isTemporary(target) {
		return
	}
	vs.clobbered = true
	for i := range vs.list {
		vs.list[i].clobbered = true
	}
}

// settingsReaders are the programs that ask before they act because settings below the home
// directory tell them to.
var settingsReaders = wordset.Of(section("settings readers"))

// homes are the variables that say where those settings are.
var homes = [...]string{"HOME", "XDG_CONFIG_HOME", "USERPROFILE", "APPDATA"}

// affects notes what an assignment makes later programs do, as the environment block of the
// grammar says. Most names are not in it, and cost nothing.
func (en *exporter) affects(name string, value data) {
	if effect.IsKnown(name) {
		name = en.in.vars.referred(name)
	}
	if !value.known() && strings.Trim(value.text, effect.Unknown) != "" { // its unknown part may be empty
		en.affects(name, data{omitted(value.text), value.taint})
	}
	if number, ok := strings.CutPrefix(name, "GIT_CONFIG_VALUE_"); ok {
		en.gitSetting(number, value)
		return
	}
	if function, ok := strings.CutPrefix(name, "BASH_FUNC_"); ok {
		en.in.def.imported(function, value)
		return
	}
	if target, ok := strings.CutPrefix(name, "CARGO_TARGET_"); ok { // for any target
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
	value.text = strings.TrimLeft(value.text, " \t") // options may be put behind others
	if name == "LESSOPEN" {
		value.text = strings.TrimLeft(value.text, "|- ") // how less reads what the program prints
	}
	en.in.rep.deeper(func() {
		switch name {
		case "PROMPT_COMMAND", "PS0", "PS1", "PS4":
			en.in.traps.hooked(name, func(*input) { en.variable(name, value) })
		default:
			en.variable(name, value)
		}
	})
}

// omitted is a text without its unknown parts. Of a list of folders, such as $PATH:/opt/bin, the
// folders that are not known go as a whole: an empty one would be the current folder.
func omitted(text string) string {
	for strings.HasPrefix(text, effect.Unknown+":") {
		text = text[len(effect.Unknown)+1:]
	}
	text = strings.ReplaceAll(text, ":"+effect.Unknown+":", ":")
	return strings.ReplaceAll(strings.TrimSuffix(text, ":"+effect.Unknown), effect.Unknown, "")
}

// handsOver notes the settings files that a variable names to the programs that inherit it:
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
	return strings.HasPrefix(name, "APPROVER_") ||
		wordset.ContainsAny(name, "DISABLE", "BYPASS", "SKIP", "OFF") &&
			wordset.ContainsAny(name, "GUARD", "SAFETY", "SHIELD", "APPROV", "WARDEN", "SENTINEL")
}

// moved notes that an agent is started with another home directory, where it finds no hooks or
// different ones.
func (en *exporter) moved(program string) {
	if !settingsReaders[program[strings.LastIndexByte(program, '/')+1:]] {
		return
	}
	for _, name := range homes {
		if now, was := en.in.par.valueOf(name), en.in.vars.environment(name); now.text != was.text &&
			(now.text != "" || name == "HOME") {
			en.in.add(effect.Effect{Kind: effect.Permission, Target: now.text, What: "agent-settings", By: name + "="})
			return
		}
	}
}

// takesHome reports whether env starts a program without the variable HOME, or with an empty
// environment.
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

// gitSetting walks a setting that GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n give to git as if -c
// gave it. A setting with an unknown name may be any.
func (en *exporter) gitSetting(number string, value data) {
	key := en.in.par.valueOf("GIT_CONFIG_KEY_" + number)
	mark := len(en.in.exp.fields)
	for _, text := range [...]string{"git", "-c", key.text + "=" + value.text, "version"} {
		en.in.exp.push(field{data: data{text: text}})
	}
	en.in.exp.fields[mark+2].taint = key.taint | value.taint
	en.in.rep.deeper(func() { en.in.programs.runProgram(mark, &input{}, nil) })
	en.in.exp.fields = en.in.exp.fields[:mark]
}

// environmentOf is the value that a program finds in a variable of the environment or of the text.
// A variable of the text counts even if it is not exported. Known is false if there is no such
// variable.
func (en *exporter) environmentOf(name string) (text string, from effect.Taint, known bool) {
	if !en.in.vars.isGiven(name) {
		return "", 0, false
	}
	v := en.in.par.valueOf(name)
	return v.text, v.taint, true
}

// rebaseTodo is the file with the steps of a rebase, which git opens in an editor. Its lines may
// be commands.
const rebaseTodo = ".git/rebase-merge/git-rebase-todo"

// editsTodo walks the editors that the text sets for a rebase, with the file that git appends to
// their arguments. A general editor counts only for git rebase and git pull. A sequence editor
// counts for every git command, because an alias may start a rebase.
func (a *applied) editsTodo() {
	in := a.in
	if a.line.by != "git" && !strings.HasPrefix(a.line.by, "git ") {
		return
	}
	variables, settings := []string{"GIT_SEQUENCE_EDITOR"}, []string{"sequence.editor="}
	switch a.line.by {
	case "git rebase", "git pull":
		variables = append(variables, "GIT_EDITOR", "VISUAL", "EDITOR")
		settings = append(settings, "core.editor=")
	case "git config", "git config set":
		i := slices.IndexFunc(a.line.argv, func(w string) bool { return strings.EqualFold(w, "sequence.editor") })
		if i > 0 && i+1 < len(a.line.argv) {
			a.editTodo(a.in.exp.fields[a.mark+i+1].data)
		}
	}
	for _, name := range variables {
		if in.vars.find(name) != nil {
			a.editTodo(in.par.valueOf(name))
		}
	}
	for i, w := range a.line.argv {
		w = strings.TrimPrefix(w, "-c")
		for _, setting := range settings {
			if len(w) > len(setting) && strings.EqualFold(w[:len(setting)], setting) {
				a.editTodo(data{w[len(setting):], in.exp.fields[a.mark+i].taint})
			}
		}
	}
}

// editTodo walks one editor.
func (a *applied) editTodo(editor data) {
	in := a.in
	switch editor.text {
	case "", ":", "true", "false", "none":
		return
	}
	if in.rep.stopped() || in.rep.level >= in.rep.lim.Nesting {
		return
	}
	in.inProcess(func() {
		in.payloads.payload(data{editor.text + " " + rebaseTodo, editor.taint}, "git rebase", &input{}, nil)
	})
}

// helper walks what a program runs on its own because of a setting, such as the ssh command of
// git. Programs that are named by a path are marked as helpers, unless this text wrote them: then
// their effects have been seen. Code whose program is not known is marked as well.
func (a *applied) helper(u *grammar.Use, out *data) {
	in := a.in
	plain := *u
	plain.Arg = ""
	before := len(in.rep.res.Effects)
	a.payload(&plain, out)
	stays := in.env.local && a.line.connects()
	for i := before; i < len(in.rep.res.Effects); i++ {
		e := &in.rep.res.Effects[i]
		named := e.What == "" && strings.IndexByte(e.Target, '/') >= 0
		if e.Kind == effect.Exec && (e.What == "any" || named && in.fs.fileAt(e.Target) == nil && !stays) {
			e.What = "helper"
		}
	}
}

// behindAlias is the text after the alias in a git command that defines the alias and runs it at
// once, as in git -c alias.x='branch -D' x main.
func (l *commandLine) behindAlias(u *grammar.Use) (rest string) {
	name, _, _ := strings.Cut(l.argv[u.Word], "=")
	name = name[strings.LastIndexByte(name, '.')+1:]
	found := false
	for _, word := range l.argv[u.Word+1:] {
		if found {
			rest += " " + quote(word)
		}
		found = found || word == name
	}
	return rest
}

// connects reports whether a variable names a program that git starts only to connect to another
// machine.
func (l *commandLine) connects() bool {
	name, _, _ := strings.Cut(l.argv[len(l.argv)-1], "=")
	return wordset.Has("GIT_SSH_COMMAND GIT_SSH GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS", name)
}
