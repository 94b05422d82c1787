package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// A choice is a value that may be one of several.
type choice struct {
	key string
	n   int
	at  int
}

// combinations does something for each combination of what the variables in it may
// be. What the later ones assign is one more possibility.
func (in *interp) combinations(do func()) {
	if in.choose {
		do()
		return
	}
	choices, stdin := in.choices, input{}
	if in.stdin != nil {
		stdin = *in.stdin
	}
	in.choices, in.choose = in.choices[len(in.choices):], true
	do()
	for try := 1; in.next() && !in.stopped(); try++ {
		if try > in.lim.Alternatives {
			if !in.lean { // the first ones are those that it is for
				in.over(overAlternatives)
			}
			break
		}
		in.choose = true
		if in.stdin != nil { // each reads the same
			*in.stdin = stdin
		}
		scope := in.branch()
		do()
		in.join(scope)
	}
	in.choices, in.choose = choices, false
}

// values are all that an expansion may give.
func (in *interp) values(w func() data) []data {
	var one [1]data
	out := one[:0]
	take := func() {
		if d := w(); !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	in.either(take)
	return out
}

// pick chooses one of n values of key. Within a command the same key gives the
// same value; the command is tried for the others.
func (in *interp) pick(key string, n int) int {
	for i := range in.choices {
		if in.choices[i].key == key {
			return min(in.choices[i].at, n-1)
		}
	}
	if !in.choose {
		return 0
	}
	in.choices = append(in.choices, choice{key: key, n: n})
	return 0
}

// next moves to the next combination of choices.
func (in *interp) next() bool {
	for i := range in.choices {
		if in.choices[i].at++; in.choices[i].at < in.choices[i].n {
			return true
		}
		in.choices[i].at = 0
	}
	return false
}

// flat reports whether a statement is simple commands in a pipe: what they choose
// is chosen for all of them.
func flat(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return c.Op != syntax.AndStmt && c.Op != syntax.OrStmt && flat(c.X) && flat(c.Y)
	}
	return false
}
