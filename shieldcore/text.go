package shieldcore

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"approver.example/internal/glob"
)

// A text is a string to be searched, with what is made of it on demand.
type text struct {
	raw    string
	lower  string // by fold
	folded bool   // lower is there
	pairs  *pairs // of a long text in lower case
}

// lowered is the text as [fold] makes it.
func (t *text) lowered() string {
	if !t.folded {
		t.lower, t.folded = fold(t.raw), true
	}
	return t.lower
}

// holds reports whether of each group one literal is in the text. Literals are as
// [match.Required] returns them.
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

// fold brings a text to the one form in which case makes no difference. The long s is
// a lower-case letter that a case-insensitive regular expression takes for s.
func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "ſ", "s") }

// longText is the length in bytes from which listing the pairs of a text is
// quicker than searching it for every word of a policy.
const longText = 512

// pairs says which two bytes stand side by side somewhere in a text. Nearly
// every word that is not in the text shows by that alone.
type pairs [1 << 16 / 64]uint64

func pairsOf(s string) *pairs {
	var p pairs
	for i := 1; i < len(s); i++ {
		n := uint(s[i-1])<<8 | uint(s[i])
		p[n/64] |= 1 << (n % 64)
	}
	return &p
}

// mayHold reports whether all pairs of word are there. Nil pairs are unknown.
func (p *pairs) mayHold(word string) bool {
	for i := 1; p != nil && i < len(word); i++ {
		n := uint(word[i-1])<<8 | uint(word[i])
		if p[n/64]&(1<<(n%64)) == 0 {
			return false
		}
	}
	return true
}

// normalize takes out quotes, backslashes and line continuations and makes
// every run of white space one space, or one line break if it has one. That
// undoes the plainest ways of writing the same words differently, no more.
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

// plain reports whether a command is nothing but words, so that matching the
// whole of it says what runs: printable ASCII without any character that means
// something to a shell. Quotes may stand in pairs.
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

// notPlain reports whether a character means something to a shell, or cannot be
// seen for what it is.
func notPlain(r rune) bool {
	return r < ' ' || r > '~' || strings.ContainsRune(";|&<>$`(){}[]*?!#~^\\", r)
}

// A toolGlob is a tool's name with * and ? and [a-z].
type toolGlob string

func anyTool(globs []toolGlob, tool string) bool {
	for _, g := range globs {
		if glob.Name(string(g), tool) {
			return true
		}
	}
	return false
}

// A pattern is a regular expression with the literals that everything that it matches
// has; those are looked for first, because that is many times faster.
type pattern struct {
	text     string // with its fragments put in
	re       *regexp.Regexp
	required [][]string // see [match.Required]
}

func (p *pattern) in(texts []*text) bool {
	for _, t := range texts {
		if t.holds(p.required) && p.re.MatchString(t.raw) {
			return true
		}
	}
	return false
}
