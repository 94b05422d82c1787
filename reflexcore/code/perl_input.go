package code

import (
	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
)

// opensTexts judges texts of the source that would be programs if they were operands.
func (m *machine) opensTexts() {
	for i := range m.in.toks {
		if t := &m.in.toks[i]; t.Kind == lex.String {
			m.programs.opensOperand(m.literal(t))
		}
	}
}

// readsInput evaluates Perl's <STDIN> and <>, which begin at the current token.
func (m *machine) readsInput() (value, bool) {
	n := 1
	switch next := m.in.ahead(1); {
	case !m.d.expressions.angleInput:
		return value{}, false
	case m.in.is("<>"):
	case m.in.is("<") && next.IsName("STDIN") && m.in.ahead(2).Text == ">":
		n = 3
	case m.in.is("<") && next.IsOp(">"):
		n = 2
	default:
		return value{}, false
	}
	whole := m.in.i > 0 && m.in.toks[m.in.i-1].IsOp("(") && m.in.i > 1 &&
		m.in.toks[m.in.i-2].Text == "while"
	m.in.i += n
	if len(m.lim.Args) > 0 && n != 3 { // the operands are files
		return unknown(effect.File), true
	}
	if set, ok := m.scope.get("@ARGV"); ok && n != 3 {
		for _, w := range set.list {
			m.programs.opensOperand(w)
		}
		m.programs.opensOperand(set)
		m.opensTexts()
		return unknown(effect.File | set.taint), true
	}
	if n != 3 {
		m.opensTexts()
	}
	v := m.inputs.inputLine()
	if whole {
		m.scope.bind("$_", v)
	}
	return v, true
}
