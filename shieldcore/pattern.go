package shieldcore

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"approver.example/shieldcore/strictyaml"
)

// Bounds of a regular expression, in bytes as written, in bytes after its
// fragments are put in, and in steps of the compiled program; and of the steps
// of all of a policy's.
const (
	maxPattern  = 2000
	maxExpanded = 8000
	maxSteps    = 5000
	maxAllSteps = 200_000
)

var (
	fragmentName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	fragmentUse  = regexp.MustCompile(`%\{([^{}]*)\}`)
)

// compileDefines checks the fragments under define, which rules name as %{name}.
func (c *compiler) compileDefines(defines map[string]string) {
	for _, name := range sortedNames(defines) {
		at, text := strictyaml.Join("define", name), defines[name]
		switch {
		case !fragmentName.MatchString(name):
			c.ReportKey(at, fmt.Sprintf("%q is not a name for a fragment: use lower-case letters, digits and _", name))
			continue
		case len(text) > maxPattern:
			c.Report(at, fmt.Sprintf("the fragment has %d bytes: the limit is %d", len(text), maxPattern))
		case fragmentUse.MatchString(text):
			c.Report(at, "a fragment cannot use another one: write it out")
		default:
			if _, err := syntax.Parse(text, syntax.Perl); err != nil {
				c.badRegexp(at, err)
			}
		}
		c.defines[name] = "(?:" + text + ")"
	}
}

// pattern compiles a regular expression: to be found anywhere, or, if whole, to
// match all of a text.
func (c *compiler) pattern(at, text string, whole bool) *pattern {
	if strings.TrimSpace(text) == "" {
		c.Report(at, "the regular expression is empty: remove the line, or write one")
		return &pattern{}
	}
	if len(text) > maxPattern {
		c.Report(at, fmt.Sprintf("the regular expression has %d bytes: the limit is %d; make two rules of it", len(text), maxPattern))
		return &pattern{}
	}
	expanded, ok := c.expand(at, text)
	if !ok {
		return &pattern{}
	}
	tree, err := syntax.Parse(expanded, syntax.Perl)
	if err != nil {
		c.badRegexp(at, err)
		return &pattern{}
	}
	n := steps(tree)
	if c.steps += n; c.steps > maxAllSteps && c.steps-n <= maxAllSteps {
		c.Report(at, fmt.Sprintf("the regular expressions up to here are too large together: the limit is about %d steps", maxAllSteps))
	}
	if n > maxSteps {
		c.Report(at, fmt.Sprintf("the regular expression is too large: about %d steps, the limit is %d; use smaller repeat counts or make two rules of it", n, maxSteps))
	}
	if n > maxSteps || c.steps > maxAllSteps {
		return &pattern{}
	}
	if whole {
		expanded = `\A(?:` + expanded + `)\z`
	}
	re, err := regexp.Compile(expanded)
	if err != nil {
		c.badRegexp(at, err)
		return &pattern{}
	}
	if !whole && re.MatchString("") && !c.Has(strings.TrimSuffix(at, at[strings.LastIndexByte(at, '.'):])+".tools") {
		c.Report(at, "the regular expression matches the empty text and so every call: make some part of it required, or name the rule's tools if that is meant")
	}
	p := &pattern{re: re}
	p.needs, p.folded = needs(tree)
	return p
}

// expand puts the fragments in. It returns false after a problem.
func (c *compiler) expand(at, text string) (string, bool) {
	ok := true
	out := fragmentUse.ReplaceAllStringFunc(text, func(use string) string {
		name := use[2 : len(use)-1]
		fragment, defined := c.defines[name]
		if !defined {
			ok = false
			c.ReportPart(at, use, unknownFragment(name, c.defines))
		}
		return fragment
	})
	if ok && len(out) > maxExpanded {
		c.Report(at, fmt.Sprintf("the regular expression has %d bytes with its fragments: the limit is %d", len(out), maxExpanded))
		return "", false
	}
	return out, ok
}

func unknownFragment(name string, defines map[string]string) string {
	if near := strictyaml.Nearest(name, sortedNames(defines)); near != "" {
		return fmt.Sprintf("%%{%s} is not defined: did you mean %%{%s}?", name, near)
	}
	return fmt.Sprintf("%%{%s} is not defined: add it under define", name)
}

// regexpHints says what to do about the errors that have a usual cause.
var regexpHints = map[syntax.ErrorCode]string{
	syntax.ErrInvalidPerlOp:         "RE2 has no look-around; use a rule before this one for the exceptions",
	syntax.ErrInvalidEscape:         "this escape does not exist, there are no back-references; in double quotes every backslash is written twice",
	syntax.ErrMissingParen:          "close every bracket, or write \\( for a literal one",
	syntax.ErrUnexpectedParen:       "open every bracket, or write \\) for a literal one",
	syntax.ErrMissingBracket:        "close the class, or write \\[ for a literal bracket",
	syntax.ErrMissingRepeatArgument: "write \\ before a literal * + or ?",
	syntax.ErrInvalidRepeatSize:     "repeat counts go up to 1000",
	syntax.ErrLarge:                 "regexp too large; use smaller repeat counts",
}

func (c *compiler) badRegexp(at string, err error) {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		c.Report(at, "bad regular expression: "+err.Error())
		return
	}
	text := fmt.Sprintf("bad regular expression: %s at %q", bad.Code, bad.Expr)
	if hint := regexpHints[bad.Code]; hint != "" {
		text += ": " + hint
	}
	c.ReportPart(at, bad.Expr, text)
}

// steps estimates the size of the compiled program without compiling it.
func steps(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n = min(n+steps(sub), 1<<20)
	}
	if re.Op == syntax.OpRepeat {
		n = min(n*max(re.Min, re.Max, 1), 1<<20)
	}
	return n
}

// maxNeeds bounds the texts that are looked for before a regular expression.
const maxNeeds = 24

// needs returns texts of which at least one occurs in everything that re
// matches, and whether they have to be looked for without regard to case. It
// returns nil when it knows of none.
func needs(re *syntax.Regexp) (texts []string, folded bool) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if strings.ContainsRune(text, utf8.RuneError) { // also matches a byte that is no character
			return nil, false
		}
		if re.Flags&syntax.FoldCase == 0 {
			return []string{text}, false
		}
		for _, r := range re.Rune {
			if r >= 0x80 {
				return nil, false
			}
		}
		return []string{strings.ToLower(text)}, true
	case syntax.OpCapture, syntax.OpPlus:
		return needs(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needs(re.Sub[0])
		}
	case syntax.OpConcat:
		best := 0
		for _, sub := range re.Sub {
			t, f := needs(sub)
			if n := shortest(t); n > best {
				texts, folded, best = t, f, n
			}
		}
		return texts, folded
	case syntax.OpAlternate:
		var lists [][]string
		for _, sub := range re.Sub {
			t, f := needs(sub)
			if t == nil || len(texts)+len(t) > maxNeeds {
				return nil, false
			}
			folded = folded || f
			lists = append(lists, t)
			texts = append(texts, t...)
		}
		if folded { // looked for in lower-case text, so all must be lower case
			texts = nil
			for _, list := range lists {
				for _, t := range list {
					texts = append(texts, foldLower.Replace(strings.ToLower(t)))
				}
			}
		}
		return texts, folded
	default:
	}
	return nil, false
}

func shortest(texts []string) int {
	n := 0
	for i, t := range texts {
		if i == 0 || len(t) < n {
			n = len(t)
		}
	}
	return n
}
