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
		defer m.cwd.elsewhere(args)()
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
		m.programs.ownShell(a, args, by)
		if a.keys != nil && strings.HasSuffix(by, "$") { // $({cwd: x})`…`
			return callee, true
		}
		if a.kind == listValue && a.keys == nil {
			m.programs.argv(a.words(), taint, by)
		} else {
			m.programs.shell(a, by)
		}
		child := m.programs.started(childType, a, args, by)
		child.taint |= taint
		if child.n == 0 {
			return unknown(child.taint), true
		}
		return child, true
	case "process":
		m.programs.process(target(), args, by)
		return m.programs.started(processType, target(), args, by), true
	case "argv":
		return m.programs.started(processType, list(asValues(m.programs.spawn(r, args, by)), 0), args, by), true
	case "input": // what a process is given, which goes into its pipe as well
		if p := m.programs.pipeOf(callee.of); p != nil {
			m.programs.fed(p.program, target(), by)
		}
		return unknown(effect.File), true
	case "list":
		program := m.programs.systemList(args, r.arg, by)
		if in, ok := named(args, "stdin_data"); ok {
			m.programs.inputOf(program, in, by)
		} else {
			m.programs.started(processType, text(program, 0), nil, by)
		}
		return unknown(effect.File), true
	case "execv", "execl":
		m.programs.execv(r, args, by)
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
			m.out.found(Found{Op: Exec, Text: a.str(), Taint: a.taint, By: by})
		}
	case "object":
		return newObjectOf(r, args, target(), taint), true
	case "opaque":
		m.out.found(Found{Text: by, Taint: taint, By: by})
		return unknown(taint), true
	case "open":
		return m.resources.open(r, target(), args, by), true
	case "read", "write", "delete", "chmod":
		if r.param == "all" {
			return m.resources.files(r, list(values(args), 0), nil, taint, by)
		}
		return m.resources.files(r, target(), args, taint, by)
	case "stdin":
		return m.given.stdin(r), true
	case "shift":
		if len(args) == 0 {
			return m.shift(), true
		}
		if !m.given.areOperands(args) {
			return args[0].value, true
		}
		return m.given.nextOperand(), true
	case "pop": // sys.argv.pop(1)
		if first, ok := argument(args, 0); ok && first.kind == numberValue {
			return at(m.given.operands(1), first.n), true
		}
		return at(m.given.operands(1), -1), true
	case "chdir":
		return m.cwd.chdir(r, args), true
	case "content":
		m.resources.content(callee, args, by)
		return unknown(0), true
	case "kill":
		a := target()
		m.out.found(Found{Op: Kill, Text: a.str(), Bits: r.bits, By: by})
	case "entries":
		return m.resources.entries(r, target(), args, by), true
	case "answers":
		return m.resources.answers(r, args, taint, by), true
	case "remotedelete":
		switch r.param {
		case "rows":
			m.resources.rowsGone(args, by)
			return unknown(taint), true
		case "options":
			m.resources.emptied(args, by)
			return unknown(taint), true
		}
		m.out.found(Found{Op: RemoteDelete, Text: target().str(), By: by})
	case "sql":
		if a := target(); a.kind == textValue {
			m.out.found(Found{Op: SQL, Text: a.str(), Taint: a.taint, By: by})
		}
	case "privilege":
		m.out.found(Found{Op: Privilege, Text: target().str(), By: by})
	case "netin", "netout":
		return m.resources.network(r, target(), args, taint, by), true
	case "connect":
		return m.resources.connect(r, args, taint, by), true
	case "send": // data for a socket that is open
		if args := argTaint(args); args&(effect.Secret|effect.File) != 0 {
			m.out.found(Found{Op: NetOut, Text: effect.Unknown, Taint: args, By: by})
		}
		return unknown(0), true
	case "environment":
		if a := target(); r.arg >= 0 && a.kind == textValue {
			return m.given.env(a.s, by), true
		}
		m.out.found(Found{Op: Read, Text: "environment", Taint: effect.Secret, By: by})
		return unknown(effect.Secret), true
	case "unknown":
		return unknown(taint | r.taint), true
	}
	return m.idiom(r, callee, args, taint)
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
		m.out.found(Found{Op: Code, Text: v.str(), Taint: v.taint, By: by})
		return unknown(v.taint)
	case lang != m.lang:
		m.out.found(Found{Op: Code, Lang: lang, Text: v.s, Taint: v.taint, By: by})
		return unknown(v.taint)
	}
	m.out.found(Found{Op: Code, Text: v.s, Taint: v.taint, By: by})
	outer := m.out.taint
	m.out.taint |= v.taint
	result := m.nested(v.s, 0)
	m.out.taint = outer
	if r.result != "" {
		return value{kind: objectValue, s: r.result, taint: v.taint}
	}
	return result
}

// imported gives the name of a module. One that is a file runs.
func (m *machine) imported(v value, by string) value {
	name := v.str()
	if v.kind != textValue || !effect.IsKnown(name) {
		m.out.found(Found{Text: by, Taint: v.taint, By: by})
		return value{kind: nameValue, s: effect.Unknown, taint: v.taint}
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		op := Exec
		if strings.HasSuffix(name, ".json") {
			op = Read
		}
		m.out.found(Found{Op: op, Text: name, Taint: v.taint, By: by})
		return unknown(v.taint | effect.File)
	}
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		m.out.found(Found{Op: Code, Text: effect.Unknown, Taint: effect.Network, By: by})
		m.out.found(Found{Op: NetIn, Text: name, By: by})
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
