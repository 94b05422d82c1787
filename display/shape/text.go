package shape

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Pattern returns a function that compiles the pattern the first time it is called.
func Pattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// ByteAt returns the byte of s at i, or a blank if i is out of range.
func ByteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return ' '
	}
	return s[i]
}

// ContainsAny reports whether s contains one of the hints.
func ContainsAny(s string, hints []string) bool {
	for _, h := range hints { // faster than slices.ContainsFunc; every text is checked here
		if strings.Contains(s, h) {
			return true
		}
	}
	return false
}

// HasAnyPrefix reports whether s begins with one of the prefixes.
func HasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}

// SetOf returns the set of the words of a text.
func SetOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// Rows yields the rows of a table: the text before the colon, and the words after it. A line that
// begins with a tab continues the row above it, and # begins a comment.
func Rows(table string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(strings.ReplaceAll(table, "\n\t", " ")) {
			name, words, _ := strings.Cut(strings.TrimSuffix(line, "\n")+" ", ": ")
			if name[0] != '#' && !yield(name, words) {
				return
			}
		}
	}
}

// EndOfQuote returns the index of the quote that ends a quoted text, or -1.
func EndOfQuote(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote:
			return i
		}
	}
	return -1
}

// EndsQuoted reports whether a shell, or JSON, would be inside quotes at the end of s.
func EndsQuoted(s string) bool {
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return quote != 0
}

// IsWordByte reports whether b is an ASCII letter, a digit or an underscore.
func IsWordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// Count returns 1 for true and 0 for false.
func Count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// AppendNew appends the names in more that are not in names yet.
func AppendNew(names, more []string) []string {
	for _, n := range more {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// Assignment matches NAME= and NAME[index]=, and NAME = of other languages.
var Assignment = Pattern(`(?:^|[^A-Za-z0-9_.$?-])([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]\s]*\])?(?:\+?=|[ \t]+=[ \t]+)`)

// WithoutQuotes replaces quoted text by a word that is not the name of a program. It returns s
// unchanged if a quote is not closed on its line, or if something else makes the quotes uncertain.
func WithoutQuotes(s string) string {
	if strings.Contains(s, `\`) || strings.Contains(s, "<<") || strings.Contains(s, "$'") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		q := s[i]
		if q != '\'' && q != '"' {
			b.WriteByte(q)
			continue
		}
		n := strings.IndexByte(s[i+1:], q)
		inside := s[i+1 : i+1+max(n, 0)]
		switch {
		case n < 0 || strings.Contains(inside, "\n"):
			return s
		case q == '"' && (strings.Contains(inside, "$(") || strings.Contains(inside, "`")):
			b.WriteString(s[i : i+n+2])
		default:
			b.WriteString("‹quoted›")
		}
		i += n + 1
	}
	return b.String()
}

// MaxSteps limits the work on one call, in characters that are looked at. It takes about 20 ms.
const MaxSteps = 2 << 20

// MaxBefore is how much of the text before a place a pattern looks at, in bytes.
const MaxBefore = 512
