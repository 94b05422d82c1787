package shell

import (
	_ "embed"
	"slices"
	"strings"
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

// hasPrefix reports whether a text begins with one of several.
func hasPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// hasLetter reports whether a word is flags of one letter each, and one of these is among them.
func hasLetter(w, letters string) bool {
	return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, letters)
}
