package shell

import (
	"slices"
	"strings"
)

// isEscaped reports whether a word of echo is another text where backslashes are read.
func isEscaped(f field) bool {
	return strings.IndexByte(f.text, '\\') >= 0 && decoded(f.text) != f.text
}

// decoded is a text with its backslashes read.
func decoded(text string) string {
	out, _ := ansiC(nil, text, true)
	return string(out)
}

// echoed keeps a text that echo printed, and that another shell prints otherwise.
func (el *echoLog) echoed(text string) {
	text = strings.TrimRight(text, "\n")
	if len(el.list) < mostEchoes && !slices.Contains(el.list, text) {
		el.list = append(el.list, text)
	}
}

// spoken is a text as another shell would have printed what is in it of echo. It is false
// where there is nothing of it.
func (el *echoLog) spoken(text string) (other string, ok bool) {
	for _, e := range el.list {
		if strings.Contains(text, e) && el.rep.made(len(text)) {
			text, ok = strings.ReplaceAll(text, e, decoded(e)), true
		}
	}
	return text, ok
}

// eitherSpoken is one of the two texts, if there are two.
func (el *echoLog) eitherSpoken(d data) data {
	if len(el.list) == 0 || !el.alt.choose {
		return d
	}
	if other, ok := el.spoken(d.text); ok && el.alt.pick("echo "+d.text, 2) == 1 {
		return data{other, d.taint | spelled(d.text)}
	}
	return d
}

// mostEchoes is how many texts of echo are kept.
const mostEchoes = 16
