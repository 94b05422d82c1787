package match

import (
	"fmt"
	"math"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// A Warning is a weakness of a pattern that New accepts.
type Warning struct {
	Rule string // the name of the check, see Lint
	Text string // what is wrong, and the cure
}

// Lint finds what makes a pattern slow, or lets it miss texts. It takes some milliseconds for a bad
// pattern, so use it only when patterns are loaded. Its rules:
//
//	syntax    New will refuse the expression
//	empty     it matches every text
//	size      it has more than 2,000 instructions
//	states    alone it has more than 1,000 states, mostly because of a counted gap
//	literal   it has no word in ASCII that a text must have, so it is tried on every text that is new
//	folded    it looks for a character that is never in a text from Fold
func Lint(expr string) []Warning {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return []Warning{{"syntax", err.Error()}}
	}
	var found []Warning
	warn := func(rule, format string, args ...any) {
		found = append(found, Warning{rule, fmt.Sprintf(format, args...)})
	}
	walk(parsed, func(re *syntax.Regexp) {
		if text := foldedAway(re); text != "" {
			warn("folded", "%s never occurs in folded text: write what Fold makes of it", text)
		}
	})
	re, prog, err := compile(expr)
	if err != nil {
		warn("syntax", "%v", err)
		return found
	}
	if n := len(prog.Inst); n > lintInstructions {
		warn("size", "it has %d instructions, more than %d: shorten its counted repeats", n, lintInstructions)
	}
	if len(required(re)) == 0 {
		warn("literal", "it has no word in ASCII that a text must have: add one, or it is tried on every text that is new")
	}
	s, err := New([]Pattern{{ID: "it", Expr: expr}}, Limits{CacheBytes: math.MaxInt, BuildWork: math.MaxInt32})
	switch {
	case err != nil:
		warn("size", "%v", err)
	case len(s.p.always) > 0:
		warn("empty", "it matches every text, even an empty one: let something in it be there at least once")
	case s.dfa.states(lintStates) > lintStates:
		warn("states",
			"alone it has more than %d states, so texts can be made to cost time: shorten%s, write an uncounted gap such as "+
				"[^;]*, or anchor it", lintStates, longestRepeat(parsed))
	}
	return found
}

const (
	lintInstructions = 2000
	lintStates       = 1000
)

// longestRepeat returns the counted repeat with the largest count, after a space.
func longestRepeat(re *syntax.Regexp) (text string) {
	most := 0
	walk(re, func(re *syntax.Regexp) {
		if re.Op == syntax.OpRepeat && max(re.Min, re.Max) > most {
			most, text = max(re.Min, re.Max), " "+re.String()
		}
	})
	if text == "" {
		return " its repeats"
	}
	return text
}

// states builds states until there are all, or more than the limit, and returns their number.
func (d *dfa) states(limit int) int {
	for row := firstRow; ; row++ {
		v := d.newest.Load()
		if n := len(v.cache.rowOf); row-firstRow == n || n > limit {
			return n
		}
		for class := range d.stride {
			work := math.MaxInt
			d.next(d.newest.Load(), uint32(row*d.stride), class, &work)
		}
	}
}

func walk(re *syntax.Regexp, visit func(*syntax.Regexp)) {
	visit(re)
	for _, sub := range re.Sub {
		walk(sub, visit)
	}
}

// foldedAway returns the part of a literal or class that no text from Fold contains, as a person
// writes it.
func foldedAway(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			cases := []rune{r}
			if re.Flags&syntax.FoldCase != 0 {
				for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
					cases = append(cases, f)
				}
			}
			if !anyStays(cases) {
				return fmt.Sprintf("%q", r)
			}
		}
	case syntax.OpCharClass:
		var runes []rune
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if runes = append(runes, r); len(runes) > lintClass {
					return "" // some of so many stay
				}
			}
		}
		if len(runes) > 0 && !anyStays(runes) {
			return re.String()
		}
	default: // of characters, those two only
	}
	return ""
}

// lintClass is how many characters of a class are looked at.
const lintClass = 512

// anyStays reports whether Fold leaves one of the characters as it is.
func anyStays(runes []rune) bool {
	var buf [utf8.UTFMax * 2]byte
	for _, r := range runes {
		if string(Fold(buf[:0], string(r))) == string(r) {
			return true
		}
	}
	return false
}
