package shell

import (
	"slices"
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
		scope := as.in.enterBranch()
		as.setVariable(name, d)
		as.in.join(scope)
		if effect.IsKnown(name) {
			as.in.env.affects(as.in.vars.referred(name), d)
		}
	}
}

// setElement assigns to an element of an array by the text of its index.
func (as *assigner) setElement(base, index string, d data) {
	if isTable(base) {
		as.entered(base, index, d)
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

// entered is what an element of such a table does: it says where a program is, as
// hash -p does, or what an alias stands for.
func (as *assigner) entered(table, name string, d data) {
	if table == "BASH_CMDS" {
		d.text = quote(d.text)
	}
	as.in.def.setAlias(name, d.text)
}

// wordOrLess is the text of a word that is assigned. What a command within it prints of words of
// which nothing is known is not there if these are none: "r" for $(echo r $@), and no space.
// That is one more value.
func (as *assigner) wordOrLess(w *syntax.Word) data {
	d := as.in.exp.oneWord(w)
	if d.known() || !as.in.alt.choose || !slices.ContainsFunc(w.Parts, substitutes) {
		return d
	}
	set := strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(d.text, " "+effect.Unknown, ""), effect.Unknown+" ", ""))
	if set == "" || !effect.IsKnown(set) || as.in.alt.pick(as.in.arena.concat("none ", d.text), 2) == 0 {
		return d
	}
	return data{set, d.taint}
}
