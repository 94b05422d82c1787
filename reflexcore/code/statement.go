package code

import (
	"approver.example/reflexcore/effect"
)

// statement evaluates the next statement, or skips one token that begins none.
func (m *machine) statement() {
	t := m.tok()
	if len(m.visits) > 0 {
		m.leaveBlocks(t)
	}
	if t.kind == tkOp {
		switch t.text {
		case "@":
			if m.d.name == "python" { // a decorator is called with what it decorates
				m.i++
				if v := m.expr(0); v.kind == nameValue && v.of == nil && m.api.isDanger(v.s) {
					m.found(Found{Text: v.s, By: "@" + v.s})
				}
				return
			}
		case ";", "}", ")", "]", ",", ":", "?", ".", "=>", "|", "=":
			m.i++
			return
		case "{":
			if m.d.braces || m.d.name == "ruby" {
				m.i++
				return
			}
		}
	}
	if t.kind == tkName {
		if m.keyword(t) || m.method(t) {
			return
		}
	}
	m.assignment()
}

// assignment evaluates a, b = c, d; what is no assignment is an expression.
func (m *machine) assignment() {
	first := m.tok()
	targets := 0
	for j := m.i; j < len(m.toks); j++ { // a, b, c =
		t := &m.toks[j]
		if t.kind != tkName || j > m.i && t.nl && m.d.lineEnds {
			break
		}
		targets++
		next := endToken
		if j+1 < len(m.toks) {
			next = m.toks[j+1]
		}
		if next.kind != tkOp || next.text != "," {
			if targets < 2 || next.text != "=" || next.kind != tkOp {
				targets = 0
			}
			break
		}
		j++
	}
	if targets < 2 || first.kind != tkName {
		part := m.goesOn()
		if v := m.expr(0); v.kind == nameValue && !part { // nothing is done with it
			m.kept()
		}
		m.usedAt = -1
		return
	}
	names := make([]string, 0, targets)
	for range targets {
		names = append(names, m.tok().text)
		m.i += 2
	}
	m.spread(names, m.valueList())
}

// valueList evaluates a, b, c.
func (m *machine) valueList() value {
	v := m.expr(bindAssign)
	if !m.is(",") {
		return v
	}
	out := []value{v}
	for m.is(",") && m.step() {
		m.i++
		out = append(out, m.expr(bindAssign))
	}
	return list(out, 0)
}

func (m *machine) spread(names []string, v value) {
	for i, name := range names {
		if name != "" {
			m.set(name, at(v, int64(i)))
		}
	}
}

// keyword evaluates a statement that a keyword begins. It is false if the token
// begins an expression.
func (m *machine) keyword(t *token) bool {
	switch t.text {
	case "import", "from":
		if m.d.name == "python" || m.d.name == "node" {
			m.imports(t.text)
			return true
		}
	case "def":
		if m.d.name == "python" {
			m.pythonDef()
			return true
		}
		if m.d.name == "ruby" {
			m.i += 2
			if m.is("(") {
				end := m.match(m.i)
				m.params(m.i+1, end)
				m.i = min(end+1, len(m.toks))
			}
			return true
		}
	case "class":
		if m.d.name == "python" || m.d.name == "node" || m.d.name == "php" {
			m.i += 2
			return true
		}
	case "function", "fn", "sub":
		if m.d.name != "ruby" && m.d.name != "python" {
			m.function()
			return true
		}
	case "const", "let", "var", "my", "our", "local":
		if m.d.isKeyword(t.text) {
			m.i++
			m.declaration()
			for m.d.name == "node" && m.is(",") && m.step() {
				m.i++
				m.declaration()
			}
			return true
		}
	case "for", "foreach":
		if m.d.name == "python" {
			m.pythonFor()
			return true
		}
		if m.d.isKeyword(t.text) {
			m.i++
			m.forHead()
			return true
		}
	case "with":
		if m.d.name == "python" {
			m.i++
			m.pythonWith()
			return true
		}
		if next := m.ahead(1); m.d.name == "node" && next.kind == tkOp && next.text == "(" { // with (module) …
			m.i++
			if v := m.expr(bindPower); v.kind == nameValue {
				m.star(v.s)
			}
			return true
		}
	case "throw", "raise":
		if m.d.name == "node" || m.d.name == "python" || m.d.name == "php" {
			if m.i++; !m.ends() && !m.is(";") && !m.is("}") {
				m.expr(0) // whoever catches it may call it
				m.usedAt = -1
			}
			return true
		}
	case "return":
		if m.d.isKeyword("return") {
			m.i++
			if m.ends() || m.is(";") || m.is("}") {
				return true
			}
			v := m.expr(0)
			if m.result == nil {
				m.result = &v
			} else {
				*m.result = join(*m.result, v)
			}
			return true
		}
	case "exec":
		if n := m.ahead(1); m.d.name == "python" && n.kind == tkString { // Python 2
			m.i++
			m.call(value{kind: nameValue, s: "exec"}, []arg{{value: m.expr(0)}})
			return true
		}
	case "use", "no", "namespace", "package":
		if m.d.name == "perl" || m.d.name == "php" {
			m.use()
			return true
		}
	case "include", "include_once", "require_once", "require", "do", "load":
		return m.include(t)
	case "except", "catch", "as", "global", "nonlocal":
	}
	if m.d.isKeyword(t.text) && !m.beginsValue(t.text) {
		m.i++
		return true
	}
	return false
}

