// Package glob matches text against wildcard patterns. It has the four pattern languages in which
// people write rules and policies:
//
//   - [Text] and [Begins]: * is any text, [*] is a star, and the case of ASCII letters does not matter.
//     For rules and the grammar of commands.
//   - [Word]: * does not match a slash, ** does. For the scopes of exceptions.
//   - [Path]: * ? and [a-z] within a segment, ** for any number of segments. For the
//     paths of a policy.
//   - [Name]: * ? and [a-z], and a slash is an ordinary character. For the names of tools.
//
// They cannot be unified, because existing files depend on the differences: "src/**" in a scope
// does not match src itself, "/src/**" in a policy does match /src, and "*" in a rule matches
// slashes. For the names in one folder, use [path.Match]. Package fingerprint expands patterns on
// the disk, as shells do, and does not match text.
package glob

import (
	"path"
	"strings"
)

// Text reports whether a text matches a pattern in lower case, in which * is any text, and [*] a star.
func Text(pattern, text string) bool {
	at := advance(pattern, text)
	return at >= 0 && onlyStars(pattern[at:])
}

// Begins compares a pattern of [Text] with the beginning of a text whose end is not known. may
// says that the text can match, and surely that it matches with every end.
func Begins(pattern, beginning string) (may, surely bool) {
	at := advance(pattern, beginning)
	return at >= 0, at >= 0 && strings.HasSuffix(pattern, "*") && onlyStars(pattern[at:])
}

// aStar is a star that means itself.
const aStar = "[*]"

// advance returns the length of a prefix of the pattern that matches the whole text, or -1 if there
// is none. After a mismatch the last star takes one more byte. Earlier stars do not have to,
// because the text after them was found.
func advance(pattern, text string) int {
	star, taken := -1, 0
	i, j := 0, 0
	for j < len(text) {
		c := text[j]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		itself := i < len(pattern) && pattern[i] == '[' && strings.HasPrefix(pattern[i:], aStar)
		switch {
		case itself && c == '*':
			i += len(aStar)
			j++
		case i < len(pattern) && pattern[i] == '*':
			star, taken = i, j
			i++
		case i < len(pattern) && pattern[i] == c && !itself:
			i++
			j++
		case star >= 0:
			taken++
			i, j = star+1, taken
		default:
			return -1
		}
	}
	return i
}

func onlyStars(pattern string) bool {
	for i := range len(pattern) {
		if pattern[i] != '*' {
			return false
		}
	}
	return true
}

// Word reports whether a word matches a pattern in which * is any text without a slash, and ** any
// text. It follows all positions in the pattern at once, so the cost is at most proportional to
// the length of the word times that of the pattern.
func Word(pattern, word string) bool {
	at, next := make([]bool, len(pattern)+1), make([]bool, len(pattern)+1)
	at[0] = true
	skipStars(pattern, at)
	for j := range len(word) {
		clear(next)
		for i := range len(pattern) {
			deep := i > 0 && pattern[i-1] == '*' || i+1 < len(pattern) && pattern[i+1] == '*'
			switch {
			case !at[i]:
			case pattern[i] == '*':
				next[i] = next[i] || deep || word[j] != '/'
			case pattern[i] == word[j]:
				next[i+1] = true
			}
		}
		at, next = next, at
		skipStars(pattern, at)
	}
	return at[len(pattern)]
}

// skipStars adds the positions after stars, because a star may match nothing.
func skipStars(pattern string, at []bool) {
	for i := range len(pattern) {
		at[i+1] = at[i+1] || at[i] && pattern[i] == '*'
	}
}

// Name reports whether a name matches a pattern of [path.Match] in which a slash is an ordinary
// character. An invalid pattern matches nothing.
func Name(pattern, name string) bool {
	ok, err := path.Match(noSlash.Replace(pattern), noSlash.Replace(name))
	return ok && err == nil
}

var noSlash = strings.NewReplacer("/", "\x01")

// A Path is a pattern for paths, split at its slashes. Each segment is a pattern of [path.Match],
// and ** is any number of segments.
type Path []string

// Match reports whether a path matches the pattern.
func (g Path) Match(p string) bool {
	segs := strings.Split(p, "/")
	gi, si := 0, 0
	star, from := -1, 0 // where to continue after a mismatch: the last ** and the end of its match
	for si < len(segs) {
		if gi < len(g) && g[gi] == "**" {
			star, from = gi, si
			gi++
			continue
		}
		if gi < len(g) {
			if ok, err := path.Match(g[gi], segs[si]); ok && err == nil {
				gi++
				si++
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		gi, si = star+1, from
	}
	for gi < len(g) && g[gi] == "**" {
		gi++
	}
	return gi == len(g)
}
