package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// openFile evaluates a function that reads or writes depending on its mode, which follows the path.
func openFile(m *machine, c invocation) (value, bool) {
	path, by := c.target(), c.by()
	mode, ok := argument(c.args, c.arg+1) // for a receiver, the first argument
	if v, isNamed := named(c.args, "mode", "flags", "flag"); isNamed {
		mode, ok = v, true
	}
	if mode.keys != nil || mode.fn != nil {
		ok = false
	}
	if p := path.str(); strings.HasPrefix(p, "|") && m.d.library.pipeOpens {
		program := text(p[1:], path.taint)
		m.programs.shell(program, by)
		writes := ok && (!mode.known() || strings.Trim(mode.str(), "rbt") != "")
		return m.programs.piped(childType, program, writes, by), true
	}
	if m.d.library.pipeOpens && (by == "open" || by == "Kernel.open") {
		m.opensAnything(path, by)
	}
	if m.d.library.opensInput && isStdinPath(path) {
		return value{kind: objectValue, s: "stdin", taint: m.lim.InputTaint}, true
	}
	if cmd, ok := strings.CutPrefix(path.str(), "expect://"); ok && m.d.library.expectURLs {
		m.programs.shell(text(cmd, path.taint), by)
	}
	kind := row{action: "read"}
	readOnly := mode.kind == nameValue && strings.Contains(mode.s, "RDONLY")
	if ok && !readOnly && (!mode.known() || strings.ContainsAny(mode.str(), "wax+c>")) {
		kind.action = "write"
		if mode.known() && strings.ContainsAny(mode.str(), "a") || strings.HasPrefix(mode.str(), ">>") {
			kind.bits = effect.Append
		}
	}
	v, _ := m.resources.files(kind, path, nil, 0, by)
	return value{kind: objectValue, s: "file", from: path.str(), taint: v.taint}, true
}

// opensAnything adds the program that a name may start, because of a | in it, if somebody else gives the name.
func (m *machine) opensAnything(name value, by string) {
	if !name.known() && (name.taint&(effect.Network|effect.Decoded) != 0 || m.fed() && name.taint == 0) {
		name.taint |= m.lim.InputTaint
		m.programs.shell(name, by)
	}
}

// useFiles reads, writes or deletes files, or changes their permissions.
func useFiles(m *machine, c invocation) (value, bool) {
	if c.param == "all" {
		return m.resources.files(c.row, list(values(c.args), 0), nil, c.taint, c.by())
	}
	return m.resources.files(c.row, c.target(), c.args, c.taint, c.by())
}

// writeContent writes to the receiver of the method.
func writeContent(m *machine, c invocation) (value, bool) {
	m.resources.content(c.callee, c.args, c.by())
	return unknown(0), true
}

// writeTo writes to its first argument.
func writeTo(m *machine, c invocation) (value, bool) {
	if first := c.first(); first.kind == objectValue && first.s == "file" {
		m.resources.content(value{of: &first}, []arg{{value: c.second()}}, c.by())
	}
	return value{}, false
}

// listFolder evaluates os.walk, glob and the like. The result is a list with one element that means
// all entries. With the parameter tree it includes all folders below.
func listFolder(m *machine, c invocation) (value, bool) {
	folder, res := c.target(), &m.resources
	res.files(row{action: "read"}, folder, c.args, 0, c.by())
	root := strings.TrimSuffix(folder.str(), "/")
	one := text(root+"/"+effect.Unknown, effect.File)
	switch c.param {
	case "walk": // a folder, its folders and its files
		any := value{kind: listValue, list: []value{unknown(effect.File)}, s: "entries"}
		one = value{kind: listValue, list: []value{one, any, any}}
		res.walked = append(res.walked, root)
	case "tree", "paths":
		one = value{kind: objectValue, s: "path", from: one.s, taint: effect.File}
		if c.param == "tree" {
			res.walked = append(res.walked, root)
		}
	case "pattern":
		one = text(folder.str(), effect.File)
		if top, _, deep := strings.Cut(folder.str(), "/**"); deep {
			res.walked = append(res.walked, top)
		}
	}
	return value{kind: listValue, list: []value{one}, s: "entries", taint: effect.File}, true
}

// globFiles matches file names.
func globFiles(m *machine, c invocation) (value, bool) {
	if strings.ContainsAny(c.first().str(), "`|;$") {
		m.out.found(Found{Text: c.by(), Taint: c.taint, By: c.by()})
	}
	pattern := c.first()
	if !pattern.known() || strings.ContainsAny(pattern.str(), " {") { // several patterns
		return unknown(effect.File), true
	}
	return value{kind: listValue, list: []value{text(pattern.str(), effect.File)}, s: "entries", taint: effect.File}, true
}

