package shell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// setVariable assigns to a variable, or to an element of an array.
func (as *assigner) setVariable(name string, d data) {
	if v := as.in.vars.find(name); v != nil && v.refs != nil {
		as.setEach(v.refs, d)
		return
	}
	name = as.in.vars.referred(name)
	if !effect.IsKnown(name) {
		as.setAny(name, d)
		return
	}
	if base, index, ok := cutIndex(name); ok {
		as.setElement(base, index, d)
		return
	}
	switch name {
	case "RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD", "LINENO":
		as.in.math.reckoned(d) // which may run something
	case "BASH_ARGV0":
		as.in.par.zero = d
	}
	v := as.in.vars.slot(name)
	if v.refers && d.known() && d.text != "" {
		*v = variable{name: v.name, ref: d.text}
		return
	}
	integer := v.integer
	d.text = cased(v.letters, d.text)
	*v = variable{name: v.name, data: d, integer: integer, letters: v.letters, refers: v.refers, passed: v.passed}
	if integer {
		d = as.in.math.reckoned(d)
		v = as.in.vars.slot(name)
		v.data = d
	}
}

// setAny assigns to a variable whose name is not known, or only a part of it. Each that the
// text has may be the one. Of a value of which nothing is known either nothing is said: a
// file with settings is read in this way, line by line.
func (as *assigner) setAny(name string, d data) {
	if strings.Trim(d.text, effect.Unknown) == "" && d.text != "" {
		return
	}
	first, _, _ := strings.Cut(name, effect.Unknown)
	last := name[strings.LastIndex(name, effect.Unknown)+len(effect.Unknown):]
	var names []string
	for i := range as.in.vars.list {
		n := as.in.vars.list[i].name
		fits := len(n) >= len(first)+len(last) && strings.HasPrefix(n, first) && strings.HasSuffix(n, last)
		if n != "" && as.in.vars.list[i].ref == "" && fits && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	as.in.rep.steps += len(as.in.vars.list) / 8
	as.setEach(names, d)
}

// setEach assigns to variables of which one gets the value: it is one more possibility for
// each of them.
func (as *assigner) setEach(names []string, d data) {
	for _, name := range names {
		if !as.in.rep.spend() {
			return
		}
		as.in.inBranch(func() { as.setVariable(name, d) })
		if effect.IsKnown(name) {
			as.in.env.affects(as.in.vars.referred(name), d)
		}
	}
}

// setElement assigns to an element of an array by the text of its index.
func (as *assigner) setElement(base, index string, d data) {
	if isTable(base) {
		as.in.def.entered(base, index, d)
		return
	}
	index, d = as.in.par.indexText(base, index), as.in.math.countElement(as.in.par.lookup(base), d)
	as.arraySlot(base).each(func(v *variable) { v.putText(v.keyOf(index), d) })
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

// wordOrLess is the text of a word that is assigned. What a command within it prints of words of
// which nothing is known is not there if these are none: "r" for $(echo r $@), and no space.
// That is one more value.
func (as *assigner) wordOrLess(w *syntax.Word) data {
	d := as.in.exp.oneWord(w)
	if d.known() || !as.in.alt.choose || !slices.ContainsFunc(w.Parts, substitutes) {
		return d
	}
	set := strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(d.text, " "+effect.Unknown, ""),
		effect.Unknown+" ", ""))
	if set == "" || !effect.IsKnown(set) || as.in.alt.pick(as.in.arena.concat("none ", d.text), 2) == 0 {
		return d
	}
	return data{set, d.taint}
}

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
			as.in.def.entered(v.name, v.keys[i], d)
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
		as.in.def.entered(name, as.in.par.keyText(a.Index).text, value)
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
	if v := as.in.par.lookup(plain); strings.HasPrefix(value, "(") && strings.HasSuffix(value, ")") &&
		(array || v != nil && v.array) {
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
	open := variable{name: "BASH_REMATCH", array: true, keys: []string{effect.Unknown},
		list: []data{{effect.Unknown, d.taint}}}
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
