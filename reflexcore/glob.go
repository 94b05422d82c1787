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
	word  int // the length of a short name of a program, after which no letter may follow; 0: any text may
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
		out[i] = textGlob{lettersOf(strings.ReplaceAll(s, "*", "")), s, 0}
	}
	return out
}

// compileNames prepares patterns for names of programs. A short one is a whole word: oc* is oc adm, and
// not ocr_delete or another name that begins so. A version may follow, as in pip3.
func compileNames(list []string) []textGlob {
	out := compileGlobs(list)
	for i := range out {
		const short = 3
		name, found := strings.CutSuffix(out[i].text, "*")
		if found && name != "" && len(name) <= short && !strings.ContainsAny(name, "*_- ") {
			out[i].word = len(name)
		}
	}
	return out
}

// endsAt reports whether no word goes on at a place of a text.
func endsAt(text string, at int) bool {
	if at >= len(text) {
		return true
	}
	c := text[at]
	return (c|0x20 < 'a' || c|0x20 > 'z') && c != '_'
}

// anyGlob reports whether one of the patterns matches a text; has is the set of its letters.
func anyGlob(globs []textGlob, text string, has letters) bool {
	for i := range globs {
		if g := &globs[i]; g.needs&^has == 0 && glob.Text(g.text, text) && (g.word == 0 || endsAt(text, g.word)) {
			return true
		}
	}
	return false
}
