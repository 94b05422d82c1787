package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
)

// primary evaluates a literal, a name, or an expression in brackets.
func (m *machine) primary() value {
	t := m.in.tok()
	switch t.Kind {
	case lex.String:
		m.in.i++
		v := m.literal(t)
		for m.d.texts.joined && m.in.tok().Kind == lex.String && !m.in.ends() { // "a" "b"
			v = add(v, m.literal(m.in.tok()), true)
			m.in.i++
		}
		return v
	case lex.Number:
		m.in.i++
		return number(t.Text)
	case lex.Command:
		m.in.i++
		v := m.literal(t)
		m.programs.shell(v, "`")
		return unknown(v.taint | effect.File)
	case lex.Regex:
		m.in.i++
		return m.regex(t)
	case lex.Words:
		m.in.i++
		return list(textValues(strings.Fields(t.Text), 0), 0)
	case lex.Name:
		return m.name(t)
	case lex.Op:
		if v, ok := m.readsInput(); ok {
			return v
		}
		switch t.Text {
		case "(":
			return m.group()
		case "[":
			m.in.i++
			v := list(m.elements("]"), 0)
			if len(m.keys) > 0 && len(m.keys) == len(v.list) {
				v.keys = m.keys
			}
			return v
		case "{":
			return m.mapLiteral()
		case "->": // Ruby's lambda, with or without parameters
			m.in.i++
			return unknown(0)
		}
	default:
	}
	return unknown(0)
}

// regex evaluates code in a pattern, (?{ code }), and in its replacement.
func (m *machine) regex(t *lex.Token) value {
	if t.Evaluated {
		if v := m.evaluateInside(t.More); t.Twice {
			m.evaluateCode(row{}, v, "s///ee")
		}
	}
	m.out.inserts(t.More)
	pattern := t.Text
	for m.d.texts.patternCode && m.budget.step() {
		at := strings.Index(pattern, "?{")
		if at < 0 {
			break
		}
		body, end := inBraces(pattern, at+2)
		m.evaluateInside(body)
		pattern = pattern[end:]
	}
	return value{kind: objectValue, s: "regex"}
}

// group evaluates (…): one value, a list, or the parameters of an arrow function.
func (m *machine) group() value {
	end := m.in.match(m.in.i)
	if m.d.expressions.arrows && end+1 < len(m.in.toks) && m.in.toks[end+1].IsOp("=>") {
		params := m.paramsBetween(m.in.i+1, end)
		m.in.i = end + 2
		return m.arrow(params)
	}
	m.in.i++
	before := len(m.escapes.functions)
	elements := m.elements(")")
	one := len(elements) == 1 && !m.trailing
	last := len(elements) - 1
	if len(m.escapes.functions) == before+1 && m.escapes.lastAt >= 0 && last >= 0 &&
		elements[last].kind == nameValue && (one || m.d.expressions.commaOperator) {
		// The value of the brackets is recorded like any other value.
		m.escapes.functions = m.escapes.functions[:before]
	}
	switch {
	case one:
		return elements[0]
	case m.d.expressions.commaOperator && len(elements) > 0: // the comma operator
		return elements[len(elements)-1]
	}
	return list(elements, 0)
}

// elements evaluates expressions between commas, up to and including a closing bracket. It expands a
// comprehension.
func (m *machine) elements(end string) []value {
	m.in.paren++
	m.keys = nil
	defer func() { m.in.paren-- }()
	if m.d.expressions.comprehensions && m.in.isComprehension() {
		out := m.comprehension()
		for m.budget.step() && m.in.tok().Kind != lex.End && !m.in.is(end) {
			m.in.i++
		}
		m.in.take(end)
		m.trailing, m.last = true, ""
		return out
	}
	var out []value
	var keys []string // of PHP's lists
	trailing := false
	for m.budget.step() && m.in.tok().Kind != lex.End && !m.in.is(end) {
		before := m.in.i
		star := m.in.is("*") || m.in.is("...")
		v := m.expr(bindAssign)
		if inner, ok := v.items(); star && ok && v.kind == listValue {
			out = append(out, inner...)
		} else if m.in.take("=>") || m.d.expressions.colonPairs && m.in.take(":") { // a pair in a list
			m.last = ""
			e := m.expr(bindAssign)
			if m.d.expressions.keyedLists { // ["a" => "system"]["a"](…)
				out = append(out, e)
				keys = append(keys, v.str())
			}
		} else {
			out = append(out, v)
		}
		trailing = m.in.take(",")
		if !trailing && m.in.i == before {
			m.in.i++
		}
		if len(out) > maxList {
			m.budget.over = true
		}
	}
	m.in.take(end)
	m.trailing, m.last, m.keys = trailing, "", keys
	return out
}

