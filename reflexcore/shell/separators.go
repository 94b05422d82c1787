package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// ifs is what separates words. Where nothing is known of it, words end where they usually
// do, or at any sign that is neither a letter nor part of a path.
func (in *interp) ifs() string {
	const usual = " \t\n"
	d, ok := in.separators()
	if !ok {
		return usual
	}
	if !d.known() {
		known := strings.ReplaceAll(d.text, effect.Unknown, "")
		if known == "" {
			known = usual
		}
		return []string{known, usual + "!\"#$%&'()*+,:;<=>?@[]^_`{|}"}[in.pick("IFS?", 2)]
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
