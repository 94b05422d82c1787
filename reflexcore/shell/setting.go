package shell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// setVariable assigns to a variable or an array element.
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
		as.in.math.reckoned(d) // may run a command
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

// setAny assigns to a variable whose name is unknown or partly unknown. Any variable of the text
// that fits may be the one. If the value is unknown too, nothing changes: loops that read a
// settings file line by line look like that.
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

// setEach assigns to several variables of which only one gets the value. The value is one more
// possibility for each of them.
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

// setElement assigns to an array element, by the text of its index.
func (as *assigner) setElement(base, index string, d data) {
	if isTable(base) {
		as.in.def.entered(base, index, d)
		return
	}
	index, d = as.in.par.indexText(base, index), as.in.math.countElement(as.in.par.lookup(base), d)
	as.arraySlot(base).each(func(v *variable) { v.putText(v.keyOf(index), d) })
}

// arraySlot returns the variable to assign an element to. The value of a variable that was not an
// array becomes element 0.
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

// wordOrLess returns the text of a word that is assigned. If unknown words of a command
// substitution are empty, the text lacks them and the blank next to them: $(echo r $@) may give
// "r". That is one more possible value.
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

// assignArray applies name=(…). An element without an index follows the one before it.
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
			if v.assoc { // key and value pairs, perhaps from one word
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

// assignIndex applies name[index]=value.
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

// declared applies one argument of declare and similar builtins. The value of an array may be a
// list in parentheses, which is expanded like any other.
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

// rematch sets BASH_REMATCH after =~: to the groups that match, if they can be determined, or to
// other parts of the text.
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

// groups returns the parts of a text that a regular expression matches. If they cannot be
// determined, each may be the whole text.
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
