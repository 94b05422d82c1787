package code

import "approver.example/reflexcore/code/lex"

// method reads a method name(a, b) {…} in a class.
func (m *machine) method() bool {
	if next := m.in.ahead(1); !m.d.statements.bareMethods || !next.IsOp("(") {
		return false
	}
	open := m.in.match(m.in.i+1) + 1
	if open >= len(m.in.toks) || !m.in.toks[open].IsOp("{") || m.in.toks[open].NewLine {
		return false
	}
	end := m.in.match(open)
	m.newFunction(m.paramsBetween(m.in.i+2, open-1), open+1, end, false)
	m.in.i = min(end+1, len(m.in.toks))
	return true
}

// newFunction returns a function with a body between two tokens.
func (m *machine) newFunction(params []param, from, to int, isExpr bool) value {
	f := &function{params: params, src: m.in.src, toks: m.in.toks[:min(to, len(m.in.toks))], start: from,
		isExpr: isExpr}
	m.funcs = append(m.funcs, f)
	return value{fn: f}
}

// paramList reads (a, b), if it is next.
func (m *machine) paramList() []param {
	if !m.in.is("(") {
		return nil
	}
	end := m.in.match(m.in.i)
	params := m.paramsBetween(m.in.i+1, end)
	m.in.i = min(end+1, len(m.in.toks))
	return params
}

// bracedBody reads a function's body in braces, if it is next.
func (m *machine) bracedBody(params []param) value {
	end := m.in.match(m.in.i)
	v := m.newFunction(params, m.in.i+1, end, false)
	m.in.i = min(end+1, len(m.in.toks))
	return v
}

// arrow reads the body of an arrow function; the current token follows the arrow.
func (m *machine) arrow(params []param) value {
	if m.in.is("{") {
		return m.bracedBody(params)
	}
	end := m.in.exprEnd()
	v := m.newFunction(params, m.in.i, end, true)
	m.in.i = end
	return v
}

// function reads function name(a, b) {…}, fn($a) => …, and sub name {…}. In Lua, bodies have no
// braces, so the statements follow.
func (m *machine) function() value {
	if !m.in.is("{") {
		m.in.i++
	}
	m.in.take("*")
	name := ""
	for t := m.in.tok(); t.Kind == lex.Name || t.Kind == lex.Op &&
		(t.Text == "." || t.Text == ":" || t.Text == "&"); t = m.in.tok() {
		if t.Kind == lex.Name {
			name = t.Text
		}
		m.in.i++
	}
	params := m.paramList()
	if m.d.statements.openBodies {
		for _, p := range params {
			m.scope.bind(p.name, unknown(0))
		}
		return unknown(0)
	}
	for m.budget.step() && m.in.tok().Kind != lex.End && !m.in.is("{") && !m.in.is("=>") && !m.in.is(";") &&
		!m.in.is(")") { // use (…), a type
		if m.in.is("(") {
			m.in.i = m.in.match(m.in.i)
		}
		m.in.i++
	}
	if m.in.take("=>") {
		return m.arrow(params)
	}
	if !m.in.is("{") {
		return unknown(0)
	}
	v := m.bracedBody(params)
	if name != "" {
		m.scope.bind(name, v)
	}
	return v
}

// declaresFunction reads a function that is a statement.
func (m *machine) declaresFunction() { m.function() }

// rubyDef reads def name(a, b). The body is evaluated like other statements.
func (m *machine) rubyDef() {
	m.in.i += 2
	m.paramList()
}

// pythonDef reads def name(a, b): body. The body ends with the line, or before the first line that
// is not indented deeper than the def.
func (m *machine) pythonDef() {
	def := m.in.tok()
	m.in.i++
	name := m.in.tok().Text
	m.in.i++
	params := m.paramList()
	for m.budget.step() && m.in.tok().Kind != lex.End && !m.in.is(":") {
		m.in.i++
	}
	m.in.i++
	end := m.in.suite(def)
	v := m.newFunction(params, m.in.i, end, false)
	m.scope.bind(name, v)
	m.in.i = end
}

// special evaluates keywords inside expressions.
func (m *machine) special(t *lex.Token) (value, bool) {
	switch {
	case t.Text == "lambda" && m.d.syntax.IsKeyword("lambda"):
		return m.lambda(), true
	case t.Text == "class" && m.d.expressions.classValues:
		m.in.i++
		return unknown(0), true
	case (t.Text == "function" || t.Text == "fn" || t.Text == "sub") && m.d.syntax.IsKeyword(t.Text):
		return m.function(), true
	case (t.Text == "my" || t.Text == "our" || t.Text == "local") && m.d.syntax.IsKeyword("my"):
		return m.declaredInside(), true
	case (t.Text == "do" || t.Text == "eval") && m.d.expressions.blockValues && m.in.ahead(1).Text == "{":
		m.in.i++
		return m.apply(m.bracedBody(nil).fn, nil), true
	}
	return value{}, false
}

// lambda evaluates lambda a, b: expression.
func (m *machine) lambda() value {
	m.in.i++
	from := m.in.i
	for m.in.tok().Kind != lex.End && !m.in.is(":") {
		m.in.i++
	}
	params := m.paramsBetween(from, m.in.i)
	m.in.i++
	end := m.in.exprEnd()
	v := m.newFunction(params, m.in.i, end, true)
	m.in.i = end
	return v
}

// declaredInside evaluates my $x inside an expression.
func (m *machine) declaredInside() value {
	m.in.i++
	m.in.take("*") // local *F
	if m.in.is("(") {
		m.destructure("(")
		return unknown(0)
	}
	if m.in.tok().Kind != lex.Name || !m.budget.deeper() {
		return unknown(0)
	}
	defer func() { m.budget.depth-- }()
	return m.name(m.in.tok())
}
