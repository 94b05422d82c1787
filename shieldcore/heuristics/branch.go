package heuristics

import (
	"slices"

	"approver.example/internal/match"
)

// keys are the keys of all rules, each once, and what has them.
type keys struct {
	patterns []match.Pattern
	users    [][]branch     // by key: the branches of which it is the first
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

// key returns the index of a key. The first rule that has it gives it its name.
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

// rules appends to dst the rules of which a text with the keys found has a whole
// branch, in order. Has is by key, all false, and is so again.
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
