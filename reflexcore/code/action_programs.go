package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// runShell is the action of functions that take a command line.
func runShell(m *machine, c invocation) (value, bool) {
	defer m.cwd.enterFor(c.args)()
	a, by := c.target(), c.by()
	m.programs.ownShell(a, c.args, by)
	if a.keys != nil && strings.HasSuffix(by, "$") { // $({cwd: x})`…`
		return c.callee, true
	}
	if a.kind == listValue && a.keys == nil {
		m.programs.argv(a.words(), c.taint, by)
	} else {
		m.programs.shell(a, by)
	}
	child := m.programs.started(childType, a, c.args, by)
	child.taint |= c.taint
	if child.n == 0 {
		return unknown(child.taint), true
	}
	return child, true
}

// runProcess evaluates subprocess.run and the like: a list of words, or a line for the shell.
func runProcess(m *machine, c invocation) (value, bool) {
	defer m.cwd.enterFor(c.args)()
	v, by := c.target(), c.by()
	shell, _ := named(c.args, "shell")
	if program, ok := named(c.args, "executable"); ok && (program.kind != nameValue || program.s != "None") {
		m.programs.executable(program, v, shell.truthy(), by)
	}
	switch {
	case v.kind != listValue:
		m.programs.shell(v, by)
	case shell.truthy() && len(v.list) > 0:
		m.programs.shell(v.list[0], by)
	default:
		m.programs.argv(v.words(), v.taint, by)
	}
	return m.programs.started(processType, v, c.args, by), true
}

// runWords is the action of functions that take a program and a list of its arguments, as in
// spawn("rm", ["-rf"]).
func runWords(m *machine, c invocation) (value, bool) {
	defer m.cwd.enterFor(c.args)()
	vs, given := c.argv()
	words := vs[0].words()
	for _, v := range vs[1:] {
		switch {
		case v.keys != nil:
			if more, ok := v.key("args"); ok { // Deno.Command
				words = append(words, more.words()...)
			}
		case v.fn != nil:
		default:
			words = append(words, v.words()...)
		}
	}
	line := text(strings.Join(words, " "), taints(vs))
	if given {
		m.programs.ownShell(line, c.args, c.by())
	}
	if shell, ok := named(c.args, "shell"); given && ok && (shell.truthy() || shell.kind == textValue) {
		m.programs.shell(line, c.by())
	} else {
		m.programs.argv(words, taints(vs), c.by())
	}
	return m.programs.started(processType, list(textValues(words, 0), 0), c.args, c.by()), true
}

// runList evaluates system of Perl and Ruby.
func runList(m *machine, c invocation) (value, bool) {
	defer m.cwd.enterFor(c.args)()
	program := m.programs.systemList(c.args, c.arg, c.by())
	if in, ok := named(c.args, "stdin_data"); ok {
		m.programs.inputOf(program, in, c.by())
	} else {
		m.programs.started(processType, text(program, 0), nil, c.by())
	}
	return unknown(effect.File), true
}

// giveInput is the action of functions that give a process its input, which may also be a pipe.
func giveInput(m *machine, c invocation) (value, bool) {
	if p := m.programs.pipeOf(c.callee.of); p != nil {
		m.programs.judgeShellInput(p.program, c.target(), c.by())
	}
	return unknown(effect.File), true
}

// runExec evaluates the exec family: a path, then argv, which begins with the program's name.
func runExec(m *machine, c invocation) (value, bool) {
	vs, _ := c.argv()
	words := []string{vs[0].str()}
	switch {
	case c.action == "execl":
		for i, v := range vs[1:] {
			if i > 0 && v.keys == nil {
				words = append(words, v.str())
			}
		}
	case len(vs) > 1 && vs[1].kind == listValue:
		if w := vs[1].words(); len(w) > 1 {
			words = append(words, w[1:]...)
		}
	case len(vs) > 1:
		words = append(words, effect.Unknown)
	}
	m.programs.argv(words, taints(vs), c.by())
	return unknown(0), true
}

// runFileOf evaluates execFile(program, words).
func runFileOf(m *machine, c invocation) (value, bool) {
	words, second := []string{c.first().str()}, c.second()
	if second.kind == listValue {
		words = append(words, second.words()...)
	}
	m.programs.argv(words, c.taint, c.by())
	return value{}, false
}

