// Package wordset holds sets of words that are written as one text, with blanks between them.
package wordset

import "strings"

// Of returns the set of the words of a text.
func Of(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// Has reports whether a text has a word. It is for short texts.
func Has(words, word string) bool {
	if word == "" {
		return false
	}
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}
