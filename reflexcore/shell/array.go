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
			v.putKey(as.in.par.keyText(e.Index).text, as.in.math.countElement(&v, as.in.exp.oneWord(e.Value)))
		case e.Index != nil:
			n, err := strconv.Atoi(as.in.math.evaluate(e.Index).text)
			next = v.put(v.resolve(int64(n), err == nil), as.in.math.countElement(&v, as.in.exp.oneWord(e.Value)))
		default:
			as.in.exp.expandWord(e.Value)
			if v.assoc { // pairs, perhaps of several words
				continue
			}
			for _, f := range as.in.exp.fields[mark:] {
				next = v.put(next, as.in.math.countElement(&v, f.data))
			}
			as.in.exp.fields = as.in.exp.fields[:mark]
		}
	}
	for i := mark; i < len(as.in.exp.fields); i += 2 {
		var value data
		if i+1 < len(as.in.exp.fields) {
			value = as.in.exp.fields[i+1].data
		}
		v.putKey(as.in.exp.fields[i].text, as.in.math.countElement(&v, value))
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
	value = as.in.math.countElement(as.in.par.lookup(name), value)
	as.arraySlot(name).each(func(v *variable) {
		if key := v.keyOf(index.text); a.Append {
			v.appendAt(key, value)
		} else {
			v.putText(key, value)
		}
	})
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
	as.setVariable(plain, data{value, d.taint})
	as.in.env.affects(plain, data{value, d.taint})
}

// rematch is what =~ leaves in BASH_REMATCH: what matched, as far as that can be told,
// or something else of the text.
func (as *assigner) rematch(x, y syntax.TestExpr) {
	left, isWord := x.(*syntax.Word)
	right, isPattern := y.(*syntax.Word)
	if !isWord || !isPattern {
		return
	}
	d, pat := as.in.exp.oneWord(left), as.in.exp.oneWord(right)
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
