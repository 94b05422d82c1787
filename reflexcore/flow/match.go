package flow

import "strings"

// This file compares the pattern of a source with a path that may have wildcards itself.

// The kinds of symbols.
const (
	letter  = iota // itself
	anyOne         // one letter that is no slash
	anyName        // any letters that are no slashes
	anyPath        // any letters
)

// A symbol is one element of a pattern or a path.
type symbol struct {
	kind int
	c    byte
}

// expandStars expands each **/ into two patterns, with and without folders in between. Any ** that
// is left matches any text.
func expandStars(p string) []string {
	before, after, found := strings.Cut(p, "**/")
	if !found {
		return []string{p}
	}
	var out []string
	for _, rest := range expandStars(after) {
		out = append(out, before+rest, before+"**/"+rest)
	}
	return out
}

// parsePattern parses the pattern of a source.
func parsePattern(p string) []symbol {
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

// parsePath parses a path of a call, with a shell's wildcards and braces and with unknown parts.
// Each of them matches whatever it may become.
func parsePath(p string) []symbol {
	out := make([]symbol, 0, len(p))
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case 0, '{', '(':
			end := i
			if p[i] != 0 { // everything up to the last bracket may be among them
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

// parseLiteral parses a text without wildcards.
func parseLiteral(p string) []symbol {
	out := make([]symbol, len(p))
	for i := range len(p) {
		out[i] = symbol{c: p[i]}
	}
	return out
}

// canMatch reports whether some text matches both the pattern and the path; wild says that the path
// has wildcards or unknown parts. If the comparison would take too long, the answer is yes.
func canMatch(pattern, p string, wild bool) bool {
	a, b := parsePattern(pattern), parseLiteral(p)
	if wild {
		b = parsePath(p)
	}
	if len(a)*len(b) > maxSteps {
		return true
	}
	// can[j] says whether the symbols so far can match the first j symbols of b.
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

// step reports whether two sequences can match up to and including x and y. The flags say whether
// they match without both, without x, and without y.
func step(x, y symbol, neither, first, second bool) bool {
	switch {
	case x.kind >= anyName && y.kind >= anyName:
		return neither || first || second
	case x.kind >= anyName: // it takes one more letter, or none
		return first || accepts(x, y) && (second || neither)
	case y.kind >= anyName:
		return second || accepts(y, x) && (first || neither)
	}
	return neither && accepts(x, y)
}

// accepts reports whether symbol x can match a letter that y can match.
func accepts(x, y symbol) bool {
	if y.kind == letter && x.kind == letter {
		return x.c == y.c
	}
	if x.kind == letter {
		x, y = y, x
	}
	return x.kind == anyPath || y.kind != letter || y.c != '/'
}
