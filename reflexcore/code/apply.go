package code

import (
	"slices"
)

// A frame is a call of a function of the code, while its body is evaluated.
type frame struct {
	m     *machine
	f     *function
	args  []value
	vars  int // the variables before the call
	funcs int // the functions before it
}

// apply evaluates the body of a function with given arguments.
func (m *machine) apply(f *function, args []value) value {
	f.called = true
	if f.active || !m.budget.deeper() {
		m.escapes.addAll(args)
		return unknown(taints(args))
	}
	f.active = true
	fr := frame{m, f, args, len(m.scope.vars), len(m.funcs)}
	before, outer := m.in.position, m.result
	m.in.position = position{src: f.src, toks: f.toks, i: f.start}
	fr.bindParams()
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
	fr.endScope()
	m.passed, m.within = passed, m.within-1
	m.result = outer
	if fr.vars <= len(m.scope.vars) {
		m.scope.vars = m.scope.vars[:fr.vars]
	}
	m.in.position = before
	f.active = false
	m.budget.depth--
	return result
}

// bindParams binds the parameters of a function to the arguments of a call.
func (fr *frame) bindParams() {
	for n := range fr.f.params {
		p, v := &fr.f.params[n], value{}
		switch {
		case n < len(fr.args):
			v = fr.args[n]
		case p.other == nil:
			continue
		}
		if p.other != nil && (v.kind == unknownValue || v.keys != nil || isNothing(v)) && v.fn == nil {
			v = *p.other
		}
		if p.rest && n < len(fr.args) {
			fr.m.escapes.addAll(fr.args[n:])
			v = list(fr.args[n:], 0)
		}
		if p.parts == nil {
			fr.m.scope.local(p.name, v)
			continue
		}
		for _, part := range p.parts {
			fr.m.scope.local(part.name, fr.partOf(v, part))
		}
	}
}

// partOf returns the value that a name of a pattern is bound to.
func (fr *frame) partOf(v value, p patternPart) value {
	switch {
	case p.member != "" && v.kind != unknownValue:
		return fr.m.memberOf(v, p.member)
	case p.member == "" && p.index >= 0 && v.kind == listValue:
		return at(v, int64(p.index))
	default:
		fr.m.escapes.addAll([]value{v})
	}
	return unknown(v.taint)
}

// endScope drops the variables of a function's body. A function that was created in the body keeps
// them, and names from outside stay.
func (fr *frame) endScope() {
	for j := fr.vars; j < len(fr.m.scope.vars); j++ {
		b := fr.m.scope.vars[j]
		if b.kind != nameValue || b.of != nil {
			continue
		}
		outlives := !fr.f.declares(fr.m.d, b.name)
		for k := min(fr.funcs, len(fr.m.funcs)); k < len(fr.m.funcs) && !outlives; k++ {
			outlives = fr.m.funcs[k].mentions(b.name)
		}
		if outlives {
			fr.m.escapes.addAll([]value{b.value})
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
