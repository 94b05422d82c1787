package match

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A kind is what an assertion such as \b needs to know about a rune, or about the edge of the text.
type kind uint8

const (
	edge    kind = iota // the beginning or the end of the text
	newline             // \n, if a pattern asks for lines
	word                // an ASCII letter, digit or _, if a pattern asks for words
	other
	kinds = other
)

// holds returns the assertions that hold between a rune of kind prev and one of
// kind next, as syntax.EmptyOpContext does for runes.
func holds(prev, next kind) syntax.EmptyOp {
	op := syntax.EmptyNoWordBoundary
	if (prev == word) != (next == word) {
		op = syntax.EmptyWordBoundary
	}
	switch prev {
	case edge:
		op |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	case newline:
		op |= syntax.EmptyBeginLine
	default:
	}
	switch next {
	case edge:
		op |= syntax.EmptyEndText | syntax.EmptyEndLine
	case newline:
		op |= syntax.EmptyEndLine
	default:
	}
	return op
}

// possible returns the assertions that may hold after a rune of kind prev, whatever comes next.
func possible(prev kind) syntax.EmptyOp {
	op := syntax.EmptyEndText | syntax.EmptyEndLine | syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
	return op | holds(prev, other)&(syntax.EmptyBeginText|syntax.EmptyBeginLine)
}

// classes divides all runes into classes. No instruction of the program distinguishes the runes of
// one class.
type classes struct {
	count   int                   // class count stands for the end of the text
	ascii   [utf8.RuneSelf]uint16 // class of each ASCII byte
	pages   []uint16              // by rune/256: its block
	blocks  []uint16              // blocks of 256 classes
	kind    []kind                // by class
	members []uint64              // by set: a bit for each class
	words   int                   // of a set in members
}

const pageSize = 256

// decode returns the class of the first rune of a text, and the rune's length; at the end of the text,
// the class of that and 1. A byte that is no character is U+FFFD, one byte wide, as in package regexp.
func (c *classes) decode(text string) (class, width int) {
	if text == "" {
		return c.count, 1
	}
	r, width := utf8.DecodeRuneInString(text)
	return c.class(r), width
}

// class returns the class of a rune.
func (c *classes) class(r rune) int {
	return int(c.blocks[int(c.pages[r/pageSize])*pageSize+int(r%pageSize)])
}

// member reports whether a set contains the runes of a class. No set contains the end of the text.
func (c *classes) member(set uint32, class int) bool {
	return c.members[int(set)*c.words+class>>6]>>(class&63)&1 != 0
}

// newClasses makes the classes of the sets. Two runes are in one class if every set contains both or
// neither, and assertions do not distinguish them.
func newClasses(t *setTable) classes {
	var begins []rune // of intervals that no set divides
	sets := t.ranges
	if t.word {
		sets = append(sets[:len(sets):len(sets)], []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'})
	}
	if t.line {
		sets = append(sets[:len(sets):len(sets)], []rune{'\n', '\n'})
	}
	begins = append(begins, 0, unicode.MaxRune+1)
	for _, set := range sets {
		for i := 0; i < len(set); i += 2 {
			begins = append(begins, set[i], set[i+1]+1)
		}
	}
	slices.Sort(begins)
	begins = slices.Compact(begins)
	intervals := func(set []rune, visit func(int)) {
		for i := 0; i < len(set); i += 2 {
			at, _ := slices.BinarySearch(begins, set[i])
			for ; begins[at] <= set[i+1]; at++ {
				visit(at)
			}
		}
	}

	label, labels := make([]int, len(begins)-1), 1
	for _, set := range sets {
		split := map[int]int{}
		intervals(set, func(at int) {
			to, ok := split[label[at]]
			if !ok {
				to, labels = labels, labels+1
				split[label[at]] = to
			}
			label[at] = to
		})
	}
	c := classes{}
	number := map[int]int{} // only the labels that are left
	for at, l := range label {
		if _, ok := number[l]; !ok {
			number[l] = len(number)
			c.kind = append(c.kind, t.kindOf(begins[at]))
		}
		label[at] = number[l]
	}
	c.count = len(number)
	c.kind = append(c.kind, edge)

	c.words = c.count/64 + 1
	c.members = make([]uint64, len(t.ranges)*c.words)
	for id, set := range t.ranges {
		intervals(set, func(at int) {
			c.members[id*c.words+label[at]>>6] |= 1 << (label[at] & 63)
		})
	}
	c.index(begins, label)
	return c
}

func (t *setTable) kindOf(r rune) kind {
	switch {
	case t.line && r == '\n':
		return newline
	case t.word && syntax.IsWordChar(r):
		return word
	}
	return other
}

// index makes the tables in which class finds a rune. All pages with the same single class share a
// block.
func (c *classes) index(begins []rune, label []int) {
	uniform := map[uint16]uint16{}
	at := 0
	for page := rune(0); page <= unicode.MaxRune; page += pageSize {
		block := uint16(len(c.blocks) / pageSize)
		first := uint16(label[at])
		if begins[at+1] >= page+pageSize { // one class
			if shared, ok := uniform[first]; ok {
				block = shared
			}
			uniform[first] = block
		}
		c.pages = append(c.pages, block)
		if int(block)*pageSize == len(c.blocks) { // a new one
			for r := page; r < page+pageSize; r++ {
				for begins[at+1] <= r {
					at++
				}
				c.blocks = append(c.blocks, uint16(label[at]))
			}
		}
		if at+1 < len(label) && begins[at+1] == page+pageSize {
			at++
		}
	}
	for r := range c.ascii {
		c.ascii[r] = uint16(c.class(rune(r)))
	}
}

// A bitset has a bit for each pattern or node.
type bitset []uint64

func newBitset(size int) bitset { return make(bitset, size/64+1) }

func (b bitset) has(n uint32) bool { return b[n/64]>>(n&63)&1 != 0 }

func (b bitset) add(n uint32) { b[n/64] |= 1 << (n & 63) }
