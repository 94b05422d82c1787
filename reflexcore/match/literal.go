package match

import (
	"maps"
	"math/bits"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A pattern requires one literal of each of a few groups: a text that it matches
// has them, when both are read as plain has it. They decide which patterns a
// text cannot match, before any pattern is tried.

const (
	maxGroups   = 3  // of one pattern
	maxLiterals = 32 // in one group
	maxLiteral  = 32 // bytes
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

// required returns the best groups of a simplified expression: none, if every
// text may match.
func required(re *syntax.Regexp) [][]string {
	groups := literalsOf(re).groups()
	slices.SortStableFunc(groups, func(a, b []string) int { return shortest(b) - shortest(a) })
	return groups[:min(len(groups), maxGroups)]
}

// literalInfo says what texts an expression matches: one of exact, if that is
// not nil, and something that has one of each group in need.
type literalInfo struct {
	exact []string
	need  [][]string
}

func (l literalInfo) groups() [][]string { return with(l.need, l.exact) }

// with adds a group, if it excludes anything.
func with(groups [][]string, group []string) [][]string {
	if len(group) == 0 || len(group) > maxLiterals || shortest(group) == 0 {
		return groups
	}
	return append(groups[:len(groups):len(groups)], group)
}

// shortest is the length of a group's shortest literal: the longer, the more
// texts it excludes.
func shortest(group []string) int {
	n := maxLiteral
	for _, s := range group {
		n = min(n, len(s))
	}
	return n
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
		return literalInfo{need: literalsOf(re.Sub[0]).groups()}
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
	return literalInfo{need: with(nil, []string{longest[:min(len(longest), maxLiteral)]})}
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

// ofConcat joins neighbours whose texts are all known. All parts are needed.
func ofConcat(subs []*syntax.Regexp) literalInfo {
	joined, whole := []string{""}, true
	var need [][]string
	for _, re := range subs {
		sub := literalsOf(re)
		need = append(need, sub.need...)
		if product, ok := join(joined, sub.exact); ok {
			joined = product
			continue
		}
		need, whole = with(need, joined), false
		if joined = sub.exact; joined == nil {
			joined = []string{""}
		}
	}
	if whole {
		return literalInfo{exact: joined, need: need}
	}
	return literalInfo{need: with(need, joined)}
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

// ofAlternate needs one of what its branches need.
func ofAlternate(subs []*syntax.Regexp) literalInfo {
	var exact, either []string
	known, needs := true, true
	for _, re := range subs {
		sub := literalsOf(re)
		groups := sub.groups()
		known = known && sub.exact != nil && len(exact) <= maxLiterals
		needs = needs && len(groups) > 0 && len(either) <= maxLiterals
		if exact = append(exact, sub.exact...); needs {
			either = append(either, slices.MaxFunc(groups, func(a, b []string) int { return shortest(a) - shortest(b) })...)
		}
	}
	switch {
	case known:
		return literalInfo{exact: exact}
	case needs:
		return literalInfo{need: with(nil, either)}
	}
	return literalInfo{}
}

// literals finds the patterns whose required literals a text has: an
// Aho-Corasick automaton.
type literals struct {
	nodes   []literalNode
	groups  []uint32 // by group: its pattern
	needs   []uint8  // by pattern: its groups
	without []uint32 // patterns that have none
}

// literalNode is a beginning of literals. Its children lie side by side, in
// the order of their characters.
type literalNode struct {
	has    [2]uint64 // a bit for each character that leads to a child
	first  uint32    // child
	fail   uint32    // the longest other beginning that ends here
	report uint32    // the nearest node on the way of fails that ends a literal, this one included; 0 is none
	groups []uint32  // that have the literal that ends here
}

// trie is a literalNode before its place is known.
type trie struct {
	children map[byte]*trie
	groups   []uint32
}

// newLiterals makes the automaton of each pattern's groups.
func newLiterals(required [][][]string) *literals {
	l, root := &literals{}, &trie{}
	for pattern, groups := range required {
		l.needs = append(l.needs, uint8(len(groups)))
		if len(groups) == 0 {
			l.without = append(l.without, uint32(pattern))
		}
		for _, group := range groups {
			for _, s := range group {
				root.add(s, uint32(len(l.groups)))
			}
			l.groups = append(l.groups, uint32(pattern))
		}
	}
	l.lay(root)
	return l
}

func (t *trie) add(s string, group uint32) {
	for i := range len(s) {
		child := t.children[s[i]]
		if child == nil {
			if t.children == nil {
				t.children = map[byte]*trie{}
			}
			child = &trie{}
			t.children[s[i]] = child
		}
		t = child
	}
	t.groups = append(t.groups, group)
}

// lay gives every node its place, breadth first, so that what a node fails to
// is there before it.
func (l *literals) lay(root *trie) {
	l.nodes = append(l.nodes, literalNode{})
	queue := []*trie{root}
	for at := 0; at < len(queue); at++ {
		n := literalNode{fail: l.nodes[at].fail, groups: queue[at].groups, first: uint32(len(queue))}
		if n.report = l.nodes[n.fail].report; len(n.groups) > 0 {
			n.report = uint32(at)
		}
		for _, c := range slices.Sorted(maps.Keys(queue[at].children)) {
			n.has[c/64] |= 1 << (c & 63)
			child := literalNode{}
			if at != 0 {
				child.fail = l.next(n.fail, c)
			}
			l.nodes = append(l.nodes, child)
			queue = append(queue, queue[at].children[c])
		}
		l.nodes[at] = n
	}
}

// next returns the node after c: the longest beginning of a literal that ends
// there.
func (l *literals) next(at uint32, c byte) uint32 {
	if c == nonASCII {
		return 0
	}
	for {
		n := &l.nodes[at]
		if has, bit := n.has[c/64], uint64(1)<<(c&63); has&bit != 0 {
			child := n.first + uint32(bits.OnesCount64(has&(bit-1)))
			if c >= 64 {
				child += uint32(bits.OnesCount64(n.has[0]))
			}
			return child
		}
		if at == 0 {
			return 0
		}
		at = n.fail
	}
}

// search is the working memory of one find.
type search struct {
	nodes, groups []uint64 // bits: those that were met
	left          []uint8  // by pattern: groups that were not
	found         []uint32 // patterns whose groups were all met, or that have none
}

func (l *literals) newSearch() *search {
	return &search{nodes: make([]uint64, len(l.nodes)/64+1), groups: make([]uint64, len(l.groups)/64+1), left: make([]uint8, len(l.needs))}
}

// find returns the patterns whose required literals the text has.
func (l *literals) find(text string, s *search) []uint32 {
	clear(s.nodes)
	clear(s.groups)
	copy(s.left, l.needs)
	s.found = append(s.found[:0], l.without...)
	at := uint32(0)
	for i, width := 0, 0; i < len(text); i += width {
		r := rune(text[i])
		if width = 1; r >= utf8.RuneSelf {
			r, width = utf8.DecodeRuneInString(text[i:])
		}
		at = l.next(at, plain(r))
		for node := l.nodes[at].report; node != 0; node = l.nodes[l.nodes[node].fail].report {
			if s.nodes[node/64]>>(node&63)&1 != 0 {
				break // and so was every node after it
			}
			s.nodes[node/64] |= 1 << (node & 63)
			l.meet(node, s)
		}
	}
	return s.found
}

// meet counts the groups that have the literal of a node.
func (l *literals) meet(node uint32, s *search) {
	for _, group := range l.nodes[node].groups {
		if bit := uint64(1) << (group & 63); s.groups[group/64]&bit == 0 {
			s.groups[group/64] |= bit
			pattern := l.groups[group]
			if s.left[pattern]--; s.left[pattern] == 0 {
				s.found = append(s.found, pattern)
			}
		}
	}
}
