package heuristics

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// A key is a short expression without gaps that is somewhere in every text that a
// pattern matches, such as `\brm\s` of a pattern of many words. All keys are one
// matcher, and a pattern is tried only on a text that has its key: patterns with
// gaps between their words, put together, would have states without end.

const (
	minKey     = 2   // letters of a key that are known
	maxKeyText = 600 // bytes of a run
)

// keyOf returns the key of a pattern, "" if it has none with a word of minKey letters.
func keyOf(pattern string) (string, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", err
	}
	if k := partsOf(re).best; k.known >= minKey {
		return k.expr, nil
	}
	return "", nil
}

// A part is an expression, and how many of its letters are known.
type part struct {
	expr  string
	known int
}

// parts are the best part that an expression cannot do without, and all of it if it
// has no gaps.
type parts struct {
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
		return parts{best: partsOf(re.Sub[0]).best}
	case syntax.OpRepeat:
		if re.Min > 0 {
			return parts{best: partsOf(re.Sub[0]).best}
		}
	case syntax.OpConcat:
		return inTurn(re.Sub)
	case syntax.OpAlternate:
		return either(re.Sub)
	default: // may be nothing
	}
	return parts{}
}

// solid is an expression without gaps, unless it is too long.
func solid(expr string, known int) parts {
	p := part{expr, known}
	return parts{best: p, whole: p, solid: len(expr) <= maxKeyText}
}

// inTurn keeps the best run of neighbours without gaps.
func inTurn(subs []*syntax.Regexp) parts {
	var out parts
	var run part
	whole := true
	consider := func(p part) {
		if p.known > out.best.known {
			out.best = p
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
		consider(sub.best)
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

// either needs a part of each branch.
func either(subs []*syntax.Regexp) parts {
	var best, whole []string
	least, all, known := -1, true, -1
	for _, re := range subs {
		sub := partsOf(re)
		best = append(best, sub.best.expr)
		if least < 0 || sub.best.known < least {
			least = sub.best.known
		}
		all = all && sub.solid
		whole = append(whole, sub.whole.expr)
		if known < 0 || sub.whole.known < known {
			known = sub.whole.known
		}
	}
	var out parts
	if least > 0 {
		out.best = part{"(?:" + strings.Join(best, "|") + ")", least}
	}
	if expr := "(?:" + strings.Join(whole, "|") + ")"; all && len(expr) <= maxKeyText {
		out.whole, out.solid = part{expr, known}, true
	}
	return out
}