func useNetwork(m *machine, c invocation) (value, bool) {
	return m.resources.network(c.row, c.target(), c.args, c.taint, c.by()), true
}

func connectTo(m *machine, c invocation) (value, bool) {
	return m.resources.connect(c.row, c.args, c.taint, c.by()), true
}

// sendData sends data through an open socket or in a request that was begun.
func sendData(m *machine, c invocation) (value, bool) {
	if taint := argTaint(c.args); taint&(effect.Secret|effect.File) != 0 {
		to := effect.Unknown
		if c.callee.of != nil && c.callee.of.kind == objectValue {
			to = c.callee.of.str()
		}
		m.out.found(Found{Op: NetOut, Text: to, Taint: taint, By: c.by()})
	}
	return unknown(0), true
}

// pipeTo sends what a stream reads through an open socket, if one is among the arguments.
func pipeTo(m *machine, c invocation) (value, bool) {
	if c.taint&(effect.Secret|effect.File) == 0 {
		return unknown(c.taint), true
	}
	for i, a := range c.args {
		if a.kind == objectValue && (a.s == "socket" || a.s == "outgoing") && (i > 0 || c.callee.of != nil) {
			m.out.found(Found{Op: NetOut, Text: effect.Unknown, Taint: c.taint, By: c.by()})
		}
	}
	return unknown(c.taint), true
}

// getURL evaluates get of LWP::Simple, if the argument is a URL.
func getURL(m *machine, c invocation) (value, bool) {
	if first := c.first(); isURL(first.str()) {
		return m.resources.network(row{action: "netin"}, first, c.args[:1], c.taint, c.by()), true
	}
	return unknown(c.taint), true
}

func setCurlOption(m *machine, c invocation) (value, bool) {
	v, _ := argument(c.args, 2)
	if option := c.second(); option.kind == nameValue {
		switch option.s {
		case "CURLOPT_URL":
			m.out.found(Found{Op: NetIn, Text: v.str(), Taint: v.taint, By: c.by()})
		case "CURLOPT_POSTFIELDS", "CURLOPT_UPLOAD", "CURLOPT_INFILE":
			m.out.found(Found{Op: NetOut, Text: effect.Unknown, Taint: v.taint, By: c.by()})
		}
	}
	return unknown(c.taint), true
}

// askModel evaluates a call of a model's client: the argument goes to the model's host, and the
// result is somebody else's text.
func askModel(m *machine, c invocation) (value, bool) {
	carried := c.taint
	for _, a := range c.args {
		carried |= taints(a.list)
	}
	return m.resources.network(row{action: "netin", result: "answer"}, text(c.param, 0), nil, carried, c.by()), true
}

func newObject(m *machine, c invocation) (value, bool) {
	return m.resources.newObject(c.row, c.args, c.taint, c.by()), true
}

// makeObject makes an object of the type in the row.
func makeObject(_ *machine, c invocation) (value, bool) {
	v := value{kind: objectValue, s: c.result, taint: c.taint | c.row.taint}
	if len(c.args) > 0 && c.arg >= 0 {
		from := c.target()
		v.from = from.str()
		switch c.param {
		case "join":
			v.from = joinPath(values(c.args))
		case "url":
			v.from = joinURL(from, c.second())
		}
	}
	return v, true
}

// unpickle reads a file that may run code.
func unpickle(m *machine, c invocation) (value, bool) {
	weights, _ := named(c.args, "weights_only")
	pickle, given := named(c.args, "allow_pickle")
	if !weights.truthy() && (c.by() == "torch.load" || given && (pickle.kind != nameValue || pickle.truthy())) {
		m.out.found(Found{Text: c.by(), Taint: c.taint, By: c.by()})
	}
	return unknown(c.taint | effect.File), true
}

// deleteRemote deletes a resource elsewhere. With the parameter rows it is a method of an
// object-relational mapper that deletes rows. With the parameter options it is destroy or truncate of
// such a mapper. Other objects have these methods, too, so the options must be those of a query.
func deleteRemote(m *machine, c invocation) (value, bool) {
	first, given := argument(c.args, 0)
	rows := Found{Op: RemoteDelete, Text: "rows of a table", Bits: effect.Bulk, By: c.by()}
	switch c.param {
	case "rows":
		if given && selectsRows(first) {
			rows.Bits = 0
		}
		m.out.found(rows)
		return unknown(c.taint), true
	case "options":
		whole, _ := first.key("truncate")
		where, chosen := first.key("where")
		if !whole.truthy() && selectsRows(where) {
			rows.Bits = 0
		}
		if whole.truthy() || chosen {
			m.out.found(rows)
		}
		return unknown(c.taint), true
	}
	m.out.found(Found{Op: RemoteDelete, Text: c.target().str(), By: c.by()})
	return value{}, false
}

