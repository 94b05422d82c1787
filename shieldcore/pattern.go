package shieldcore

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/internal/match"
	"approver.example/internal/strictyaml"
)

// Bounds of a policy's regular expressions.
const (
	maxPattern  = 2000    // bytes as written
	maxExpanded = 8000    // bytes with the fragments
	maxSteps    = 5000    // steps of one compiled program
	maxAllSteps = 500_000 // steps of all programs together
)

var (
	fragmentName = lazyregexp.New(`^[a-z][a-z0-9_]*$`)
	fragmentUse  = lazyregexp.New(`%\{([^{}]*)\}`)
)

// compileDefines checks the fragments under define, which rules name as %{name}.
func (c *compiler) compileDefines(defines map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(defines)) {
		at, text := strictyaml.Join("define", name), unfold(defines[name])
		switch {
		case !fragmentName().MatchString(name):
			c.ReportKey(at, fmt.Sprintf("%q is not a name for a fragment: use lower-case letters, digits and _", name))
			continue
		case len(text) > maxPattern:
			c.report(at, "the fragment has %d bytes: the limit is %d", len(text), maxPattern)
		case fragmentUse().MatchString(text):
			c.Report(at, "a fragment cannot use another one: write it out")
		default:
			if _, err := syntax.Parse(text, syntax.Perl); err != nil {
				c.badRegexp(at, err)
			}
		}
		c.defines[name] = "(?:" + text + ")"
	}
}

// unfold removes the line break that ends every block scalar of YAML. With it a rule
// would match nothing.
func unfold(text string) string { return strings.TrimRight(text, "\r\n") }

// pattern compiles a regular expression that matches anywhere in a text, or, if whole,
// the whole text.
func (c *compiler) pattern(at, text string, whole bool) *pattern {
	text = unfold(text)
	if strings.TrimSpace(text) == "" {
		c.Report(at, "the regular expression is empty: remove the line, or write one")
		return &pattern{}
	}
	if len(text) > maxPattern {
		c.report(at, "the regular expression has %d bytes: the limit is %d; make two rules of it", len(text), maxPattern)
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
		c.report(at, "the regular expressions up to here are too large together: the limit is about %d steps", maxAllSteps)
	}
	if n > maxSteps {
		c.report(at, "the regular expression is too large: about %d steps, the limit is %d; use smaller repeat counts or "+
			"make two rules of it", n, maxSteps)
	}
	if n > maxSteps || c.steps > maxAllSteps {
		return &pattern{}
	}
	written := expanded
	if whole {
		expanded = `\A(?:` + expanded + `)\z`
	}
	re, err := regexp.Compile(expanded)
	if err != nil {
		c.badRegexp(at, err)
		return &pattern{}
	}
	if !whole && re.MatchString("") && !c.Has(strings.TrimSuffix(at, at[strings.LastIndexByte(at, '.'):])+".tools") {
		c.Report(at,
			"the regular expression matches the empty text and so every call: make some part of it required, or name the "+
				"rule's tools if that is meant")
	}
	p := &pattern{text: written, re: re, required: match.Required(tree)}
	c.patterns = append(c.patterns, p)
	return p
}

// expand replaces the uses of fragments. It returns false after a problem.
func (c *compiler) expand(at, text string) (string, bool) {
	ok := true
	out := fragmentUse().ReplaceAllStringFunc(text, func(use string) string {
		name := use[2 : len(use)-1]
		fragment, defined := c.defines[name]
		if !defined {
			ok = false
			c.ReportPart(at, use, unknownFragment(name, c.defines))
		}
		return fragment
	})
	if ok && len(out) > maxExpanded {
		c.report(at, "the regular expression has %d bytes with its fragments: the limit is %d", len(out), maxExpanded)
		return "", false
	}
	return out, ok
}

func unknownFragment(name string, defines map[string]string) string {
	if near := strictyaml.Nearest(name, slices.Sorted(maps.Keys(defines))); near != "" {
		return fmt.Sprintf("%%{%s} is not defined: did you mean %%{%s}?", name, near)
	}
	return fmt.Sprintf("%%{%s} is not defined: add it under define", name)
}

// regexpHints are remedies for common errors.
var regexpHints = map[syntax.ErrorCode]string{
	syntax.ErrInvalidPerlOp: "RE2 has no look-around; use a rule before this one for the exceptions",
	syntax.ErrInvalidEscape: "this escape does not exist, there are no back-references; in double quotes " +
		"every backslash is written twice",
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
