package reflexcore

import (
	"strings"

	"approver.example/internal/glob"
)

// A textGlob is a lower-case pattern of a rule, in which * matches any text. Most texts are rejected
// quickly because they lack a letter of the pattern.
type textGlob struct {
	needs letters
	text  string
}

// letters is a set of the letters in a text, regardless of case. It has 64 bits, so one bit may mean
// several letters.
type letters uint64

func lettersOf(s string) (l letters) {
	for i := range len(s) {
		c := s[i]
		l |= 1 << (c&31 | (^c&0x40)>>1)
	}
	return l
}

// compileGlobs prepares patterns for comparison.
func compileGlobs(list []string) []textGlob {
	out := make([]textGlob, len(list))
	for i, s := range list {
		s = strings.ToLower(s)
		out[i] = textGlob{lettersOf(strings.ReplaceAll(s, "*", "")), s}
	}
	return out
}

// anyGlob reports whether one of the patterns matches a text; has is the set of its letters.
func anyGlob(globs []textGlob, text string, has letters) bool {
	for i := range globs {
		if g := &globs[i]; g.needs&^has == 0 && glob.Text(g.text, text) {
			return true
		}
	}
	return false
}
