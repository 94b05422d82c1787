package content

import "strings"

// maxSteps limits the work of matching one path with wildcards; a path that needs more is unclear.
const maxSteps = 60_000

// maxName is the longest name of a file.
const maxName = 255

// wildcards returns what a path with *, ?, [ and { may match.
func (p *parsed) wildcards() Sink {
	paths := expandBraces(p.names())
	if paths == nil {
		return Sink{May: true}
	}
	return p.mayBe(paths)
}

// unknown returns what a path with unknown parts may match. Each of them may be any text, including
// slashes.
func (p *parsed) unknown() Sink {
	names := p.names()
	var one, many []string
	for _, name := range names {
		before, after, ok := strings.Cut(name, "\x00")
		if !ok {
			one, many = append(one, name), append(many, name)
			continue
		}
		last := after[strings.LastIndexByte(after, 0)+1:]
		one = append(one, strings.ReplaceAll(name, "\x00", "*"))
		many = append(many, before+"*", "**", "*"+last)
	}
	s := p.mayBe([][]string{one, many})
	if s.Kind == Plain {
		s = Sink{May: true}
	}
	return s
}

func (p *parsed) names() []string {
	names := make([]string, p.n)
	for i := range p.n {
		names[i] = withoutExtended(string(p.seg(i)))
	}
	return names
}

// withoutExtended replaces extended patterns of bash, such as @(a|b), by *.
func withoutExtended(name string) string {
	for {
		open := strings.IndexByte(name, '(')
		if open < 1 || !strings.ContainsRune("@!?+*", rune(name[open-1])) {
			return name
		}
		end := strings.LastIndexByte(name, ')')
		if end < open {
			return name
		}
		name = name[:open-1] + "*" + name[end+1:]
	}
}

// maxBraces limits the alternatives of braces.
const maxBraces = 64

// expandBraces expands {a,b}; nil if there are too many alternatives. A brace without a comma is a
// letter.
func expandBraces(names []string) [][]string {
	text := strings.Join(names, "/")
	todo, out := []string{text}, [][]string(nil)
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		open, end, parts := brace(s)
		if parts == nil {
			out = append(out, strings.Split(s, "/"))
		}
		for _, part := range parts {
			todo = append(todo, s[:open]+part+s[end:])
		}
		if len(todo)+len(out) > maxBraces {
			return nil
		}
	}
	return out
}

// brace finds the first brace with alternatives.
func brace(s string) (open, end int, parts []string) {
	for open = 0; open < len(s); open++ {
		if s[open] != '{' {
			continue
		}
		depth, from := 0, open+1
		var list []string
		for i := open; i < len(s); i++ {
			switch s[i] {
			case '{':
				depth++
			case ',':
				if depth == 1 {
					list = append(list, s[from:i])
					from = i + 1
				}
			case '}':
				if depth--; depth == 0 {
					if list == nil {
						break
					}
					return open, i + 1, append(list, s[from:i])
				}
			}
			if depth == 0 {
				break
			}
		}
	}
	return 0, 0, nil
}

// mayBe returns the first row that one of the paths may match; a secret has precedence.
func (p *parsed) mayBe(paths [][]string) Sink {
	f, secret := found{ignoreWeak: p.ignoreWeak}, found{ignoreWeak: p.ignoreWeak}
	add := func(row int) {
		f.add(row)
		if built().rows[row-1].secret {
			secret.add(row)
		}
	}
	m := comparison{left: maxSteps}
	for _, path := range paths {
		segs := make([]name, len(path))
		for i, text := range path {
			if text = unbracket(text); len(text) > maxName {
				return Sink{May: true}
			}
			segs[i] = name{text, text == "" || strings.ContainsAny(text, "*?")}
		}
		for kind := range built().flats {
			rows := &built().flats[kind]
			from, to := 0, 1
			switch {
			case kind == 0 && p.rooted:
			case kind == 1 && p.home >= 0 && p.home < len(segs):
				from, to = p.home, p.home+1
			case kind == 2:
				to = len(segs)
			default:
				continue
			}
			for i := from; i < min(to, len(segs)); i++ {
				if kind == 2 && segs[i].text == "**" { // the starts after it are tried too
					continue
				}
				m.segs = segs[i:]
				rows.each(segs[i], func(r *flat) {
					if segs[i].text == "*" && cannotMatch(r, segs[i+1:]) || len(r.segs) == 1 && segs[i].wild &&
						!mayShare(segs[i].text, r.letters) {
						return
					}
					if m.flat = r; m.matchFrom(0, 0, 0, 0) {
						add(r.row)
					}
				})
			}
		}
	}
	if m.left <= 0 {
		return Sink{May: true}
	}
	if secret.row != 0 {
		return secret.sink(true)
	}
	return f.sink(true)
}

// cannotMatch reports whether a pattern cannot match a path that begins with any name and continues
// with rest.
func cannotMatch(r *flat, rest []name) bool {
	if len(r.segs) == 1 {
		return true // no letter is shared
	}
	return len(rest) == 0 && !r.deep || len(rest) > 0 && !rest[0].wild && !r.segs[1].wild && rest[0].text != r.segs[1].text
}

