package code

import "strings"

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
		case t.isOp("="): // a default
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
		case t.isOp(","):
			index++
			any = false
		case t.kind == tkOp && (t.text == "{" || t.text == "["), t.isOp("..."):
			any = true // a pattern in the pattern, a computed name, the rest
		case t.isOp("="):
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
		m.escapes.undo()
	}
	end := max(from, min(m.in.i, to))
	for end < to && (m.in.toks[end].kind != tkOp || !strings.Contains(",)]}", m.in.toks[end].text)) {
		end++
	}
	m.in.i = i
	m.budget.depth--
	m.escapes.lastAt = -1
	return v, end
}
