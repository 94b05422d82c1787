package match

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// atoms are what random expressions and texts are made of: few characters, so
// that they meet, and all that is decoded or asserted in its own way.
var (
	exprAtoms = []string{
		"a", "b", "k", "s", "_", `\.`, ".", " ", "é", "ſ", "\u212a", "日", `\x{FFFD}`, `\n`, "[ab]", "[^a]", "[^\\n]", "[a-z]",
		"[^é]", "[k-s]", `\w`, `\W`, `\s`, `\d`, `\pL`,
		"^", "$", `\A`, `\z`, `\b`, `\B`, "(?:)", "ab", "rm", "[[:^space:]]", `[^\x00-\x{10FFFF}]`, `\x80`, "x{0}",
	}
	exprRepeats = []string{"*", "+", "?", "*?", "+?", "{2}", "{0,3}", "{1,5}", "{2,}"}
	exprFlags   = []string{"(?i)", "(?m)", "(?s)", "(?U)", "(?im)", "(?ms)"}
	textAtoms   = []string{
		"a", "b", "k", "K", "s", "S", "_", ".", " ", "é", "É", "ſ", "\u212a", "日", "\ufffd", "\n", "\xff", "\xe6\x97",
		"\xf0\x9f\x98\x80", "\x80", "1", "ab", "rm", "r", "m", "A", "B", "\r", "\x00", "z",
	}
)

func randomExpr(r *rand.Rand, depth int) string {
	switch n := r.IntN(10); {
	case depth <= 0 || n < 3:
		return exprAtoms[r.IntN(len(exprAtoms))]
	case n < 6:
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(randomExpr(r, depth-1))
		}
		return b.String()
	case n < 8:
		return "(?:" + randomExpr(r, depth-1) + ")" + exprRepeats[r.IntN(len(exprRepeats))]
	case n < 9:
		return "(" + randomExpr(r, depth-1) + "|" + randomExpr(r, depth-1) + ")"
	}
	return "(?:" + exprFlags[r.IntN(len(exprFlags))] + randomExpr(r, depth-1) + ")"
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(24) {
		b.WriteString(textAtoms[r.IntN(len(textAtoms))])
	}
	return b.String()
}

// FuzzMatchEqualsRegexp compares with regexp: the fuzzer's own expression and
// text beside random ones that its seed makes, with the automaton remembered,
// not remembered, and forgotten all the time.
func FuzzMatchEqualsRegexp(f *testing.F) {
	for i, e := range exprs {
		f.Add(e, texts[i%len(texts)], uint64(i))
	}
	f.Fuzz(func(t *testing.T, expr, text string, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		var all []string
		if len(expr) < 200 {
			all = append(all, expr)
		}
		for range r.IntN(12) {
			all = append(all, randomExpr(r, 4))
		}
		var use []string
		var res []*regexp.Regexp
		for _, e := range all {
			re, err := regexp.Compile(e)
			_, prog, own := compile(e)
			if (err == nil) != (own == nil) {
				t.Fatalf("%q: regexp says %v, compile says %v", e, err, own)
			}
			if err == nil && len(prog.Inst) < 500 { // larger ones only cost time
				use, res = append(use, e), append(res, re)
			}
		}
		in := []string{text[:min(len(text), 300)], text[:min(len(text), 300)] + randomText(r)}
		for range 4 {
			in = append(in, randomText(r))
			if len(use) > 0 { // what likely matches, with something around it
				in = append(in, textAtoms[r.IntN(len(textAtoms))]+sampleOf(r, use[r.IntN(len(use))])+
					textAtoms[r.IntN(len(textAtoms))])
			}
		}
		for _, l := range []Limits{{}, {BuildWork: -1}, {BuildWork: 1 + r.IntN(500), CacheBytes: 1 + r.IntN(20000)}} {
			l.MatchWork = 1 << 30
			s, err := New(patterns(use), l)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range in {
				got, complete := s.Match(nil, text)
				if w := want(res, text); !complete || !slices.Equal(got, w) && len(got)+len(w) > 0 {
					t.Fatalf("%+v %q: got %v, want %v, complete %v, of %q", l, text, got, w, complete, use)
				}
			}
		}
	})
}
