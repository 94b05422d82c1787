package code

import (
	"slices"

	"approver.example/reflexcore/code/lex"
)

// statement evaluates the next statement, or skips a token that begins none.
func (m *machine) statement() {
	t := m.in.tok()
	if len(m.cwd.visits) > 0 {
		m.cwd.leaveBlocks(t)
	}
	if t.Kind == lex.Op {
		switch t.Text {
		case "@":
			if m.d.statements.decorators { // a decorator is called with what it decorates
				m.in.i++
				if v := m.expr(0); v.kind == nameValue && v.of == nil && m.api.isDanger(v.s) {
					m.out.found(Found{Text: v.s, By: "@" + v.s})
				}
				return
			}
		case ";", "}", ")", "]", ",", ":", "?", ".", "=>", "|", "=":
			m.in.i++
			return
		case "{":
			if m.d.statements.braces || m.d.calls.blocks {
				m.in.i++
				return
			}
		}
	}
	if t.Kind == lex.Name {
		if m.keyword(t) || m.method() {
			return
		}
	}
	m.assignment()
}

// skipClass skips the name of a class, whose body is evaluated like other statements.
func (m *machine) skipClass() { m.in.i += 2 }

// withScope evaluates with (module) ….
func (m *machine) withScope() {
	if !m.in.ahead(1).IsOp("(") {
		return
	}
	m.in.i++
	if v := m.expr(bindPower); v.kind == nameValue {
		m.scope.bindAll(m.api, v.s)
	}
}

// throws evaluates throw and raise. Whatever catches the value may call it.
func (m *machine) throws() {
	if m.in.i++; !m.in.ends() && !m.in.is(";") && !m.in.is("}") {
		m.expr(0)
		m.escapes.lastAt = -1
	}
}

// execText evaluates exec "code" of Python 2.
func (m *machine) execText() {
	if m.in.ahead(1).Kind == lex.String {
		m.in.i++
		m.call(value{kind: nameValue, s: "exec"}, []arg{{value: m.expr(0)}})
	}
}

// returns evaluates a return statement. A function may return any of several values.
func (m *machine) returns() {
	m.in.i++
	if m.in.ends() || m.in.is(";") || m.in.is("}") {
		return
	}
	v := m.expr(0)
	if m.result != nil {
		v = join(*m.result, v)
	}
	m.result = &v
}

// keyword evaluates a statement that begins with a keyword. It returns false if the token begins an
// expression.
func (m *machine) keyword(t *lex.Token) bool {
	if begin := m.begin[t.Text]; begin != nil {
		before := m.in.i
		if begin(m); m.in.i > before {
			return true
		}
	}
	if slices.Contains(runsAFile, t.Text) {
		return m.include(t)
	}
	if m.d.syntax.IsKeyword(t.Text) && !beginsValue[t.Text] {
		m.in.i++
		return true
	}
	return false
}

// runsAFile are keywords for files that run as a part of the script, in any language.
var runsAFile = []string{"include", "include_once", "require_once", "require", "do", "load"}