// mapLiteral evaluates {a: b, "c": d}.
func (m *machine) mapLiteral() value {
	m.in.i++
	m.in.paren++
	defer func() { m.in.paren-- }()
	v := value{kind: listValue, keys: []string{}}
	put := func(key string, e value) {
		v.keys, v.list, v.taint = append(v.keys, key), append(v.list, e), v.taint|e.taint
	}
	for m.budget.step() && m.in.tok().Kind != lex.End && !m.in.is("}") {
		before := m.in.i
		t, next := m.in.tok(), m.in.ahead(1)
		if (t.Kind == lex.Name || t.Kind == lex.String) && next.Kind == lex.Op &&
			(next.Text == ":" || next.Text == "=>" || next.Text == "=" || next.Text == "," || next.Text == "}") {
			if next.Text != "," && next.Text != "}" {
				m.in.i += 2
			}
			put(t.Text, m.expr(bindAssign))
		} else if t.Kind == lex.Name && next.IsOp("(") && m.d.statements.bareMethods { // a method
			m.in.i = m.in.match(m.in.i+1) + 1
			if m.in.is("{") {
				m.function()
			}
		} else {
			e := m.expr(bindAssign)
			v.taint |= e.taint
			if m.in.take(":") || m.in.take("=>") {
				put(e.str(), m.expr(bindAssign))
			}
		}
		if !m.in.take(",") && !m.in.take(";") && m.in.i == before {
			m.in.i++
		}
	}
	m.in.take("}")
	m.last = ""
	return v
}

// name evaluates a name: a variable, a keyword that begins a value, or a path of names without a
// break.
func (m *machine) name(t *lex.Token) value {
	if v, ok := m.special(t); ok {
		return v
	}
	m.in.i++
	s, end := t.Text, t.End
	switch {
	case m.d.members.hashElements:
		s = m.in.perlName(t)
	case m.d.calls.anyCase:
		if lower := strings.ToLower(s); s[0] != '$' && m.api.find(s) == nil && m.api.find(lower) != nil {
			s = lower // function names are case-insensitive
		}
	}
	m.last = s
	if v, ok := m.scope.get(s); ok {
		return v
	}
	for m.in.i+1 < len(m.in.toks) { // a.b.c is a part of the source
		dot, part := &m.in.toks[m.in.i], &m.in.toks[m.in.i+1]
		if !dot.IsOp(".") || m.d.members.operators[0] != "." || part.Kind != lex.Name || dot.Pos != end ||
			part.Pos != dot.End || int(part.End) > len(m.in.src) ||
			len(part.Text) != int(part.End-part.Pos) || len(t.Text) != int(t.End-t.Pos) || m.d.calls.blocks &&
			m.api.find(s) != nil {
			break
		}
		s, end = m.in.src[t.Pos:part.End], part.End
		m.in.i += 2
		m.last = s
		if v, ok := m.scope.get(s); ok {
			return v
		}
	}
	return value{kind: nameValue, s: m.api.canonical(s)}
}

// subscript evaluates the text in brackets. In some languages a bare word there is a text.
func (m *machine) subscript(end string) value {
	if t := m.in.tok(); t.Kind == lex.Name && m.in.ahead(1).IsOp(end) && end == "}" &&
		lex.IsLetter(t.Text[0]) {
		m.in.i += 2
		return text(t.Text, 0)
	}
	m.in.paren++
	v := m.expr(0)
	for m.budget.step() && m.in.tok().Kind != lex.End && !m.in.is(end) {
		m.expr(0)
		if !m.in.is(end) {
			m.in.i++
		}
	}
	m.in.take(end)
	m.in.paren--
	m.last = ""
	return v
}
