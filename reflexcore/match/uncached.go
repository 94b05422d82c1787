package match

import "unicode/utf8"

// When a text asks for more new states than a call may build, the rest of it is
// read by the same automaton without remembering states, and only for the
// patterns whose required literals the text has and that were not found yet.
// It is the same step, so it gives the same answers.

// anyKind stands for patterns that begin without an assertion.
const anyKind = kinds + 1

// slow is the working memory of a call that goes on without remembering.
type slow struct {
	w          *stepper
	set        []uint32
	candidates int // bits in w.only
	search     *search
	starts     [][]startList // as the program's, of the candidates only: by kind of the rune before, the last for any, then by class
	known      [][]bool      // which of starts this call has made
}

func newSlow(p *program, l *literals) *slow {
	s := &slow{w: newStepper(p), search: l.newSearch()}
	s.w.only = make([]uint64, p.patterns/64+1)
	for range anyKind + 1 {
		s.starts = append(s.starts, make([]startList, p.count+1))
		s.known = append(s.known, make([]bool, p.count+1))
	}
	return s
}

// uncached reads the text on from a state's key, before byte i.
func (r *run) uncached(key string, i int) (complete bool) {
	s := r.slow.Get().(*slow)
	defer r.slow.Put(s)
	prev := s.begin(r, key)
	p, w, work := r.p, s.w, r.limits.MatchWork
	for width := 1; i <= len(r.text) && s.candidates > 0 && work > 0; i += width {
		class := p.count
		width = 1
		if i < len(r.text) {
			if c := r.text[i]; c < utf8.RuneSelf {
				class = int(p.ascii[c])
			} else {
				class, width = p.decode(r.text[i:])
			}
		}
		free, bound := s.start(anyKind, class, &p.startAny[class]), s.start(prev, class, &p.startAt[prev][class])
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

// settle reports what a step found, and looks for it no more.
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

// begin finds the candidates, and takes their threads out of the key.
func (s *slow) begin(r *run, key string) (prev kind) {
	r.report(nil) // so that reported is there
	s.candidates = 0
	clear(s.w.only)
	for i := range s.known {
		clear(s.known[i])
	}
	for _, pattern := range r.literal.find(r.text, s.search) {
		if bit := uint64(1) << (pattern & 63); r.reported.bits[pattern/64]&bit == 0 {
			s.w.only[pattern/64] |= bit
			s.candidates++
		}
	}
	prev, s.set = readKey(key, s.set)
	kept := s.set[:0]
	for _, pc := range s.set {
		if s.w.wants(r.p.insts[pc].pat) {
			kept = append(kept, pc)
		}
	}
	s.set = kept
	return prev
}

// start returns what all has of the candidates.
func (s *slow) start(before kind, class int, all *startList) *startList {
	l := &s.starts[before][class]
	if s.known[before][class] {
		return l
	}
	s.known[before][class] = true
	l.pcs, l.matched = l.pcs[:0], l.matched[:0]
	for _, pc := range all.pcs {
		if s.w.wants(s.w.p.insts[pc].pat) {
			l.pcs = append(l.pcs, pc)
		}
	}
	for _, pattern := range all.matched {
		if s.w.wants(pattern) {
			l.matched = append(l.matched, pattern)
		}
	}
	s.w.cost += len(all.pcs)/8 + len(all.matched)/8
	return l
}
