package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// ifs is what separates words. Where nothing is known of it, words end where they usually
// do, or at any sign that is neither a letter nor part of a path.
func (in *interp) ifs() string {
	d, ok := in.separators()
	if !ok {
		return usualIFS
	}
	if !d.known() {
		known := strings.ReplaceAll(d.text, effect.Unknown, "")
		if known == "" {
			known = usualIFS
		}
		return []string{known, usualIFS + "!\"#$%&'()*+,:;<=>?@[]^_`{|}"}[in.pick("IFS?", 2)]
	}
	return d.text
}

// separators is the value of IFS, if it has one.
func (in *interp) separators() (data, bool) {
	v := in.lookup("IFS")
	switch {
	case v == nil || v.unset:
		return data{}, false
	case v.array:
		return in.element(v, data{text: "0"}), true
	case v.alts != nil: // it was assigned in a branch
		return v.alts[in.pick("IFS", len(v.alts))], true
	}
	return v.data, true
}

// tears reports whether nothing is known of IFS, so that what is written as one word may be
// several: a command then is another one than it is written as.
func (in *interp) tears() bool {
	d, ok := in.separators()
	return ok && !d.known()
}

// usualIFS is what separates words where nobody said anything else.
const usualIFS = " \t\n"

// splitting marks the bytes at which a value may be several words, or a pattern.
var splitting = func() (t [256]bool) {
	for _, c := range []byte("*?[" + usualIFS) {
		t[c] = true
	}
	return t
}()

// isOneWord reports whether a value has none of them.
func isOneWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if splitting[s[i]] {
			return false
		}
	}
	return true
}

// wholes pushes values that are known as fields of their own, as long as each is one word
// whatever it is next to: the builder has nothing yet. It returns how many these are. A
// list is pushed by every command that takes it, so a long one has to be quick.
func (b *builder) wholes(list []data, quoted bool) (n int) {
	in := b.in
	if len(list) == 0 || !quoted && in.ifs() != usualIFS {
		return 0
	}
	torn := !quoted && in.tears()
	if room := min(len(list), in.lim.Fields-len(in.fields)); room > 0 {
		in.fields = slices.Grow(in.fields, room)
	}
	for ; n < len(list); n++ {
		d := &list[n]
		switch {
		case d.text == "", torn && len(d.text) > 1, quoted && !d.known(), !quoted && !isKnownWord(d.text):
			return n
		}
		if in.made(len(d.text)) {
			in.push(field{data: *d, quoted: quoted})
		}
	}
	return n
}

// isKnownWord reports whether all of a value is known, and it is one word.
func isKnownWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == effect.Unknown[0] || splitting[s[i]] {
			return false
		}
	}
	return true
}
