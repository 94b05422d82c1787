package code

import (
	"slices"
)

// apply evaluates the body of a function with given arguments.
func (m *machine) apply(f *function, args []value) value {
	f.called = true
	if f.active || !m.budget.deeper() {
		m.escapes.addAll(args)
		return unknown(taints(args))
	}
	f.active = true
	before, outer, vars, funcs := m.in.position, m.result, len(m.scope.vars), len(m.funcs)
	m.in.position = position{src: f.src, toks: f.toks, i: f.start}
	m.bindParams(f.params, args)
	if f.mentions("arguments") || len(args) > len(f.params) && m.d.calls.argumentList == "" && !f.takesRest() {
		m.escapes.addAll(args)
	}
	if m.d.calls.argumentList != "" {
		m.scope.local(m.d.calls.argumentList, list(args, 0))
	}
	passed := m.passed
	m.passed, m.within = args, m.within+1
	result := unknown(taints(args))
	if f.isExpr {
		m.in.paren = 1
		result = m.expr(0)
	} else {
		m.result = nil
		m.run()
		if m.result != nil {
			result = *m.result
		}
	}
	m.endScope(f, vars, funcs)
	m.passed, m.within = passed, m.within-1
	m.result = outer
	if vars <= len(m.scope.vars) {
		m.scope.vars = m.scope.vars[:vars]
	}
	m.in.position = before
	f.active = false
	m.budget.depth--
	return result
}

// bindParams binds the parameters of a function to the arguments of a call.
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
			m.escapes.addAll(args[n:])
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

// partOf returns the value that a name of a pattern is bound to.
func (m *machine) partOf(v value, p patternPart) value {
	switch {
	case p.member != "" && v.kind != unknownValue:
		return m.memberOf(v, p.member)
	case p.member == "" && p.index >= 0 && v.kind == listValue:
		return at(v, int64(p.index))
	default:
		m.escapes.addAll([]value{v})
	}
	return unknown(v.taint)
}

// endScope drops the variables of a function's body. A function that was created in the body keeps
// them, and names from outside stay.
func (m *machine) endScope(f *function, vars, funcs int) {
	for j := vars; j < len(m.scope.vars); j++ {
		b := m.scope.vars[j]
		if b.kind != nameValue || b.of != nil {
			continue
		}
		outlives := !f.declares(m.d, b.name)
		for k := min(funcs, len(m.funcs)); k < len(m.funcs) && !outlives; k++ {
			outlives = m.funcs[k].mentions(b.name)
		}
		if outlives {
			m.escapes.addAll([]value{b.value})
		}
	}
}

// orderArguments orders the arguments of a call, including named ones, by the parameters. An
// argument without a parameter escapes.
func (e *escapes) orderArguments(f *function, args []arg) []value {
	out := values(args)
	for _, a := range args {
		if a.name == "" {
			continue
		}
		at := slices.IndexFunc(f.params, func(p param) bool { return p.name == a.name && p.parts == nil && !p.rest })
		if at < 0 || at > maxUnroll {
			e.addAll([]value{a.value})
			continue
		}
		for len(out) <= at {
			out = append(out, unknown(0))
		}
		out[at] = a.value
	}
	return out
}
