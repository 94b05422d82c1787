package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// act does what a row of the table says. If ok, v is the result of the call.
func (m *machine) act(r row, callee value, args []arg, taint effect.Taint) (v value, ok bool) {
	by := callee.s
	switch r.action {
	case "shell", "process", "argv", "list":
		defer m.elsewhere(args)()
	}
	target := func() value {
		if r.arg == argReceiver {
			if callee.of != nil {
				return *callee.of
			}
			return unknown(0)
		}
		if a, found := argument(args, max(0, r.arg)); found {
			return a
		}
		return unknown(taint)
	}
	switch r.action {
	case "fold", "property":
		return m.fold(r, callee, args, target(), taint), true
	case "callback":
		m.callbacks(callee, args, taint)
		return unknown(taint), true
	case "shell":
		a := target()
		m.ownShell(a, args, by)
		if a.keys != nil && strings.HasSuffix(by, "$") { // $({cwd: x})`…`
			return callee, true
		}
		if a.kind == listValue && a.keys == nil {
			m.argv(a.words(), taint, by)
		} else {
			m.shell(a, by)
		}
		child := m.started(childType, a, args, by)
		child.taint |= taint
		if child.n == 0 {
			return unknown(child.taint), true
		}
		return child, true
	case "process":
		m.process(target(), args, by)
		return m.started(processType, target(), args, by), true
	case "argv":
		return m.started(processType, list(asValues(m.spawn(r, args, by)), 0), args, by), true
	case "input": // what a process is given, which goes into its pipe as well
		if p := m.pipeOf(callee.of); p != nil {
			m.fed(p.program, target(), by)
		}
		return unknown(effect.File), true
	case "list":
		program := m.systemList(args, r.arg, by)
		if in, ok := named(args, "stdin_data"); ok {
			m.inputOf(program, in, by)
		} else {
			m.started(processType, text(program, 0), nil, by)
		}
		return unknown(effect.File), true
	case "execv", "execl":
		m.execv(r, args, by)
		return unknown(0), true
	case "code":
		return m.code(r, target(), by), true
	case "import":
		return m.imported(target(), by), true
	case "attr":
		return m.attribute(args, by), true
	case "run":
		if a := target(); m.runsStdin(a, by) || m.d.name == "lua" && len(args) == 0 && m.runsStdin(value{kind: numberValue}, by) {
			return unknown(taint), true
		} else if a.kind != listValue {
			m.found(Found{Op: Exec, Text: a.str(), Taint: a.taint, By: by})
		}
	case "object":
		return newObjectOf(r, args, target(), taint), true
	case "opaque":
		m.found(Found{Text: by, Taint: taint, By: by})
		return unknown(taint), true
	case "open":
		return m.open(r, target(), args, by), true
	case "read", "write", "delete", "chmod":
		if r.param == "all" {
			return m.files(r, list(values(args), 0), nil, taint, by)
		}
		return m.files(r, target(), args, taint, by)
	case "stdin":
		return m.stdin(r), true
	case "shift":
		if len(args) == 0 {
			return m.shift(), true
		}
		if !m.areOperands(args) {
			return args[0].value, true
		}
		return m.nextOperand(), true
	case "pop": // sys.argv.pop(1)
		if first, ok := argument(args, 0); ok && first.kind == numberValue {
			return at(m.operands(1), first.n), true
		}
		return at(m.operands(1), -1), true
	case "chdir":
		return m.chdir(r, args), true
	case "content":
		m.content(callee, args, by)
		return unknown(0), true
	case "kill":
		a := target()
		m.found(Found{Op: Kill, Text: a.str(), Bits: r.bits, By: by})
	case "entries":
		return m.entries(r, target(), args, by), true
	case "answers":
		return m.answers(r, args, taint, by), true
	case "remotedelete":
		switch r.param {
		case "rows":
			m.rowsGone(args, by)
			return unknown(taint), true
		case "options":
			m.emptied(args, by)
			return unknown(taint), true
		}
		m.found(Found{Op: RemoteDelete, Text: target().str(), By: by})
	case "sql":
		if a := target(); a.kind == textValue {
			m.found(Found{Op: SQL, Text: a.str(), Taint: a.taint, By: by})
		}
	case "privilege":
		m.found(Found{Op: Privilege, Text: target().str(), By: by})
	case "netin", "netout":
		return m.network(r, target(), args, taint, by), true
	case "connect":
		return m.connect(r, args, taint, by), true
	case "send": // data for a socket that is open
		if args := argTaint(args); args&(effect.Secret|effect.File) != 0 {
			m.found(Found{Op: NetOut, Text: effect.Unknown, Taint: args, By: by})
		}
		return unknown(0), true
	case "environment":
		if a := target(); r.arg >= 0 && a.kind == textValue {
			return m.env(a.s, by), true
		}
		m.found(Found{Op: Read, Text: "environment", Taint: effect.Secret, By: by})
		return unknown(effect.Secret), true
	case "unknown":
		return unknown(taint | r.taint), true
	}
	return m.idiom(r, callee, args, taint)
}

