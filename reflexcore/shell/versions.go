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

// told is what counts of the taint of a file when the file itself is gone.
const told = effect.Secret | effect.Network | effect.Decoded | effect.Labels

// current is the version that the file has if all that was written to it was.
func (f *virtual) current() version { return version{f.data, f.alias, f.built, f.from} }

// says reports whether it makes a difference that a file may hold this version.
func (v *version) says() bool {
	return v.alias != "" || v.taint&told != 0 || v.text != "" && v.from == nil && !v.built
}

// blank reports whether nothing is known of its text.
func (v *version) blank() bool { return strings.Trim(v.text, effect.Unknown) == "" }

// ages keeps what a file holds as one more version, since it is written.
func (f *virtual) ages() { f.mayHold(f.current()) }

// mayHold makes something one more version of a file. Of more than are kept nothing is known.
func (f *virtual) mayHold(v version) {
	if !v.says() || f.sink != nil || strings.HasPrefix(f.path, "/dev/fd/") || slices.ContainsFunc(f.older, func(o version) bool { return o.data == v.data && o.alias == v.alias }) {
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

// hasRoom reports whether one more version of a text is kept.
func (f *virtual) hasRoom(text string) bool {
	size := len(text)
	for i := range f.older {
		size += len(f.older[i].text)
	}
	return len(f.older) < shortVersions && size <= versionBytes
}

// mayHoldBesides makes what is written to a file that is another one a version of it, also
// where nothing is known of the text. The copy of a file of the disk is not meant: it becomes
// that file, see [applied.another].
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

// versions are all that a file may hold: the newest first, but those of which no text is
// known last.
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

// heldBy is a file of this text and the version of it that a command finds; nil: it has none.
func (fsys *filesystem) heldBy(p string) (*virtual, version) {
	f := fsys.fileAt(p)
	if f == nil {
		return nil, version{}
	}
	return f, fsys.in.alt.version(f)
}

// isBlank reports whether nothing is known of a file's text, and nothing bad of where it
// comes from.
func (f *virtual) isBlank() bool {
	return f.sink == nil && f.taint&^effect.File == 0 && f.text != "" && strings.Trim(f.text, effect.Unknown) == ""
}
