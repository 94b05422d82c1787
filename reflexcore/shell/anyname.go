package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file assigns to a variable of which it is not known which one it is.

// standsFor is a variable that stands for one of others: declare -n y=$x.
func standsFor(name string, names []data) variable {
	v := variable{name: name}
	for _, d := range names {
		if !slices.Contains(v.refs, d.text) {
			v.refs = append(v.refs, d.text)
		}
	}
	if v.ref = v.refs[0]; len(v.refs) == 1 {
		v.refs = nil
	}
	return v
}

// setEach assigns to variables of which one gets the value: it is one more possibility for
// each of them.
func (as *assigner) setEach(names []string, d data) {
	for _, name := range names {
		if !as.in.rep.spend() {
			return
		}
		scope := as.in.branch()
		as.set(name, d)
		as.in.join(scope)
		if effect.IsKnown(name) {
			as.in.env.affects(as.in.vars.referred(name), d)
		}
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