func (m *machine) beginsValue(word string) bool {
	switch word {
	case "not", "await", "new", "typeof", "void", "delete", "lambda", "async", "yield":
		return m.d.name != "perl" || word == "not"
	}
	return false
}

// declaration reads what const, let, my and local declare: names, patterns and
// their values.
func (m *machine) declaration() {
	t := m.tok()
	switch {
	case t.kind == tkName && t.text == "function":
		m.function()
	case t.kind == tkOp && (t.text == "{" || t.text == "[" || t.text == "("):
		m.pattern(t.text)
	case t.kind == tkName && m.ahead(1).kind == tkName && (m.ahead(1).text == "of" || m.ahead(1).text == "in"):
		name := t.text
		m.i += 2
		v := m.expr(0)
		m.bind(name, unknown(v.taint))
	case t.kind == tkName && m.d.name == "node" && m.ahead(1).kind == tkOp && m.ahead(1).text == ";": // let a;
		m.i++
		m.bind(t.text, unknown(0))
	default:
		m.assignment()
	}
}

// goesOn reports whether what begins here is a part of what stands before it: an element
// of a tuple, a value of an object that was taken for a block.
func (m *machine) goesOn() bool {
	t := m.ahead(-1)
	return t.kind == tkOp && (t.text == "," || t.text == "=" || t.text == ":" || t.text == "=>" || t.text == "?")
}

// pattern reads {a, b: c} = v, [a, b] = v and ($a, $b) = v.
func (m *machine) pattern(open string) {
	end := m.match(m.i)
	var from, to []string
	computed, rest := false, ""
	for m.i++; m.i < end && m.step(); {
		t := m.tok()
		if t.kind != tkName {
			if next := m.ahead(1); open == "{" && t.text == "..." && next.kind == tkName {
				rest = next.text
				m.i += 2
				continue
			}
			if t.kind == tkOp && t.text == "," && open == "[" && m.ahead(-1).kind == tkOp {
				from, to = append(from, ""), append(to, "")
			}
			computed = computed || t.kind == tkOp && (t.text == "[" || t.text == "{")
			m.i++
			continue
		}
		from, to = append(from, t.text), append(to, t.text)
		m.i++
		if open == "{" && m.take(":") {
			computed = computed || m.tok().kind != tkName
			to[len(to)-1] = m.tok().text
			m.i++
		}
		if m.take("=") {
			m.expr(bindAssign)
		}
	}
	m.i = min(end+1, len(m.toks))
	v := unknown(0)
	if m.take("=") || m.isName("of") {
		if m.isName("of") {
			m.i++
		}
		v = m.expr(bindAssign)
		if !computed && open == "{" { // {["a" + "b"]: f} = v may take anything of v
			m.kept()
		}
		m.usedAt = -1
	}
	if rest != "" { // has all of v that has no name of its own
		m.set(rest, v)
	}
	for i := range to {
		switch {
		case to[i] == "":
		case open == "{":
			m.set(to[i], m.memberOf(v, from[i]))
		case v.kind == listValue:
			m.set(to[i], at(v, int64(i)))
		default:
			m.set(to[i], unknown(v.taint))
		}
	}
}

// forHead reads the head of a loop; its variable has no known value.
func (m *machine) forHead() {
	for m.isName("my") || m.isName("our") || m.isName("local") || m.isName("await") {
		m.i++
	}
	if m.d.name == "node" && m.is("(") && m.forOf() {
		return
	}
	if m.d.name == "perl" && m.tok().kind == tkName && m.tok().text[0] == '$' { // foreach $x (…)
		m.bind(m.tok().text, unknown(0))
		m.i++
		return
	}
	if m.d.name == "lua" || m.d.name == "ruby" { // for a, b in …
		var names []string
		for m.step() && m.tok().kind == tkName && m.tok().text != "in" {
			names = append(names, m.tok().text)
			m.i++
			m.take(",")
		}
		t := effect.Taint(0)
		if m.isName("in") || m.is("=") {
			m.i++
			t = m.expr(0).taint
		}
		for _, n := range names {
			m.bind(n, unknown(t))
		}
		return
	}
	if m.d.name == "php" && m.is("(") { // foreach ($list as $k => $v)
		end := m.match(m.i)
		for j := m.i; j < end; j++ {
			if m.toks[j].kind == tkName && m.toks[j].text == "as" {
				m.i++
				v := m.expr(0)
				for ; j < end; j++ {
					if m.toks[j].kind == tkName && m.toks[j].text[0] == '$' {
						m.bind(m.toks[j].text, unknown(v.taint))
					}
				}
				m.i = min(end+1, len(m.toks))
				return
			}
		}
	}
}

// appended notes what << adds to a list or a file.
func (m *machine) appended(left, right value) {
	if left.kind == objectValue && left.s == "file" {
		m.content(value{s: "<<", of: &left}, []arg{{value: right}}, "<<")
	}
}
