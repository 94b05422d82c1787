package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// idiom does the actions that are peculiar to one language.
func (m *machine) idiom(r row, callee value, args []arg, taint effect.Taint) (value, bool) {
	by := callee.s
	first, _ := argument(args, 0)
	second, _ := argument(args, 1)
	switch r.action {
	case "function": // new Function("a", "b", body) returns a function
		vs := values(args)
		if len(vs) == 0 || strings.HasSuffix(by, ".constructor") && vs[len(vs)-1].kind != textValue {
			return unknown(taint), true
		}
		m.code(r, vs[len(vs)-1], by)
		return unknown(taint), true
	case "later": // setTimeout of a text
		if first.kind == textValue {
			m.code(r, first, by)
		}
	case "call": // f.call(this, a), f.apply(this, [a]), f.bind(this)
		if callee.of == nil || r.arg > len(args) {
			if callee.of != nil {
				return *callee.of, true
			}
			return unknown(taint), true
		}
		args = args[r.arg:]
		if len(args) == 1 && args[0].kind == listValue && args[0].keys == nil && strings.HasSuffix(by, ".apply") {
			args = asArgs(args[0].list)
		}
		return m.call(*callee.of, args), true
	case "reflect": // Reflect.apply(f, this, [a])
		if third, ok := argument(args, 2); ok && third.kind == listValue {
			return m.call(first, asArgs(third.list)), true
		}
	case "worker": // new Worker(code, {eval: true}), or of a file
		inline := strings.HasPrefix(first.str(), "data:")
		if eval, ok := named(args, "eval"); inline || ok && (eval.truthy() || eval.kind == unknownValue) {
			m.code(r, first, by)
		}
		if inline {
			m.out.found(Found{Text: by, Taint: taint, By: by})
		}
		return m.act(row{action: "run"}, callee, args, taint)
	case "methodcaller": // operator.methodcaller("system", "id")(os)
		if !first.known() {
			m.out.found(Found{Text: by, Taint: taint, By: by})
		}
		for _, module := range [...]string{"os", "subprocess", "pty", "posix"} {
			if path := module + "." + first.str(); m.api.executes(path) && len(args) > 1 {
				return m.call(value{kind: nameValue, s: path}, args[1:]), true
			}
		}
	case "partial":
		if first.kind == nameValue && len(args) > 1 {
			return m.call(first, args[1:]), true
		}
		return first, true
	case "argvslice":
		return m.given.operands(0), true
	case "dispatch": // obj.send(:system, "x")
		if len(args) > 0 {
			return m.call(m.methodNamed(callee, first), args[1:]), true
		}
	case "method": // method(:system), which may be kept anywhere
		v := m.methodNamed(callee, first)
		if v.kind == nameValue && v.of == nil && m.api.isDanger(v.s) && !m.in.callsAtOnce() {
			m.loose.loosen(loose{path: v.s})
		}
		return v, true
	case "callfunc": // call_user_func("system", "x")
		if first.fn != nil || first.kind == listValue || len(args) == 0 {
			m.callbacks(callee, args, taint)
			return unknown(taint), true
		}
		if second.kind == listValue && second.keys == nil {
			var last value
			if by == "array_map" {
				for _, e := range second.list {
					last = m.call(first, []arg{{value: e}})
				}
				return last, true
			}
			return m.call(first, asArgs(second.list)), true
		}
		return m.call(first, args[1:]), true
	case "preg": // the modifier e runs the replacement
		if p := first.str(); len(p) > 2 && strings.Contains(p[strings.LastIndexByte(p, closer(p[0]))+1:], "e") {
			m.code(r, second, by)
		}
	case "curlopt":
		if first, _ := argument(args, 1); first.kind == nameValue {
			m.resources.curlOption(first.s, args, by)
		}
		return unknown(taint), true
	case "execfile":
		words := []string{first.str()}
		if second.kind == listValue {
			words = append(words, second.words()...)
		}
		m.programs.argv(words, taint, by)
	case "fwrite":
		if first.kind == objectValue && first.s == "file" {
			m.resources.content(value{of: &first}, []arg{{value: second}}, by)
		}
	case "perlopen":
		m.perlOpen(args, by)
		return unknown(effect.File), true
	case "unpickle":
		weights, _ := named(args, "weights_only")
		pickle, given := named(args, "allow_pickle")
		if !weights.truthy() && (by == "torch.load" || given && (pickle.kind != nameValue || pickle.truthy())) {
			m.out.found(Found{Text: by, Taint: taint, By: by})
		}
		return unknown(taint | effect.File), true
	case "fork":
		if m.in.loops() {
			m.out.found(Found{Op: Kill, Text: "host", By: by + " in a loop"})
		}
	case "newobject":
		return m.resources.newObject(r, args, taint, by), true
	case "startprocess": // Start-Process program -ArgumentList …
		words := first.words()
		if list, ok := named(args, "argumentlist", "args"); ok {
			words = append(words, list.words()...)
		} else if second.kind != unknownValue {
			words = append(words, second.words()...)
		}
		if verb, ok := named(args, "verb"); ok && strings.EqualFold(verb.str(), "runas") {
			m.out.found(Found{Op: Privilege, Text: "administrator", By: by})
		}
		m.programs.argv(words, taint, by)
		if line := strings.Join(words, " "); len(strings.Fields(line)) > len(words) { // its words are cut once more
			m.programs.shell(text(line, taint), by)
		}
	case "psexec":
		m.psNested(args, by)
	case "cmdexec": // cmd /c …
		m.programs.cmdNested(args, by)
	case "setvariable":
		if first.known() {
			name := strings.ToLower(first.str())
			if strings.HasSuffix(by, "al") || strings.HasSuffix(by, "alias") {
				name = "alias:" + name
			}
			m.scope.bind(name, second)
		}
	case "geturl": // LWP::Simple exports get: only a URL makes it that
		if isURL(first.str()) {
			return m.resources.network(row{action: "netin"}, first, args[:1], taint, by), true
		}
		return unknown(taint), true
	}
	return m.reached(r, callee, args, taint)
}

