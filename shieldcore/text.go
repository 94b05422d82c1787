package shieldcore

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"approver.example/internal/glob"
	"approver.example/internal/match"
)

// A text is a string to be searched.
type text struct {
	raw        string
	searched   bool
	candidates []int // the patterns of the policy that may match it, in order
}

// fold lowers the case of a text. It also folds the long s, a lower-case letter that a
// case-insensitive regular expression treats as s.
func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "ſ", "s") }

// normalize removes quotes, backslashes and line continuations, and makes every run
// of white space one space, or one line break if it has one. This undoes only the
// simplest ways of writing the same words differently.
func normalize(command string) string {
	// A Replacer costs more than all the rest, and is seldom needed.
	if strings.Contains(command, "\\\r\n") || strings.Contains(command, "\\\n") {
		command = strings.NewReplacer("\\\r\n", "", "\\\n", "").Replace(command)
	}
	var b strings.Builder
	b.Grow(len(command))
	var space rune
	for _, r := range command {
		switch {
		case r == '\'' || r == '"' || r == '\\':
		case r == '\n':
			space = '\n'
		case unicode.IsSpace(r):
			if space == 0 {
				space = ' '
			}
		default:
			if space != 0 && b.Len() > 0 {
				b.WriteRune(space)
			}
			space = 0
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain reports whether a command is nothing but words: printable ASCII without
// characters that have a meaning to a shell, except quotes in pairs. Only then does
// a match of the whole command say what runs.
func plain(command string) bool {
	quote := rune(0)
	for _, r := range command {
		switch {
		case notPlain(r):
			return false
		case r != '\'' && r != '"':
		case quote == 0:
			quote = r
		case quote == r:
			quote = 0
		}
	}
	return quote == 0
}

// notPlain reports whether a character has a meaning to a shell, or is not printable
// ASCII.
func notPlain(r rune) bool {
	return r < ' ' || r > '~' || strings.ContainsRune(";|&<>$`(){}[]*?!#~^\\", r)
}

// A toolGlob is a tool's name with * and ? and [a-z].
type toolGlob string

func anyTool(globs []toolGlob, tool string) bool {
	return slices.ContainsFunc(globs, func(g toolGlob) bool { return glob.Name(string(g), tool) })
}

// A pattern is a regular expression of a policy. The policy's sieve selects the patterns
// that may match a text, because that is many times faster than trying each.
type pattern struct {
	text     string // with its fragments put in
	re       *regexp.Regexp
	required [][]string // see [match.Required]
	id       int        // in the sieve
}

func (p *pattern) in(texts []*text, sieve *match.Sieve) bool {
	return slices.ContainsFunc(texts, func(t *text) bool {
		_, may := slices.BinarySearch(t.mayMatch(sieve), p.id)
		return may && p.re.MatchString(t.raw)
	})
}

// mayMatch returns the patterns that may match the text.
func (t *text) mayMatch(sieve *match.Sieve) []int {
	if !t.searched {
		t.searched, t.candidates = true, sieve.Candidates(t.raw)
	}
	return t.candidates
}

// every reports whether every element of a list meets a condition.
func every[T any](list []T, meets func(T) bool) bool {
	return !slices.ContainsFunc(list, func(x T) bool { return !meets(x) })
}

// meet reports whether one of the things that a call may be about meets a condition. For
// a rule that allows all must, and there must be one.
func meet[T any](things []T, allows bool, condition func(T) bool) bool {
	if allows {
		return len(things) > 0 && every(things, condition)
	}
	return slices.ContainsFunc(things, condition)
}

// everyText reports whether every text in a decoded JSON value meets a condition. key is
// the nearest name.
func everyText(value any, key string, meets func(key, text string) bool) bool {
	switch v := value.(type) {
	case string:
		return meets(key, v)
	case []any:
		return every(v, func(item any) bool { return everyText(item, key, meets) })
	case map[string]any:
		for name, item := range v {
			if !everyText(item, name, meets) {
				return false
			}
		}
	}
	return true
}
