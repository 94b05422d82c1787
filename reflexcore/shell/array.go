package shell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"approver.example/reflexcore/effect"
)

// assignArray is name=(…): what has no index follows what stands before it.
func (as *assigner) assignArray(a *syntax.Assign) {
	v := variable{name: a.Name.Value, array: true, assoc: isTable(a.Name.Value)}
	next := 0
	old := as.in.par.lookup(v.name)
	v.integer = old != nil && old.integer
	if old != nil && old.array {
		v.assoc = v.assoc || old.assoc
		if a.Append {
			as.in.rep.steps += len(old.list) / 16
			v.list, v.keys = append(v.list, old.list...), append(v.keys, old.keys...)
			next = v.nextIndex()
		}
	} else if a.Append {
		v.list = as.in.par.asList(v.name)
		next = v.nextIndex()
	}
	mark := len(as.in.exp.fields)
	for _, e := range a.Array.Elems {
		switch {
		case e.Index != nil && v.assoc:
			v.putKey(as.in.par.keyText(e.Index).text, as.in.math.counted(&v, as.in.exp.one(e.Value)))
		case e.Index != nil:
			n, err := strconv.Atoi(as.in.math.evaluate(e.Index).text)
			next = v.put(v.resolve(int64(n), err == nil), as.in.math.counted(&v, as.in.exp.one(e.Value)))
		default:
			as.in.exp.expandWord(e.Value)
			if v.assoc { // pairs, perhaps of several words
				continue
			}
			for _, f := range as.in.exp.fields[mark:] {
				next = v.put(next, as.in.math.counted(&v, f.data))
			}
			as.in.exp.fields = as.in.exp.fields[:mark]
		}
	}
	for i := mark; i < len(as.in.exp.fields); i += 2 {
		var value data
		if i+1 < len(as.in.exp.fields) {
			value = as.in.exp.fields[i+1].data
		}
		v.putKey(as.in.exp.fields[i].text, as.in.math.counted(&v, value))
	}
	as.in.exp.fields = as.in.exp.fields[:mark]
	if isTable(v.name) {
		for i, d := range v.list {
			as.entered(v.name, v.keys[i], d)
		}
		return
	}
	slot := as.in.vars.slot(v.name)
	v.name = slot.name
	*slot = v
}

// counted is what an element holds of an array that takes numbers only.
func (ar *arithmetic) counted(v *variable, d data) data {
	if v == nil || !v.integer {
		return d
	}
	return ar.reckoned(d)
}

// assignIndex is name[index]=value.
func (as *assigner) assignIndex(name string, a *syntax.Assign) {
	value, index := as.wordOrLess(a.Value), data{}
	if isTable(name) {
		as.entered(name, as.in.par.keyText(a.Index).text, value)
		return
	} else if v := as.in.par.lookup(name); v != nil && v.assoc {
		index = as.in.par.keyText(a.Index)
	} else {
		index = as.in.math.evaluate(a.Index)
	}
	value = as.in.math.counted(as.in.par.lookup(name), value)
	as.arraySlot(name).each(func(v *variable) {
		if key := v.keyOf(index.text); a.Append {
			v.appendAt(key, value)
		} else {
			v.putText(key, value)
		}
	})
}

// setElement assigns to an element of an array by the text of its index.
func (as *assigner) setElement(base, index string, d data) {
	if isTable(base) {
		as.entered(base, index, d)
		return
	}
	index, d = as.in.par.indexText(base, index), as.in.math.counted(as.in.par.lookup(base), d)
	as.arraySlot(base).each(func(v *variable) { v.putText(v.keyOf(index), d) })
}

// indexText is what the text of an index comes to.
func (pm *parameters) indexText(base, index string) string {
	if v := pm.lookup(base); v != nil && v.assoc {
		return index
	}
	if n, ok := pm.in.math.integer(strings.TrimSpace(index), 0); ok {
		return strconv.FormatInt(n, 10)
	}
	return effect.Unknown
}

// arraySlot is the variable to assign an element to. What was no array is its
// element 0.
func (as *assigner) arraySlot(name string) *variable {
	was := as.in.par.lookup(name)
	if was == nil || was.array {
		v := as.in.vars.slot(name)
		v.array = true
		return v
	}
	first, unset := as.in.par.valueOf(name), was.unset
	v := as.in.vars.slot(name)
	*v = variable{name: v.name, array: true, integer: v.integer}
	if !unset {
		v.list = append(v.list, first)
	}
	return v
}

// unsetElement is unset 'name[index]'.
func (as *assigner) unsetElement(base, index string) {
	if index == "@" || index == "*" {
		v := as.in.vars.slot(base)
		*v = variable{name: v.name, array: true, assoc: v.assoc}
		return
	}
	index = as.in.par.indexText(base, index)
	v := as.in.vars.slot(base)
	if !v.array {
		if index != "0" { // an array of which nothing is known, or no element
			v.data = data{effect.Unknown, v.taint}
			return
		}
		*v = variable{name: v.name, unset: true}
		return
	}
	v.each(func(v *variable) { v.drop(index) })
}

