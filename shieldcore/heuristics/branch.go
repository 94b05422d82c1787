package heuristics

import (
	"slices"

	"approver.example"
)

// keys are the keys of all rules, each once, and what has them.
type keys struct {
	patterns []approver.Pattern
	users    [][]int // by key: the branches that need it
	branches []branch
	index    map[string]int // of patterns, by expression
}

// A branch is one of the ways in which a rule's pattern can match.
type branch struct{ rule, keys int }

// add adds the branches of a rule.
func (k *keys) add(rule int, id string, branches [][]string) {
	if k.index == nil {
		k.index = map[string]int{}
	}
	for _, needs := range branches {
		for _, expr := range needs {
			at, known := k.index[expr]
			if !known {
				at = len(k.patterns)
				k.index[expr] = at
				k.patterns = append(k.patterns, approver.Pattern{ID: id, Expr: expr})
				k.users = append(k.users, nil)
			}
			k.users[at] = append(k.users[at], len(k.branches))
		}
		k.branches = append(k.branches, branch{rule, len(needs)})
	}
}

// rules appends to dst the rules of which a text with the keys found has a whole
// branch, in order. Has are zeros, and are so again.
func (k *keys) rules(dst, has, found []int) []int {
	for _, key := range found {
		if key >= len(k.users) {
			continue
		}
		for _, b := range k.users[key] {
			if has[b]++; has[b] == k.branches[b].keys {
				dst = append(dst, k.branches[b].rule)
			}
		}
	}
	for _, key := range found {
		if key >= len(k.users) {
			continue
		}
		for _, b := range k.users[key] {
			has[b] = 0
		}
	}
	slices.Sort(dst)
	return slices.Compact(dst)
}
