package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// statement evaluates the next statement, or skips one token that begins none.
func (m *machine) statement() {
	t := m.tok()
	if t.kind == tkOp {
		switch t.text {
		case "@":
			if m.d.name == "python" { // a decorator is called with what it decorates
				m.i++
				if v := m.expr(0); v.kind == nameValue && v.of == nil && m.isDanger(v.s) {
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

// method notes name(a, b) {…} in the body of a class.
func (m *machine) method(t *token) bool {
	if next := m.ahead(1); m.d.name != "node" || next.kind != tkOp || next.text != "(" {
		return false
	}
	open := m.match(m.i+1) + 1
	if open >= len(m.toks) || m.toks[open].kind != tkOp || m.toks[open].text != "{" || m.toks[open].nl {
		return false
	}
	end := m.match(open)
	m.newFunction(m.params(m.i+2, open-1), open+1, end, false)
	m.i = min(end+1, len(m.toks))
	return true
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
		m.expr(0)
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
				m.i = m.match(m.i) + 1
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

// include is a file that runs as a part of this script.
func (m *machine) include(t *token) bool {
	next := m.ahead(1)
	switch {
	case m.d.name == "php" && t.text != "do" && t.text != "load", m.d.name == "perl" && (next.kind == tkString || next.kind == tkName && next.text[0] == '$') && (t.text == "do" || t.text == "require"):
		m.i++
		v := m.expr(0)
		path := v.str()
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

// use skips a declaration of what is used; a version or a list says nothing.
func (m *machine) use() {
	for m.step() && m.tok().kind != tkEnd && !m.is(";") {
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
			m.bind(m.alias(name), value{kind: nameValue, s: m.canonical(module + "." + name)})
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
			m.bind(alias, value{kind: nameValue, s: m.canonical(module)})
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
	default:
		m.assignment()
	}
}

// pattern reads {a, b: c} = v, [a, b] = v and ($a, $b) = v.
func (m *machine) pattern(open string) {
	end := m.match(m.i)
	var from, to []string
	for m.i++; m.i < end && m.step(); {
		t := m.tok()
		if t.kind != tkName {
			if t.kind == tkOp && t.text == "," && open == "[" && m.ahead(-1).kind == tkOp {
				from, to = append(from, ""), append(to, "")
			}
			m.i++
			continue
		}
		from, to = append(from, t.text), append(to, t.text)
		m.i++
		if open == "{" && m.take(":") {
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

// params reads the names between two tokens.
func (m *machine) params(from, to int) []string {
	var out []string
	depth := 0
	for j := from; j < to && j < len(m.toks); j++ {
		t := &m.toks[j]
		if t.kind == tkOp {
			switch t.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			case "=", ":", "->": // defaults and types
				for j+1 < to && !(m.toks[j+1].kind == tkOp && m.toks[j+1].text == ",") {
					j++
				}
			}
			continue
		}
		if t.kind == tkName && depth >= 0 && !(m.d.name == "php" && t.text[0] != '$') {
			out = append(out, t.text)
		}
	}
	return out
}

// newFunction notes a function whose body lies between two tokens.
func (m *machine) newFunction(params []string, from, to int, isExpr bool) value {
	f := &function{params: params, src: m.src, toks: m.toks[:min(to, len(m.toks))], start: from, isExpr: isExpr}
	m.funcs = append(m.funcs, f)
	return value{fn: f}
}

// arrow reads the body of an arrow function; the current token follows the arrow.
func (m *machine) arrow(params []string) value {
	if m.is("{") {
		end := m.match(m.i)
		v := m.newFunction(params, m.i+1, end, false)
		m.i = min(end+1, len(m.toks))
		return v
	}
	end := m.exprEnd()
	v := m.newFunction(params, m.i, end, true)
	m.i = end
	return v
}

// exprEnd returns the token at which the expression that begins here ends.
func (m *machine) exprEnd() int {
	depth := 0
	for j := m.i; j < len(m.toks); j++ {
		t := &m.toks[j]
		if t.kind != tkOp {
			if t.nl && depth == 0 && m.paren == 0 && j > m.i {
				return j
			}
			continue
		}
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth < 0 {
				return j
			}
		case ",", ";":
			if depth == 0 {
				return j
			}
		}
	}
	return len(m.toks)
}

// function reads function name(a, b) {…}, fn($a) => …, sub name {…}; in Lua,
// whose bodies have no brackets, the statements follow.
func (m *machine) function() value {
	if !m.is("{") {
		m.i++
	}
	m.take("*")
	name := ""
	for t := m.tok(); t.kind == tkName || t.kind == tkOp && (t.text == "." || t.text == ":" || t.text == "&"); t = m.tok() {
		if t.kind == tkName {
			name = t.text
		}
		m.i++
	}
	var params []string
	if m.is("(") {
		end := m.match(m.i)
		params = m.params(m.i+1, end)
		m.i = min(end+1, len(m.toks))
	}
	if m.d.name == "lua" {
		for _, p := range params {
			m.bind(p, unknown(0))
		}
		return unknown(0)
	}
	for m.step() && m.tok().kind != tkEnd && !m.is("{") && !m.is("=>") && !m.is(";") && !m.is(")") { // use (…), a type
		if m.is("(") {
			m.i = m.match(m.i)
		}
		m.i++
	}
	if m.take("=>") {
		return m.arrow(params)
	}
	if !m.is("{") {
		return unknown(0)
	}
	end := m.match(m.i)
	v := m.newFunction(params, m.i+1, end, false)
	m.i = min(end+1, len(m.toks))
	if name != "" {
		m.bind(name, v)
	}
	return v
}

// pythonDef reads def name(a, b): body. The body ends with the line, or with the
// first line that is not indented deeper than the def.
func (m *machine) pythonDef() {
	def := m.tok()
	m.i++
	name := m.tok().text
	m.i++
	var params []string
	if m.is("(") {
		end := m.match(m.i)
		params = m.params(m.i+1, end)
		m.i = min(end+1, len(m.toks))
	}
	for m.step() && m.tok().kind != tkEnd && !m.is(":") {
		m.i++
	}
	m.i++
	end := m.suite(def)
	v := m.newFunction(params, m.i, end, false)
	m.bind(name, v)
	m.i = end
}

// suite returns the token at which the body that begins here ends; head is the
// first token of its statement.
func (m *machine) suite(head *token) int {
	if m.i >= len(m.toks) {
		m.i = len(m.toks)
		return m.i
	}
	oneLine, j := !m.toks[m.i].nl, m.i
	for ; j < len(m.toks); j++ {
		if t := &m.toks[j]; t.nl && (oneLine && j > m.i || !oneLine && t.col <= head.col) {
			break
		}
	}
	return j
}

// pythonFor evaluates the body once for each element of a short list that is
// known, or once.
func (m *machine) pythonFor() {
	head := m.tok()
	m.i++
	var names []string
	for m.tok().kind != tkEnd && !m.isName("in") && !m.is(":") {
		if m.tok().kind == tkName {
			names = append(names, m.tok().text)
		}
		m.i++
	}
	m.i++
	over := m.valueList()
	m.take(":")
	end := m.suite(head)
	items, ok := over.items()
	if !ok || len(items) > maxUnroll || len(names) != 1 {
		for _, n := range names {
			m.bind(n, unknown(over.taint))
		}
		items = []value{unknown(over.taint)}
	}
	start, toks := m.i, m.toks
	m.toks = m.toks[:max(start, end)]
	for _, item := range items {
		if len(names) == 1 {
			m.bind(names[0], item)
		}
		m.i = start
		m.run()
	}
	m.toks, m.i = toks, max(start, end)
	if len(items) == 0 {
		m.i = start
	}
}

// maxUnroll is how often a loop over a known list is evaluated.
const maxUnroll = 32

// pythonWith: with f(x) as a, g(y) as b.
func (m *machine) pythonWith() {
	for m.step() {
		v := m.expr(bindAssign)
		if m.isName("as") {
			m.i++
			if m.tok().kind == tkName {
				m.bind(m.tok().text, v)
				m.i++
			}
		}
		if !m.take(",") {
			return
		}
	}
}

// special evaluates the keywords that stand inside expressions.
func (m *machine) special(t *token) (value, bool) {
	switch m.d.name {
	case "python":
		if t.text == "lambda" {
			m.i++
			from := m.i
			for m.tok().kind != tkEnd && !m.is(":") {
				m.i++
			}
			params := m.params(from, m.i)
			m.i++
			end := m.exprEnd()
			v := m.newFunction(params, m.i, end, true)
			m.i = end
			return v, true
		}
	case "node", "php":
		if t.text == "function" || t.text == "fn" && m.d.name == "php" {
			return m.function(), true
		}
		if t.text == "class" {
			m.i++
			return unknown(0), true
		}
	case "lua":
		if t.text == "function" {
			return m.function(), true
		}
	case "perl":
		switch {
		case t.text == "sub":
			return m.function(), true
		case t.text == "my" || t.text == "our" || t.text == "local":
			m.i++
			if m.is("(") {
				m.pattern("(")
				return unknown(0), true
			}
			return m.name(m.tok()), true
		case t.text == "do" && m.ahead(1).text == "{", t.text == "eval" && m.ahead(1).text == "{":
			m.i++
			end := m.match(m.i)
			v := m.newFunction(nil, m.i+1, end, false)
			m.i = min(end+1, len(m.toks))
			return m.apply(v.fn, nil), true
		}
	}
	return value{}, false
}

// appended notes what << adds to a list or a file.
func (m *machine) appended(left, right value) {
	if left.kind == objectValue && left.s == "file" {
		m.content(value{s: "<<", of: &left}, []arg{{value: right}}, "<<")
	}
}
