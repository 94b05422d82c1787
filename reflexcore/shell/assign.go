package shell

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// declClause is export, declare, local, readonly and typeset.
func (in *interp) declClause(c *syntax.DeclClause, sink *data) {
	if len(c.Args) == 0 || len(c.Args) == 1 && c.Args[0].Value != nil && (c.Args[0].Value.Lit() == "-p" || c.Args[0].Value.Lit() == "-x") {
		in.environs(0, nil, sink)
	}
	var ref, global bool
	variant := ""
	if c.Variant != nil {
		variant = c.Variant.Value
	}
	for _, a := range c.Args {
		if a.Name != nil {
			if len(in.active) > 0 && !global && (variant == "local" || variant == "declare" || variant == "typeset") {
				in.locals = append(in.locals, in.hold(a.Name.Value))
			}
			if !a.Naked {
				in.assign(a)
			}
			if ref && a.Value != nil {
				*in.slot(a.Name.Value) = variable{name: a.Name.Value, ref: in.value(a.Name.Value).text}
			}
			continue
		}
		if a.Value == nil {
			continue
		}
		if flag := a.Value.Lit(); flag != "" && flag[0] == '-' {
			ref = ref || strings.Contains(flag, "n")
			global = global || strings.Contains(flag, "g")
			continue
		}
		// The word may itself expand to an assignment.
		mark := len(in.fields)
		in.word(a.Value)
		for _, f := range in.fields[mark:] {
			if name, value, ok := strings.Cut(f.text, "="); ok && effect.IsKnown(name) {
				in.set(name, data{value, f.taint})
			}
		}
		in.fields = in.fields[:mark]
	}
	for _, a := range c.Args {
		if a.Name != nil && !a.Naked && !ref {
			in.environ(a.Name.Value, in.value(a.Name.Value))
		}
	}
}

// assign makes an assignment.
func (in *interp) assign(a *syntax.Assign) {
	name := a.Name.Value
	switch {
	case a.Array != nil:
		in.every(func() { in.assignArray(a) })
	case a.Index != nil:
		in.every(func() { in.assignIndex(name, a) })
	case a.Append:
		if v := in.slot(name); v.array {
			more := in.one(a.Value)
			if v = in.slot(name); len(v.list) > 0 {
				v.list[0].append(more)
			}
			return
		}
		in.assignAll(name, in.values(func() data {
			old, more := in.value(name), in.one(a.Value)
			in.made(len(old.text) + len(more.text))
			return data{old.text + more.text, old.taint | more.taint}
		}))
	default:
		in.assignAll(name, in.values(func() data { return in.one(a.Value) }))
	}
}

func (in *interp) assignArray(a *syntax.Assign) {
	v := variable{name: a.Name.Value, array: true}
	if old := in.lookup(v.name); a.Append && old != nil && old.array {
		in.steps += len(old.list) / 16
		v.list, v.keys = append(v.list, old.list...), append(v.keys, old.keys...)
	}
	mark := len(in.fields)
	for _, e := range a.Array.Elems {
		if e.Index != nil {
			v.keys = append(v.keys, in.key(e.Index).text)
			v.list = append(v.list, in.one(e.Value))
			continue
		}
		in.word(e.Value)
	}
	for _, f := range in.fields[mark:] {
		v.list = append(v.list, f.data)
		if v.keys != nil {
			v.keys = append(v.keys, strconv.Itoa(len(v.keys)))
		}
	}
	in.fields = in.fields[:mark]
	slot := in.slot(v.name)
	v.name = slot.name
	*slot = v
}

func (in *interp) assignIndex(name string, a *syntax.Assign) {
	value, key := in.one(a.Value), in.key(a.Index)
	n, err := strconv.Atoi(in.arithmetic(a.Index).text)
	v := in.slot(name)
	if !v.array {
		*v = variable{name: name, array: true}
	}
	if err == nil && v.keys == nil && n >= 0 && n <= len(v.list) {
		if n == len(v.list) {
			v.list = append(v.list, value)
		} else {
			v.list[n] = value
		}
		return
	}
	if v.keys == nil {
		for i := range v.list {
			v.keys = append(v.keys, strconv.Itoa(i))
		}
	}
	if a.Append {
		for i := range v.keys {
			if v.keys[i] == key.text {
				v.list[i].append(value)
				return
			}
		}
	}
	if err == nil {
		key.text = strconv.Itoa(n)
	}
	v.keys, v.list = append(v.keys, key.text), append(v.list, value)
}
