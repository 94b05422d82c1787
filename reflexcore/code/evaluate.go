package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
)

// source evaluates code with the current variables.
func (m *machine) source(src string) {
	defer m.in.enter(src)()
	if !m.budget.deeper() {
		return
	}
	m.scope.findJoined(m.in.toks, m.d)
	m.run()
	m.budget.depth--
}

// run evaluates statements to the end of the tokens.
func (m *machine) run() { m.in.eachStatement(m.statement) }

// evaluate evaluates another source with the current variables. If it is a single expression, it
// returns its value.
func (m *machine) evaluate(src string, paren int) value {
	if strings.TrimSpace(src) == "" || !m.budget.deeper() {
		return unknown(0)
	}
	if m.d.ownReader {
		p := psReader{machine: m, src: src}
		v := p.block(0)
		m.budget.depth--
		return v
	}
	back := m.in.enter(src)
	if m.budget.over {
		back()
		m.budget.depth--
		return unknown(0)
	}
	m.in.paren = paren
	if paren == 0 {
		m.scope.findJoined(m.in.toks, m.d)
	}
	v := unknown(0)
	if t := m.in.tok(); t.Kind != lex.Name || !m.d.syntax.IsKeyword(t.Text) || t.Text == "new" {
		v = m.expr(0)
	}
	m.in.eachStatement(func() {
		m.statement()
		v = unknown(v.taint)
	})
	back()
	m.budget.depth--
	return v
}

// evaluateInside evaluates an expression inside a string.
func (m *machine) evaluateInside(src string) value { return m.evaluate(src, 1) }