// shell yields a command line.
func (m *machine) shell(v value, by string) {
	line := v.str()
	if v.kind == nameValue && v.of != nil {
		v.taint |= v.of.taint
	}
	if strings.TrimSpace(line) == "" { // awk's system("") only flushes
		return
	}
	m.settlePipes()
	m.found(Found{Op: Shell, Text: line, Taint: v.taint, By: by})
	m.startsProgram(line, by)
	m.remoteShell(line, line, by)
}

// remoteShell: a shell runs and a socket to another host is open, in whichever
// order: what the host sends is what the shell does.
func (m *machine) remoteShell(program, line, by string) {
	switch {
	case !isShellLine(line):
	case m.connected:
		m.found(Found{Op: Exec, Text: program, Taint: effect.Network, By: by})
	default:
		m.shellRan = program
	}
}

// argv yields the words of a command.
func (m *machine) argv(words []string, taint effect.Taint, by string) {
	if len(words) == 0 {
		return
	}
	m.settlePipes()
	m.found(Found{Op: Argv, Args: words, Taint: taint, By: by})
	m.startsProgram(strings.Join(words, " "), by)
	m.remoteShell(words[0], strings.Join(words, " "), by)
}

// isShellLine reports whether a command starts a shell that reads its commands
// from what it is connected to.
func isShellLine(line string) bool {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return false
	}
	name := strings.ToLower(fields[0][strings.LastIndexAny(fields[0], `/\`)+1:])
	switch strings.TrimSuffix(name, ".exe") {
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "csh", "tcsh", "fish", "busybox", "cmd", "powershell", "pwsh":
	default:
		return false
	}
	for _, f := range fields[1:] {
		if f == "-c" || f == "/c" || f == "/C" {
			return false
		}
	}
	return true
}

// process is subprocess.run and its like: a list of words, a line for the shell.
func (m *machine) process(v value, args []arg, by string) {
	shell, _ := named(args, "shell")
	if program, ok := named(args, "executable"); ok && (program.kind != nameValue || program.s != "None") {
		m.executable(program, v, shell.truthy(), by)
	}
	switch {
	case v.kind != listValue:
		m.shell(v, by)
	case shell.truthy() && len(v.list) > 0:
		m.shell(v.list[0], by)
	default:
		m.argv(v.words(), v.taint, by)
	}
}

// executable is the program that runs whatever the first word says. The words are judged
// as they stand besides, for the program may be what they name.
func (m *machine) executable(program, v value, shell bool, by string) {
	words, taint := v.words(), v.taint|program.taint
	switch {
	case shell && isShellLine(program.str()):
	case shell:
		m.argv(append([]string{program.str(), "-c"}, words...), taint, by)
	case len(words) > 0:
		m.argv(append([]string{program.str()}, words[1:]...), taint, by)
	}
}

// processName is what an object that stands for a process remembers: its command.
func processName(v value) string {
	if v.kind == listValue && v.keys == nil {
		return strings.Join(v.words(), " ")
	}
	return v.str()
}

// spawn is a program and a list of its arguments, as in spawn("rm", ["-rf"]).
func (m *machine) spawn(r row, args []arg, by string) (line []string) {
	vs := values(args)
	if r.arg < 0 || r.arg >= len(vs) {
		m.argv([]string{effect.Unknown}, argTaint(args), by)
		return []string{effect.Unknown}
	}
	vs = vs[r.arg:]
	words := vs[0].words()
	for _, v := range vs[1:] {
		switch {
		case v.keys != nil:
			if more, ok := v.key("args"); ok { // Deno.Command
				words = append(words, more.words()...)
			}
		case v.fn != nil:
		case v.kind == listValue:
			words = append(words, v.words()...)
		default:
			words = append(words, v.str())
		}
	}
	m.ownShell(text(strings.Join(words, " "), taints(vs)), args, by)
	if shell, ok := named(args, "shell"); ok && (shell.truthy() || shell.kind == textValue) {
		m.shell(text(strings.Join(words, " "), taints(vs)), by)
		return words
	}
	m.argv(words, taints(vs), by)
	return words
}

// systemList is system and exec of Perl and Ruby: one argument is a line for the
// shell, more are words.
func (m *machine) systemList(args []arg, from int, by string) string {
	vs := values(args)
	if len(args) > 1 && args[0].name == perlProgram { // runs, and is told the first word as its name
		words := append([]string{args[0].str()}, list(vs[min(1, len(vs)):], 0).words()...)
		m.argv(words, argTaint(args), by)
		defer m.started(processType, list(asValues(words), 0), nil, by)
	}
	for len(vs) > 0 && vs[0].keys != nil { // Ruby's environment
		vs = vs[1:]
	}
	if n := len(vs); n > 0 && vs[n-1].keys != nil {
		vs = vs[:n-1]
	}
	vs = vs[min(max(0, from), len(vs)):]
	var words []string
	for _, v := range vs {
		words = append(words, v.words()...)
	}
	switch {
	case len(vs) == 0:
		m.shell(unknown(argTaint(args)), by)
	case len(vs) == 1 && vs[0].kind != listValue:
		m.shell(vs[0], by)
	default:
		m.argv(words, taints(vs), by)
	}
	return strings.Join(words, " ")
}

// execv is the exec family: a path, then argv with its name in front.
func (m *machine) execv(r row, args []arg, by string) {
	vs := values(args)
	if r.arg < 0 || r.arg >= len(vs) {
		m.argv([]string{effect.Unknown}, argTaint(args), by)
		return
	}
	vs = vs[r.arg:]
	words := []string{vs[0].str()}
	switch {
	case r.action == "execl":
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
	m.argv(words, taints(vs), by)
}

// code runs nested code: at once where it is all known and in this language.
func (m *machine) code(r row, v value, by string) value {
	lang := r.param
	if lang == "" {
		lang = m.lang
	}
	switch {
	case v.fn != nil:
		return m.apply(v.fn, nil)
	case v.kind == objectValue && (v.s == "code" || v.s == "scriptblock"), v.kind == numberValue:
		return unknown(v.taint) // what compile() gave has been looked into
	case !v.known():
		m.found(Found{Op: Code, Text: v.str(), Taint: v.taint, By: by})
		return unknown(v.taint)
	case lang != m.lang:
		m.found(Found{Op: Code, Lang: lang, Text: v.s, Taint: v.taint, By: by})
		return unknown(v.taint)
	}
	m.found(Found{Op: Code, Text: v.s, Taint: v.taint, By: by})
	outer := m.taint
	m.taint |= v.taint
	result := m.nested(v.s, 0)
	m.taint = outer
	if r.result != "" {
		return value{kind: objectValue, s: r.result, taint: v.taint}
	}
	return result
}

// imported gives the name of a module. One that is a file runs.
func (m *machine) imported(v value, by string) value {
	name := v.str()
	if v.kind != textValue || !effect.IsKnown(name) {
		m.found(Found{Text: by, Taint: v.taint, By: by})
		return value{kind: nameValue, s: effect.Unknown, taint: v.taint}
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		op := Exec
		if strings.HasSuffix(name, ".json") {
			op = Read
		}
		m.found(Found{Op: op, Text: name, Taint: v.taint, By: by})
		return unknown(v.taint | effect.File)
	}
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		m.found(Found{Op: Code, Text: effect.Unknown, Taint: effect.Network, By: by})
		m.found(Found{Op: NetIn, Text: name, By: by})
	}
	if m.d.name == "ruby" || m.d.name == "php" {
		return unknown(0)
	}
	return value{kind: nameValue, s: m.api.canonical(name)}
}

// attribute is getattr(object, name).
func (m *machine) attribute(args []arg, by string) value {
	object, _ := argument(args, 0)
	name, _ := argument(args, 1)
	return m.memberOf(object, name.str())
}

// object makes an object of the row's type.
func newObjectOf(r row, args []arg, from value, taint effect.Taint) value {
	v := value{kind: objectValue, s: r.result, taint: taint | r.taint}
	if len(args) > 0 && r.arg >= 0 {
		v.from = from.str()
		if r.param == "join" {
			v.from = joinPath(values(args))
		}
	}
	return v
}
