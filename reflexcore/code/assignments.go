package code

import "approver.example/reflexcore/code/lex"

// assignment evaluates a, b = c, d. Without an assignment it is an expression.
func (m *machine) assignment() {
	first := m.in.tok()
	if at := m.in.patternAt(); at >= 0 {
		m.in.i = at
		m.destructure(m.in.tok().Text)
		return
	}
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

// patternAt returns the token at which a pattern of names begins to which the statement assigns, or -1:
// [a] = b, ({a} = b).
func (c *cursor) patternAt() int {
	at := c.i
	if c.is("(") && c.ahead(1).IsOp("{") {
		at++
	}
	if !c.d.statements.letDeclares || at >= len(c.toks) || !c.toks[at].IsOp("[") && at == c.i {
		return -1
	}
	end := c.match(at)
	if end+1 >= len(c.toks) || !c.toks[end+1].IsOp("=") {
		return -1
	}
	for _, t := range c.toks[at+1 : end] { // {a: o.b} = c sets a member
		if t.Kind != lex.Name && !t.IsOp(",") && !t.IsOp(":") {
			return -1
		}
	}
	return at
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

// declarations evaluates const, let, my, local and the like.
func (m *machine) declarations() {
	m.in.i++
	m.declaration()
	for m.d.statements.letDeclares && m.in.is(",") && m.budget.step() {
		m.in.i++
		m.declaration()
	}
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
	case t.Kind == lex.Name && m.d.statements.letDeclares && m.in.ahead(1).IsOp(":"): // let a: string = v;
		m.in.i = typeEnds(m.in.toks, m.in.i+1) + 1
		if m.in.take("=") {
			m.assign(t.Text, "=", unknown(0))
		} else {
			m.scope.bind(t.Text, unknown(0))
		}
	default:
		m.assignment()
	}
}

// typeEnds returns the last token of the type of a declared variable. It begins with the colon at i.
func typeEnds(toks []lex.Token, i int) int {
	angles, depth := 0, 0
	for ; i+1 < len(toks); i++ {
		t := &toks[i+1]
		if t.NewLine && angles <= 0 && depth == 0 && t.Text != "|" && t.Text != "&" && !toks[i].IsOp("|") &&
			!toks[i].IsOp("&") && !toks[i].IsOp("=>") && !toks[i].IsOp(":") {
			break
		}
		if depth += t.Nesting(); depth < 0 {
			break
		}
		if t.Kind != lex.Op || depth > 0 {
			continue
		}
		switch t.Text {
		case "<":
			angles++
		case ">":
			angles--
		case ">>":
			angles -= 2
		}
		if t.IsOp("=") || t.IsOp(";") || t.IsOp(",") && angles <= 0 {
			break
		}
	}
	return i
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
