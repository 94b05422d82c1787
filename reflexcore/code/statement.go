package code

import (
	"slices"
	"strings"

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

// assignment evaluates a, b = c, d. Without an assignment it is an expression.
func (m *machine) assignment() {
	first := m.in.tok()
	targets := 0
	for j := m.in.i; j < len(m.in.toks); j++ { // a, b, c =
		t := &m.in.toks[j]
		if t.Kind != lex.Name || j > m.in.i && t.NewLine && m.d.statements.lineEnds {
			break
		}
		targets++
		next := endToken
		if j+1 < len(m.in.toks) {
			next = m.in.toks[j+1]
		}
		if !next.IsOp(",") {
			if targets < 2 || next.Text != "=" || next.Kind != lex.Op {
				targets = 0
			}
			break
		}
		j++
	}
	if targets < 2 || first.Kind != lex.Name {
		part := m.in.isContinued()
		if v := m.expr(0); v.kind == nameValue && !part { // the value is not used
			m.escapes.undo()
		}
		m.escapes.lastAt = -1
		return
	}
	names := make([]string, 0, targets)
	for range targets {
		names = append(names, m.in.tok().Text)
		m.in.i += 2
	}
	v := m.valueList()
	for i, name := range names {
		if name != "" {
			m.set(name, at(v, int64(i)))
		}
	}
}

// valueList evaluates a, b, c.
func (m *machine) valueList() value {
	v := m.expr(bindAssign)
	if !m.in.is(",") {
		return v
	}
	out := []value{v}
	for m.in.is(",") && m.budget.step() {
		m.in.i++
		out = append(out, m.expr(bindAssign))
	}
	return list(out, 0)
}

// keyword evaluates a statement that begins with a keyword. It returns false if the token begins an
// expression.
func (m *machine) keyword(t *lex.Token) bool {
	if begin := m.d.statements.begin[t.Text]; begin != nil {
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

// skipClass skips the name of a class, whose body is evaluated like other statements.
func (m *machine) skipClass() { m.in.i += 2 }

// declarations evaluates const, let, my, local and the like.
func (m *machine) declarations() {
	m.in.i++
	m.declaration()
	for m.d.statements.letDeclares && m.in.is(",") && m.budget.step() {
		m.in.i++
		m.declaration()
	}
}

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

// declaration reads the names, patterns and values after const, let, my and local.
func (m *machine) declaration() {
	t := m.in.tok()
	switch {
	case t.IsName("function"):
		m.function()
	case t.Kind == lex.Op && (t.Text == "{" || t.Text == "[" || t.Text == "("):
		m.destructure(t.Text)
	case t.Kind == lex.Name && m.in.ahead(1).Kind == lex.Name &&
		(m.in.ahead(1).Text == "of" || m.in.ahead(1).Text == "in"):
		name := t.Text
		m.in.i += 2
		v := m.expr(0)
		m.scope.bind(name, unknown(v.taint))
	case t.Kind == lex.Name && m.d.statements.letDeclares && m.in.ahead(1).IsOp(";"): // let a;
		m.in.i++
		m.scope.bind(t.Text, unknown(0))
	default:
		m.assignment()
	}
}

// destructure reads {a, b: c} = v, [a, b] = v and ($a, $b) = v.
func (m *machine) destructure(open string) {
	end := m.in.match(m.in.i)
	var from, to []string
	computed, rest := false, ""
	for m.in.i++; m.in.i < end && m.budget.step(); {
		t := m.in.tok()
		if t.Kind != lex.Name {
			if next := m.in.ahead(1); open == "{" && t.Text == "..." && next.Kind == lex.Name {
				rest = next.Text
				m.in.i += 2
				continue
			}
			if t.IsOp(",") && open == "[" && m.in.ahead(-1).Kind == lex.Op {
				from, to = append(from, ""), append(to, "")
			}
			computed = computed || t.Kind == lex.Op && (t.Text == "[" || t.Text == "{")
			m.in.i++
			continue
		}
		from, to = append(from, t.Text), append(to, t.Text)
		m.in.i++
		if open == "{" && m.in.take(":") {
			computed = computed || m.in.tok().Kind != lex.Name
			to[len(to)-1] = m.in.tok().Text
			m.in.i++
		}
		if m.in.take("=") {
			m.expr(bindAssign)
		}
	}
	m.in.i = min(end+1, len(m.in.toks))
	v := unknown(0)
	if m.in.take("=") || m.in.isName("of") {
		if m.in.isName("of") {
			m.in.i++
		}
		v = m.expr(bindAssign)
		if !computed && open == "{" { // {["a" + "b"]: f} = v may take anything of v
			m.escapes.undo()
		}
		m.escapes.lastAt = -1
	}
	if rest != "" { // everything in v without a name of its own
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
func (m *machine) run() { m.in.statements(m.statement) }

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
	m.in.statements(func() {
		m.statement()
		v = unknown(v.taint)
	})
	back()
	m.budget.depth--
	return v
}

// evaluateInside evaluates an expression inside a string.
func (m *machine) evaluateInside(src string) value { return m.evaluate(src, 1) }
