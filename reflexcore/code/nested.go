package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

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

// runsStdin runs what the code is given as its input, where a path is that of the input.
func (m *machine) runsStdin(v value, by string) bool {
	if !isStdinPath(v) {
		return false
	}
	m.code(row{}, m.given.input(), by)
	return true
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
	if m.d.importsNothing {
		return unknown(0)
	}
	return value{kind: nameValue, s: m.api.canonical(name)}
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
