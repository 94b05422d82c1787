package shieldcore

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"approver.example/internal/glob"
)

// A text is a string to be searched, with forms that are computed on demand.
type text struct {
	raw    string
	lower  string // by fold
	folded bool   // lower is set
	pairs  *pairs // of a long lower text
}

// lowered is the text as [fold] makes it.
func (t *text) lowered() string {
	if !t.folded {
		t.lower, t.folded = fold(t.raw), true
	}
	return t.lower
}

// holds reports whether the text has at least one literal of each group. The groups are
// as [match.Required] returns them.
func (t *text) holds(groups [][]string) bool {
	if len(groups) == 0 {
		return true
	}
	lower := t.lowered()
	if t.pairs == nil && len(lower) > longText {
		t.pairs = pairsOf(lower)
	}
	for _, group := range groups {
		if !slices.ContainsFunc(group, func(s string) bool { return t.pairs.mayHold(s) && strings.Contains(lower, s) }) {
			return false
		}
	}
	return true
}

// fold lowers the case of a text. It also folds the long s, a lower-case letter that a
// case-insensitive regular expression treats as s.
func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "ſ", "s") }

// longText is the length in bytes from which listing the pairs of a text is
// faster than searching it for every word of a policy.
const longText = 512

// pairs is the set of adjacent byte pairs in a text. It excludes nearly every word
// that is not in the text.
type pairs [1 << 16 / 64]uint64

func pairsOf(s string) *pairs {
	var p pairs
	for i := 1; i < len(s); i++ {
		n := uint(s[i-1])<<8 | uint(s[i])
		p[n/64] |= 1 << (n % 64)
	}
	return &p
}

// mayHold reports whether the set has all pairs of word. A nil set has all.
func (p *pairs) mayHold(word string) bool {
	for i := 1; p != nil && i < len(word); i++ {
		n := uint(word[i-1])<<8 | uint(word[i])
		if p[n/64]&(1<<(n%64)) == 0 {
			return false
		}
	}
	return true
}

// normalize removes quotes, backslashes and line continuations, and makes every run
// of white space one space, or one line break if it has one. This undoes only the
// simplest ways of writing the same words differently.
func normalize(command string) string {
	command = strings.NewReplacer("\\\r\n", "", "\\\n", "").Replace(command)
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

// A pattern is a regular expression with the literals that every match must have. They
// are searched first, because that is many times faster.
type pattern struct {
	text     string // with its fragments put in
	re       *regexp.Regexp
	required [][]string // see [match.Required]
}

func (p *pattern) in(texts []*text) bool {
	return slices.ContainsFunc(texts, func(t *text) bool { return t.holds(p.required) && p.re.MatchString(t.raw) })
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
