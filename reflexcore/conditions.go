package reflexcore

import (
	"slices"
	"strings"

	"approver.example/reflexcore/places"
)

// A list has conditions on effects of one kind. If there are many, most are never looked at: those on
// targets are found by a part of the target, and those on whole names of programs by the name.
type list struct {
	all   []compiled
	parts map[part][]int32   // of all; nil if there are few
	names map[uint32][]int32 // by the hash of the program's whole name
	rest  []int32            // in neither
}

// A part is four bytes of a target, in lower case.
type part uint32

const (
	partBytes = 4
	// manyConditions is from how many conditions on a list is indexed. The built-in rules have fewer.
	manyConditions = 256
	// manyParts is how many different parts of one target are looked up. A target with more of them
	// is compared with all conditions.
	manyParts = 64
)

// index indexes the list if there are many conditions.
func (l *list) index() {
	if len(l.all) < manyConditions {
		return
	}
	often := map[part]int{}
	for i := range l.all {
		for _, g := range l.all[i].targets {
			for p := range partsOf(g.text) {
				often[p]++
			}
		}
	}
	l.parts, l.names = map[part][]int32{}, map[uint32][]int32{}
	for i := range l.all {
		c := &l.all[i]
		if keys, ok := rarest(c.targets, often); ok {
			for _, p := range keys {
				l.parts[p] = append(l.parts[p], int32(i))
			}
		} else if keys := wholeNames(c.by); keys != nil {
			for _, h := range keys {
				l.names[h] = append(l.names[h], int32(i))
			}
		} else {
			l.rest = append(l.rest, int32(i))
		}
	}
}

// rarest returns for each pattern the part of it that the fewest patterns have. It reports false if
// there is a pattern without any, or none at all.
func rarest(globs []textGlob, often map[part]int) (out []part, ok bool) {
	for _, g := range globs {
		best, least := part(0), 0
		for p := range partsOf(g.text) {
			if n := often[p]; least == 0 || n < least {
				best, least = p, n
			}
		}
		if least == 0 {
			return nil, false
		}
		if !slices.Contains(out, best) {
			out = append(out, best)
		}
	}
	return out, len(out) > 0
}

// wholeNames returns the hashes of names without wildcards; nil if one has any.
func wholeNames(globs []textGlob) (out []uint32) {
	for _, g := range globs {
		if strings.Contains(g.text, "*") {
			return nil
		}
		if h := hash(g.text, false); !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// partsOf iterates over the parts of a text in which * is no letter. What is not ASCII is in none.
func partsOf(text string) func(func(part) bool) {
	return func(yield func(part) bool) {
		p, n := part(0), 0
		for i := range len(text) {
			c := text[i]
			if c >= 0x80 || c == '*' {
				n = 0
				continue
			}
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			p = p<<8 | part(c)
			if n++; n >= partBytes && !yield(p) {
				return
			}
		}
	}
}

// find appends what the conditions find about the i-th effect of a call.
func (l *list) find(to []finding, start, i int, call *facts, has *effectFacts, at places.Place) []finding {
	if l == nil {
		return to
	}
	e := &call.effects[i]
	if l.parts == nil {
		for k := range l.all {
			to = l.all[k].find(to, start, i, call, has, at)
		}
		return to
	}
	looked, all := l.among(call.parts[:0], e.Target)
	call.parts = looked
	if all {
		for k := range l.all {
			to = l.all[k].find(to, start, i, call, has, at)
		}
		return to
	}
	for _, p := range looked {
		for _, k := range l.parts[p] {
			to = l.all[k].find(to, start, i, call, has, at)
		}
	}
	for _, k := range l.names[hash(e.By, false)] {
		to = l.all[k].find(to, start, i, call, has, at)
	}
	for _, k := range l.rest {
		to = l.all[k].find(to, start, i, call, has, at)
	}
	return to
}

// among appends the different parts of a target by which conditions are found. It reports true if
// there are too many.
func (l *list) among(to []part, target string) (out []part, tooMany bool) {
	for p := range partsOf(target) {
		if _, ok := l.parts[p]; ok && !slices.Contains(to, p) {
			if to = append(to, p); len(to) > manyParts {
				return to, true
			}
		}
	}
	return to, false
}
