package shell

import (
	"slices"
	"strings"
)

// Whether echo reads backslashes is up to the shell: dash and zsh do, and bash with
// xpg_echo. Which shell it is, and how it was set, need not stand in the text: so what is
// printed may be either.

// saysE reports whether flags of echo say that it reads no backslashes.
func saysE(flags []field) bool {
	return slices.ContainsFunc(flags, func(f field) bool { return strings.Contains(f.text, "E") })
}

// isEscaped reports whether a word of echo is another text where backslashes are read.
func isEscaped(f field) bool {
	return strings.IndexByte(f.text, '\\') >= 0 && decoded(f.text) != f.text
}

// decoded is a text with its backslashes read.
func decoded(text string) string {
	out, _ := ansiC(nil, text, true)
	return string(out)
}

// mostEchoes is how many texts of echo are kept.
const mostEchoes = 16

// echoed keeps a text that echo printed, and that another shell prints otherwise.
func (in *interp) echoed(text string) {
	text = strings.TrimRight(text, "\n")
	if len(in.echoes) < mostEchoes && !slices.Contains(in.echoes, text) {
		in.echoes = append(in.echoes, text)
	}
}

// spoken is a text as another shell would have printed what is in it of echo. It is false
// where there is nothing of it.
func (in *interp) spoken(text string) (other string, ok bool) {
	for _, e := range in.echoes {
		if strings.Contains(text, e) && in.rep.made(len(text)) {
			text, ok = strings.ReplaceAll(text, e, decoded(e)), true
		}
	}
	return text, ok
}

// eitherSpoken is one of the two texts, if there are two.
func (in *interp) eitherSpoken(d data) data {
	if len(in.echoes) == 0 || !in.alt.choose {
		return d
	}
	if other, ok := in.spoken(d.text); ok && in.alt.pick("echo "+d.text, 2) == 1 {
		return data{other, d.taint | spelled(d.text)}
	}
	return d
}
