package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
)

// paramsBetween reads the parameters between two tokens.
func (m *machine) paramsBetween(from, to int) []param {
	var out []param
	follow := !m.in.hasCollector(from, to)
	for j := from; j < to && j < len(m.in.toks); j++ {
		t := &m.in.toks[j]
		switch {
		case t.Kind == lex.Op && (t.Text == "{" || t.Text == "["):
			end := min(m.in.match(j), to)
			out = append(out, param{parts: m.patternParts(j, end)})
			j = end
		case t.IsOp("="): // a default
			var v value
			v, j = m.defaultOf(j+1, to, follow)
			j--
			if follow && len(out) > 0 && m.api.isRunner(v) {
				out[len(out)-1].other = &v
			}
		case t.Kind == lex.Op && (t.Text == ":" || t.Text == "->"): // types
			j = m.in.typeEnd(j, to)
		case t.Kind == lex.Name && (!m.d.calls.sigilParams || t.Text[0] == '$'):
			before := m.in.toks[max(j-1, 0)]
			rest := j > from && before.Kind == lex.Op && (before.Text == "..." || before.Text == "*")
			out = append(out, param{name: t.Text, rest: rest})
		}
	}
	return out
}

// patternParts reads the names of a pattern in brackets.
func (m *machine) patternParts(open, end int) []patternPart {
	var out []patternPart
	isMap, index, any := m.in.toks[open].Text == "{", 0, false
	for j := open + 1; j < end; j++ {
		t := &m.in.toks[j]
		switch {
		case t.IsOp(","):
			index++
			any = false
		case t.Kind == lex.Op && (t.Text == "{" || t.Text == "["), t.IsOp("..."):
			any = true // a pattern in the pattern, a computed name, the rest
		case t.IsOp("="):
			_, j = m.defaultOf(j+1, end, false)
			j--
		case t.Kind != lex.Name:
		case isMap && !any && j+2 < end && m.in.toks[j+1].Text == ":" && m.in.toks[j+2].Kind == lex.Name:
			out = append(out, patternPart{name: m.in.toks[j+2].Text, member: t.Text})
			j += 2
		case isMap && any:
			out = append(out, patternPart{name: t.Text, index: anyPart})
		case isMap:
			out = append(out, patternPart{name: t.Text, member: t.Text})
		default:
			out = append(out, patternPart{name: t.Text, index: index})
		}
	}
	return out
}

// defaultOf evaluates the default of a parameter, and returns it with the token after it. A default
// that runs something does not escape if the parameter is followed.
func (m *machine) defaultOf(from, to int, follow bool) (value, int) {
	if !m.budget.deeper() {
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
	for end < to && (m.in.toks[end].Kind != lex.Op || !strings.Contains(",)]}", m.in.toks[end].Text)) {
		end++
	}
	m.in.i = i
	m.budget.depth--
	m.escapes.lastAt = -1
	return v, end
}
