package code

import "slices"

// A function that runs something is followed through the names that get it. Where it
// gets to a place that has no such name, it is loose.

// letLoose notes that values get to where they are not followed.
func (m *machine) letLoose(vs []value) {
	for _, v := range vs {
		m.used(v)
		m.usedAt = -1
	}
}

// inPlace puts the arguments of a call at the places of the parameters, those with names
// too. One that has no such place gets loose.
func (m *machine) inPlace(f *function, args []arg) []value {
	out := values(args)
	for _, a := range args {
		if a.name == "" {
			continue
		}
		at := slices.IndexFunc(f.params, func(p param) bool { return p.name == a.name && p.parts == nil && !p.rest })
		if at < 0 || at > maxUnroll {
			m.letLoose([]value{a.value})
			continue
		}
		for len(out) <= at {
			out = append(out, unknown(0))
		}
		out[at] = a.value
	}
	return out
}

// names reports whether a name stands in the body of a function.
func (f *function) names(name string) bool {
	for j := f.start; j < len(f.toks); j++ {
		if t := &f.toks[j]; t.kind == tkName && t.text == name {
			return true
		}
	}
	return false
}

// rest reports whether a parameter of a function gets all arguments from its place on.
func (f *function) rest() bool {
	return slices.ContainsFunc(f.params, func(p param) bool { return p.rest })
}

// declares reports whether a function declares a name of its own.
func (f *function) declares(d *dialect, name string) bool {
	if slices.ContainsFunc(f.params, func(p param) bool {
		return p.name == name || slices.ContainsFunc(p.parts, func(q part) bool { return q.name == name })
	}) {
		return true
	}
	if d.name != "node" {
		return d.name != "python" || !f.names("global") && !f.names("nonlocal")
	}
	declared := false
	for j := f.start; j < len(f.toks); j++ {
		switch t := &f.toks[j]; {
		case t.kind == tkOp && t.text == ";":
			declared = false
		case t.kind != tkName:
		case t.text == "const" || t.text == "let" || t.text == "var":
			declared = true
		case t.text == name && declared:
			return true
		}
	}
	return false
}

// escapes looks at what the body of a function has bound, which ends with it: a function
// that was written in the body keeps it, and so does a name that is not the body's own.
func (m *machine) escapes(f *function, vars, funcs int) {
	for j := vars; j < len(m.vars); j++ {
		b := m.vars[j]
		if b.kind != nameValue || b.of != nil {
			continue
		}
		kept := !f.declares(m.d, b.name)
		for k := min(funcs, len(m.funcs)); k < len(m.funcs) && !kept; k++ {
			kept = m.funcs[k].names(b.name)
		}
		if kept {
			m.letLoose([]value{b.value})
		}
	}
}

// forOf reads the head of for (const a of b), of which the names may have any element of b.
func (m *machine) forOf() bool {
	end := m.match(m.i)
	of := m.i + 1
	for of < end && (m.toks[of].kind != tkName || m.toks[of].text != "of") {
		of++
	}
	if of >= end {
		return false
	}
	head := m.toks[m.i+1 : of]
	m.i = of + 1
	m.paren++
	v := m.expr(0)
	m.paren--
	m.letLoose([]value{v})
	for j := range head {
		if t := &head[j]; t.kind == tkName && !m.d.isKeyword(t.text) {
			m.bind(t.text, unknown(v.taint))
		}
	}
	m.i = min(end+1, len(m.toks))
	return true
}
