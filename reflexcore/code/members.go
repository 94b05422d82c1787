package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

func (m *machine) memberOf(v value, name string) value {
	switch {
	case name == "__call__" && v.s == "function.__call__":
		return v
	case v.kind == nameValue && v.of == nil && m.api.isDanger(v.s) &&
		(name == "call" || name == "apply" || name == "bind" || name == "__call__"):
		recv := v
		return value{kind: nameValue, s: "function." + name, of: &recv}
	case v.fn != nil && (name == "call" || name == "()"):
		return v
	case v.kind == nameValue && v.of == nil && (name == "__dict__" || name == "default" && m.d.members.defaultMember):
		return v
	case v.kind == nameValue && v.of == nil:
		path := name
		if v.s != "" {
			path = v.s + "." + name
		}
		if len(path) > 256 {
			path = effect.Unknown
		}
		if known, ok := m.scope.get(path); ok {
			return known
		}
		return value{kind: nameValue, s: m.api.canonical(path), taint: v.taint}
	case v.keys != nil:
		if e, ok := v.key(name); ok {
			return e
		}
	case v.kind == objectValue && v.s == "url":
		if part, ok := urlPart(v, name); ok {
			return part
		}
	}
	prefix := "?"
	switch v.kind {
	case objectValue, nameValue:
		prefix = v.s
	case textValue:
		prefix = "text"
	case listValue:
		prefix = "list"
	default:
	}
	if len(prefix) > 256 {
		prefix = "?"
	}
	recv := v
	result := value{kind: nameValue, s: prefix + "." + name, of: &recv, taint: v.taint}
	if rows := m.api.find(result.s); len(rows) > 0 && rows[0].action == "property" {
		return m.call(result, nil)
	}
	return result
}

func (m *machine) elementOf(v, key value) value {
	switch {
	case v.keys != nil:
		if e, ok := v.key(key.str()); ok && key.known() {
			return e
		}
		return unknown(v.taint)
	case m.d.calls.blocks && v.kind == nameValue && v.of == nil && key.kind == textValue && m.api.runs(v.s):
		// method(:system)["id"]
		return m.call(v, []arg{{value: key}})
	case v.kind == nameValue && v.of == nil:
		if sliced, ok := m.indexed(v.s, key); ok {
			return sliced
		}
		switch key.kind {
		case textValue:
			return m.memberOf(v, key.s)
		case numberValue:
			return unknown(v.taint)
		default:
			return m.memberOf(v, effect.Unknown)
		}
	case v.kind == nameValue:
		if key.kind == textValue {
			return m.memberOf(*v.of, key.s)
		}
		if v.of.kind == listValue && !key.known() {
			return m.memberOf(*v.of, effect.Unknown)
		}
	case v.kind == listValue && key.kind != textValue && !key.known() && m.d.members.computed:
		return m.memberOf(v, effect.Unknown)
	case key.kind == numberValue:
		i := key.n
		if m.d.expressions.oneBased {
			i--
		}
		return at(v, i)
	case key.kind == textValue && v.kind != textValue:
		return m.memberOf(v, key.s)
	}
	return unknown(v.taint | key.taint)
}

// resolved replaces names that mean values by these values: the environment, the operands,
// constants.
func (m *machine) resolved(v value) value {
	if v.kind != nameValue || v.of != nil || v.fn != nil {
		return v
	}
	for _, r := range m.api.find(v.s) {
		switch r.action {
		case "argv":
			if m.api.executes(v.s) {
				return v
			}
			return m.inputs.operands(r.arg)
		case "stdin":
			return m.inputs.stdin(r.row)
		case "shift":
			return m.shift()
		case "const":
			return text(r.param, 0)
		case "home":
			return text(m.lim.Home, 0)
		case "environment":
			m.out.found(Found{Op: Read, Text: "environment", Taint: effect.Secret, By: v.s})
			return unknown(effect.Secret)
		case "unknown":
			return unknown(r.taint)
		}
	}
	if dot := strings.LastIndexByte(v.s, '.'); dot > 0 {
		for _, r := range m.api.find(v.s[:dot]) {
			if r.action == "environment" {
				return m.inputs.env(v.s[dot+1:], v.s[:dot])
			}
		}
	}
	return v
}

// indexed evaluates an element of a name that means a value.
func (m *machine) indexed(path string, key value) (value, bool) {
	for _, r := range m.api.find(path) {
		switch r.action {
		case "argv":
			if key.kind != numberValue {
				return unknown(0), true
			}
			return at(m.inputs.operands(r.arg), key.n), true
		case "modules":
			return value{kind: nameValue, s: m.api.canonical(key.str())}, true
		case "environment":
			return m.inputs.env(key.str(), path), true
		case "unknown":
			return unknown(r.taint), true
		}
	}
	return value{}, false
}

// methodNamed returns the method of callee's receiver with the name in a value.
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

// shift evaluates Perl's shift without a list: the first argument of a function, or else the next
// operand.
func (m *machine) shift() value {
	if m.d.calls.argumentList == "" || m.within == 0 {
		return m.inputs.nextOperand()
	}
	if len(m.passed) == 0 {
		return unknown(0)
	}
	first := m.passed[0]
	m.passed = m.passed[1:]
	return first
}