// runForked evaluates child_process.fork(script, args): another node runs the script, unless an
// option names another program.
func runForked(m *machine, c invocation) (value, bool) {
	words := []string{"node"}
	if program, ok := named(c.args, "execPath"); ok {
		words[0] = program.str()
	}
	if given, ok := named(c.args, "execArgv"); ok {
		words = append(words, given.words()...)
	}
	for _, v := range values(c.args) {
		if v.keys == nil && v.fn == nil {
			words = append(words, v.words()...)
		}
	}
	m.programs.argv(words, argTaint(c.args), c.by())
	return unknown(c.taint), true
}

// runPipeline evaluates Open3.pipeline("a", ["b", "c"]). Each argument is a command line or the words
// of a command, and the output of one is the input of the next.
func runPipeline(m *machine, c invocation) (value, bool) {
	var parts []string
	for _, v := range values(c.args) {
		switch {
		case v.keys != nil: // the environment, the options
		case v.kind == listValue:
			var words []string
			for _, w := range v.list {
				if w.keys == nil {
					words = append(words, singleQuoted(w.str()))
				}
			}
			parts = append(parts, strings.Join(words, " "))
		default:
			parts = append(parts, v.str())
		}
	}
	if len(parts) > 0 {
		m.programs.noteProgram(parts[0], c.by()) // its input is not known
		m.programs.shell(text(strings.Join(parts, " | "), argTaint(c.args)), c.by())
	}
	return unknown(c.taint | effect.File), true
}

// runNamed evaluates sh.git("status"), where the function is named after the program.
func runNamed(m *machine, c invocation) (value, bool) {
	by := c.by()
	words := append([]string{lastName(by)}, list(values(c.args), 0).words()...)
	m.programs.argv(words, c.taint, by)
	return unknown(c.taint | effect.File), true
}

// startProcess evaluates Start-Process program -ArgumentList ….
func startProcess(m *machine, c invocation) (value, bool) {
	words, second, by := c.first().words(), c.second(), c.by()
	if list, ok := named(c.args, "argumentlist", "args"); ok {
		words = append(words, list.words()...)
	} else if second.kind != unknownValue {
		words = append(words, second.words()...)
	}
	if verb, ok := named(c.args, "verb"); ok && strings.EqualFold(verb.str(), "runas") {
		m.out.found(Found{Op: Privilege, Text: "administrator", By: by})
	}
	m.programs.argv(words, c.taint, by)
	if line := strings.Join(words, " "); len(strings.Fields(line)) > len(words) { // the words are split again
		m.programs.shell(text(line, c.taint), by)
	}
	return value{}, false
}

// runPowerShell evaluates powershell with a command or an encoded command.
func runPowerShell(m *machine, c invocation) (value, bool) {
	for _, a := range c.args {
		if psPrefix(a.name, "encodedcommand", 1) || a.name == "ec" {
			m.evaluateCode(row{}, applyDecoder("utf16le", applyDecoder("base64", a.value)), c.by())
			return value{}, false
		}
		if psPrefix(a.name, "file", 1) {
			m.out.found(Found{Op: Exec, Text: a.str(), Taint: a.taint, By: c.by()})
			return value{}, false
		}
	}
	if vs := values(c.args); len(vs) > 0 {
		m.evaluateCode(row{}, text(concat(vs, " "), taints(vs)), c.by())
	}
	return value{}, false
}

// runCmd evaluates cmd with /c or /k.
func runCmd(m *machine, c invocation) (value, bool) {
	vs := values(c.args)
	for i, v := range vs {
		if s := strings.ToLower(v.str()); s == "/c" || s == "/k" || s == "/r" {
			line := text(concat(vs[i+1:], " "), taints(vs))
			m.out.found(Found{Op: Code, Lang: "cmd", Text: line.s, Taint: line.taint, By: c.by()})
			return value{}, false
		}
	}
	m.programs.argv([]string{"cmd"}, 0, c.by())
	return value{}, false
}

// runMagic evaluates run_cell_magic("bash", "", "ls").
func runMagic(m *machine, c invocation) (value, bool) {
	magics := cells{m}
	magics.magic(c.first().str(), c.second(), c.args, c.by())
	return unknown(c.taint), true
}

// forkBomb evaluates fork, which exhausts the host in an endless loop.
func forkBomb(m *machine, c invocation) (value, bool) {
	if m.in.loops() {
		m.out.found(Found{Op: Kill, Text: "host", By: c.by() + " in a loop"})
	}
	return value{}, false
}
