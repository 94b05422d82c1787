package match

import (
	"cmp"
	"math/bits"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A pattern requires one literal of each of a few groups: every text that it matches contains them, if
// plain is applied to both. So the literals exclude patterns before any of them is tried.

const (
	maxGroups   = 3  // of one pattern
	maxLiterals = 32 // in one group
	maxLiteral  = 32 // bytes
)

// nonASCII stands in literals and texts for everything that is not ASCII.
const nonASCII = utf8.RuneSelf

// plain returns a rune as literals are written: in lower-case ASCII. Every rune that a
// case-insensitive pattern takes for an ASCII letter becomes that letter.
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

// Required returns groups of literals for an expression: every text that it matches has one literal
// of each group. Literals are lower-case ASCII, whatever the case of the expression; so the text
// must be made lower case before it is searched, where ſ is s and the Kelvin sign k. The group that
// excludes most comes first; there is no group if every text may match.
func Required(re *syntax.Regexp) [][]string { return required(re.Simplify()) }

// required is [Required] for a simplified expression.
func required(re *syntax.Regexp) [][]string {
	groups := literalsOf(re).groups()
	slices.SortStableFunc(groups, func(a, b []string) int { return shortest(b) - shortest(a) })
	return groups[:min(len(groups), maxGroups)]
}

// A literalInfo says which texts an expression matches: one of exact, if that is not nil. The text
// contains one literal of each group in need.
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

// shortest returns the length of a group's shortest literal. The longer it is, the more texts the
// group excludes.
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
	default: // may be anything
	}
	return literalInfo{}
}

// ofLiteral takes the longest run of ASCII.
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

// ofConcat joins neighbors whose texts are all known. All parts are needed.
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

// join returns every text of a before every text of b, unless they are unknown or too many.
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

// literals finds the patterns whose required literals a text contains. It is an Aho-Corasick
// automaton.
type literals struct {
	nodes   []literalNode
	rest    [][][]uint32 // by pattern: all groups but the rarest, as the nodes where their literals end
	without []uint32     // patterns without groups
}

// A literalNode is a prefix of literals. Its children are side by side, in the order of their
// characters.
type literalNode struct {
	has      [2]uint64 // a bit for each character that leads to a child
	first    uint32    // child
	fail     uint32    // the longest other prefix that ends here
	report   uint32    // the first node where a literal ends, from this one on along fail; 0 is none
	patterns []uint32  // those whose rarest group contains the literal that ends here
}

// A trie is a literalNode before its place is known. Most have one child, so a list is smaller and faster
// than a map.
type trie struct {
	children []*trie // in the order of their characters
	char     byte    // that leads here
	uses     int     // groups that contain the literal that ends here
	place    uint32
}

// newLiterals makes the automaton of each pattern's groups.
func newLiterals(required [][][]string) *literals {
	l, root := &literals{rest: make([][][]uint32, len(required))}, &trie{}
	for _, groups := range required {
		for _, group := range groups {
			for _, s := range group {
				root.add(s).uses++
			}
		}
	}
	l.lay(root)
	for pattern, groups := range required {
		if len(groups) == 0 {
			l.without = append(l.without, uint32(pattern))
			continue
		}
		rarest, least := 0, 0
		for i, group := range groups {
			uses, places := 0, make([]uint32, 0, len(group))
			for _, s := range group {
				end := root.add(s)
				uses += end.uses
				places = append(places, end.place)
			}
			l.rest[pattern] = append(l.rest[pattern], places)
			if i == 0 || uses < least {
				rarest, least = i, uses
			}
		}
		for _, at := range l.rest[pattern][rarest] {
			l.nodes[at].patterns = append(l.nodes[at].patterns, uint32(pattern))
		}
		l.rest[pattern] = slices.Delete(l.rest[pattern], rarest, rarest+1)
	}
	return l
}

// add returns the node where a literal ends.
func (t *trie) add(s string) *trie {
	for i := range len(s) {
		at, there := slices.BinarySearchFunc(t.children, s[i], func(t *trie, c byte) int { return cmp.Compare(t.char, c) })
		if !there {
			t.children = slices.Insert(t.children, at, &trie{char: s[i]})
		}
		t = t.children[at]
	}
	return t
}

// lay gives every node its place, breadth first, so that the node in fail comes before it.
func (l *literals) lay(root *trie) {
	l.nodes = append(l.nodes, literalNode{})
	queue := []*trie{root}
	for at := 0; at < len(queue); at++ {
		queue[at].place = uint32(at)
		n := literalNode{fail: l.nodes[at].fail, first: uint32(len(queue))}
		if n.report = l.nodes[n.fail].report; queue[at].uses > 0 {
			n.report = uint32(at)
		}
		for _, t := range queue[at].children {
			n.has[t.char/64] |= 1 << (t.char & 63)
			child := literalNode{}
			if at != 0 {
				child.fail = l.next(n.fail, t.char)
			}
			l.nodes = append(l.nodes, child)
			queue = append(queue, t)
		}
		l.nodes[at] = n
	}
	l.nodes = slices.Clone(l.nodes) // without the room to grow
}

// next returns the node after c: the longest prefix of a literal that ends there.
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

// A search is the working memory of one find.
type search struct {
	met   []uint32 // nodes whose literals the text contains
	nodes bitset   // the same nodes
	tried bitset   // the patterns that were looked at
	found []uint32
}

func (l *literals) newSearch() *search {
	return &search{nodes: newBitset(len(l.nodes)), tried: newBitset(len(l.rest))}
}

// find returns the patterns whose required literals the text contains, and those without any.
func (l *literals) find(text string, s *search) []uint32 {
	for _, node := range s.met {
		s.nodes[node/64] = 0
	}
	clear(s.tried)
	s.met, s.found = s.met[:0], append(s.found[:0], l.without...)
	at := uint32(0)
	for i, width := 0, 0; i < len(text); i += width {
		r := rune(text[i])
		if width = 1; r >= utf8.RuneSelf {
			r, width = utf8.DecodeRuneInString(text[i:])
		}
		at = l.next(at, plain(r))
		for node := l.nodes[at].report; node != 0 && !s.nodes.has(node); node = l.nodes[l.nodes[node].fail].report {
			s.nodes.add(node)
			s.met = append(s.met, node) // a node that was met before is followed by nodes that were, too
		}
	}
	for _, node := range s.met {
		for _, pattern := range l.nodes[node].patterns {
			if !s.tried.has(pattern) {
				s.tried.add(pattern)
				if l.hasRest(pattern, s) {
					s.found = append(s.found, pattern)
				}
			}
		}
	}
	return s.found
}

// hasRest reports whether the text contains one literal of each other group.
func (l *literals) hasRest(pattern uint32, s *search) bool {
	for _, group := range l.rest[pattern] {
		if !slices.ContainsFunc(group, s.nodes.has) {
			return false
		}
	}
	return true
}
