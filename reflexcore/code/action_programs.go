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

// runProcess evaluates subprocess.run and the like.
func runProcess(m *machine, c invocation) (value, bool) {
	defer m.cwd.enterFor(c.args)()
	m.programs.process(c.target(), c.args, c.by())
	return m.programs.started(processType, c.target(), c.args, c.by()), true
}

// runWords is the action of functions that take a program and a list of its arguments.
func runWords(m *machine, c invocation) (value, bool) {
	defer m.cwd.enterFor(c.args)()
	words := m.programs.spawn(c.row, c.args, c.by())
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

func runExec(m *machine, c invocation) (value, bool) {
	m.programs.execv(c.row, c.args, c.by())
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

func runForked(m *machine, c invocation) (value, bool) {
	m.programs.forked(c.args, c.by())
	return unknown(c.taint), true
}

// runPipeline evaluates Open3.pipeline("a", ["b", "c"]).
func runPipeline(m *machine, c invocation) (value, bool) {
	m.programs.pipeline(c.args, c.by())
	return unknown(c.taint | effect.File), true
}

// runNamed evaluates sh.git("status"), where the function is named after the program.
func runNamed(m *machine, c invocation) (value, bool) {
	by := c.by()
	words := append([]string{by[strings.LastIndexByte(by, '.')+1:]}, list(values(c.args), 0).words()...)
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

// runCmd evaluates cmd /c ….
func runCmd(m *machine, c invocation) (value, bool) {
	m.programs.cmdNested(c.args, c.by())
	return value{}, false
}

// runMagic evaluates run_cell_magic("bash", "", "ls").
func runMagic(m *machine, c invocation) (value, bool) {
	magics := cells{out: &m.out, programs: &m.programs}
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
