package flow

import "strings"

// This file compares a pattern with a path that may itself be one.

// What one part of a text stands for.
const (
	letter  = iota // itself
	anyOne         // one letter that is no slash
	anyName        // any letters that are no slashes
	anyPath        // any letters
)

// A symbol is one part of a text.
type symbol struct {
	kind int
	c    byte
}

// spread returns the patterns without the folders that **/ may stand for, and with
// them: what is left of ** is any text.
func spread(p string) []string {
	before, after, found := strings.Cut(p, "**/")
	if !found {
		return []string{p}
	}
	var out []string
	for _, rest := range spread(after) {
		out = append(out, before+rest, before+"**/"+rest)
	}
	return out
}

// ofPattern reads the pattern of a source.
func ofPattern(p string) []symbol {
	out := make([]symbol, 0, len(p))
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '*' && i+1 < len(p) && p[i+1] == '*':
			i++
			out = append(out, symbol{kind: anyPath})
		case p[i] == '*':
			out = append(out, symbol{kind: anyName})
		case p[i] == '?':
			out = append(out, symbol{kind: anyOne})
		default:
			out = append(out, symbol{c: p[i]})
		}
	}
	return out
}

// ofPath reads a path of a call: a shell's wildcards and braces, and what is not
// known. Whatever they may stand for, they do.
func ofPath(p string) []symbol {
	out := make([]symbol, 0, len(p))
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case 0, '{', '(':
			end := i
			if p[i] != 0 { // all up to the last bracket is what they may be
				end = max(i, strings.LastIndexAny(p, "})"))
			}
			kind := anyName
			if end == i || strings.IndexByte(p[i:end], '/') >= 0 || strings.IndexByte(p[i:end], 0) >= 0 {
				kind = anyPath
			}
			out = append(out, symbol{kind: kind})
			i = end
		case '*':
			if i+1 < len(p) && p[i+1] == '*' { // globstar
				i++
				out = append(out, symbol{kind: anyPath})
				continue
			}
			out = append(out, symbol{kind: anyName})
		case '?':
			out = append(out, symbol{kind: anyOne})
		case '[':
			end := i + 1
			for end < len(p) && p[end] != ']' && p[end] != '/' {
				end++
			}
			if end < len(p) && p[end] == ']' {
				out = append(out, symbol{kind: anyOne})
				i = end
				continue
			}
			out = append(out, symbol{c: '['})
		default:
			out = append(out, symbol{c: p[i]})
		}
	}
	return out
}

// letters reads a text of which all is known.
func letters(p string) []symbol {
	out := make([]symbol, len(p))
	for i := range len(p) {
		out[i] = symbol{c: p[i]}
	}
	return out
}

// meets reports whether some text is both what the pattern says and what the path
// may be. wild says that the path has wildcards or unknown parts. Two texts that
// take too long to compare do.
func meets(pattern, p string, wild bool) bool {
	a, b := ofPattern(pattern), letters(p)
	if wild {
		b = ofPath(p)
	}
	if len(a)*len(b) > maxSteps {
		return true
	}
	// can[j] says that the parts so far may be the same text as the first j of b.
	can, next := make([]bool, len(b)+1), make([]bool, len(b)+1)
	can[0] = true
	for j := range b {
		can[j+1] = can[j] && b[j].kind >= anyName
	}
	for i := range a {
		next[0] = can[0] && a[i].kind >= anyName
		for j := range b {
			next[j+1] = step(a[i], b[j], can[j], can[j+1], next[j])
		}
		can, next = next, can
	}
	return can[len(b)]
}

// step says whether the texts up to and with both parts may be the same: without
// both, without the first, without the second.
func step(x, y symbol, neither, first, second bool) bool {
	switch {
	case x.kind >= anyName && y.kind >= anyName:
		return neither || first || second
	case x.kind >= anyName: // it takes one more letter, or none
		return first || takes(x, y) && (second || neither)
	case y.kind >= anyName:
		return second || takes(y, x) && (first || neither)
	}
	return neither && takes(x, y)
}

// takes reports whether a part may stand for a letter that the other may be.
func takes(x, y symbol) bool {
	if y.kind == letter && x.kind == letter {
		return x.c == y.c
	}
	if x.kind == letter {
		x, y = y, x
	}
	return x.kind == anyPath || y.kind != letter || y.c != '/'
}
