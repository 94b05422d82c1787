package match

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"
)

// Pattern is one regular expression in the syntax of package regexp, and the
// name by which errors call it.
type Pattern struct{ ID, Expr string }

// Limits bound what a Set may use. A field that is zero has its default.
type Limits struct {
	// Instructions is the size of the combined program; a typical pattern has
	// 30, and a counted repeat multiplies what it repeats. Default 1,000,000.
	Instructions int
	// CacheBytes is how much the automaton may remember between calls. At the
	// limit it is forgotten and built anew. Default 32 MiB, at most 2 GiB.
	CacheBytes int
	// BuildWork is how many instructions one call may visit to extend the automaton; each takes some
	// 5 ns. After that the call goes on without storing states. Over time less is spent, see the
	// package comment. Default 200,000; with less than zero nothing is extended.
	BuildWork int
	// MatchWork is how many instructions one call may visit after that, before
	// it gives up. Default 1,000,000.
	MatchWork int
}

// Set is many patterns, tested together. It is safe for concurrent use.
type Set struct {
	p       *program
	literal *literals
	dfa     *dfa
	limits  Limits
	bits    sync.Pool // of *bitset, empty, for the patterns that a call has reported
	slow    sync.Pool // of *slow
}

// maxClasses bounds a row of the automaton's table.
const maxClasses = 4096

// New compiles the patterns. Errors name the pattern, what is wrong with it, and the cure.
func New(patterns []Pattern, limits Limits) (*Set, error) {
	limits = limits.withDefaults()
	p, sets := &program{}, &setTable{ids: map[string]uint32{}}
	first := make([]uint32, 0, len(patterns))
	var literal [][][]string
	var errs []error
	for _, pattern := range patterns {
		re, prog, err := compile(pattern.Expr)
		if err != nil {
			errs = append(errs, fmt.Errorf("pattern %q: %w", pattern.ID, err))
			continue
		}
		if len(p.insts)+len(prog.Inst) > limits.Instructions {
			errs = append(errs, fmt.Errorf("pattern %q: with its %d instructions the patterns have more than %d together: "+
				"shorten its counted repeats, or raise the limit", pattern.ID, len(prog.Inst), limits.Instructions))
			break
		}
		first = append(first, p.add(prog, sets))
		literal = append(literal, required(re))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	p.classes = newClasses(sets)
	if p.count > maxClasses {
		return nil, fmt.Errorf("the patterns divide the characters into %d classes, and %d are possible: use fewer "+
			"different Unicode classes and ranges", p.count, maxClasses)
	}
	p.starts(first)
	s := &Set{p: p, literal: newLiterals(literal), dfa: newDFA(p, limits), limits: limits}
	s.bits.New = func() any {
		b := newBitset(p.patterns)
		return &b
	}
	s.slow.New = func() any { return newSlow(p, s.literal) }
	return s, nil
}

func (l Limits) withDefaults() Limits {
	l.Instructions, l.MatchWork = cmp.Or(l.Instructions, 1_000_000), cmp.Or(l.MatchWork, 1_000_000)
	l.BuildWork = cmp.Or(l.BuildWork, 200_000)
	l.CacheBytes = min(cmp.Or(l.CacheBytes, 32<<20), math.MaxInt32) // an offset in the table has 31 bits
	return l
}

// compile parses as regexp.Compile does.
func compile(expr string) (*syntax.Regexp, *syntax.Prog, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: see https://pkg.go.dev/regexp/syntax for what can be written", err)
	}
	re = re.Simplify()
	prog, err := syntax.Compile(re)
	return re, prog, err
}

// Match appends the index of every pattern that matches somewhere in the text to dst, in order. It
// finds the same as regexp.MatchString.
//
// If complete is false, the text was too complex for the limits: patterns that are not in ids may
// match, too, and the caller must not let the text pass.
func (s *Set) Match(dst []int, text string) (ids []int, complete bool) {
	r := run{Set: s, text: text, ids: append(dst, s.p.always...), first: len(dst), work: s.limits.BuildWork}
	complete = r.cached()
	if r.reported != nil {
		for _, id := range r.ids[r.first:] {
			(*r.reported)[id/64] = 0
		}
		s.bits.Put(r.reported)
	}
	slices.Sort(r.ids[r.first:])
	return r.ids, complete
}

// MatchBytes is Match for bytes, which must not change during the call.
func (s *Set) MatchBytes(dst []int, text []byte) (ids []int, complete bool) {
	return s.Match(dst, unsafe.String(unsafe.SliceData(text), len(text))) // not kept
}

// run is one call of Match.
type run struct {
	*Set
	text     string
	ids      []int
	first    int // of this call's ids
	work     int
	reported *bitset // from the first report on
}

// cached reads the text with the stored states, and adds states while it may.
func (r *run) cached() (complete bool) {
	p, text := r.p, r.text
	v := r.dfa.newest.Load()
	rows, base := v.rows, uint32(firstRow*r.dfa.stride)
	last := uint32(0) // row that was reported last
	for i, width := 0, 0; i <= len(text); i += width {
		var class int
		if width = 1; i < len(text) && text[i] < utf8.RuneSelf {
			class = int(p.ascii[text[i]])
		} else {
			class, width = p.decode(text[i:])
		}
		entry := atomic.LoadUint32(&rows[int(base)+class])
		if int32(entry) > 0 {
			base = entry
			continue
		}
		if entry == 0 {
			var ok bool
			if v, entry, ok = r.dfa.next(v, base, class, &r.work); !ok {
				return r.uncached(v.states[int(base)/r.dfa.stride].key, i)
			}
			rows, last = v.rows, 0
		}
		if base = entry &^ found; base != entry && base != last {
			last = base
			state := &v.states[int(base)/r.dfa.stride]
			r.report(state.matched)
			if r.work -= len(state.matched) / 4; r.work <= 0 {
				return r.uncached(state.key, i+width) // a text that finds the same again and again is work, too
			}
		}
	}
	return true
}

// report appends the patterns that were not reported yet.
func (r *run) report(patterns []uint32) {
	if r.reported == nil {
		r.reported = r.bits.Get().(*bitset)
		for _, id := range r.ids[r.first:] { // always
			r.reported.add(uint32(id))
		}
	}
	for _, id := range patterns {
		if !r.reported.has(id) {
			r.reported.add(id)
			r.ids = append(r.ids, int(id))
		}
	}
}
