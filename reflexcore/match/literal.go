package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A pattern's required literals are strings of which every text that it matches
// has at least one, when both are read as plain has it. They decide which
// patterns a text cannot match, before any pattern is tried by itself.

const (
	maxLiterals = 32 // alternatives that are kept of one pattern
	maxLiteral  = 32 // bytes that are kept of one literal
)

// nonASCII stands in literals and texts for everything that is not ASCII.
const nonASCII = utf8.RuneSelf

// plain reads a rune as the literals are written: lower-case ASCII. Every rune
// that a case-insensitive pattern takes for an ASCII letter becomes it.
func plain(r rune) byte {
	switch {
	case r >= 'A' && r <= 'Z':
		return byte(r) + 'a' - 'A'
	case r < utf8.RuneSelf:
		return byte(r)
	case r == 'ſ':
		return 's'
	case r == '\u212a': // the Kelvin sign
		return 'k'
	}
	return nonASCII
}

// required returns the required literals of a simplified expression, or nil if
// it has none.
func required(re *syntax.Regexp) []string { return literalsOf(re).best() }

// literalInfo says what texts an expression matches: one of exact, if that is
// not nil, or something that has one of need, if that is not nil.
type literalInfo struct{ exact, need []string }

func (l literalInfo) best() []string { return better(l.need, usable(l.exact)) }

// usable returns the set if it excludes anything.
func usable(set []string) []string {
	if len(set) == 0 || len(set) > maxLiterals || slices.Contains(set, "") {
		return nil
	}
	return set
}

// better returns the set whose shortest literal is longer.
func better(a, b []string) []string {
	shortest := func(set []string) int {
		n := 0
		for i, s := range set {
			if i == 0 || len(s) < n {
				n = len(s)
			}
		}
		return n
	}
	if shortest(b) > shortest(a) {
		return b
	}
	return a
}

func literalsOf(re *syntax.Regexp) literalInfo {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return literalInfo{exact: []string{""}}
	case syntax.OpLiteral:
		return ofLiteral(re.Rune)
	case syntax.OpCharClass:
		return ofClass(re.Rune)
	case syntax.OpCapture:
		return literalsOf(re.Sub[0])
	case syntax.OpPlus:
		return literalInfo{need: literalsOf(re.Sub[0]).best()}
	case syntax.OpQuest:
		if sub := literalsOf(re.Sub[0]); sub.exact != nil {
			return literalInfo{exact: append(slices.Clone(sub.exact), "")}
		}
	case syntax.OpConcat:
		return ofConcat(re.Sub)
	case syntax.OpAlternate:
		return ofAlternate(re.Sub)
	}
	return literalInfo{}
}

// ofLiteral keeps the longest run of ASCII.
func ofLiteral(runes []rune) literalInfo {
	var b strings.Builder
	for _, r := range runes {
		b.WriteByte(plain(r))
	}
	s := b.String()
	longest := ""
	for part := range strings.SplitSeq(s, string([]byte{nonASCII})) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	if len(longest) == len(s) && len(s) <= maxLiteral {
		return literalInfo{exact: []string{s}}
	}
	return literalInfo{need: usable([]string{longest[:min(len(longest), maxLiteral)]})}
}

// ofClass takes a class of a few ASCII characters for that many literals.
func ofClass(ranges []rune) literalInfo {
	var exact []string
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			c := plain(r)
			if c == nonASCII || len(exact) == 8 {
				return literalInfo{}
			}
			if s := string([]byte{c}); !slices.Contains(exact, s) {
				exact = append(exact, s)
			}
		}
	}
	return literalInfo{exact: exact}
}

// ofConcat joins neighbours whose texts are all known, and keeps the best of
// what is between the others.
func ofConcat(subs []*syntax.Regexp) literalInfo {
	joined, whole := []string{""}, true
	var need []string
	for _, re := range subs {
		sub := literalsOf(re)
		need = better(need, sub.need)
		if product, ok := join(joined, sub.exact); ok {
			joined = product
			continue
		}
		need, whole = better(need, usable(joined)), false
		if joined = sub.exact; joined == nil {
			joined = []string{""}
		}
	}
	need = better(need, usable(joined))
	if !whole {
		joined = nil
	}
	return literalInfo{exact: joined, need: need}
}

