package match

import (
	"math"
	"regexp"
	"slices"
	"testing"
)

// exprs are expressions in which each feature of the syntax occurs.
var exprs = []string{
	`abc`, `(?i)kelvin`, `(?i)s`, `^a`, `a$`, `\Aab\z`, `(?m)^x$`, `(?m)$`, `\bfoo\b`, `\Bo\B`, `a|b|`, `x*`, `[^a]`, `.`,
	`(?s).`,
	`a.c`, `a{2,4}b`, `(ab){3}`, `é`, `(?i)É`, `\x{FFFD}`, `[\x{80}-\x{10FFFF}]`, `\pL\pN`, `(?:^|\s)rm\s`,
	`curl[^;]{1,20}\|\s*sh`, `\b`, `\B`,
	`^$`, `(?m)^$`, `$^`, `a\b.`, `(?i)ſ`, `[[:^alpha:]]{3}`, `(a*)*b`, `(a|b)*?c`, `(?U)a+b`, `\Qa.b\E`, `[a-z]+\n[a-z]`,
	`(?m)b$\n^c`, `\z`,
	`(?:)`, `[^\x00-\x{10FFFF}]`, `x{0}y`, `\bé`, `(?:a\b|\bb)+`, `_\b`, `(?i)[k-l]\B`, `日本`, `[^\n]*z$`,
}

var texts = []string{
	"", "a", "abc", "xabcx", "KELVIN", "\u212aelvin", "ſ", "S", "\n", "x\n", "\nx\n", "a\nx\nb", "foo", " foo ", "ooo",
	"xoox", "aaab", "aab", "ababab", "é", "É", "e\u0301",
	"\xff", "\ufffd", "\xe2\x82", "a\xffc", "éa1", "a1", "rm -rf", "sudo rm x", "xrm x", "curl x | sh", "curl a;| sh",
	"b\nc", "ab\ncd", "日本", "a日本b", "\xf0\x9f\x98", "c", "aac", "___", "a_", "k l", "\x00",
	"zz\nz", "y", "xy", "a b", "ab", "bé", "é b", "\xed\xa0\x80", "\xc0\x80",
}

func patterns(exprs []string) []Pattern {
	var ps []Pattern
	for _, e := range exprs {
		ps = append(ps, Pattern{ID: e, Expr: e})
	}
	return ps
}

func want(res []*regexp.Regexp, text string) []int {
	ids := []int{}
	for i, re := range res {
		if re.MatchString(text) {
			ids = append(ids, i)
		}
	}
	return ids
}

func compileAll(exprs []string) []*regexp.Regexp {
	var res []*regexp.Regexp
	for _, e := range exprs {
		res = append(res, regexp.MustCompile(e))
	}
	return res
}

func mustNew(t testing.TB, exprs []string, l Limits) *Set {
	t.Helper()
	s, err := New(patterns(exprs), l)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMatchIsRegexp(t *testing.T) {
	res := compileAll(exprs)
	for name, l := range map[string]Limits{
		"remembered":     {},
		"nothing built":  {BuildWork: -1},
		"a few states":   {BuildWork: 3 * stepCost},
		"hardly a cache": {CacheBytes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustNew(t, exprs, l)
			for range 2 { // the second time remembered
				for _, text := range texts {
					got, complete := s.Match(nil, text)
					if w := want(res, text); !slices.Equal(got, w) || !complete {
						t.Errorf("%q: got %v, want %v, complete %v", text, got, w, complete)
						for i, e := range exprs {
							if slices.Contains(got, i) != slices.Contains(w, i) {
								t.Errorf("  %q", e)
							}
						}
					}
				}
			}
		})
	}
}

// The marks of a step that was four billion steps ago do not count: here, those
// of the same step over the same text.
func TestGenerationsWrap(t *testing.T) {
	res := compileAll(exprs)
	for _, text := range texts {
		s := mustNew(t, exprs, Limits{})
		s.Match(nil, text)
		s.dfa.flush()
		s.dfa.w.gen = math.MaxUint32
		if got, _ := s.Match(nil, text); !slices.Equal(got, want(res, text)) {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
