package match

import (
	"math"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// A key is a short expression without gaps that matches somewhere in every text that a pattern
// matches, such as `\brm\s` for a pattern of many words. It is more precise than the literals of
// [Required], which also occur in other words: "rm" is in "format". A [Set] of keys stays small. One of
// the whole patterns, with their gaps, could have any number of states.

const (
	minKey      = 2   // letters of a key that are known, of a branch's first key
	maxKeys     = 4   // of a branch
	maxBranches = 16  // of a pattern
	maxKeyText  = 600 // bytes of a run
)

// Keys returns the branches of a pattern, each as keys that a text must have all of.
// There is none if a branch has no key with minKey letters.
func Keys(pattern string) (branches [][]string, err error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	all := branchesOf(re)
	if len(all) > maxBranches {
		all = []*syntax.Regexp{re}
	}
	for _, branch := range all {
		needs := partsOf(branch).needs
		slices.SortStableFunc(needs, func(a, b part) int { return b.known - a.known })
		if len(needs) == 0 || needs[0].known < minKey {
			return nil, nil
		}
		var keys []string
		for _, need := range needs[:min(len(needs), maxKeys)] {
			if !slices.Contains(keys, need.expr) {
				keys = append(keys, need.expr)
			}
		}
		branches = append(branches, keys)
	}
	return branches, nil
}

// branchesOf returns the alternatives of an expression. The parser moves what all of them begin with
// to the front; branchesOf puts it back.
func branchesOf(re *syntax.Regexp) (out []*syntax.Regexp) {
	switch re.Op {
	case syntax.OpCapture:
		return branchesOf(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			out = append(out, branchesOf(sub)...)
		}
		return out
	case syntax.OpConcat:
		if len(re.Sub) != 2 || re.Sub[1].Op != syntax.OpAlternate {
			break
		}
		for _, sub := range re.Sub[1].Sub {
			for _, branch := range branchesOf(sub) {
				out = append(out, &syntax.Regexp{Op: syntax.OpConcat, Flags: re.Flags, Sub: []*syntax.Regexp{re.Sub[0], branch}})
			}
		}
		return out
	default:
	}
	return []*syntax.Regexp{re}
}

// A part is an expression, and how many of its letters are known.
type part struct {
	expr  string
	known int
}

// parts are the parts that a text must have for an expression, the best of them, and the whole
// expression if it has no gaps.
type parts struct {
	needs []part // each with a known letter
	best  part
	whole part
	solid bool
}

func partsOf(re *syntax.Regexp) parts {
	switch re.Op {
	case syntax.OpLiteral:
		return solid(re.String(), len(re.Rune))
	case syntax.OpCharClass:
		if n := len(re.Rune); n > 0 && re.Rune[n-1] == unicode.MaxRune {
			return solid("(?s:.)", 0) // nearly all characters: more than they match, and written in no time
		}
		return solid(re.String(), 0)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine,
		syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return solid(re.String(), 0)
	case syntax.OpCapture:
		return partsOf(re.Sub[0])
	case syntax.OpQuest:
		if sub := partsOf(re.Sub[0]); sub.solid {
			return solid("(?:"+sub.whole.expr+")?", 0)
		}
	case syntax.OpPlus:
		return partsOf(re.Sub[0]).gapped()
	case syntax.OpRepeat:
		if re.Min > 0 {
			return partsOf(re.Sub[0]).gapped()
		}
	case syntax.OpConcat:
		return inTurn(re.Sub)
	case syntax.OpAlternate:
		return either(re.Sub)
	default: // may be nothing
	}
	return parts{}
}

// solid returns the parts of an expression without gaps. It counts as one with gaps if it is too long.
func solid(expr string, known int) parts {
	p := part{expr, known}
	return parts{needs: p.needed(), best: p, whole: p, solid: len(expr) <= maxKeyText}
}

func (p part) needed() []part {
	if p.known == 0 {
		return nil
	}
	return []part{p}
}

// gapped returns the parts of an expression that is repeated.
func (p parts) gapped() parts { return parts{needs: p.needs, best: p.best} }

// inTurn returns the parts of expressions in sequence: neighbors without gaps are joined.
func inTurn(subs []*syntax.Regexp) parts {
	var out parts
	var run part
	whole := true
	consider := func(found ...part) {
		for _, p := range found {
			out.needs = append(out.needs, p.needed()...)
			if p.known > out.best.known {
				out.best = p
			}
		}
	}
	join := func(p part) {
		if len(run.expr)+len(p.expr) > maxKeyText {
			consider(run)
			run, whole = part{}, false
		}
		run = part{run.expr + p.expr, run.known + p.known}
	}
	for _, re := range subs {
		sub := partsOf(re)
		if sub.solid {
			join(sub.whole)
			continue
		}
		whole = false
		if again := repeated(re); again.solid { // the first of them ends a run, and the last begins one
			join(again.whole)
			consider(run)
			run = again.whole
			continue
		}
		consider(run)
		consider(sub.needs...)
		run = part{}
	}
	consider(run)
	if whole {
		out.whole, out.solid = run, true
	}
	return out
}

// repeated returns what an expression has at least once.
func repeated(re *syntax.Regexp) parts {
	if re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Min > 0 {
		return partsOf(re.Sub[0])
	}
	return parts{}
}

// either returns the parts of alternatives: one part that has one of each.
func either(subs []*syntax.Regexp) parts {
	var best, whole []string
	least, all, known := math.MaxInt, true, math.MaxInt
	for _, re := range subs {
		sub := partsOf(re)
		best, whole = append(best, sub.best.expr), append(whole, sub.whole.expr)
		least, known = min(least, sub.best.known), min(known, sub.whole.known)
		all = all && sub.solid
	}
	var out parts
	if least > 0 {
		out.best = part{"(?:" + strings.Join(best, "|") + ")", least}
		out.needs = out.best.needed()
	}
	if expr := "(?:" + strings.Join(whole, "|") + ")"; all && len(expr) <= maxKeyText {
		out.whole, out.solid = part{expr, known}, true
	}
	return out
}