// join returns every text of a before every text of b, unless they are unknown
// or too many.
func join(a, b []string) (product []string, ok bool) {
	if b == nil || len(a)*len(b) > maxLiterals {
		return nil, false
	}
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > maxLiteral {
				return nil, false
			}
			if s := x + y; !slices.Contains(product, s) {
				product = append(product, s)
			}
		}
	}
	return product, true
}

func ofAlternate(subs []*syntax.Regexp) literalInfo {
	var all literalInfo
	exact, need := true, true
	for _, re := range subs {
		sub := literalsOf(re)
		best := sub.best()
		exact = exact && sub.exact != nil && len(all.exact) <= maxLiterals
		need = need && best != nil && len(all.need) <= maxLiterals
		all.exact, all.need = append(all.exact, sub.exact...), append(all.need, best...)
	}
	if !exact {
		all.exact = nil
	}
	if !need || usable(all.need) == nil {
		all.need = nil
	}
	return all
}

// literals finds the patterns whose required literals a text has: an
// Aho-Corasick automaton whose nodes list their children.
type literals struct {
	nodes   []literalNode
	root    [nonASCII + 1]uint32
	without []uint32 // patterns without required literals
}

type literalNode struct {
	child, sibling uint32 // of the trie; 0 is none
	fail           uint32 // the longest other literal's beginning that ends here
	report         uint32 // the nearest node on the way of fails that ends a literal, this one included; 0 is none
	char           byte
	patterns       []uint32 // whose literal ends here
}

func newLiterals() *literals { return &literals{nodes: make([]literalNode, 1)} }

// add enters a pattern's required literals.
func (l *literals) add(pattern int, required []string) {
	if len(required) == 0 {
		l.without = append(l.without, uint32(pattern))
	}
	for _, s := range required {
		at := uint32(0)
		for i := range len(s) {
			at = l.extend(at, s[i])
		}
		l.nodes[at].patterns = append(l.nodes[at].patterns, uint32(pattern))
	}
}

// extend returns the child, and makes it if there is none.
func (l *literals) extend(at uint32, c byte) uint32 {
	if child := l.child(at, c); child != 0 {
		return child
	}
	child := uint32(len(l.nodes))
	l.nodes = append(l.nodes, literalNode{char: c, sibling: l.nodes[at].child})
	l.nodes[at].child = child
	if at == 0 {
		l.root[c] = child
	}
	return child
}

func (l *literals) child(at uint32, c byte) uint32 {
	if at == 0 {
		return l.root[c]
	}
	for child := l.nodes[at].child; child != 0; child = l.nodes[child].sibling {
		if l.nodes[child].char == c {
			return child
		}
	}
	return 0
}

// link makes the trie an automaton, breadth first.
func (l *literals) link() {
	queue := []uint32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		n := &l.nodes[at]
		if n.report = l.nodes[n.fail].report; len(n.patterns) > 0 {
			n.report = at
		}
		for child := n.child; child != 0; child = l.nodes[child].sibling {
			if at != 0 {
				l.nodes[child].fail = l.next(n.fail, l.nodes[child].char)
			}
			queue = append(queue, child)
		}
	}
}

func (l *literals) next(at uint32, c byte) uint32 {
	for {
		if child := l.child(at, c); child != 0 || at == 0 {
			return child
		}
		at = l.nodes[at].fail
	}
}

// find calls candidate for the patterns whose required literals the text has,
// and for those that have none. visited is a bit for each node, all zero, and
// is left so.
func (l *literals) find(text string, visited []uint64, candidate func(pattern uint32)) {
	for _, pattern := range l.without {
		candidate(pattern)
	}
	at := uint32(0)
	for i, width := 0, 0; i < len(text); i += width {
		r := rune(text[i])
		if width = 1; r >= utf8.RuneSelf {
			r, width = utf8.DecodeRuneInString(text[i:])
		}
		at = l.next(at, plain(r))
		for node := l.nodes[at].report; node != 0; node = l.nodes[l.nodes[node].fail].report {
			if visited[node/64]>>(node&63)&1 != 0 {
				break // and so was everything after it
			}
			visited[node/64] |= 1 << (node & 63)
			for _, pattern := range l.nodes[node].patterns {
				candidate(pattern)
			}
		}
	}
	clear(visited)
}
