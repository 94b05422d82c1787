package code

import (
	"slices"
)

// After a list or map is changed in place, its old value is not followed any more.

// changing are the methods and functions that change their receiver.
var changing = []string{
	"append", "extend", "insert", "push", "unshift", "splice", "pop", "shift", "sort", "reverse", "remove", "clear",
	"update", "setdefault", "fill", "copyWithin", "delete", "replace", "store", "prepend", "concat", "popitem",
	"appendleft", "__setitem__", "__iadd__", "__delitem__", "array_push", "array_unshift", "array_splice", "array_pop",
	"array_shift", "map!", "merge!", "set", "delete_at", "delete_if", "assign", "defineProperty",
}

// changed follows elements that are appended to a list, if no branch can skip that.
func (m *machine) changed(old value, args []arg, base, name string) {
	now := unknown(old.taint | argTaint(args))
	given, isOne := values(args), len(args) == 1 && args[0].name == ""
	added := name == m.d.library.appends && (isOne || m.d.library.appendsMany)
	if name == "extend" && isOne && given[0].kind == listValue && given[0].keys == nil {
		given, added = given[0].list, true
	}
	bound, ok := m.scope.get(base)
	if added && ok && old.keys == nil && same(bound, old) && m.within == 0 && !m.in.mayBeSkipped() {
		now = list(append(slices.Clip(old.list), given...), now.taint)
	}
	m.scope.forgetValue(base)
	if ok {
		m.scope.bind(base, now)
	}
}
