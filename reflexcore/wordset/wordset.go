// Package wordset reads sets of words that are written as one text with blanks in between, and
// tables of such sets.
package wordset

import (
	"iter"
	"slices"
	"strings"
)

// Of returns the set of the words of a text.
func Of(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// Has reports whether a text contains a word. It is for short texts.
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

// ContainsAny reports whether a text contains one of the parts.
func ContainsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// HasAnyPrefix reports whether a text begins with one of the prefixes.
func HasAnyPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// Table yields the rows of a table: a heading up to the first colon, and the words after it. A line
// that begins with white space continues the previous row. Empty lines and lines that begin with #
// are skipped.
func Table(text string) iter.Seq2[string, string] {
	return func(yield func(heading, words string) bool) {
		heading, rest := "", ""
		row := func() bool {
			return heading == "" || yield(heading, strings.Join(strings.Fields(rest), " "))
		}
		for line := range strings.Lines(text) {
			if line[0] == '#' || line[0] == '\n' {
				continue
			}
			if line[0] == '\t' || line[0] == ' ' {
				rest += line
				continue
			}
			if !row() {
				return
			}
			heading, rest, _ = strings.Cut(line, ":")
		}
		row()
	}
}

// Index maps the words of a table to the meanings of their headings.
func Index[T any](table string, meaning func(heading string) T) map[string]T {
	m := map[string]T{}
	for heading, words := range Table(table) {
		value := meaning(heading)
		for w := range strings.FieldsSeq(words) {
			m[w] = value
		}
	}
	return m
}

// Sets returns the sets of words of a table, by heading.
func Sets(table string) map[string]map[string]bool {
	m := map[string]map[string]bool{}
	for heading, words := range Table(table) {
		m[heading] = Of(words)
	}
	return m
}

// Number returns the index of a word in names. It panics at an unknown word, which is a mistake in a
// table.
func Number(names []string, word string) int {
	i := slices.Index(names, word)
	if i < 0 {
		panic("a table has the word " + word)
	}
	return i
}

// Bits returns a bit set of words; each bit is the index in names.
func Bits(names []string, words string) (bits uint64) {
	for word := range strings.FieldsSeq(words) {
		bits |= 1 << Number(names, word)
	}
	return bits
}

// Says reports whether one of the words stands in a command, also before a "=" or in quotes. A dot counts
// where a command begins, as the word that reads a file.
func Says(command string, words map[string]bool) bool {
	last := ";"
	for w := range strings.FieldsSeq(command) {
		bare := strings.Trim(w, "'\"(){};")
		name, _, _ := strings.Cut(bare, "=")
		begins := strings.HasSuffix(last, ";") || Has("&& || { then do", last)
		if (words[bare] || words[name]) && (bare != "." || begins) {
			return true
		}
		last = w
	}
	return false
}
