package reflexcore

import (
	"strings"

	"approver.example/internal/glob"
)

// A textGlob is a pattern of a rule, in lower case: * is any text. Most patterns are turned
// down by the letters that they need and the text does not have.
type textGlob struct {
	needs letters
	text  string
}

// letters are those that a text has, large as small, as far as 64 bits tell them apart:
// one bit may stand for several.
type letters uint64

func lettersOf(s string) (l letters) {
	for i := range len(s) {
		c := s[i]
		l |= 1 << (c&31 | (^c&0x40)>>1)
	}
	return l
}

// compileGlobs makes patterns ready to be compared.
func compileGlobs(list []string) []textGlob {
	out := make([]textGlob, len(list))
	for i, s := range list {
		s = strings.ToLower(s)
		out[i] = textGlob{lettersOf(strings.ReplaceAll(s, "*", "")), s}
	}
	return out
}

// anyGlob reports whether one of the patterns is that of a text, which has these letters.
func anyGlob(globs []textGlob, text string, has letters) bool {
	for i := range globs {
		if g := &globs[i]; g.needs&^has == 0 && glob.Text(g.text, text) {
			return true
		}
	}
	return false
}
