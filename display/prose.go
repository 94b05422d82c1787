package display

import (
	"strings"
	"unicode"
)

// prosePunctuation are signs that people and agents write in sentences. In a sentence nobody takes them for a part
// of a command; in a command a curly quote is no quote, and a long dash is no option, so there they are marked.
const prosePunctuation = "…–—‘’“”‚„•"

// Prose is Safe for a sentence that somebody wrote and that nothing runs, such as what an agent says of its call:
// the usual signs of a sentence stay as they are. docs/threat-model.md lists them.
func Prose(s string) string {
	s = Mask(s)
	var b strings.Builder
	for line := range strings.SplitAfterSeq(s, "\n") {
		mixed := isMixed(line, asItIs)
		for line != "" {
			at := strings.IndexAny(line, prosePunctuation)
			if at < 0 {
				at = len(line)
			}
			visibleLine(&b, line[:at], mixed, asItIs)
			if line = line[at:]; line == "" {
				break
			}
			for _, r := range line {
				b.WriteRune(r)
				line = line[len(string(r)):]
				break
			}
		}
	}
	return b.String()
}

// plainProse is a sentence without its usual signs, for Warnings.
func plainProse(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(prosePunctuation, r) {
			return ' '
		}
		return r
	}, s)
}

// ends reports whether an ellipsis, a bullet or a dash in a word of a command is only that: it stands alone, or an
// ellipsis is the end of a word. Anywhere else it may stand for two or three dots of a path, or begin an option.
func ends(word string, i int, r rune) bool {
	switch {
	case !strings.ContainsRune("…–—•", r):
		return false
	case word == string(r):
		return true
	}
	before := strings.TrimRightFunc(word[:i], func(r rune) bool { return !unicode.IsLetter(r) })
	return r == '…' && before != "" && len(before) == i && strings.Trim(word[i+len("…"):], `"')].,;:!?`) == ""
}
