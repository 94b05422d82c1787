package heuristics

import (
	"sort"
	"unicode/utf8"

	"approver.example/internal/match"
)

// A Found is where a rule matches a text, in bytes of the text. Rule is [RuleComplex]
// where the matcher gave up: then it may hold anything.
type Found struct {
	Rule       string
	Name       string
	Start, End int
}

const (
	findPiece   = 8 << 10 // bytes of a text that are looked at together
	findOverlap = 1 << 10 // and how many of them again with those that follow
	findMost    = 16      // places of one rule in a piece
)

// Find looks for the rules of some fields that interrupt a call, in a text that is no
// call, such as what a tool returned. It looks at all of it. An engine without rules
// finds all of the text too complex.
func (e *Engine) Find(text string, fields Fields) []Found {
	if e == nil || e.matcher == nil {
		return []Found{{Rule: RuleNone, Name: "there are no rules", End: len(text)}}
	}
	var found []Found
	var folded []byte
	var ids, try []int
	has := make([]bool, len(e.keys.users))
	for from := 0; from < len(text); {
		to := min(from+findPiece, len(text))
		piece := text[from:to]
		folded = match.Fold(folded[:0], piece)
		var complete bool
		if ids, complete = e.matcher.MatchBytes(ids[:0], folded); !complete {
			found = append(found, Found{RuleComplex, "too complex to be looked at", from, to})
		}
		try = e.keys.rules(try[:0], has, ids)
		for _, id := range try {
			if e.rules[id].Fields&fields == 0 || !e.rules[id].Interrupts() {
				continue
			}
			for _, at := range e.tried[id].FindAllIndex(folded, findMost) {
				start, end := unfold(piece, at[0]), unfold(piece, at[1])
				found = append(found, Found{e.rules[id].ID, e.rules[id].Name, from + start, from + max(start, end)})
			}
		}
		if to == len(text) {
			break
		}
		from = to - findOverlap
	}
	return found
}

// unfold returns the place in a text that is at a place of its folded form.
func unfold(text string, at int) int {
	var buf []byte
	i := sort.Search(len(text), func(i int) bool {
		buf = match.Fold(buf[:0], text[:i])
		return len(buf) >= at
	})
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}
