package match

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"regexp/syntax"
	"slices"
	"unicode"
)

// An op says what an instruction of the combined program does. The zero value matches nothing.
type op uint8

const (
	opFail  op = iota
	opRune     // consumes a rune of set arg, and continues at out
	opAlt      // continues at out and at arg
	opEmpty    // continues at out if the assertions arg hold
	opMatch    // pattern pat matches
)

// An inst is one instruction. There are no captures, because nobody asks for the position of a match.
type inst struct {
	op       op
	pat      uint32
	out, arg uint32
}

// A program is all patterns as one nondeterministic automaton. It does not change after New.
type program struct {
	insts    []inst
	patterns int
	always   []int // patterns that match every text: not in the automaton
	classes
	start  [anyKind + 1][]startList // by the kind of the rune before, then by class
	begins []begin                  // the parts of start, by pattern
	of     []uint32                 // by pattern: where its parts begin; the last is the end
	after  [kinds + 1][]uint32      // by the kind of the rune before, then by class: the number of the list in begun
	begun  [][]uint32               // distinct lists of the instructions in start, of both kinds, in order
}

// anyKind is the index of the patterns that begin without an assertion.
const anyKind = kinds + 1

// A startList is the result when patterns begin before a rune.
type startList struct {
	pcs     []uint32 // all instructions that are reached over the rune
	matched []uint32 // patterns that match at once
}

// A begin is one pattern's part of a start list.
type begin struct {
	before              kind
	class               uint16
	pcs, pcsEnd         uint32
	matched, matchedEnd uint32
}

func (l *startList) size() int { return len(l.pcs) + len(l.matched) }

// add appends one pattern's parsed and simplified expression to the program
// and returns where it starts.
func (p *program) add(prog *syntax.Prog, sets *setTable) uint32 {
	pat, base := uint32(p.patterns), uint32(len(p.insts))
	p.patterns++
	skip := func(pc uint32) uint32 { // follows captures and nops to the instruction after them
		for range prog.Inst {
			if in := &prog.Inst[pc]; in.Op != syntax.InstCapture && in.Op != syntax.InstNop {
				break
			}
			pc = prog.Inst[pc].Out
		}
		return pc
	}
	for i := range prog.Inst {
		in, c := &prog.Inst[i], inst{pat: pat}
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			c.op, c.out, c.arg = opAlt, base+skip(in.Out), base+skip(in.Arg)
		case syntax.InstEmptyWidth:
			c.op, c.out, c.arg = opEmpty, base+skip(in.Out), in.Arg
			sets.assertion(syntax.EmptyOp(in.Arg))
		case syntax.InstMatch:
			c.op = opMatch
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			c.op, c.out, c.arg = opRune, base+skip(in.Out), sets.of(in)
		default: // a dead end, or skipped
		}
		p.insts = append(p.insts, c)
	}
	return base + skip(uint32(prog.Start))
}

// setTable numbers the distinct sets of runes that a program consumes.
type setTable struct {
	ids        map[string]uint32
	ranges     [][]rune // by id: pairs of first and last
	word, line bool     // an assertion asks for words, for lines
}

func (t *setTable) assertion(op syntax.EmptyOp) {
	t.word = t.word || op&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
	t.line = t.line || op&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0
}

// of returns the id of the set that the instruction consumes, as syntax.Inst.MatchRune has it.
func (t *setTable) of(in *syntax.Inst) uint32 {
	var ranges []rune
	switch {
	case in.Op == syntax.InstRuneAny:
		ranges = []rune{0, unicode.MaxRune}
	case in.Op == syntax.InstRuneAnyNotNL:
		ranges = []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case len(in.Rune) == 1:
		r0 := in.Rune[0]
		ranges = []rune{r0, r0}
		if in.Op == syntax.InstRune && syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
			for r := unicode.SimpleFold(r0); r != r0; r = unicode.SimpleFold(r) {
				ranges = append(ranges, r, r)
			}
		}
	default:
		ranges = in.Rune
	}
	key := string(fmt.Append(nil, ranges))
	id, ok := t.ids[key]
	if !ok {
		id = uint32(len(t.ranges))
		t.ids[key] = id
		t.ranges = append(t.ranges, ranges)
	}
	return id
}

