package content

import (
	"strings"
	"sync"
)

// A node is a node in the tree of patterns, which the names before it lead to.
type node struct {
	lit  map[string]*node
	wild []edge
	leaf int // row, counted from 1, of a pattern that ends here
	deep int // the same with all that is below
}

type edge struct {
	pattern string
	to      *node
}

// An index finds the rows of a path without trying all patterns: it finds names and endings by map,
// and other wildcards by their first or last byte.
type index struct {
	rows            []row
	root, home, any node
	endings         map[string]int
	first, last     [256][]edge
	flats           [3]flats // from the root, from a home, from any folder
}

// flats are flat patterns by their first name, so that only few are compared with a path.
type flats struct {
	lit        map[string][]flat
	first, end [256][]flat // those of lit, by the first and by the last byte of the name
	longer     []flat      // those of lit with more names
	wild       []flat      // the first name has wildcards of its own
}

// each calls yield with the patterns whose first name may match n.
func (f *flats) each(n name, yield func(*flat)) {
	switch text := n.text; {
	case text == "":
		return
	case !n.wild:
		all(f.lit[text], yield)
	case text == "*": // one name of any letters has none in common
		all(f.longer, yield)
	case fixed(text[len(text)-1]):
		all(f.end[text[len(text)-1]], yield)
	case fixed(text[0]):
		all(f.first[text[0]], yield)
	default:
		for i := range f.end {
			all(f.end[i], yield)
		}
	}
	all(f.wild, yield)
}

func all(list []flat, yield func(*flat)) {
	for i := range list {
		yield(&list[i])
	}
}

// add adds a pattern, unless it is for plain files.
func (f *flats) add(r flat, plain bool) {
	for i := range len(r.segs[0].text) {
		if c := r.segs[0].text[i]; fixed(c) {
			r.letters |= 1 << (c & 63)
		}
	}
	switch first := r.segs[0]; {
	case plain:
	case first.wild:
		f.wild = append(f.wild, r)
	default:
		if f.lit == nil {
			f.lit = map[string][]flat{}
		}
		f.lit[first.text] = append(f.lit[first.text], r)
		head, last := first.text[0], first.text[len(first.text)-1]
		f.first[head] = append(f.first[head], r)
		f.end[last] = append(f.end[last], r)
		if len(r.segs) > 1 {
			f.longer = append(f.longer, r)
		}
	}
}

// A flat pattern is for comparison with paths that have wildcards.
type flat struct {
	segs []name
	row  int
	kind byte // '/' from the root, '~' from a home, 0 from any folder
	deep bool
	// letters has a bit for each letter of the first name, by its last six bits.
	letters uint64
}

// A name is one part of a path.
type name struct {
	text string
	wild bool
}

var built = sync.OnceValue(func() *index {
	x := &index{rows: readPlaces(placesText), endings: map[string]int{}}
	for i, r := range x.rows {
		for _, p := range r.patterns {
			x.add(p, i+1)
		}
	}
	return x
})

func (x *index) add(pattern string, row int) {
	f := flat{row: row}
	at := &x.any
	switch {
	case strings.HasPrefix(pattern, "/"):
		at, f.kind, pattern = &x.root, '/', pattern[1:]
	case strings.HasPrefix(pattern, "~/"):
		at, f.kind, pattern = &x.home, '~', pattern[2:]
	}
	if p, ok := strings.CutSuffix(pattern, "/**"); ok {
		pattern, f.deep = p, true
	}
	segs := strings.Split(pattern, "/")
	for _, seg := range segs {
		f.segs = append(f.segs, name{seg, strings.ContainsAny(seg, "*?")})
	}
	x.flats[map[byte]int{'/': 0, '~': 1, 0: 2}[f.kind]].add(f, x.rows[row-1].kind == Plain)
	if f.kind == 0 && !f.deep && len(segs) == 1 && strings.HasPrefix(pattern, "*.") &&
		!strings.ContainsAny(pattern[1:], "*?") {
		if x.endings[pattern[1:]] == 0 {
			x.endings[pattern[1:]] = row
		}
		return
	}
	for i, seg := range segs {
		at = x.child(at, seg, i == 0 && f.kind == 0)
	}
	if f.deep && at.deep == 0 {
		at.deep = row
	}
	if !f.deep && at.leaf == 0 {
		at.leaf = row
	}
}

func (x *index) child(at *node, seg string, floating bool) *node {
	if !strings.ContainsAny(seg, "*?") {
		if at.lit == nil {
			at.lit = map[string]*node{}
		}
		if at.lit[seg] == nil {
			at.lit[seg] = &node{}
		}
		return at.lit[seg]
	}
	list := &at.wild
	if floating {
		if list = &x.first[seg[0]]; seg[0] == '*' || seg[0] == '?' {
			list = &x.last[seg[len(seg)-1]]
		}
	}
	for _, e := range *list {
		if e.pattern == seg {
			return e.to
		}
	}
	*list = append(*list, edge{seg, &node{}})
	return (*list)[len(*list)-1].to
}
