package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// include is a file that runs as a part of this script.
func (m *machine) include(t *token) bool {
	next := m.ahead(1)
	switch {
	case m.d.name == "php" && t.text != "do" && t.text != "load", m.d.name == "perl" && (next.kind == tkString || next.kind == tkName && next.text[0] == '$') && (t.text == "do" || t.text == "require"):
		m.i++
		v := m.expr(0)
		path := v.str()
		if m.runsStdin(v, t.text) {
			return true
		}
		if isURL(path) || v.taint&effect.Network != 0 {
			m.found(Found{Op: Code, Text: effect.Unknown, Taint: effect.Network, By: t.text})
		}
		if strings.HasPrefix(path, "data:") {
			m.found(Found{Op: Code, Text: effect.Unknown, Taint: effect.Decoded, By: t.text})
		} else {
			m.found(Found{Op: Exec, Text: path, Taint: v.taint, By: t.text})
		}
		return true
	}
	return false
}

// use reads a declaration of what is used; of a list only the functions that run
// something say anything.
func (m *machine) use() {
	m.i++
	module := strings.ReplaceAll(m.tok().text, "::", ".")
	for m.i++; m.is("::") && m.step(); m.i += 2 {
		module += "." + m.ahead(1).text
	}
	for m.step() && m.tok().kind != tkEnd && !m.is(";") {
		if t := m.tok(); t.kind == tkWords || t.kind == tkString {
			for name := range strings.FieldsSeq(t.text) { // use IPC::Run qw(run)
				if path := module + "." + name; m.api.runs(path) || m.api.isDanger(path) {
					m.bind(name, value{kind: nameValue, s: path})
				}
			}
		}
		m.i++
	}
}

// imports reads the forms of import of Python and JavaScript.
func (m *machine) imports(word string) {
	if m.d.name == "node" {
		m.importsNode()
		return
	}
	m.i++
	module := m.dotted()
	if word == "from" {
		if m.isName("import") {
			m.i++
		}
		m.take("(")
		for m.step() && m.tok().kind == tkName {
			name := m.tok().text
			m.i++
			m.bind(m.alias(name), value{kind: nameValue, s: m.api.canonical(module + "." + name)})
			if !m.take(",") {
				break
			}
		}
		if m.is("*") {
			m.i++
			m.star(module)
		}
		m.take(")")
		return
	}
	for m.step() {
		if alias := m.alias(module); alias != module {
			m.bind(alias, value{kind: nameValue, s: m.api.canonical(module)})
		}
		if !m.take(",") {
			return
		}
		module = m.dotted()
	}
}

// star binds every function of the table that lies directly in a module.
func (m *machine) star(module string) {
	for path := range m.api.rows {
		if name, ok := strings.CutPrefix(path, module+"."); ok && !strings.Contains(name, ".") {
			if _, known := m.get(name); !known && len(m.vars) < maxVars {
				m.bind(name, value{kind: nameValue, s: path})
			}
		}
	}
}

func (m *machine) alias(name string) string {
	if m.isName("as") {
		m.i++
		name = m.tok().text
		m.i++
	}
	return name
}

// dotted reads a module's name, such as os.path or .sibling.
func (m *machine) dotted() string {
	start := m.i
	for m.is(".") || m.is("...") {
		m.i++
	}
	for m.tok().kind == tkName && m.tok().text != "import" {
		m.i++
		if !m.is(".") {
			break
		}
		m.i++
	}
	if m.i == start {
		return ""
	}
	return m.src[m.toks[start].pos:m.toks[m.i-1].end]
}

// importsNode: import a, {b as c}, * as d from "module".
func (m *machine) importsNode() {
	if next := m.ahead(1); next.kind == tkOp && (next.text == "(" || next.text == ".") {
		m.expr(0)
		return
	}
	m.i++
	type pair struct{ from, to string }
	var names []pair
	star := false
	for m.step() {
		t := m.tok()
		switch {
		case t.kind == tkString:
			m.i++
			module := m.imported(text(t.text, 0), "import")
			for _, n := range names {
				v := module
				if n.from != "" {
					v = m.memberOf(module, n.from)
				}
				m.bind(n.to, v)
			}
			return
		case t.kind == tkEnd || t.kind == tkOp && t.text == ";":
			return
		case t.kind == tkName && t.text == "from", t.kind == tkOp && t.text == ",":
			m.i++
		case t.kind == tkOp && t.text == "*":
			star = true
			m.i++
		case t.kind == tkName && t.text == "as" && star:
			m.i++
			names = append(names, pair{"", m.tok().text})
			m.i++
		case t.kind == tkOp && t.text == "{":
			for m.i++; m.step() && m.tok().kind != tkEnd && !m.is("}"); {
				name := m.tok().text
				m.i++
				names = append(names, pair{name, m.alias(name)})
				m.take(",")
			}
			m.i++
		case t.kind == tkName:
			names = append(names, pair{"", t.text})
			m.i++
		default:
			m.i++
		}
	}
}
