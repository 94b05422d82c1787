package code

import (
	"slices"
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// include reads the inclusion of a file that runs as a part of this script.
func (m *machine) include(t *lex.Token) bool {
	if !slices.Contains(m.d.statements.includes, t.Text) {
		return false
	}
	if next := m.in.ahead(1); m.d.statements.includesTexts && next.Kind != lex.String &&
		(next.Kind != lex.Name || next.Text[0] != '$') {
		return false
	}
	m.in.i++
	v := m.expr(0)
	path := v.str()
	if m.runsStdin(v, t.Text) {
		return true
	}
	if isURL(path) || v.taint&effect.Network != 0 {
		m.out.found(Found{Op: Code, Text: effect.Unknown, Taint: effect.Network, By: t.Text})
	}
	if strings.HasPrefix(path, "data:") {
		m.out.found(Found{Op: Code, Text: effect.Unknown, Taint: effect.Decoded, By: t.Text})
	} else {
		m.out.found(Found{Op: Exec, Text: path, Taint: v.taint, By: t.Text})
	}
	return true
}

// use reads a use declaration. In a list of functions only those that run something matter.
func (m *machine) use() {
	m.in.i++
	first := m.in.tok()
	module := strings.ReplaceAll(first.Text, "::", ".")
	for m.in.i++; m.in.is("::") && m.budget.step(); m.in.i += 2 {
		module += "." + m.in.ahead(1).Text
	}
	if first.Kind == lex.Name && m.d.name == "perl" {
		m.brings(module)
	}
	for m.budget.step() && m.in.tok().Kind != lex.End && !m.in.is(";") {
		if t := m.in.tok(); t.Kind == lex.Words || t.Kind == lex.String {
			for name := range strings.FieldsSeq(t.Text) { // use IPC::Run qw(run)
				if path := module + "." + name; m.api.runs(path) || m.api.isDanger(path) {
					m.scope.bind(name, value{kind: nameValue, s: path})
				}
			}
		}
		m.in.i++
	}
}

// imports reads import module as name, and from module import name.
func (m *machine) imports() {
	word := m.in.tok().Text
	m.in.i++
	module := m.in.dotted()
	m.brings(module)
	if word == "from" {
		if m.in.isName("import") {
			m.in.i++
		}
		m.in.take("(")
		for m.budget.step() && m.in.tok().Kind == lex.Name {
			name := m.in.tok().Text
			m.in.i++
			m.scope.bind(m.in.alias(name), value{kind: nameValue, s: m.api.canonical(module + "." + name)})
			if !m.in.take(",") {
				break
			}
		}
		if m.in.is("*") {
			m.in.i++
			m.scope.bindAll(m.api, module)
		}
		m.in.take(")")
		return
	}
	for m.budget.step() {
		if alias := m.in.alias(module); alias != module {
			m.scope.bind(alias, value{kind: nameValue, s: m.api.canonical(module)})
		}
		if !m.in.take(",") {
			return
		}
		module = m.in.dotted()
		m.brings(module)
	}
}

// importsNode reads import a, {b as c}, * as d from "module".
func (m *machine) importsNode() {
	if next := m.in.ahead(1); next.Kind == lex.Op && (next.Text == "(" || next.Text == ".") {
		m.expr(0)
		return
	}
	m.in.i++
	type pair struct{ from, to string }
	var names []pair
	star := false
	for m.budget.step() {
		t := m.in.tok()
		switch {
		case t.Kind == lex.String:
			m.in.i++
			module := m.imported(text(t.Text, 0), "import")
			for _, n := range names {
				v := module
				if n.from != "" {
					v = m.memberOf(module, n.from)
				}
				m.scope.bind(n.to, v)
			}
			return
		case t.Kind == lex.End || t.IsOp(";"):
			return
		case t.IsName("from"), t.IsOp(","):
			m.in.i++
		case t.IsOp("*"):
			star = true
			m.in.i++
		case t.IsName("as") && star:
			m.in.i++
			names = append(names, pair{"", m.in.tok().Text})
			m.in.i++
		case t.IsOp("{"):
			for m.in.i++; m.budget.step() && m.in.tok().Kind != lex.End && !m.in.is("}"); {
				name := m.in.tok().Text
				m.in.i++
				names = append(names, pair{name, m.in.alias(name)})
				m.in.take(",")
			}
			m.in.i++
		case t.Kind == lex.Name:
			names = append(names, pair{"", t.Text})
			m.in.i++
		default:
			m.in.i++
		}
	}
}

// imported returns the name of a module. A module that is a file runs.
func (m *machine) imported(v value, by string) value {
	name := v.str()
	if v.kind != textValue || !effect.IsKnown(name) {
		m.out.found(Found{Text: by, Taint: v.taint, By: by})
		return value{kind: nameValue, s: effect.Unknown, taint: v.taint}
	}
	if wordset.HasAnyPrefix(name, ".", "/") {
		op := Exec
		if strings.HasSuffix(name, ".json") {
			op = Read
		}
		m.out.found(Found{Op: op, Text: name, Taint: v.taint, By: by})
		return unknown(v.taint | effect.File)
	}
	if wordset.HasAnyPrefix(name, "http://", "https://") {
		m.out.found(Found{Op: Code, Text: effect.Unknown, Taint: effect.Network, By: by})
		m.out.found(Found{Op: NetIn, Text: name, By: by})
	}
	m.brings(name)
	if m.d.library.importsNothing {
		return unknown(0)
	}
	return value{kind: nameValue, s: m.api.canonical(name)}
}
