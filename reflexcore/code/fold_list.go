package code

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
)

// foldJoin is sep.join(list).
func foldJoin(_ *machine, c invocation) value {
	if first := c.first(); first.kind == listValue {
		return text(concat(first.list, c.receiver().str()), c.taint)
	}
	return c.unknown()
}

// foldJoinList is list.join(sep).
func foldJoinList(m *machine, c invocation) value {
	recv, sep := c.receiver(), m.d.library.separator
	if recv.kind != listValue {
		return c.unknown()
	}
	if len(c.args) > 0 {
		sep = c.first().str()
	}
	return text(concat(recv.list, sep), c.taint)
}

// foldImplode is implode(sep, list) and join(sep, @list).
func foldImplode(m *machine, c invocation) value {
	first, second := c.first(), c.second()
	if first.kind == listValue {
		first, second = second, first
	}
	if second.kind == listValue {
		return text(concat(second.list, first.str()), c.taint)
	}
	if vs := values(c.args); len(vs) > 1 && m.d.calls.flattens {
		return text(concat(vs[1:], first.str()), c.taint)
	}
	return c.unknown()
}

// foldConcatList is table.concat(list, sep).
func foldConcatList(_ *machine, c invocation) value {
	first, sep := c.first(), ""
	if first.kind != listValue {
		return c.unknown()
	}
	if len(c.args) > 1 {
		sep = c.second().str()
	}
	return text(concat(first.list, sep), c.taint)
}

func foldReverse(m *machine, c invocation) value {
	return reversed(c.target(), values(c.args), m.d.calls.flattens, c.taint)
}

// foldMap is list.map(f): known where the function is one of the code.
func foldMap(m *machine, c invocation) value {
	fn, over := unknown(0), c.receiver()
	for _, a := range values(c.args) {
		switch {
		case a.fn != nil || a.kind == nameValue:
			fn = a
		case a.kind == listValue || a.known() && a.kind == textValue:
			over = a
		}
	}
	items, ok := over.items()
	if !ok || fn.fn == nil && fn.kind != nameValue {
		m.callbacks(value{}, c.args, c.taint)
		return unknown(c.taint)
	}
	out := make([]value, 0, len(items))
	for _, item := range items {
		if !m.budget.step() {
			break
		}
		out = append(out, m.call(fn, []arg{{value: item}}))
	}
	return list(out, c.taint)
}

// foldMapBlock is list.map(&:chr).
func foldMapBlock(_ *machine, c invocation) value {
	if first := c.first(); !first.known() || first.str() != "chr" {
		return c.unknown()
	}
	chr := func(v value) value { return charsOf([]value{v}, v.taint) }
	return list(mapValues(c.receiver().list, chr), c.taint)
}

func foldList(_ *machine, c invocation) value {
	v := c.target()
	if items, ok := v.items(); ok {
		return list(items, c.taint)
	}
	return c.unknown()
}

func foldExpandUser(m *machine, c invocation) value {
	v := c.target()
	if s := v.str(); strings.HasPrefix(s, "~") {
		return text(m.lim.Home+s[1:], c.taint)
	}
	return v
}

func foldHomePath(m *machine, c invocation) value {
	return value{kind: objectValue, s: c.result, from: m.lim.Home}
}

// foldNewTemp is a new temporary file, somewhere else if it is told so.
func foldNewTemp(_ *machine, c invocation) value {
	if len(values(c.args)) == 0 {
		return text("/tmp/tmp"+effect.Unknown, c.taint)
	}
	return c.unknown()
}

func foldNewNear(_ *machine, c invocation) value {
	v := c.target()
	return text(v.str()+effect.Unknown, c.taint)
}

func foldParent(_ *machine, c invocation) value {
	recv := c.receiver()
	if recv.kind != objectValue || !effect.IsKnown(recv.from) {
		return c.unknown()
	}
	recv.from = path.Dir(recv.from)
	return recv
}

func foldChildPath(_ *machine, c invocation) value {
	recv := c.receiver()
	if recv.kind != objectValue {
		return c.unknown()
	}
	recv.from = joinPath(append([]value{recv}, values(c.args)...))
	recv.taint |= c.taint
	return recv
}

func foldExpandPath(m *machine, c invocation) value {
	recv := c.receiver()
	if recv.kind == objectValue && strings.HasPrefix(recv.from, "~") {
		recv.from = m.lim.Home + recv.from[1:]
	}
	return recv
}

// foldName gives a name that stands for a module.
func foldName(name string) foldFunc {
	return func(*machine, invocation) value { return value{kind: nameValue, s: name} }
}

func foldConstant(m *machine, c invocation) value {
	if first := c.first(); first.known() {
		return value{kind: nameValue, s: m.api.canonical(first.str())}
	}
	return c.unknown()
}

// foldSame is a method that gives the object back.
func foldSame(_ *machine, c invocation) value {
	if c.callee.of != nil {
		return c.receiver()
	}
	return c.unknown()
}
