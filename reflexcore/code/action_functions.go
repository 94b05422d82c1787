package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
)

func findOpaque(m *machine, c invocation) (value, bool) {
	m.out.found(Found{Text: c.by(), Taint: c.taint, By: c.by()})
	return unknown(c.taint), true
}

func callBack(_ *machine, c invocation) (value, bool) {
	c.callbacks()
	return unknown(c.taint), true
}

// newFunctionOf evaluates new Function("a", "b", body), which returns a function.
func newFunctionOf(m *machine, c invocation) (value, bool) {
	vs := values(c.args)
	if len(vs) == 0 || strings.HasSuffix(c.by(), ".constructor") && vs[len(vs)-1].kind != textValue &&
		c.taint&(effect.Network|effect.Decoded) == 0 {
		return unknown(c.taint), true
	}
	m.evaluateCode(c.row, vs[len(vs)-1], c.by())
	return unknown(c.taint), true
}

// runLater evaluates setTimeout of a text.
func runLater(m *machine, c invocation) (value, bool) {
	if first := c.first(); first.kind == textValue || first.taint&effect.Network != 0 && first.fn == nil {
		m.evaluateCode(c.row, first, c.by())
	}
	return value{}, false
}

// runWorker evaluates new Worker(code, {eval: true}), or of a file.
func runWorker(m *machine, c invocation) (value, bool) {
	first := c.first()
	inline := strings.HasPrefix(first.str(), "data:")
	if eval, ok := named(c.args, "eval"); inline || ok && (eval.truthy() || eval.kind == unknownValue) {
		m.evaluateCode(c.row, first, c.by())
	}
	if inline {
		m.out.found(Found{Text: c.by(), Taint: c.taint, By: c.by()})
	}
	c.row = row{action: "run"}
	return runFile(m, c)
}

// runFile is the action of functions that run a file of code.
func runFile(m *machine, c invocation) (value, bool) {
	a := c.target()
	if m.runsStdin(a, c.by()) || m.d.library.runsInput && len(c.args) == 0 &&
		m.runsStdin(value{kind: numberValue}, c.by()) {
		return unknown(c.taint), true
	}
	if a.kind != listValue {
		m.out.found(Found{Op: Exec, Text: a.str(), Taint: a.taint, By: c.by()})
	}
	return value{}, false
}

// replaceByCode evaluates preg_replace, whose modifier e runs the replacement.
func replaceByCode(m *machine, c invocation) (value, bool) {
	if p := c.first().str(); len(p) > 2 && strings.Contains(p[strings.LastIndexByte(p, lex.Closer(p[0]))+1:], "e") {
		m.evaluateCode(c.row, c.second(), c.by())
	}
	return value{}, false
}

// callMethod evaluates f.call(this, a), f.apply(this, [a]), f.bind(this).
func callMethod(m *machine, c invocation) (value, bool) {
	if c.callee.of == nil {
		return unknown(c.taint), true
	}
	if c.arg > len(c.args) {
		return *c.callee.of, true
	}
	args := c.args[c.arg:]
	if len(args) == 1 && args[0].kind == listValue && args[0].keys == nil && strings.HasSuffix(c.by(), ".apply") {
		args = asArgs(args[0].list)
	}
	return m.call(*c.callee.of, args), true
}

// callReflected evaluates Reflect.apply(f, this, [a]).
func callReflected(m *machine, c invocation) (value, bool) {
	if third, ok := argument(c.args, 2); ok && third.kind == listValue {
		return m.call(c.first(), asArgs(third.list)), true
	}
	return value{}, false
}

func callPartial(m *machine, c invocation) (value, bool) {
	first := c.first()
	if first.kind == nameValue && len(c.args) > 1 {
		return m.call(first, c.args[1:]), true
	}
	return first, true
}

// callOnModule evaluates operator.methodcaller("system", "id")(os).
func callOnModule(m *machine, c invocation) (value, bool) {
	first := c.first()
	if !first.known() {
		m.out.found(Found{Text: c.by(), Taint: c.taint, By: c.by()})
	}
	for _, module := range [...]string{"os", "subprocess", "pty", "posix"} {
		if path := module + "." + first.str(); m.api.executes(path) && len(c.args) > 1 {
			return m.call(value{kind: nameValue, s: path}, c.args[1:]), true
		}
	}
	return value{}, false
}

// callNamed evaluates obj.send(:system, "x").
func callNamed(m *machine, c invocation) (value, bool) {
	if len(c.args) > 0 {
		return m.call(m.methodNamed(c.callee, c.first()), c.args[1:]), true
	}
	return value{}, false
}

// methodValue evaluates method(:system). The result can be kept anywhere.
func methodValue(m *machine, c invocation) (value, bool) {
	v := m.methodNamed(c.callee, c.first())
	if v.kind == nameValue && v.of == nil && m.api.isDanger(v.s) && !m.in.callsAtOnce() {
		m.escapes.add(escaped{path: v.s})
	}
	return v, true
}

// callByName evaluates call_user_func("system", "x").
func callByName(m *machine, c invocation) (value, bool) {
	first, second := c.first(), c.second()
	if first.fn != nil || first.kind == listValue || len(c.args) == 0 {
		return callBack(m, c)
	}
	if second.kind != listValue || second.keys != nil {
		return m.call(first, c.args[1:]), true
	}
	if c.by() != "array_map" {
		return m.call(first, asArgs(second.list)), true
	}
	var last value
	for _, e := range second.list {
		last = m.call(first, []arg{{value: e}})
	}
	return last, true
}

// reachByName evaluates :system.to_proc and alias_method(:z, :system).
func reachByName(m *machine, c invocation) (value, bool) {
	if c.callee.of != nil {
		m.escapes.named(*c.callee.of)
	}
	for _, a := range values(c.args) {
		m.escapes.named(a)
	}
	return unknown(c.taint), true
}

// defineName evaluates define("F", "system"); (F)("ls").
func defineName(m *machine, c invocation) (value, bool) {
	if first := c.first(); first.known() {
		m.scope.bind(first.str(), c.second())
	}
	return unknown(0), true
}

// setVariable evaluates Set-Variable and Set-Alias.
func setVariable(m *machine, c invocation) (value, bool) {
	if first := c.first(); first.known() {
		name := strings.ToLower(first.str())
		if strings.HasSuffix(c.by(), "al") || strings.HasSuffix(c.by(), "alias") {
			name = "alias:" + name
		}
		m.scope.bind(name, c.second())
	}
	return value{}, false
}
