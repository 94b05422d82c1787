package code

import (
	"slices"
	"strings"
)

// A list or map that is changed in place no longer has the value that it was given.

// changing are the methods and functions that change what they are called on.
var changing = []string{
	"append", "extend", "insert", "push", "unshift", "splice", "pop", "shift", "sort", "reverse", "remove", "clear",
	"update", "setdefault", "fill", "copyWithin", "delete", "replace", "store", "prepend", "concat", "popitem",
	"appendleft", "__setitem__", "__iadd__", "__delitem__", "array_push", "array_unshift", "array_splice", "array_pop",
	"array_shift", "map!", "merge!", "set", "delete_at", "delete_if", "assign", "defineProperty",
}

// changes notes what a call changes: base is the name that the method was called on, first
// the first word of the arguments.
func (m *machine) changes(callee value, args []arg, base, first string) {
	if callee.kind != nameValue {
		return
	}
	name := callee.s[strings.LastIndexByte(callee.s, '.')+1:]
	switch {
	case !slices.Contains(changing, name):
	case callee.of == nil:
		m.spoil(first)
	case callee.of.kind != listValue || name == "concat" && m.d.name == "node":
	default:
		m.changed(*callee.of, args, base, name)
	}
}

// changed follows what is added at the end of a list, where no branch may skip it.
func (m *machine) changed(old value, args []arg, base, name string) {
	now := unknown(old.taint | argTaint(args))
	given, isOne := values(args), len(args) == 1 && args[0].name == ""
	added := name == "append" && m.d.name == "python" && isOne || name == "push" && m.d.name == "node"
	if name == "extend" && isOne && given[0].kind == listValue && given[0].keys == nil {
		given, added = given[0].list, true
	}
	bound, ok := m.get(base)
	if added && ok && old.keys == nil && same(bound, old) && m.within == 0 && !m.mayBeSkipped() {
		now = list(append(slices.Clip(old.list), given...), now.taint)
	}
	m.spoil(base)
	if ok {
		m.bind(base, now)
	}
}

// mayBeSkipped reports whether the current token stands in a branch or a loop.
func (m *machine) mayBeSkipped() bool {
	if m.d.name == "python" && m.indent() > 0 {
		return true
	}
	for j := min(m.i, len(m.toks)) - 1; j >= 0; j-- {
		switch t := &m.toks[j]; {
		case t.kind == tkOp && (t.text == ";" && !m.d.braces || t.text == "&&" || t.text == "||" || t.text == "?"):
			return t.text != ";"
		case t.kind == tkName && slices.Contains([]string{"if", "for", "while", "else", "elif", "try", "except", "do"}, t.text):
			return true
		case t.nl && !m.d.braces:
			return false
		}
	}
	return false
}

// same reports whether two values are one list.
func same(a, b value) bool {
	if a.kind != listValue || b.kind != listValue || len(a.list) == 0 || len(b.list) == 0 {
		return a.kind == b.kind && len(a.list) == len(b.list)
	}
	return &a.list[0] == &b.list[0]
}

// spoil takes the value from a list that is changed, and from every name that has it too.
func (m *machine) spoil(base string) {
	old, ok := m.get(base)
	if !ok || old.kind != listValue {
		return
	}
	for j := range m.vars {
		if b := &m.vars[j]; same(b.value, old) {
			b.value = unknown(old.taint)
		}
	}
}
