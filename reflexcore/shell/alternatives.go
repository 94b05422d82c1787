package shell

import (
	"slices"

	"approver.example/reflexcore/effect"
)

// olderVersions is how many of them are kept for one file, besides the present one. Of short
// ones there may be more: a script that is written and run a few times.
const (
	olderVersions = 3
	shortVersions = 12
	versionBytes  = 4096 // of all those of a file
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
		case i < len(al.snapshot) && !v.sameAs(&al.snapshot[i]):
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

// sameAs reports whether a variable holds what it held. Elements of arrays are not looked at.
func (v *variable) sameAs(was *variable) bool {
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

// version is the one that a command finds in a file: it is walked for each of them, those of
// which the text is known first. Where no command chooses, it may be any of them.
//
// The versions are those that the file had when the command first looked. A walk writes, as mv
// does to the file that it moves, so the next one would choose from another list and miss some.
// What a walk finds after it wrote the file itself is added.
func (al *alternatives) version(f *virtual) version {
	if len(f.older) == 0 && len(al.choices) == 0 {
		return f.current()
	}
	key := al.arena.concat("file ", f.path)
	for i := range al.choices {
		if c := &al.choices[i]; c.key == key {
			if f.written > al.began {
				c.finds(f)
			}
			return c.held[min(c.at, len(c.held)-1)]
		}
	}
	switch {
	case len(f.older) == 0:
		return f.current()
	case al.choose:
		held := f.versions()
		al.chooses(choice{key: key, n: len(held), held: held})
		return al.choices[len(al.choices)-1].held[0]
	}
	v := version{data: data{effect.Unknown, f.taint}}
	for i := range f.older {
		v.taint |= f.older[i].taint
	}
	return v
}

// narrow has a command walked for fewer versions of its files where there are too many
// combinations of them. What is left out is one version of which nothing is known. The file
// that is looked into now may be all unknown; of the others the command saw the first version.
func (al *alternatives) narrow() {
	last := len(al.choices) - 1
	for _, keep := range [...]int{olderVersions, 1, 0} {
		for i := range al.choices {
			c := &al.choices[i]
			unused := c.at < keep || keep == 0 && i == last
			if unused && len(c.held) > keep+1 && al.countWalks() > al.rep.lim.Alternatives {
				c.keep(keep)
			}
		}
	}
}

// countWalks is how many combinations of the present choices there are, or some number of them
// that is too large.
func (al *alternatives) countWalks() int {
	n := 1
	for i := range al.choices {
		if n *= al.choices[i].n; n > al.rep.lim.Alternatives {
			break
		}
	}
	return n
}
