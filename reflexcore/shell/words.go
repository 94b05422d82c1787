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

// section returns the list of that name in wordsText. It panics if there is none.
func section(name string) string {
	_, text, found := strings.Cut(wordsText, "\n["+name+"]\n")
	if !found {
		panic("words.txt has no list of " + name)
	}
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

// table returns a list whose lines are a name, a colon, and values that are separated by commas.
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

// hasFlag reports whether an argument is a group of single-letter flags with one of letters among
// them, or begins with one of the prefixes. argv[0] is the program.
func hasFlag(argv []string, letters string, prefixes ...string) bool {
	return slices.ContainsFunc(argv[1:], func(w string) bool {
		return hasLetter(w, letters) || wordset.HasAnyPrefix(w, prefixes...)
	})
}

// hasLetter reports whether a word is a group of single-letter flags with one of letters among
// them.
func hasLetter(w, letters string) bool {
	return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, letters)
}
