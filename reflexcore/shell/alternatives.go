package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// olderVersions is how many older versions of one file are kept. Of short ones up to shortVersions
// are kept: a script may be written and run a few times.
const (
	olderVersions = 3
	shortVersions = 12
	versionBytes  = 4096 // all versions of a file that are kept as short ones
)

// afresh walks something inside a command with a selection of its own, then restores the selection
// of the command.
func (al *alternatives) afresh(walk func()) {
	outer := al.selection
	al.selection = selection{}
	walk()
	al.selection = outer
}

// undo gives the variables of a new branch the values that they had before the command whose
// further combinations are tried. Count is how many variables there were then.
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

// snapshotOf is the earlier state of a variable that the command made in its own scope. Count is
// how many variables there were before the command.
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

// sameAs reports whether a variable is unchanged since the snapshot. A slot with another name
// counts as unchanged. The elements of arrays are not compared.
func (v *variable) sameAs(was *variable) bool {
	return v.name != was.name || v.data == was.data && v.unset == was.unset && v.array == was.array && v.ref == was.ref &&
		len(v.list) == len(was.list) && len(v.alts) == len(was.alts) && len(v.forms) == len(was.forms)
}

// pick chooses one of the n values of a key and returns its index. Within one walk of a command,
// the same key gives the same value; the command is walked again for the other values.
func (al *alternatives) pick(key string, n int) int {
	if c := al.choiceOf(key); c != nil {
		return min(c.at, n-1)
	}
	if al.choose {
		al.chooses(choice{key: key, n: n})
	}
	return 0
}

// choiceOf is the choice of a key, or nil.
func (al *alternatives) choiceOf(key string) *choice {
	for i := range al.choices {
		if al.choices[i].key == key {
			return &al.choices[i]
		}
	}
	return nil
}

// chooses adds a choice.
func (al *alternatives) chooses(c choice) {
	if len(al.choices) == 0 { // before the command does anything
		al.snapshot = append([]variable{}, al.vars.list...)
	}
	al.choices = append(al.choices, c)
	al.narrow()
}

// nextCombination moves to the next combination of choices. It is false after the last one.
func (al *alternatives) nextCombination() bool {
	for i := range al.choices {
		if al.choices[i].at++; al.choices[i].at < al.choices[i].n {
			return true
		}
		al.choices[i].at = 0
	}
	return false
}

// keep keeps the first n versions and merges the others into one unknown version.
func (c *choice) keep(n int) {
	rest := version{data: data{text: effect.Unknown}}
	for _, v := range c.held[n:] {
		rest.taint |= v.taint
	}
	c.held = append(c.held[:n], rest)
	c.n = len(c.held)
}

// finds adds the versions that the command itself left in a file that it looks at again.
func (c *choice) finds(f *virtual) {
	for _, v := range f.versions() {
		has := func(o version) bool { return o.like(&v) }
		if !slices.ContainsFunc(c.held, has) && len(c.held) > 2*olderVersions {
			v = version{data: data{effect.Unknown, v.taint}}
		}
		if !slices.ContainsFunc(c.held, has) {
			c.held = append(c.held, v)
		}
	}
	c.n = len(c.held)
}

