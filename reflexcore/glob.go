package reflexcore

import "strings"

// A glob is a pattern of a rule, in lower case: * is any text. Most patterns are turned
// down by the letters that they need and the text does not have.
type glob struct {
	needs letters
	text  string
}

// letters are those that a text has, large as small, as far as 64 bits tell them apart:
// one bit may stand for several.
type letters uint64

func lettersOf(s string) (l letters) {
	for i := range len(s) {
		c := s[i]
		l |= 1 << (c&31 | (^c&0x40)>>1)
	}
	return l
}

// compileGlobs makes patterns ready to be compared.
func compileGlobs(list []string) []glob {
	out := make([]glob, len(list))
	for i, s := range list {
		s = strings.ToLower(s)
		out[i] = glob{lettersOf(strings.ReplaceAll(s, "*", "")), s}
	}
	return out
}

// anyGlob reports whether one of the patterns is that of a text, which has these letters.
func anyGlob(globs []glob, text string, has letters) bool {
	for i := range globs {
		if g := &globs[i]; g.needs&^has == 0 && g.matches(text) {
			return true
		}
	}
	return false
}

// matches compares the pattern with a text.
func (g *glob) matches(text string) bool {
	pattern, star, mark := g.text, -1, 0
	i, j := 0, 0
	for j < len(text) {
		c := text[j]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, mark = i, j
			i++
		case i < len(pattern) && pattern[i] == c:
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}
