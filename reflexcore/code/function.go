package code

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

// newFunction notes a function whose body lies between two tokens.
func (m *machine) newFunction(params []param, from, to int, isExpr bool) value {
	f := &function{params: params, src: m.src, toks: m.toks[:min(to, len(m.toks))], start: from, isExpr: isExpr}
	m.funcs = append(m.funcs, f)
	return value{fn: f}
}

// arrow reads the body of an arrow function; the current token follows the arrow.
func (m *machine) arrow(params []param) value {
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
	var params []param
	if m.is("(") {
		end := m.match(m.i)
		params = m.params(m.i+1, end)
		m.i = min(end+1, len(m.toks))
	}
	if m.d.name == "lua" {
		for _, p := range params {
			m.bind(p.name, unknown(0))
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
	var params []param
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
	if !ok || len(items) > maxUnroll || len(names) == 0 {
		items = []value{unknown(over.taint)}
	}
	start, toks := m.i, m.toks
	m.toks = m.toks[:max(start, end)]
	for _, item := range items {
		for i, name := range names {
			if len(names) == 1 {
				m.bind(name, item)
			} else {
				m.bind(name, at(item, int64(i)))
			}
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
			m.take("*") // local *F
			if m.is("(") {
				m.pattern("(")
				return unknown(0), true
			}
			if m.tok().kind != tkName || !m.deeper() {
				return unknown(0), true
			}
			defer func() { m.depth-- }()
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