// starts fills the start lists from each pattern's first instruction, and removes the patterns that
// match every text from the automaton.
func (p *program) starts(first []uint32) {
	w := newStepper(p)
	for before := range p.start {
		p.start[before] = make([]startList, p.count+1)
	}
	for pat, pc := range first {
		p.of = append(p.of, uint32(len(p.begins)))
		w.begin()
		w.follow(pc, edge)
		if len(w.matched) > 0 {
			p.always = append(p.always, pat)
			continue
		}
		if !slices.ContainsFunc(w.next, func(pc uint32) bool { return p.insts[pc].op == opEmpty }) {
			p.startBefore(w, pc, 0, anyKind, func(int) bool { return true })
			continue
		}
		for before := range kinds + 1 {
			for next := range kinds + 1 {
				p.startBefore(w, pc, holds(before, next), before, func(class int) bool { return p.kind[class] == next })
			}
		}
	}
	p.of = append(p.of, uint32(len(p.begins)))
	p.number()
}

// startBefore adds a pattern, whose first instruction is pc, to the start lists of some classes. It
// follows the assertions in holding.
func (p *program) startBefore(w *stepper, pc uint32, holding syntax.EmptyOp, before kind, some func(class int) bool) {
	w.begin()
	w.reach(pc, holding)
	if len(w.matched) > 0 {
		for class := range p.count + 1 {
			if some(class) {
				p.startWith(before, class, nil, w.matched)
			}
		}
		return
	}
	for class := range p.classesOf(w.before) {
		if !some(class) {
			continue
		}
		w.begin()
		for _, pc := range w.before {
			if in := &p.insts[pc]; p.member(in.arg, class) {
				w.follow(in.out, p.kind[class])
			}
		}
		w.end()
		p.startWith(before, class, w.next, w.matched)
	}
}

// classesOf yields the classes of runes that some of the instructions consume.
func (p *program) classesOf(pcs []uint32) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range p.words {
			var left uint64
			for _, pc := range pcs {
				left |= p.members[int(p.insts[pc].arg)*p.words+i]
			}
			for ; left != 0; left &= left - 1 {
				if !yield(i*64 + bits.TrailingZeros64(left)) {
					return
				}
			}
		}
	}
}

// startWith adds a pattern's part to a list.
func (p *program) startWith(before kind, class int, pcs, matched []uint32) {
	l := &p.start[before][class]
	b := begin{before: before, class: uint16(class), pcs: uint32(len(l.pcs)), matched: uint32(len(l.matched))}
	l.pcs, l.matched = append(l.pcs, pcs...), append(l.matched, matched...)
	b.pcsEnd, b.matchedEnd = uint32(len(l.pcs)), uint32(len(l.matched))
	p.begins = append(p.begins, b)
}

// number fills begun and after: each distinct list of instructions gets a number.
func (p *program) number() {
	ids := map[string]uint32{}
	var key []byte
	for before := range p.after {
		p.after[before] = make([]uint32, p.count+1)
		for class := range p.after[before] {
			pcs := slices.Concat(p.start[anyKind][class].pcs, p.start[before][class].pcs)
			slices.Sort(pcs)
			pcs = slices.Compact(pcs)
			key = key[:0]
			for _, pc := range pcs {
				key = binary.LittleEndian.AppendUint32(key, pc)
			}
			id, ok := ids[string(key)]
			if !ok {
				id = uint32(len(p.begun))
				ids[string(key)] = id
				p.begun = append(p.begun, pcs)
			}
			p.after[before][class] = id
		}
	}
}

// A stepper is the working memory of a step of the automaton, for one goroutine.
type stepper struct {
	p       *program
	next    []uint32 // after the step: instructions that consume a rune or have an assertion
	matched []uint32 // patterns found in this step
	cost    int      // instructions visited since it was last read
	only    bitset   // the patterns that are looked for; nil is all

	gen        uint32
	seen, here []uint32 // by instruction: the generation that visited it after and before the rune
	found      []uint32 // by pattern: the generation that found it
	stack      []uint32
	before     []uint32 // what reach came to
}

func newStepper(p *program) *stepper {
	return &stepper{p: p, seen: make([]uint32, len(p.insts)), here: make([]uint32, len(p.insts)),
		found: make([]uint32, p.patterns)}
}

