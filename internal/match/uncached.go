package match

import (
	"slices"
	"unicode/utf8"
)

// When a text needs more new states than a call may build, the rest of it is read with the same steps,
// but without storing states, and only for the patterns that were not found yet and whose required
// literals the text has. So the answers are the same.

// slow is the working memory of a call that goes on without storing states.
type slow struct {
	w          *stepper
	set        []uint32
	candidates int // patterns in w.only
	search     *search
	starts     [anyKind + 1][]startList // as the program's, of the candidates only
}

func newSlow(p *program, l *literals) *slow {
	s := &slow{w: newStepper(p), search: l.newSearch()}
	s.w.only = newBitset(p.patterns)
	for before := range s.starts {
		s.starts[before] = make([]startList, p.count+1)
	}
	return s
}

// uncached reads the text on from a state's key, before byte i.
func (r *run) uncached(key string, i int) (complete bool) {
	s := r.slow.Get().(*slow)
	defer r.slow.Put(s)
	prev := s.begin(r, key)
	p, w, work, width := r.p, s.w, r.limits.MatchWork, 0
	for ; i <= len(r.text) && s.candidates > 0 && work > 0; i += width {
		var class int
		if width = 1; i < len(r.text) && r.text[i] < utf8.RuneSelf {
			class = int(p.ascii[r.text[i]])
		} else {
			class, width = p.decode(r.text[i:])
		}
		free, bound := &s.starts[anyKind][class], &s.starts[prev][class] // without and with assertions
		if len(s.set) > 0 || free.size()+bound.size() > 0 {
			w.begin()
			w.step(s.set, prev, class)
			w.start(free)
			w.start(bound)
			w.end()
			s.set, w.next = w.next, s.set
			r.settle(s)
		}
		work -= w.cost + 1
		w.cost = 0
		prev = p.kind[class]
	}
	// As much again may be spent on making such texts known, at half the price.
	r.dfa.credit.Add(int64(r.limits.MatchWork-work) / 2)
	return work > 0
}

// settle reports the patterns that a step found, and drops them from the candidates.
func (r *run) settle(s *slow) {
	if len(s.w.matched) == 0 {
		return
	}
	r.report(s.w.matched)
	for _, pattern := range s.w.matched {
		s.w.only[pattern/64] &^= 1 << (pattern & 63)
	}
	s.candidates -= len(s.w.matched)
}

// begin finds the candidates, their start lists, and their threads in the key.
func (s *slow) begin(r *run, key string) (prev kind) {
	r.report(nil) // so that reported is there
	s.candidates = 0
	clear(s.w.only)
	for _, lists := range s.starts {
		for class := range lists {
			l := &lists[class]
			l.pcs, l.matched = l.pcs[:0], l.matched[:0]
		}
	}
	for _, pattern := range r.literal.find(r.text, s.search) {
		if !r.reported.has(pattern) {
			s.w.only.add(pattern)
			s.candidates++
			s.start(r.p, pattern)
		}
	}
	prev, begun, set := readKey(key, s.set)
	set = append(set, r.p.begun[begun]...)
	s.set = slices.DeleteFunc(set, func(pc uint32) bool { return !s.w.wants(r.p.insts[pc].pat) })
	return prev
}

// start adds a candidate to the start lists.
func (s *slow) start(p *program, pattern uint32) {
	parts := p.begins[p.of[pattern]:p.of[pattern+1]]
	for i := range parts {
		b := &parts[i]
		from, l := &p.start[b.before][b.class], &s.starts[b.before][b.class]
		l.pcs = append(l.pcs, from.pcs[b.pcs:b.pcsEnd]...)
		l.matched = append(l.matched, from.matched[b.matched:b.matchedEnd]...)
	}
	s.w.cost += len(parts)
}
