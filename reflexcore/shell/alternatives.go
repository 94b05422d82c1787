package shell

import (
	"slices"

	"approver.example/reflexcore/effect"
)

// setAside begins a selection of its own for what runs inside a command, and returns that of
// the command, which the caller puts back.
func (al *alternatives) setAside() selection {
	outer := al.selection
	al.selection = selection{}
	return outer
}

// undo gives the variables of a new branch the values that they had before the command whose
// further combinations are tried. There were so many then.
func (al *alternatives) undo(count int) {
	if al.snapshot == nil { // nothing was chosen
		return
	}
	for i := range len(al.vars.list) {
		v := &al.vars.list[i]
		switch {
		case v.name == "":
		case i >= count:
			al.vars.list = append(al.vars.list, al.snapshotOf(v.name, count))
		case i < len(al.snapshot) && !v.same(&al.snapshot[i]):
			al.vars.list = append(al.vars.list, al.snapshot[i])
		}
	}
}

// snapshotOf is a variable that the command made in its own scope, as it was before.
func (al *alternatives) snapshotOf(name string, count int) variable {
	al.rep.steps += count / 64 // looking through many is work
	for i := min(count, len(al.snapshot)) - 1; i >= 0; i-- {
		if al.snapshot[i].name == name {
			return al.snapshot[i]
		}
	}
	d := al.vars.environment(name)
	return variable{name: name, data: d, place: true, unset: al.ctx.Unset && d.text == ""}
}

// same reports whether a variable holds what it held. Elements of arrays are not looked at.
func (v *variable) same(was *variable) bool {
	return v.name != was.name || v.data == was.data && v.unset == was.unset && v.array == was.array && v.ref == was.ref &&
		len(v.list) == len(was.list) && len(v.alts) == len(was.alts) && len(v.forms) == len(was.forms)
}

// pick chooses one of n values of key. Within a command the same key gives the
// same value; the command is tried for the others.
func (al *alternatives) pick(key string, n int) int {
	for i := range al.choices {
		if al.choices[i].key == key {
			return min(al.choices[i].at, n-1)
		}
	}
	if !al.choose {
		return 0
	}
	al.chooses(choice{key: key, n: n})
	return 0
}

// chooses adds a choice.
func (al *alternatives) chooses(c choice) {
	if len(al.choices) == 0 { // before the command does anything
		al.snapshot = append([]variable{}, al.vars.list...)
	}
	al.choices = append(al.choices, c)
	al.narrow()
}

// nextCombination moves to the next combination of choices.
func (al *alternatives) nextCombination() bool {
	for i := range al.choices {
		if al.choices[i].at++; al.choices[i].at < al.choices[i].n {
			return true
		}
		al.choices[i].at = 0
	}
	return false
}

// keep takes the versions behind the first n together.
func (c *choice) keep(n int) {
	rest := version{data: data{text: effect.Unknown}}
	for _, v := range c.held[n:] {
		rest.taint |= v.taint
	}
	c.held = append(c.held[:n], rest)
	c.n = len(c.held)
}

// finds adds what the command itself left in a file that it looks into again.
func (c *choice) finds(f *virtual) {
	for _, v := range f.versions() {
		if slices.ContainsFunc(c.held, func(o version) bool { return o.like(&v) }) {
			continue
		}
		if len(c.held) > 2*olderVersions {
			v = version{data: data{effect.Unknown, v.taint}}
			if slices.ContainsFunc(c.held, func(o version) bool { return o.like(&v) }) {
				continue
			}
		}
		c.held = append(c.held, v)
	}
	c.n = len(c.held)
}