// selectsRows reports whether a condition, or one in options, is not the empty map, which selects
// all rows.
func selectsRows(v value) bool {
	if where, ok := v.key("where"); ok {
		v = where
	}
	return v.kind != listValue || v.keys == nil || len(v.list) > 0
}

func runSQL(m *machine, c invocation) (value, bool) {
	if a := c.target(); a.kind == textValue {
		m.out.found(Found{Op: SQL, Text: a.str(), Taint: a.taint, By: c.by()})
	}
	return value{}, false
}

func killProcess(m *machine, c invocation) (value, bool) {
	m.out.found(Found{Op: Kill, Text: c.target().str(), Bits: c.bits, By: c.by()})
	return value{}, false
}

func takePrivilege(m *machine, c invocation) (value, bool) {
	m.out.found(Found{Op: Privilege, Text: c.target().str(), By: c.by()})
	return value{}, false
}

// shiftOperand removes the first operand, or the first element of a list.
func shiftOperand(m *machine, c invocation) (value, bool) {
	if len(c.args) == 0 {
		return m.shift(), true
	}
	if !m.inputs.areOperands(c.args) {
		return c.args[0].value, true
	}
	return m.inputs.nextOperand(), true
}

// popOperand evaluates sys.argv.pop(1).
func popOperand(m *machine, c invocation) (value, bool) {
	if first, ok := argument(c.args, 0); ok && first.kind == numberValue {
		return at(m.inputs.operands(1), first.n), true
	}
	return at(m.inputs.operands(1), -1), true
}

func readEnvironment(m *machine, c invocation) (value, bool) {
	if a := c.target(); c.arg >= 0 && a.kind == textValue {
		return m.inputs.env(a.s, c.by()), true
	}
	m.out.found(Found{Op: Read, Text: "environment", Taint: effect.Secret, By: c.by()})
	return unknown(effect.Secret), true
}

// perlOpen evaluates the forms of open: with a mode and a path or command, or with both in one text.
func perlOpen(m *machine, c invocation) (value, bool) {
	vs, by := values(c.args), c.by()
	if len(vs) < 2 {
		return unknown(effect.File), true
	}
	handle := func(program value) {
		p := m.programs.piped(processType, program, true, by)
		if vs[0].kind == nameValue && vs[0].s != "" {
			m.scope.bind(vs[0].s, p)
		}
	}
	mode, rest := vs[1], vs[2:]
	if len(rest) == 0 && strings.Trim(mode.str(), " ") == "|-" { // a fork, whose child may run anything
		handle(unknown(0))
	}
	spec := strings.TrimSpace(mode.str())
	if len(rest) == 0 {
		m.opensAnything(mode, by)
		switch {
		case strings.HasPrefix(spec, "|"):
			m.programs.shell(text(spec[1:], mode.taint), by)
			handle(text(spec[1:], mode.taint))
			return unknown(effect.File), true
		case strings.HasSuffix(spec, "|"):
			m.programs.shell(text(strings.TrimSuffix(spec, "|"), mode.taint), by)
			return unknown(effect.File), true
		}
		n := 0
		for n < len(spec) && strings.IndexByte("<>+&=", spec[n]) >= 0 {
			n++
		}
		rest = []value{text(strings.TrimSpace(spec[n:]), mode.taint)}
		spec = spec[:n]
	}
	switch {
	case strings.Contains(spec, "-|") || strings.Contains(spec, "|-") || spec == "|":
		m.programs.systemList(asArgs(rest), 0, by)
		if strings.Contains(spec, "|-") || spec == "|" {
			handle(list(rest, 0))
		}
	case strings.Contains(spec, "&"):
	case strings.ContainsAny(spec, ">+"):
		bits := effect.Bits(0)
		if strings.HasPrefix(spec, ">>") {
			bits = effect.Append
		}
		m.resources.files(row{action: "write", bits: bits, arg: 9}, rest[0], nil, 0, by)
	case !effect.IsKnown(spec):
		m.out.found(Found{Text: by, By: by})
	default:
		m.resources.files(row{action: "read"}, rest[0], nil, 0, by)
	}
	return unknown(effect.File), true
}
