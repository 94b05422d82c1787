package match

import (
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
)

func TestNewErrors(t *testing.T) {
	for _, tt := range []struct {
		name     string
		patterns []Pattern
		limits   Limits
		want     []string
	}{
		{"syntax", []Pattern{{"good", "a"}, {"bad one", "("}}, Limits{},
			[]string{`pattern "bad one"`, "missing closing )", "regexp/syntax"}},
		{"all of them", []Pattern{{"one", "["}, {"two", `\`}}, Limits{}, []string{`"one"`, `"two"`}},
		{"not in RE2", []Pattern{{"look", `(?=x)`}}, Limits{}, []string{`"look"`, "invalid or unsupported Perl syntax"}},
		{"too big", []Pattern{{"small", "a"}, {"big", "(?:ab){900}"}}, Limits{Instructions: 1000},
			[]string{`"big"`, "1000", "shorten"}},
		{"too many classes", manyClasses(), Limits{}, []string{"classes", "4096"}},
	} {
		s, err := New(tt.patterns, tt.limits)
		if err == nil || s != nil {
			t.Errorf("%s: no error", tt.name)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", tt.name, err, want)
			}
		}
	}
}

func manyClasses() (ps []Pattern) {
	for r := rune(0x4e00); r < 0x4e00+5000; r++ {
		ps = append(ps, Pattern{ID: string(r), Expr: string(r)})
	}
	return ps
}

func TestNoPatterns(t *testing.T) {
	s := mustNew(t, nil, Limits{})
	if ids, complete := s.Match([]int{7}, "text"); !complete || !slices.Equal(ids, []int{7}) {
		t.Errorf("%v, %v", ids, complete)
	}
}

func TestMatchAppendsInOrder(t *testing.T) {
	s := mustNew(t, []string{"c", "", "a", "x", "b"}, Limits{})
	ids, complete := s.Match([]int{9, 4}, "abc")
	if want := []int{9, 4, 0, 1, 2, 4}; !complete || !slices.Equal(ids, want) {
		t.Errorf("%v, want %v", ids, want)
	}
	if bytes, _ := s.MatchBytes(nil, []byte("abc")); !slices.Equal(bytes, ids[2:]) {
		t.Errorf("bytes: %v", bytes)
	}
	if none, complete := s.MatchBytes(nil, nil); !complete || !slices.Equal(none, []int{1}) {
		t.Errorf("no bytes: %v", none)
	}
}

// sample returns a text that the expression may well match.
func sample(r *rand.Rand, re *syntax.Regexp) string {
	var b strings.Builder
	repeat := func(least, most int) {
		for range least + r.IntN(most-least+1) {
			b.WriteString(sample(r, re.Sub[0]))
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 {
				for range r.IntN(3) {
					c = unicode.SimpleFold(c)
				}
			}
			b.WriteRune(c)
		}
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			i := 2 * r.IntN(len(re.Rune)/2)
			b.WriteRune(re.Rune[i] + r.Int32N(min(re.Rune[i+1]-re.Rune[i]+1, 90)))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune([]rune("a/ é-_x")[r.IntN(7)])
	case syntax.OpStar:
		repeat(0, 3)
	case syntax.OpPlus:
		repeat(1, 3)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(re.Min, max(re.Min, min(re.Max, re.Min+3)))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			b.WriteString(sample(r, sub))
		}
	case syntax.OpAlternate:
		b.WriteString(sample(r, re.Sub[r.IntN(len(re.Sub))]))
	case syntax.OpBeginLine, syntax.OpEndLine:
		b.WriteString("\n")
	default: // nothing to write
	}
	return b.String()
}

func sampleOf(r *rand.Rand, expr string) string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return ""
	}
	return sample(r, re)
}

// Texts made to match a guard's patterns, alone and among others, are found as
// regexp finds them, whether states are remembered or not.
func TestGuardsAreRegexp(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	exprs := guardExprs(300)
	res := compileAll(exprs)
	sets := map[string]*Set{"remembered": mustNew(t, exprs, Limits{}),
		"nothing built": mustNew(t, exprs, Limits{BuildWork: -1}),
		"a small cache": mustNew(t, exprs, Limits{CacheBytes: 100_000})}
	r := rand.New(rand.NewPCG(8, 9))
	texts := append(commands(100), command105, command532, nearMiss10k()[:1000], hostile10k(3)[:1000])
	for _, e := range exprs {
		texts = append(texts, sampleOf(r, e), "x "+sampleOf(r, e)+"; "+sampleOf(r, exprs[r.IntN(300)]))
	}
	found := 0
	for _, text := range texts {
		w := want(res, text)
		found += len(w)
		for name, s := range sets {
			if got, complete := s.Match(nil, text); !complete || !slices.Equal(got, w) && len(got)+len(w) > 0 {
				t.Errorf("%s: %q: got %v, want %v, complete %v", name, text, got, w, complete)
			}
		}
	}
	if found < 500 {
		t.Errorf("only %d matches in %d texts", found, len(texts))
	}
}

// Every pattern of a large set is found in a text made for it, whatever way the
// text is read.
func TestLargeSetFindsItsOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	exprs := guardExprs(10_000)
	sets := []*Set{mustNew(t, exprs, Limits{}), mustNew(t, exprs, Limits{BuildWork: -1})}
	r := rand.New(rand.NewPCG(10, 11))
	for i := 0; i < len(exprs); i += 7 {
		text := sampleOf(r, exprs[i])
		own := len(want(compileAll(exprs[i:i+1]), text)) > 0
		var answers [2][]int
		for k, s := range sets {
			var complete bool
			if answers[k], complete = s.Match(nil, text); !complete || slices.Contains(answers[k], i) != own {
				t.Errorf("%q in %q: %v, want %v, complete %v", exprs[i], text, !own, own, complete)
			}
		}
		if !slices.Equal(answers[0], answers[1]) {
			t.Errorf("%q: remembered %v, not remembered %v", text, answers[0], answers[1])
		}
	}
}

// When the work is used up, the answer says so. Nothing that it lists is wrong.
func TestTooComplex(t *testing.T) {
	exprs := []string{`a[^;]{1,80}b[^;]{1,80}c`, `a.{1,90}d`, `z`}
	text := "z" + strings.Repeat("ab", 500)
	full, complete := mustNew(t, exprs, Limits{}).Match(nil, text)
	if !complete || !slices.Equal(full, []int{2}) {
		t.Fatalf("within the limits: %v, %v", full, complete)
	}
	text += "d"
	s := mustNew(t, exprs, Limits{BuildWork: 100, MatchWork: 100})
	ids, complete := s.Match(nil, text)
	if complete || slices.Contains(ids, 0) {
		t.Errorf("beyond the limits: %v, complete %v", ids, complete)
	}
	if ids, complete = s.Match(nil, "z"); !complete || !slices.Equal(ids, []int{2}) {
		t.Errorf("the next text: %v, complete %v", ids, complete)
	}
	// The last byte is work, too: used up with it is used up.
	for work := 1; work < 200; work++ {
		ids, complete := mustNew(t, exprs, Limits{BuildWork: -1, MatchWork: work}).Match(nil, "aad")
		if complete && !slices.Equal(ids, []int{1}) {
			t.Errorf("%d visits: complete, and %v", work, ids)
		}
	}
}

// Texts that ask for states without end leave the cache within its limit, be
// it rows or threads that fill it.
func TestCacheStaysWithinItsLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	const limit = 300_000
	for name, exprs := range map[string][]string{"rows": guardExprs(300), "threads": {`a.{0,400}b`, `c.{0,400}d`}} {
		s := mustNew(t, exprs, Limits{CacheBytes: limit})
		r := rand.New(rand.NewPCG(14, 15))
		flushed, was := 0, s.dfa.newest.Load().cache
		for seed := range uint64(12) {
			text := hostile10k(seed)
			if name == "threads" {
				text = strings.Map(func(rune) rune { return rune("acx"[r.IntN(3)]) }, text)
			}
			for i := range 20 {
				s.dfa.credit.Store(1 << 30)
				s.Match(nil, text[i*450:][:1000])
				v := s.dfa.newest.Load()
				used := len(v.rows)*4 + len(v.states)*statePlace
				for key := range v.cache.rowOf {
					used += len(key) + mapPlace
				}
				if used > limit || v.cache.bytes > limit || v.cache.bytes < used {
					t.Fatalf("%s: used %d, counted %d, limit %d", name, used, v.cache.bytes, limit)
				}
				if v.cache != was {
					flushed, was = flushed+1, v.cache
				}
			}
		}
		if flushed == 0 {
			t.Errorf("%s: never full", name)
		}
	}
}

// When what a set began with is used up, extending the automaton costs at most
// half of what reading without it costs.
func TestHostileTextsEarnLess(t *testing.T) {
	s := mustNew(t, guardExprs(300), Limits{BuildWork: 1 << 30, CacheBytes: 1 << 30})
	states := func() int { return len(s.dfa.newest.Load().cache.rowOf) }
	s.dfa.credit.Store(0)
	before := states()
	s.Match(nil, hostile10k(1))
	earned := s.dfa.credit.Load()
	if states() != before || earned <= 0 || earned > int64(s.limits.MatchWork)/2 {
		t.Fatalf("without credit: %d new states, %d earned", states()-before, earned)
	}
	for seed := uint64(2); s.dfa.credit.Load() > 0; seed++ {
		before, earned = states(), s.dfa.credit.Load()
		s.Match(nil, hostile10k(seed))
		if built := states() - before; built == 0 || int64(built) > earned/stepCost+1 {
			t.Fatalf("%d new states for %d", built, earned)
		}
		if seed == 4 {
			return
		}
	}
}

// A call that gives up has not gone on: what it earned says what it spent.
func TestWorkEnds(t *testing.T) {
	s := mustNew(t, guardExprs(300), Limits{BuildWork: -1, MatchWork: 1000})
	s.dfa.credit.Store(0)
	if _, complete := s.Match(nil, hostile10k(1)); complete {
		t.Error("complete")
	}
	if spent := 2 * s.dfa.credit.Load(); spent < 1000 || spent > 10_000 {
		t.Errorf("%d visits, of 1,000", spent)
	}
}

// A remembered text that finds the same patterns again and again is read on
// only for those that were not found.
func TestFindingAgainIsWork(t *testing.T) {
	var exprs []string
	for i := range 200 {
		exprs = append(exprs, fmt.Sprintf("a|x%d", i), fmt.Sprintf("b|x%d", i))
	}
	s := mustNew(t, append(exprs, `[0-9][0-9]`), Limits{BuildWork: 20_000}) // the last is looked for to the end
	s.Match(nil, "abab")
	s.dfa.credit.Store(0)
	if ids, complete := s.Match(nil, strings.Repeat("ab", 100)); !complete || len(ids) != 400 || s.dfa.credit.Load() != 0 {
		t.Errorf("a short text: %d found, complete %v, %d earned", len(ids), complete, s.dfa.credit.Load())
	}
	if ids, complete := s.Match(nil, strings.Repeat("ab", 5000)); !complete || len(ids) != 400 ||
		s.dfa.credit.Load() == 0 {
		t.Errorf("a long one: %d found, complete %v, %d earned", len(ids), complete, s.dfa.credit.Load())
	}
}

// A text that is read again and again is remembered in the end, also when
// hostile texts have used up the credit.
func TestRepeatedTextIsLearned(t *testing.T) {
	s := mustNew(t, guardExprs(300), Limits{})
	s.dfa.credit.Store(0)
	for i := 0; !remembered(s, command532); i++ {
		if s.Match(nil, command532); i == 5000 {
			t.Fatal("not after 5,000 times")
		}
	}
}

// remembered reports whether all that an ASCII text needs is in the table.
func remembered(s *Set, text string) bool {
	v, base := s.dfa.newest.Load(), uint32(firstRow*s.dfa.stride)
	for i := range len(text) {
		entry := v.rows[int(base)+int(s.p.ascii[text[i]])]
		if entry == 0 {
			return false
		}
		base = entry &^ found
	}
	return v.rows[int(base)+s.p.count] != 0
}

// Many callers read, extend and flush the automaton at the same time, and each
// gets regexp's answers.
func TestConcurrent(t *testing.T) {
	exprs := append(guardExprs(60), exprs...)
	res := compileAll(exprs)
	all := append(commands(30), texts...)
	var wants [][]int
	for _, text := range all {
		wants = append(wants, want(res, text))
	}
	for _, l := range []Limits{{}, {CacheBytes: 40_000}, {BuildWork: 2000, CacheBytes: 80_000}, {BuildWork: -1}} {
		t.Run(fmt.Sprint(l.BuildWork, l.CacheBytes), func(t *testing.T) {
			s := mustNew(t, exprs, l)
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(uint64(g), 1))
					var ids []int
					for range 3 * len(all) {
						i := r.IntN(len(all))
						var complete bool
						if ids, complete = s.Match(ids[:0], all[i]); !complete || !slices.Equal(ids, wants[i]) {
							t.Errorf("%q: got %v, want %v, complete %v", all[i], ids, wants[i], complete)
						}
						if g == 0 && i%8 == 0 { // so that there is always something to build
							s.dfa.credit.Add(1 << 20)
							s.dfa.mu.Lock()
							s.dfa.flush()
							s.dfa.mu.Unlock()
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