// declared is a word that declare and its like take. What is assigned to an array may
// be a list in brackets, which is expanded like any other.
func (as *assigner) declared(d data, array, assoc bool) {
	name, value, ok := strings.Cut(d.text, "=")
	as.in.math.injected(data{name, d.taint})
	if !effect.IsKnown(name) {
		if ok {
			as.setAny(strings.TrimSuffix(name, "+"), data{value, d.taint})
		}
		return
	}
	plain := strings.TrimSuffix(name, "+")
	if assoc && strings.IndexByte(plain, '[') < 0 {
		as.in.vars.associative(plain)
	}
	if !ok {
		return
	}
	if v := as.in.par.lookup(plain); strings.HasPrefix(value, "(") && strings.HasSuffix(value, ")") && (array || v != nil && v.array) {
		as.in.payloads.payload(d, "declare", &input{}, nil)
		return
	}
	if plain != name {
		old := as.in.par.valueOf(plain)
		value, d.taint = old.text+value, d.taint|old.taint
	}
	as.set(plain, data{value, d.taint})
	as.in.env.affects(plain, data{value, d.taint})
}

// kept gives v the elements that the array of that name has, and says where what is
// read begins.
func (lr *lineReader) kept(v *variable, name, origin string) int {
	n, ok := lr.in.math.integer(strings.TrimSpace(origin), 0)
	if old := lr.in.par.lookup(name); old != nil && old.array {
		v.list, v.keys = slices.Clone(old.list), slices.Clone(old.keys)
	} else {
		v.list = lr.in.par.asList(name)
	}
	return v.resolve(n, ok)
}

// asList is a variable that is no array as one: its value is the first element.
func (pm *parameters) asList(name string) []data {
	if v := pm.lookup(name); v != nil && v.unset {
		return nil
	} else if _, given := pm.in.ctx.Env[name]; v == nil && !given {
		return nil
	}
	return []data{pm.valueOf(name)}
}

// anyOrder are the elements of an array in an order that is not known: one in which they
// were assigned, those in which a program is the first, or any other.
func (pm *parameters) anyOrder(name string, v *variable) ([]data, bool) {
	const most = 4
	orders := [][]data{v.list}
	for i, d := range v.list[1:] {
		first, _, _ := strings.Cut(d.text, " ")
		if len(orders) < most && pm.in.wellKnown(first) {
			orders = append(orders, slices.Concat(v.list[i+1:i+2], v.list[:i+1], v.list[i+2:]))
		}
	}
	at := pm.in.alt.pick(pm.in.arena.concat(name, "[@]"), len(orders)+1)
	if at == len(orders) {
		return []data{{effect.Unknown, join(v.list, "").taint}}, false
	}
	return orders[at], true
}

// elementAt is the element of a number.
func (v *variable) elementAt(n int64, ok bool) data {
	if !v.array {
		if ok && n == 0 {
			return v.data
		}
		return data{effect.Unknown, v.taint}
	}
	if at := v.resolve(n, ok); at >= 0 {
		if v.keys != nil {
			return v.element(data{text: strconv.Itoa(at)})
		}
		if at < len(v.list) {
			return v.list[at]
		}
		return data{}
	}
	if ok && !v.unordered() { // before the first
		return data{}
	}
	return data{effect.Unknown, join(v.list, "").taint}
}

// element is what an array holds at the text of an index: it may be any of what was
// assigned at an index that is not known.
func (v *variable) element(key data) data {
	if v.keys == nil && key.text == "0" && len(v.list) > 0 && !v.assoc {
		return v.list[0]
	}
	for i := len(v.keys) - 1; i >= 0; i-- {
		if v.keys[i] == key.text && key.known() {
			return v.list[i]
		}
		if !effect.IsKnown(v.keys[i]) {
			return data{effect.Unknown, join(v.list, "").taint}
		}
	}
	if key.known() {
		return data{}
	}
	return data{effect.Unknown, join(v.list, "").taint}
}

// rematch is what =~ leaves in BASH_REMATCH: what matched, as far as that can be told,
// or something else of the text.
func (as *assigner) rematch(x, y syntax.TestExpr) {
	left, isWord := x.(*syntax.Word)
	right, isPattern := y.(*syntax.Word)
	if !isWord || !isPattern {
		return
	}
	d, pat := as.in.exp.one(left), as.in.exp.one(right)
	open := variable{name: "BASH_REMATCH", array: true, keys: []string{effect.Unknown}, list: []data{{effect.Unknown, d.taint}}}
	v := as.in.vars.slot(open.name)
	*v = open
	if d.known() && pat.known() && as.in.rep.work(64*len(pat.text)+len(d.text)) {
		v.forms = []variable{{name: open.name, array: true, list: groups(d, pat.text)}, open}
	}
}

// groups are the parts of a text that an expression matches. Where it cannot be told,
// each may be all of the text.
func groups(d data, pat string) []data {
	const most = 10
	if len(pat) <= 1024 {
		if rx, err := regexp.CompilePOSIX(pat); err == nil {
			if parts := rx.FindStringSubmatch(d.text); parts != nil {
				list := make([]data, 0, len(parts))
				for _, p := range parts {
					list = append(list, data{p, d.taint})
				}
				return list
			}
		}
	}
	return slices.Repeat([]data{d}, most)
}

// cutIndex takes the name of an element apart.
func cutIndex(name string) (base, index string, ok bool) {
	i := strings.IndexByte(name, '[')
	if i < 1 || name[len(name)-1] != ']' {
		return "", "", false
	}
	return name[:i], name[i+1 : len(name)-1], true
}
