package code

import (
	"slices"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// pythonFor evaluates the body once for each element of a short known list, or else once.
func (m *machine) pythonFor() {
	head := m.in.tok()
	m.in.i++
	names := m.in.namesBeforeIn(":")
	over := m.valueList()
	m.in.take(":")
	end := m.in.suite(head)
	items, ok := over.items()
	if !ok || len(items) > maxUnroll || len(names) == 0 {
		items = []value{unknown(over.taint)}
	}
	start, toks := m.in.i, m.in.toks
	m.in.toks = m.in.toks[:max(start, end)]
	for _, item := range items {
		for i, name := range names {
			m.scope.bind(name, partOfItem(item, i, len(names)))
		}
		m.in.i = start
		m.run()
	}
	m.in.toks, m.in.i = toks, max(start, end)
	if len(items) == 0 {
		m.in.i = start
	}
}

// beginFor reads the word for, and words that declare the variable of a loop.
func (m *machine) beginFor() {
	for m.in.i++; wordset.Has("my our local await", m.in.tok().Text) && m.in.tok().Kind == lex.Name; m.in.i++ {
	}
}

// forVariable reads foreach $x (list), and foreach (list), whose variable is $_. If the list is one value,
// such as a pattern of file names, the variable has it.
func (m *machine) forVariable() {
	m.beginFor()
	name := "$_"
	if t := m.in.tok(); t.Kind == lex.Name && t.Text[0] == '$' {
		name = t.Text
		m.in.i++
	}
	m.scope.bind(name, unknown(0))
	end := m.in.match(m.in.i)
	if !m.in.is("(") || end >= len(m.in.toks) ||
		slices.ContainsFunc(m.in.toks[m.in.i:end], func(t lex.Token) bool { return t.IsOp(";") }) {
		return
	}
	m.in.i++
	m.in.paren++
	v := m.expr(0)
	m.in.paren--
	if items, ok := v.items(); ok && len(items) == 1 {
		v = items[0]
	}
	if v.known() && m.in.i >= end {
		m.scope.bind(name, v)
	}
	m.in.i = end + 1
}

// forOf reads the head of for (const a of b). The names may have any element of b.
func (m *machine) forOf() {
	if m.beginFor(); !m.in.is("(") {
		return
	}
	end := m.in.match(m.in.i)
	of := m.in.i + 1
	for of < end && (!m.in.toks[of].IsName("of")) {
		of++
	}
	if of >= end {
		return
	}
	head := m.in.toks[m.in.i+1 : of]
	m.in.i = of + 1
	m.in.paren++
	v := m.expr(0)
	m.in.paren--
	m.escapes.addAll([]value{v})
	for j := range head {
		if t := &head[j]; t.Kind == lex.Name && !m.d.syntax.IsKeyword(t.Text) {
			m.scope.bind(t.Text, unknown(v.taint))
		}
	}
	m.in.i = min(end+1, len(m.in.toks))
}

// forIn reads for a, b in v and for i = v.
func (m *machine) forIn() {
	m.beginFor()
	var names []string
	for m.budget.step() && m.in.tok().Kind == lex.Name && m.in.tok().Text != "in" {
		names = append(names, m.in.tok().Text)
		m.in.i++
		m.in.take(",")
	}
	t := effect.Taint(0)
	if m.in.isName("in") || m.in.is("=") {
		m.in.i++
		t = m.expr(0).taint
	}
	for _, n := range names {
		m.scope.bind(n, unknown(t))
	}
}

// forAs reads foreach ($list as $k => $v).
func (m *machine) forAs() {
	if m.beginFor(); !m.in.is("(") {
		return
	}
	end := m.in.match(m.in.i)
	for j := m.in.i; j < end; j++ {
		if !m.in.toks[j].IsName("as") {
			continue
		}
		m.in.i++
		v := m.expr(0)
		for ; j < end; j++ {
			if m.in.toks[j].Kind == lex.Name && m.in.toks[j].Text[0] == '$' {
				m.scope.bind(m.in.toks[j].Text, unknown(v.taint))
			}
		}
		m.in.i = min(end+1, len(m.in.toks))
		return
	}
}

// pythonWith evaluates with f(x) as a, g(y) as b.
func (m *machine) pythonWith() {
	m.in.i++
	for m.budget.step() {
		v := m.expr(bindAssign)
		if m.in.isName("as") {
			m.in.i++
			if m.in.tok().Kind == lex.Name {
				m.scope.bind(m.in.tok().Text, v)
				m.in.i++
			}
		}
		if !m.in.take(",") {
			return
		}
	}
}

// partOfItem returns what the variable i of a loop with n variables gets of an item.
func partOfItem(item value, i, n int) value {
	if n == 1 {
		return item
	}
	return at(item, int64(i))
}

// comprehension evaluates an expression once for each element of a known list, or else once.
func (m *machine) comprehension() []value {
	start, quiet := m.in.i, m.out.quiet
	m.out.quiet = true
	first := m.expr(bindAssign)
	m.out.quiet = quiet
	for m.in.tok().Kind != lex.End && !m.in.isName("for") {
		m.in.i++
	}
	m.in.i++
	names := m.in.namesBeforeIn("")
	over := m.expr(bindOr)
	filtered := false
	for (m.in.isName("if") || m.in.isName("for")) && m.budget.step() {
		filtered = true
		m.in.i++
		m.expr(bindOr)
	}
	items, ok := over.items()
	several := over.kind == listValue && over.s == "entries"
	known := ok && (!filtered || several) && len(names) > 0
	if !known {
		items = []value{unknown(over.taint | first.taint)}
	}
	if len(m.scope.vars)+len(names) > maxVars {
		m.budget.over = true
		return nil
	}
	after, n := m.in.i, len(m.scope.vars)
	out := make([]value, 0, len(items))
	for _, item := range items {
		if !m.budget.step() {
			break
		}
		for j, name := range names {
			m.scope.vars = append(m.scope.vars, binding{name, partOfItem(item, j, len(names))})
		}
		m.in.i = start
		out = append(out, m.expr(bindAssign))
		m.scope.vars = m.scope.vars[:n]
	}
	m.in.i = after
	if !known || several {
		// A list of unknown length must not look like a list of one.
		return []value{unknown(taints(out))}
	}
	return out
}
