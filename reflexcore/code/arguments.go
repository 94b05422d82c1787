package code

import (
	"slices"

	"approver.example/reflexcore/code/lex"
)

// arguments evaluates the arguments between the brackets of a call.
func (m *machine) arguments() []arg {
	m.in.i++
	m.in.paren++
	defer func() { m.in.paren-- }()
	if m.d.expressions.comprehensions && m.in.isComprehension() {
		items := m.elements(")")
		if len(items) == 1 && items[0].kind == unknownValue {
			return []arg{{value: items[0]}}
		}
		return []arg{{value: list(items, 0)}}
	}
	var out []arg
	for m.budget.step() && m.in.tok().Kind != lex.End && !m.in.is(")") {
		before := m.in.i
		out = m.oneArgument(out)
		if !m.in.take(",") && m.in.i == before {
			m.in.i++
		}
	}
	m.in.take(")")
	m.last = ""
	return out
}

// bareArguments evaluates the arguments of a call without brackets.
func (m *machine) bareArguments() []arg {
	var out []arg
	if m.in.is("{") && m.d.calls.blockArgs { // print {$fh} …, exec {"program"} …
		out = m.perlBlock(out)
	}
	for m.budget.step() && !m.in.ends() {
		before, block := m.in.i, len(out)
		out = m.oneArgument(out)
		if m.in.i == before {
			break
		}
		if m.in.take(",") || m.in.take("=>") {
			continue
		}
		if block > 0 || len(out) != 1 || m.programs.pipeOf(&out[0].value) == nil || m.in.is(";") { // print $pipe "text"
			break
		}
	}
	m.last = ""
	return out
}

// perlBlock evaluates the block before the arguments of print, system and exec.
func (m *machine) perlBlock(out []arg) []arg {
	of, end := m.in.ahead(-1).Text, m.in.match(m.in.i)
	runs := of == "system" || of == "exec"
	m.in.i++
	v := m.subscript("}")
	m.in.i = min(end+1, len(m.in.toks))
	switch {
	case runs:
		return append(out, arg{name: perlProgram, value: v})
	case m.programs.pipeOf(&v) != nil:
		return append(out, arg{value: v})
	}
	return out
}

func (m *machine) oneArgument(out []arg) []arg {
	t, next := m.in.tok(), m.in.ahead(1)
	name := ""
	switch {
	case t.Kind == lex.Name && next.Kind == lex.Op && slices.Contains(m.d.calls.namedBy, next.Text) &&
		(next.Text != ":" || next.Pos == t.End):
		name = t.Text
		m.in.i += 2
	case t.Kind == lex.Name && next.IsOp("=>") && m.d.calls.pairs:
		m.in.i += 2
		return append(out, arg{name: t.Text, value: m.expr(bindAssign)})
	}
	block := m.d.calls.blocks && m.in.is("&")
	splat := m.in.is("*") || m.in.is("...") || m.in.is("@")
	v := m.expr(bindAssign)
	if v.kind == nameValue {
		m.escapes.undo()
	}
	if block { // map(&:system)
		m.escapes.named(v)
	}
	if m.in.is("=>") && !m.d.expressions.arrows { // a pair among the arguments
		m.in.i++
		name = v.str()
		v = m.expr(bindAssign)
	}
	if (splat || m.d.calls.flattens) && v.kind == listValue && v.keys == nil && name == "" {
		for _, e := range v.list {
			out = append(out, arg{value: e})
		}
		return out
	}
	return append(out, arg{name: name, value: v})
}