// mayShare reports whether a pattern may have enough letters in common with another one.
func mayShare(pattern string, letters uint64) bool {
	n := 0
	for i := range len(pattern) {
		// A hyphen says nothing: dist/$NAME-$VERSION-$ARCH.tar.gz is no UTC--TIME--ADDRESS.
		if c := pattern[i]; c == '?' || c != '*' && c != '-' && letters&(1<<(c&63)) != 0 {
			if n++; n >= minLetters {
				return true
			}
		}
	}
	return pattern == ".*"
}

// A meeting decides whether two patterns match a common path, and not only by chance: they have
// letters in common.
type comparison struct {
	segs []name
	flat *flat
	left int
}

// minLetters is the number of letters that make a name recognizable.
const minLetters = 2

func (m *comparison) matchFrom(i, j, letters, last int) bool {
	if m.left--; m.left <= 0 {
		return false
	}
	if j == len(m.flat.segs) {
		// It is approver's own only if the last name matches.
		if letters < minLetters || last == 0 && built().rows[m.flat.row-1].kind == Own {
			return false
		}
		return m.flat.deep || i == len(m.segs) || i == len(m.segs)-1 && m.segs[i].text == "**"
	}
	if i == len(m.segs) {
		return false
	}
	if m.segs[i].text == "**" {
		return m.matchFrom(i+1, j, letters, last) || m.matchFrom(i, j+1, letters, 0)
	}
	n, ok, cost := m.segs[i].matches(m.flat.segs[j])
	m.left -= cost
	return ok && m.matchFrom(i+1, j+1, letters+n, n)
}

// matches reports whether some name matches both patterns, how many letters they share at most, and
// the cost of the comparison. A shell's * does not match a leading dot. An ending counts only if
// the row is about endings.
func (n name) matches(other name) (letters int, ok bool, cost int) {
	a, b := n.text, other.text
	if a == "" {
		return 0, false, 0
	}
	if !n.wild && !other.wild {
		switch {
		case a != b:
			return 0, false, 0
		case a == "tmp" || a == "var" || a == "run" || a == "usr":
			return 0, true, 0 // too much lies there
		}
		return len(a), true, 0
	}
	if b[0] == '.' && (a[0] == '*' || a[0] == '?') {
		return 0, false, 0
	}
	if a == ".*" && b[0] == '.' { // every dot file
		return minLetters, true, 0
	}
	stem := len(b)
	if i := strings.LastIndexByte(b, '.'); i > 1 || i == 1 && b[0] != '*' {
		stem = i
	}
	if a == "*" {
		return 0, true, 0
	}
	if endsDiffer(a, b) {
		return 0, false, 0 // nearly all end here
	}
	letters, ok = shared(a, b, stem)
	return letters, ok, len(a) * len(b) / 16
}

// endsDiffer reports whether two patterns begin or end with letters that are not the same.
func endsDiffer(a, b string) bool {
	for i := range min(len(a), len(b)) {
		if !fixed(a[i]) || !fixed(b[i]) {
			break
		}
		if a[i] != b[i] {
			return true
		}
	}
	for i := 1; i <= min(len(a), len(b)); i++ {
		x, y := a[len(a)-i], b[len(b)-i]
		if !fixed(x) || !fixed(y) {
			break
		}
		if x != y {
			return true
		}
	}
	return false
}

func fixed(c byte) bool { return c != '*' && c != '?' }

// shared compares two patterns. For each pair of positions it computes the most letters that they
// share from there on; -1 if they cannot match.
func shared(a, b string, stem int) (letters int, ok bool) {
	const width = 48
	if len(b) >= width {
		return 0, false
	}
	var below, row [width]int16
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			best := int16(-1)
			if i == len(a) && j == len(b) {
				best = 0
			}
			if i < len(a) && (a[i] == '*' || j < len(b) && b[j] == '*') {
				best = max(best, below[j])
			}
			if j < len(b) && (b[j] == '*' || i < len(a) && a[i] == '*') {
				best = max(best, row[j+1])
			}
			if i < len(a) && j < len(b) && a[i] != '*' && b[j] != '*' && below[j+1] >= 0 {
				switch {
				case a[i] == '?' || b[j] == '?':
					best = max(best, below[j+1])
				case a[i] == b[j] && j < stem && a[i] != '-': // which says nothing, as in mayShare
					best = max(best, below[j+1]+1)
				case a[i] == b[j]:
					best = max(best, below[j+1])
				}
			}
			row[j] = best
		}
		below = row
	}
	return int(max(row[0], 0)), row[0] >= 0
}

// unbracket replaces [abc] by ?, so that a bracket matches any letter.
func unbracket(s string) string {
	if strings.IndexByte(s, '[') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '[' {
			b.WriteByte(s[i])
			continue
		}
		b.WriteByte('?')
		if i+2 < len(s) && len(s) <= maxPath {
			if end := strings.IndexByte(s[i+2:min(len(s), i+maxName)], ']'); end >= 0 {
				i += 2 + end
			}
		}
	}
	return b.String()
}