// begin starts a new step.
func (w *stepper) begin() {
	w.next, w.matched = w.next[:0], w.matched[:0]
	if w.gen++; w.gen == 0 { // wrapped: old marks would count again
		clear(w.seen)
		clear(w.here)
		clear(w.found)
		w.gen = 1
	}
}

// step moves the threads of set, which are after a rune of kind prev, over a rune of the class or over
// the end of the text.
func (w *stepper) step(set []uint32, prev kind, class int) {
	p := w.p
	next := p.kind[class]
	holding := holds(prev, next)
	for _, pc := range set {
		in := &p.insts[pc]
		switch {
		case in.op == opRune:
			if p.member(in.arg, class) {
				w.follow(in.out, next)
			}
		case syntax.EmptyOp(in.arg)&^holding == 0:
			w.resolve(in.out, holding, class)
		}
	}
	w.cost += len(set)
}

// start adds the threads and the matches of a start list.
func (w *stepper) start(l *startList) {
	for _, pc := range l.pcs {
		if w.seen[pc] != w.gen && w.wants(w.p.insts[pc].pat) {
			w.seen[pc] = w.gen
			w.next = append(w.next, pc)
		}
	}
	w.startMatches(l)
	w.cost += len(l.pcs)
}

// startMatches adds the patterns that match as soon as they begin.
func (w *stepper) startMatches(l *startList) {
	for _, pat := range l.matched {
		if w.wants(pat) {
			w.match(pat)
		}
	}
	w.cost += len(l.matched)
}

// end drops the threads of the patterns that were found in this step, because they could only find
// these again.
func (w *stepper) end() {
	if len(w.matched) == 0 {
		return
	}
	w.next = slices.DeleteFunc(w.next, func(pc uint32) bool { return w.found[w.p.insts[pc].pat] == w.gen })
}

// wants reports whether a pattern is looked for.
func (w *stepper) wants(pat uint32) bool { return w.only == nil || w.only.has(pat) }

func (w *stepper) match(pat uint32) {
	if w.found[pat] != w.gen {
		w.found[pat] = w.gen
		w.matched = append(w.matched, pat)
	}
}

// resolve follows everything from pc that consumes nothing, before a rune of the class, and then the
// rune.
func (w *stepper) resolve(pc uint32, holding syntax.EmptyOp, class int) {
	w.reach(pc, holding)
	for _, pc := range w.before {
		if in := &w.p.insts[pc]; w.p.member(in.arg, class) {
			w.follow(in.out, w.p.kind[class])
		}
	}
}

// reach follows everything from pc that consumes nothing, if its assertions hold. It leaves the
// instructions that consume a rune in w.before.
func (w *stepper) reach(pc uint32, holding syntax.EmptyOp) {
	w.before, w.stack = w.before[:0], append(w.stack[:0], pc)
	for len(w.stack) > 0 {
		pc := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if w.here[pc] == w.gen {
			continue
		}
		w.here[pc] = w.gen
		w.cost++
		switch in := &w.p.insts[pc]; in.op {
		case opAlt:
			w.stack = append(w.stack, in.arg, in.out)
		case opEmpty:
			if syntax.EmptyOp(in.arg)&^holding == 0 {
				w.stack = append(w.stack, in.out)
			}
		case opRune:
			w.before = append(w.before, pc)
		case opMatch:
			w.match(in.pat)
		default: // a dead end
		}
	}
}

// follow goes from pc, after a rune of kind prev, to every instruction that consumes the next rune or
// has an assertion about it.
func (w *stepper) follow(pc uint32, prev kind) {
	w.stack = append(w.stack[:0], pc)
	for len(w.stack) > 0 {
		pc := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if w.seen[pc] == w.gen {
			continue
		}
		w.seen[pc] = w.gen
		w.cost++
		switch in := &w.p.insts[pc]; in.op {
		case opAlt:
			w.stack = append(w.stack, in.arg, in.out)
		case opEmpty:
			if syntax.EmptyOp(in.arg)&^possible(prev) == 0 {
				w.next = append(w.next, pc)
			}
		case opRune:
			w.next = append(w.next, pc)
		case opMatch:
			w.match(in.pat)
		default: // a dead end
		}
	}
}
