package shieldcore

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Bounds of the texts that are looked for before a regular expression.
const (
	maxNeeds = 24 // at once
	maxExact = 8  // put together from neighbours
	maxAlso  = 3  // further lists
)

// needs returns texts of which at least one occurs in everything that re
// matches, and whether they are lower case, to be looked for in lower-case
// text. It returns nil when it knows of none. also are further lists of which
// the same holds.
func needs(re *syntax.Regexp) (texts []string, folded bool, also []need) {
	n := needsOf(re)
	return n.any, n.folded, n.also
}

// A need is what is known of all that a regular expression matches.
type need struct {
	exact  []string // it matches one of these and nothing else
	any    []string // one of these is in it
	folded bool     // both are lower case, whatever the case of the match
	also   []need   // of neighbours: each has its any
}

func needsOf(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpLiteral:
		return literalNeed(re)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return need{exact: []string{""}}
	case syntax.OpCapture:
		return needsOf(re.Sub[0])
	case syntax.OpPlus:
		return need{any: needsOf(re.Sub[0]).any, folded: needsOf(re.Sub[0]).folded}
	case syntax.OpRepeat:
		if re.Min > 0 {
			return need{any: needsOf(re.Sub[0]).any, folded: needsOf(re.Sub[0]).folded}
		}
	case syntax.OpConcat:
		return concatNeed(re.Sub)
	case syntax.OpAlternate:
		return alternateNeed(re.Sub)
	default:
	}
	return need{}
}

func literalNeed(re *syntax.Regexp) need {
	text := string(re.Rune)
	folded := re.Flags&syntax.FoldCase != 0
	for _, r := range re.Rune {
		// U+FFFD also matches a byte that is no character; letters outside ASCII
		// fold in ways of their own.
		if r == utf8.RuneError || folded && r >= utf8.RuneSelf {
			return need{}
		}
	}
	if folded {
		text = strings.ToLower(text)
	}
	return need{exact: []string{text}, any: []string{text}, folded: folded}
}

// concatNeed joins neighbours that are exact, and keeps the list whose shortest
// text is longest: that one rules out most.
func concatNeed(subs []*syntax.Regexp) need {
	var best need
	var also []need
	run := need{exact: []string{""}}
	whole := true
	consider := func(n need) {
		n.also = nil
		if shortest(n.any) > shortest(best.any) {
			best, n = n, best
		}
		if shortest(n.any) > 1 && len(also) < maxAlso { // one letter is in most texts
			also = append(also, n)
		}
	}
	for _, sub := range subs {
		n := needsOf(sub)
		joined, ok := product(run, n)
		if ok {
			run = joined
			continue
		}
		whole = false
		consider(need{any: run.exact, folded: run.folded})
		consider(need{any: n.any, folded: n.folded})
		run = need{exact: []string{""}}
		if n.exact != nil {
			run = n
		}
	}
	consider(need{any: run.exact, folded: run.folded})
	if whole {
		best.exact, best.folded = run.exact, run.folded
	}
	best.also = also
	return best
}

// product returns every text of a followed by every text of b, unless those are
// too many or one of them is not known.
func product(a, b need) (need, bool) {
	if a.exact == nil || b.exact == nil || len(a.exact)*len(b.exact) > maxExact {
		return need{}, false
	}
	out := need{folded: a.folded || b.folded}
	for _, x := range lowered(a.exact, out.folded) {
		for _, y := range lowered(b.exact, out.folded) {
			out.exact = append(out.exact, x+y)
		}
	}
	return out, true
}

func alternateNeed(subs []*syntax.Regexp) need {
	var all []need
	var out need
	exact := true
	for _, sub := range subs {
		n := needsOf(sub)
		all = append(all, n)
		out.folded = out.folded || n.folded
		exact = exact && n.exact != nil
	}
	for _, n := range all {
		if exact {
			out.exact = append(out.exact, lowered(n.exact, out.folded)...)
		}
	}
	if exact && shortest(out.exact) > 0 && len(out.exact) <= maxNeeds {
		out.any = out.exact
		return out
	}
	for _, n := range all {
		if shortest(n.any) == 0 || len(out.any)+len(n.any) > maxNeeds {
			out.any = nil
			return out
		}
		out.any = append(out.any, lowered(n.any, out.folded)...)
	}
	return out
}

// lowered brings texts to the form in which a folded need is looked for.
func lowered(texts []string, folded bool) []string {
	if !folded {
		return texts
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = fold(t)
	}
	return out
}

// shortest is the length of the shortest text, zero for none.
func shortest(texts []string) int {
	n := 0
	for i, t := range texts {
		if i == 0 || len(t) < n {
			n = len(t)
		}
	}
	return n
}
