package code

import "slices"

// A function that runs something is followed through the names that get it. Where it
// gets to a place that has no such name, it is loose.

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
	if !d.letDeclares {
		return !slices.ContainsFunc(d.outerWords, f.names)
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
	for j := vars; j < len(m.scope.vars); j++ {
		b := m.scope.vars[j]
		if b.kind != nameValue || b.of != nil {
			continue
		}
		kept := !f.declares(m.d, b.name)
		for k := min(funcs, len(m.funcs)); k < len(m.funcs) && !kept; k++ {
			kept = m.funcs[k].names(b.name)
		}
		if kept {
			m.loose.letLoose([]value{b.value})
		}
	}
}
