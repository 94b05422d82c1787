package heuristics

import (
	"slices"
	"sort"
	"unicode/utf8"

	"approver.example/internal/match"
)

// A Found is a part of a text, in bytes, that a rule matches. If the matcher gave up on
// a part, Rule is [RuleComplex].
type Found struct {
	Rule       string
	Name       string
	Start, End int
}

const (
	findPiece   = 8 << 10 // bytes of one piece of a text
	findOverlap = 1 << 10 // bytes that two pieces share
	findMost    = 16      // matches of one rule in a piece
)

// Find searches a text that is no call, such as the output of a tool, for rules of some
// fields that interrupt a call. It searches the whole text. Without rules it reports the
// whole text as [RuleNone].
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
			for _, at := range e.compiled[id]().FindAllIndex(folded, findMost) {
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

// unfold maps an offset in the folded form of a text to one in the text.
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

// keys are the distinct keys of all rules, and the branches that need them.
type keys struct {
	patterns []match.Pattern
	users    [][]branch     // by key: the branches whose first key it is
	index    map[string]int // of patterns, by expression
}

// A branch is one of the ways in which a rule's pattern can match.
type branch struct {
	rule int
	more []int // the keys after the first, which is the longest
}

// add adds the branches of a rule.
func (k *keys) add(rule int, id string, branches [][]string) {
	for _, needs := range branches {
		first, more := k.key(id, needs[0]), []int(nil)
		for _, expr := range needs[1:] {
			more = append(more, k.key(id, expr))
		}
		k.users[first] = append(k.users[first], branch{rule, more})
	}
}

// key returns the index of a key. It is named after the first rule that has it.
func (k *keys) key(id, expr string) int {
	if k.index == nil {
		k.index = map[string]int{}
	}
	at, known := k.index[expr]
	if !known {
		at = len(k.patterns)
		k.index[expr] = at
		k.patterns = append(k.patterns, match.Pattern{ID: id, Expr: expr})
		k.users = append(k.users, nil)
	}
	return at
}

// rules appends to dst, in order, the rules that have a branch with all of its keys in
// found. has is a buffer by key; it is all false before and after.
func (k *keys) rules(dst []int, has []bool, found []int) []int {
	found = slices.DeleteFunc(found, func(key int) bool { return key >= len(k.users) })
	for _, key := range found {
		has[key] = true
	}
	for _, key := range found {
		for _, b := range k.users[key] {
			if !slices.ContainsFunc(b.more, func(key int) bool { return !has[key] }) {
				dst = append(dst, b.rule)
			}
		}
	}
	for _, key := range found {
		has[key] = false
	}
	slices.Sort(dst)
	return slices.Compact(dst)
}