func asArgs(vs []value) []arg {
	out := make([]arg, 0, len(vs))
	for _, v := range vs {
		out = append(out, arg{value: v})
	}
	return out
}

// methodNamed is the method of callee's receiver that a value names.
func (m *machine) methodNamed(callee, name value) value {
	if callee.of != nil && callee.of.kind != unknownValue {
		return m.memberOf(*callee.of, name.str())
	}
	if dot := strings.LastIndexByte(callee.s, '.'); dot > 0 && callee.of == nil {
		return m.memberOf(value{kind: nameValue, s: callee.s[:dot]}, name.str())
	}
	if !name.known() {
		m.out.found(Found{Text: callee.s, Taint: name.taint, By: callee.s})
		return unknown(name.taint)
	}
	return value{kind: nameValue, s: name.str()}
}

// perlOpen reads the forms of open: a mode and a path or command apart, or in one
// text.
func (m *machine) perlOpen(args []arg, by string) {
	vs := values(args)
	if len(vs) < 2 {
		return
	}
	mode, rest := vs[1], vs[2:]
	if len(rest) == 0 && strings.Trim(mode.str(), " ") == "|-" { // a fork, of which the child may run anything
		m.handle(vs[0], unknown(0), by)
	}
	spec := strings.TrimSpace(mode.str())
	if len(rest) == 0 {
		switch {
		case strings.HasPrefix(spec, "|"):
			m.programs.shell(text(spec[1:], mode.taint), by)
			m.handle(vs[0], text(spec[1:], mode.taint), by)
			return
		case strings.HasSuffix(spec, "|"):
			m.programs.shell(text(strings.TrimSuffix(spec, "|"), mode.taint), by)
			return
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
			m.handle(vs[0], list(rest, 0), by)
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
}

// handle names a pipe into a program as Perl's open does.
func (m *machine) handle(name, program value, by string) {
	p := m.programs.piped(processType, program, true, by)
	if name.kind == nameValue && name.s != "" {
		m.scope.bind(name.s, p)
	}
}

// netTypes are the types of New-Object that have rows of their own.
var netTypes = map[string]string{
	"net.webclient": "webclient", "net.http.httpclient": "httpclient", "msxml2.xmlhttp": "xmlhttp", "wscript.shell": "wscript", "shell.application": "shellapplication",
}

// psNested is powershell with a command or an encoded command.
func (m *machine) psNested(args []arg, by string) {
	for _, a := range args {
		if psPrefix(a.name, "encodedcommand", 1) || a.name == "ec" {
			m.code(row{}, applyDecoder("utf16le", applyDecoder("base64", a.value)), by)
			return
		}
		if psPrefix(a.name, "file", 1) {
			m.out.found(Found{Op: Exec, Text: a.str(), Taint: a.taint, By: by})
			return
		}
	}
	if vs := values(args); len(vs) > 0 {
		m.code(row{}, text(concat(vs, " "), taints(vs)), by)
	}
}
