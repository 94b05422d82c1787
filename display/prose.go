package display

import "strings"

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

// alone reports whether a dash or a bullet of a command stands alone, and begins no option. An ellipsis is always
// marked there: it may stand for the dots of a path, and what approver cuts ends with one.
func alone(word string, r rune) bool {
	return strings.ContainsRune("–—•", r) && word == string(r)
}