// version is the version of a file that the current command finds. The command is walked for each
// version, those with known text first. Where no command chooses, the result stands for all
// versions.
//
// The versions are those that the file had when the command first looked. A walk writes, as mv
// does to the file that it moves, so the next one would choose from another list and miss some.
// What a walk finds after it wrote the file itself is added.
func (al *alternatives) version(f *virtual) version {
	if len(f.older) == 0 && len(al.choices) == 0 {
		return f.current()
	}
	key := al.arena.concat("file ", f.path)
	switch c := al.choiceOf(key); {
	case c != nil:
		if f.written > al.began {
			c.finds(f)
		}
		return c.held[min(c.at, len(c.held)-1)]
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

// narrow reduces the versions of files for which a command is walked where there are too many
// combinations. Those left out become one unknown version. The file that is looked at now may
// become entirely unknown; of the others, the version that the command has seen stays.
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

// countWalks is the number of combinations of the current choices, or some number over the limit.
func (al *alternatives) countWalks() int {
	n := 1
	for i := range al.choices {
		if n *= al.choices[i].n; n > al.rep.lim.Alternatives {
			break
		}
	}
	return n
}

// A write may not happen: cp -n, cp -u and mv -i keep an existing file, set -C and chmod stop a
// redirection, and a program fails if its source is missing. So a file that is written again may
// still have its old content. That is kept as an older version, and each command that reads or
// runs the file is walked for each version.

// lasting is the part of a file's taint that matters even when the file itself is gone.
const lasting = effect.Secret | effect.Network | effect.Decoded | effect.Labels

// current is the version that the file has if every write to it happened.
func (f *virtual) current() version { return version{f.data, f.alias, f.built, f.from} }

// says reports whether it matters that a file may hold this version.
func (v *version) says() bool {
	return v.alias != "" || v.taint&lasting != 0 || v.text != "" && v.from == nil && !v.built
}

// blank reports whether the text is empty or entirely unknown.
func (v *version) blank() bool { return strings.Trim(v.text, effect.Unknown) == "" }

// ages keeps the current content of a file as an older version before a write.
func (f *virtual) ages() { f.mayHold(f.current()) }

// mayHold adds one more version to a file. Over the limit, the last version becomes an unknown
// one.
func (f *virtual) mayHold(v version) {
	if !v.says() || f.sink != nil || strings.HasPrefix(f.path, "/dev/fd/") ||
		slices.ContainsFunc(f.older, func(o version) bool { return o.data == v.data && o.alias == v.alias }) {
		return
	}
	if len(f.older) < olderVersions || f.hasRoom(v.text) {
		f.older = append(slices.Clip(f.older), v)
		return
	}
	f.older = slices.Clone(f.older)
	last := &f.older[len(f.older)-1]
	*last = version{data: data{effect.Unknown, last.taint | v.taint}}
}

// hasRoom reports whether one more version with this text is kept as a short one.
func (f *virtual) hasRoom(text string) bool {
	size := len(text)
	for i := range f.older {
		size += len(f.older[i].text)
	}
	return len(f.older) < shortVersions && size <= versionBytes
}

// mayHoldBesides adds what is written to a file that is a copy of another one, or a link to it, as
// a version, even if its text is unknown. It leaves out the copy of a file on disk: that becomes
// an alias of the file, see [fileNotes.another].
func (f *virtual) mayHoldBesides(d data) {
	if v := (version{data: d}); !v.blank() || d.taint&^effect.Labels != effect.File {
		f.mayHold(v)
	}
}

// extend appends something to each of the older versions.
func (f *virtual) extend(d data) {
	f.older = slices.Clone(f.older)
	for i := range f.older {
		f.older[i].add(d)
	}
}

// like reports whether it makes no difference which of two versions a file holds.
func (v *version) like(o *version) bool {
	same := v.text == o.text || v.blank() && o.blank()
	return same && v.taint == o.taint && v.alias == o.alias && v.built == o.built && slices.Equal(v.from, o.from)
}

// versions returns all versions that a file may hold: the newest first, but those with unknown
// text last.
func (f *virtual) versions() []version {
	all := make([]version, 0, len(f.older)+1)
	for _, blank := range [...]bool{false, true} {
		for i := len(f.older); i >= 0; i-- {
			v := f.current()
			if i < len(f.older) {
				v = f.older[i]
			}
			if v.blank() == blank {
				all = append(all, v)
			}
		}
	}
	return all
}

// isBlank reports whether a file's text is entirely unknown and its taint is no worse than that of
// any file.
func (f *virtual) isBlank() bool {
	return f.sink == nil && f.taint&^effect.File == 0 && f.text != "" && strings.Trim(f.text, effect.Unknown) == ""
}
