package shieldcore

import (
	"math/bits"
	"slices"

	"approver.example/internal/match"
)

// An index selects the rules that may match a call. It leaves out rules for other tools,
// and rules whose required texts are not in the command. So the cost of a policy depends
// on the rules that may match, not on all of them.
type index struct {
	sieve    *match.Sieve       // of all patterns of the policy
	always   []uint64           // a bit for each rule that is in no other list
	tools    map[string][]int32 // by the tool's name, without a pattern
	commands []int32            // by pattern: the rule whose command it is, or -1
}

// newIndex returns the index of rules with the patterns of a policy, and numbers these.
func newIndex(rules []rule, patterns []*pattern) *index {
	x := &index{always: make([]uint64, (len(rules)+63)/64), tools: map[string][]int32{}}
	var required [][][]string
	for id, p := range patterns {
		p.id = id
		required = append(required, p.required)
		x.commands = append(x.commands, -1)
	}
	x.sieve = match.NewSieve(required)
	for i := range rules {
		r := &rules[i]
		switch {
		case r.command != nil:
			x.commands[r.command.id] = int32(i)
		case len(r.tools) > 0 && every(r.tools, func(g toolGlob) bool { return literal(string(g)) }):
			for _, name := range r.tools {
				x.tools[string(name)] = append(x.tools[string(name)], int32(i))
			}
		default:
			x.always[i/64] |= 1 << (i % 64)
		}
	}
	return x
}

// candidates returns a bit for each rule that may match.
func (x *index) candidates(s *subject) []uint64 {
	out := slices.Clone(x.always)
	for _, i := range x.tools[s.call.Tool] {
		out[i/64] |= 1 << (i % 64)
	}
	if s.call.Command == "" {
		return out
	}
	for _, t := range s.commands() {
		for _, id := range t.mayMatch(x.sieve) {
			if i := x.commands[id]; i >= 0 {
				out[i/64] |= 1 << (i % 64)
			}
		}
	}
	return out
}

// each calls try with the number of each rule that may match, in order, until try
// returns false.
func (x *index) each(s *subject, try func(i int) bool) {
	for w, word := range x.candidates(s) {
		for ; word != 0; word &= word - 1 {
			if !try(w*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
