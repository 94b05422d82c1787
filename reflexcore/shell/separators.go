package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// wholes pushes values that are known as fields of their own, as long as each is one word
// whatever it is next to: the builder has nothing yet. It returns how many these are. A
// list is pushed by every command that takes it, so a long one has to be quick.
func (b *builder) wholes(list []data, quoted bool) (n int) {
	in := b.in
	if len(list) == 0 || !quoted && in.par.ifs() != usualIFS {
		return 0
	}
	torn := !quoted && (in.par.tears() || in.par.torn())
	if room := min(len(list), in.rep.lim.Fields-len(in.exp.fields)); room > 0 {
		in.exp.fields = slices.Grow(in.exp.fields, room)
	}
	for ; n < len(list); n++ {
		d := &list[n]
		switch {
		case d.text == "", torn && len(d.text) > 1, quoted && !d.known(), !quoted && !isKnownWord(d.text):
			return n
		}
		if in.rep.made(len(d.text)) {
			in.exp.push(field{data: *d, quoted: quoted})
		}
	}
	return n
}

// ifs is what separates words. Where nothing is known of it, words end where they usually
// do, or at any sign that is neither a letter nor part of a path.
func (pm *parameters) ifs() string {
	d, ok := pm.separators()
	if !ok {
		return usualIFS
	}
	if !d.known() {
		known := strings.ReplaceAll(d.text, effect.Unknown, "")
		if known == "" {
			known = usualIFS
		}
		return []string{known, anyIFS}[pm.in.alt.pick("IFS?", 2)]
	}
	return d.text
}

// ifsOf is what separates the words of a value: a file that was read into the shell may have
// set it, see [variables.shake].
func (pm *parameters) ifsOf(text string) string {
	if !pm.torn() || !strings.ContainsAny(text, tornIFS[len(usualIFS):]) || strings.Contains(text, "://") {
		return pm.ifs()
	}
	return []string{usualIFS, tornIFS}[pm.in.alt.pick("IFS?", 2)]
}

// torn reports whether such a file may have set IFS.
func (pm *parameters) torn() bool {
	if !pm.in.vars.shaken {
		return false
	}
	v := pm.lookup("IFS")
	return v == nil || v.unset || v.shaken
}

// tearsUp reports whether a value that is written as one word may run as another command. What
// begins with a folder begins with it wherever it is split, and a plain name has no room for
// the words of another command.
func (pm *parameters) tearsUp(text string) bool {
	if len(text) < 2 {
		return false
	}
	return pm.tears() || pm.in.vars.shaken && text[0] != '.' && text[0] != '/' && text[0] != '-' && pm.torn() && isOneWord(text) && !isPlainName(text)
}

// separators is the value of IFS, if it has one.
func (pm *parameters) separators() (data, bool) {
	v := pm.lookup("IFS")
	switch {
	case v == nil || v.unset:
		return data{}, false
	case v.array:
		return v.element(data{text: "0"}), true
	case v.alts != nil: // it was assigned in a branch
		return v.alts[pm.in.alt.pick("IFS", len(v.alts))], true
	}
	return v.data, true
}

// tears reports whether nothing is known of IFS, so that what is written as one word may be
// several: a command then is another one than it is written as.
func (pm *parameters) tears() bool {
	d, ok := pm.separators()
	return ok && !d.known()
}

// anyIFS is what separates them where it is not known.
const anyIFS = usualIFS + "!\"#$%&'()*+,:;<=>?@[]^_`{|}"

// tornIFS is what may separate them if a file set it: no sign that names have.
const tornIFS = usualIFS + "!#%&+,:;^|"
