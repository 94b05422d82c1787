package code

import "strings"

// A param is a parameter of a function: a name, or a pattern that takes apart what the
// function is given.
type param struct {
	rest  bool // it gets all arguments from its place on
	name  string
	parts []part
	other *value // the function that runs something which it is where the call gives nothing
}

// A part is a name that a pattern binds, and what of the argument it is bound to: a
// member, or the element at an index. With neither it may be anything of the argument.
type part struct {
	name, member string
	index        int
}

const anyPart = -1

// params reads the parameters between two tokens.
func (m *machine) params(from, to int) []param {
	var out []param
	follow := !m.in.collects(from, to)
	for j := from; j < to && j < len(m.in.toks); j++ {
		t := &m.in.toks[j]
		switch {
		case t.kind == tkOp && (t.text == "{" || t.text == "["):
			end := min(m.in.match(j), to)
			out = append(out, param{parts: m.parts(j, end)})
			j = end
		case t.kind == tkOp && t.text == "=": // a default
			var v value
			v, j = m.defaultOf(j+1, to, follow)
			j--
			if follow && len(out) > 0 && m.api.isRunner(v) {
				out[len(out)-1].other = &v
			}
		case t.kind == tkOp && (t.text == ":" || t.text == "->"): // types
			j = m.in.typeEnd(j, to)
		case t.kind == tkName && (!m.d.sigilParams || t.text[0] == '$'):
			before := m.in.toks[max(j-1, 0)]
			rest := j > from && before.kind == tkOp && (before.text == "..." || before.text == "*")
			out = append(out, param{name: t.text, rest: rest})
		}
	}
	return out
}

// parts reads the names of a pattern, which begins and ends at brackets.
func (m *machine) parts(open, end int) []part {
	var out []part
	isMap, index, any := m.in.toks[open].text == "{", 0, false
	for j := open + 1; j < end; j++ {
		t := &m.in.toks[j]
		switch {
		case t.kind == tkOp && t.text == ",":
			index++
			any = false
		case t.kind == tkOp && (t.text == "{" || t.text == "["), t.kind == tkOp && t.text == "...":
			any = true // a pattern in the pattern, a computed name, the rest
		case t.kind == tkOp && t.text == "=":
			_, j = m.defaultOf(j+1, end, false)
			j--
		case t.kind != tkName:
		case isMap && !any && j+2 < end && m.in.toks[j+1].text == ":" && m.in.toks[j+2].kind == tkName:
			out = append(out, part{name: m.in.toks[j+2].text, member: t.text})
			j += 2
		case isMap && any:
			out = append(out, part{name: t.text, index: anyPart})
		case isMap:
			out = append(out, part{name: t.text, member: t.text})
		default:
			out = append(out, part{name: t.text, index: index})
		}
	}
	return out
}

// bindParams gives the parameters of a function what a call gives it.
func (m *machine) bindParams(params []param, args []value) {
	for n := range params {
		p, v := &params[n], value{}
		switch {
		case n < len(args):
			v = args[n]
		case p.other == nil:
			continue
		}
		if p.other != nil && (v.kind == unknownValue || v.keys != nil || isNothing(v)) && v.fn == nil {
			v = *p.other
		}
		if p.rest && n < len(args) {
			m.loose.letLoose(args[n:])
			v = list(args[n:], 0)
		}
		if p.parts == nil {
			m.scope.local(p.name, v)
			continue
		}
		for _, part := range p.parts {
			m.scope.local(part.name, m.partOf(v, part))
		}
	}
}

// partOf is what a name of a pattern is bound to.
func (m *machine) partOf(v value, p part) value {
	switch {
	case p.member != "" && v.kind != unknownValue:
		return m.memberOf(v, p.member)
	case p.member == "" && p.index >= 0 && v.kind == listValue:
		return at(v, int64(p.index))
	default:
		m.loose.letLoose([]value{v})
	}
	return unknown(v.taint)
}

// defaultOf evaluates the default of a parameter, which begins at a token, and returns
// it with the token behind it. A function that runs something is kept where the parameter
// is followed.
func (m *machine) defaultOf(from, to int, follow bool) (value, int) {
	if !m.budget.deeper() {
		m.budget.depth--
		return unknown(0), max(from, to)
	}
	i := m.in.i
	m.in.i = from
	m.in.paren++
	v := m.expr(bindAssign)
	m.in.paren--
	if follow && m.api.isRunner(v) {
		m.loose.kept()
	}
	end := max(from, min(m.in.i, to))
	for end < to && (m.in.toks[end].kind != tkOp || !strings.Contains(",)]}", m.in.toks[end].text)) {
		end++
	}
	m.in.i = i
	m.budget.depth--
	m.loose.usedAt = -1
	return v, end
}
