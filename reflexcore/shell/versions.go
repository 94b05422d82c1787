package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// A write may not happen: cp -n, cp -u and mv -i leave what they find, set -C and chmod stop a
// redirection, and a program fails where its source is not there. So a file that is written
// once more may still have what it had. What it had is kept as further versions, and each
// command that reads or runs the file is walked for each of them.

// A version is what a file may hold.
type version struct {
	data
	alias string // it is this file
	built bool
	from  []string
}

// olderVersions is how many of them are kept for one file, besides the present one.
const olderVersions = 3

// told is what counts of the taint of a file when the file itself is gone.
const told = effect.Secret | effect.Network | effect.Decoded | effect.Labels

// present is the version that the file has if all that was written to it was.
func (f *virtual) present() version { return version{f.data, f.alias, f.built, f.from} }

// says reports whether it makes a difference that a file may hold this version.
func (v *version) says() bool {
	return v.alias != "" || v.taint&told != 0 || v.text != "" && v.from == nil && !v.built
}

// blank reports whether nothing is known of its text.
func (v *version) blank() bool { return strings.Trim(v.text, effect.Unknown) == "" }

// ages keeps what a file holds as one more version, since it is written.
func (f *virtual) ages() { f.mayHold(f.present()) }

// mayHold makes something one more version of a file. Of more than are kept nothing is known.
func (f *virtual) mayHold(v version) {
	if !v.says() || f.sink != nil || strings.HasPrefix(f.path, "/dev/fd/") || slices.ContainsFunc(f.older, func(o version) bool { return o.data == v.data && o.alias == v.alias }) {
		return
	}
	if len(f.older) < olderVersions {
		f.older = append(slices.Clip(f.older), v)
		return
	}
	f.older = slices.Clone(f.older)
	last := &f.older[olderVersions-1]
	*last = version{data: data{effect.Unknown, last.taint | v.taint}}
}

// agesInBranch keeps what a file holds that becomes another one in a branch.
func (in *interp) agesInBranch(f *virtual) {
	if v := f.present(); in.branches > 0 && v.alias == "" && (!v.blank() || v.taint&told != 0) {
		f.mayHold(v)
	}
}

// extend appends something to each of the older versions.
func (f *virtual) extend(d data) {
	f.older = slices.Clone(f.older)
	for i := range f.older {
		f.older[i].append(d)
	}
}

// version is the one that a command finds in a file: it is walked for each of them, those of
// which the text is known first. Where no command chooses, it may be any of them.
func (in *interp) version(f *virtual) version {
	if len(f.older) == 0 {
		return f.present()
	}
	if in.choose || in.chosenBefore(f.path) {
		return f.nth(in.pick(in.concat("file ", f.path), len(f.older)+1))
	}
	v := version{data: data{effect.Unknown, f.taint}}
	for i := range f.older {
		v.taint |= f.older[i].taint
	}
	return v
}

// chosenBefore reports whether the command has chosen a version of a file.
func (in *interp) chosenBefore(p string) bool {
	return slices.ContainsFunc(in.choices, func(c choice) bool {
		name, ok := strings.CutPrefix(c.key, "file ")
		return ok && name == p
	})
}

// nth is a version of a file: the newest first, but those of which no text is known last.
func (f *virtual) nth(n int) version {
	for _, blank := range [...]bool{false, true} {
		for i := len(f.older); i >= 0; i-- {
			v := f.present()
			if i < len(f.older) {
				v = f.older[i]
			}
			if v.blank() != blank {
				continue
			}
			if n == 0 {
				return v
			}
			n--
		}
	}
	return f.present()
}

// heldBy is a file of this text and the version of it that a command finds; nil: it has none.
func (in *interp) heldBy(p string) (*virtual, version) {
	f := in.file(p)
	if f == nil {
		return nil, version{}
	}
	return f, in.version(f)
}
