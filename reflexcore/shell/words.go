package shell

import (
	_ "embed"
	"slices"
	"strings"

	"approver.example/reflexcore/wordset"
)

// wordsText has the lists of words that are only data.
//
//go:embed words.txt
var wordsText string

// section is one list as it is written there.
func section(name string) string {
	_, text, found := strings.Cut(wordsText, "\n["+name+"]\n")
	if !found {
		panic("words.txt has no list of " + name)
	}
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

// table is a list whose lines are a name and, behind a colon, what belongs to it.
func table(name string) map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(section(name)) {
		key, list, _ := strings.Cut(line, ":")
		for value := range strings.SplitSeq(list, ",") {
			m[key] = append(m[key], strings.TrimSpace(value))
		}
	}
	return m
}

// hasFlag reports whether a word of a command is flags of one letter each, with one of these among
// them, or begins with one of the prefixes.
func hasFlag(argv []string, letters string, prefixes ...string) bool {
	return slices.ContainsFunc(argv[1:], func(w string) bool {
		return hasLetter(w, letters) || wordset.HasAnyPrefix(w, prefixes...)
	})
}

// hasLetter reports whether a word is flags of one letter each, and one of these is among them.
func hasLetter(w, letters string) bool {
	return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, letters)
}
