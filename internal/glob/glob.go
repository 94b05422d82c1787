// Package glob compares texts with wildcards. It holds each language of wildcards in
// which people write rules and policies:
//
//   - [Text] and [Begins]: * is any text, and the case of ASCII letters does not matter.
//     For rules and the grammar of commands.
//   - [Word]: * stays within a segment of a path, ** does not. For the scopes of exceptions.
//   - [Path]: * ? and [a-z] within a segment, ** for any number of segments. For the
//     paths of a policy.
//   - [Name]: * ? and [a-z], a slash is a letter. For the names of tools.
//
// They stay four because files that people have written mean them: in a scope,
// "src/**" is not src itself, in a policy "/src/**" is; and a rule's "*" goes through
// slashes. A pattern of the names in one folder is [path.Match]. Package fingerprint
// expands patterns on the disk, as shells do; it compares no texts.
package glob

import (
	"path"
	"strings"
)

// Text reports whether a text matches a pattern in lower case, in which * is any text.
func Text(pattern, text string) bool {
	at := advance(pattern, text)
	return at >= 0 && onlyStars(pattern[at:])
}

// Begins compares a pattern of [Text] with the beginning of a text whose end is not
// known: whether the text may match, and whether it does, however it ends.
func Begins(pattern, beginning string) (may, surely bool) {
	at := advance(pattern, beginning)
	return at >= 0, at >= 0 && strings.HasSuffix(pattern, "*") && onlyStars(pattern[at:])
}

// advance returns how far into the pattern all of a text leads, and -1 where no
// beginning of the pattern matches it. After a mismatch the last star takes one
// character more: earlier ones need not, since what stands behind them was found.
func advance(pattern, text string) int {
	star, taken := -1, 0
	i, j := 0, 0
	for j < len(text) {
		c := text[j]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, taken = i, j
			i++
		case i < len(pattern) && pattern[i] == c:
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

// Word reports whether a word matches a pattern in which * is any text without a slash,
// and ** any text. It follows all places in the pattern at once, so that a long word
// costs no more than its length times that of the pattern.
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

// skipStars adds the places behind stars, which may be nothing.
func skipStars(pattern string, at []bool) {
	for i := range len(pattern) {
		at[i+1] = at[i+1] || at[i] && pattern[i] == '*'
	}
}

// Name reports whether a name matches a pattern of [path.Match] in which a slash is a
// letter like any other.
func Name(pattern, name string) bool {
	ok, err := path.Match(noSlash.Replace(pattern), noSlash.Replace(name))
	return ok && err == nil
}

var noSlash = strings.NewReplacer("/", "\x01")

// A Path is a pattern of paths, cut at its slashes: segments are patterns of
// [path.Match], and ** is any number of segments.
type Path []string

// Match reports whether a path matches the pattern.
func (g Path) Match(p string) bool {
	segs := strings.Split(p, "/")
	gi, si := 0, 0
	star, from := -1, 0 // where to go on after a mismatch: the last ** and what it took
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
