package shieldcore

import (
	"math/bits"
	"slices"
	"strings"
)

// indexFrom is the number of rules from which a policy has an index. Fewer are as fast
// without one.
const indexFrom = 64

// gramBits is the logarithm of the number of groups that trigrams are hashed into.
const gramBits = 14

// An index selects the rules that may match a call. It leaves out rules for other tools,
// and rules whose required texts are not in the command. So the cost of a policy depends
// on the rules that may match, not on all of them. The nil index leaves out nothing.
type index struct {
	n      int                // rules
	always []uint64           // a bit for each rule that is in no other list
	tools  map[string][]int32 // by the tool's name, without a pattern
	// commands[first[g]:first[g+1]] are the rules that are tried if the command has a
	// trigram of the group g.
	first    []int32
	commands []int32
}

// newIndex returns the index of rules, nil for few.
func newIndex(rules []rule) *index {
	if len(rules) < indexFrom {
		return nil
	}
	x := &index{n: len(rules), always: make([]uint64, (len(rules)+63)/64), tools: map[string][]int32{}}
	groups := make([][]int32, 1<<gramBits)
	for i := range rules {
		r := &rules[i]
		switch grams := rarest(r.command, groups); {
		case grams != nil:
			for _, g := range grams {
				groups[g] = append(groups[g], int32(i))
			}
		case len(r.tools) > 0 && !slices.ContainsFunc(r.tools,
			func(g toolGlob) bool { return strings.ContainsAny(string(g), `*?[\`) }):
			for _, name := range r.tools {
				x.tools[string(name)] = append(x.tools[string(name)], int32(i))
			}
		default:
			x.always[i/64] |= 1 << (i % 64)
		}
	}
	x.first = make([]int32, 1<<gramBits+1)
	for g, rules := range groups {
		x.commands = append(x.commands, rules...)
		x.first[g+1] = int32(len(x.commands))
	}
	return x
}

// rarest returns, for each of the texts of which a command must have one, the group of its
// trigram that has the fewest rules so far. It returns nil if no text is required, or if
// one is too short.
func rarest(command *pattern, groups [][]int32) (out []uint16) {
	if command == nil || len(command.required) == 0 {
		return nil
	}
	for _, text := range command.required[0] {
		if len(text) < 3 {
			return nil
		}
		best := gram(text)
		for i := 1; i+3 <= len(text); i++ {
			if g := gram(text[i:]); len(groups[g]) < len(groups[best]) {
				best = g
			}
		}
		out = append(out, best)
	}
	return out
}

// gram is the group of the trigram at the start of s.
func gram(s string) uint16 {
	n := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16
	return uint16(n * 2654435761 >> (32 - gramBits))
}

// candidates returns a bit for each rule that may match.
func (x *index) candidates(s *subject) []uint64 {
	out := slices.Clone(x.always)
	mark := func(rules []int32) {
		for _, i := range rules {
			out[i/64] |= 1 << (i % 64)
		}
	}
	mark(x.tools[s.call.Tool])
	if s.call.Command == "" {
		return out
	}
	for _, t := range s.commands() {
		text := t.lowered()
		for i := 0; i+3 <= len(text); i++ {
			if g := gram(text[i:]); x.first[g] < x.first[g+1] {
				mark(x.commands[x.first[g]:x.first[g+1]])
			}
		}
	}
	return out
}

// each calls try with the number of each rule that may match, in order, until try
// returns false.
func (x *index) each(s *subject, rules int, try func(i int) bool) {
	if x == nil {
		for i := range rules {
			if !try(i) {
				return
			}
		}
		return
	}
	for w, word := range x.candidates(s) {
		for ; word != 0; word &= word - 1 {
			if !try(w*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
