package match

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The deterministic automaton is built while texts are read. A state is a set
// of threads; the table has, for each state and class, the offset of the next
// state's row. Readers take no lock: an entry is written once, by an atomic
// store, after everything that it leads to.

// found is set in an entry whose state has patterns to report; an entry that is
// 0 is not known yet.
const found = 1 << 31

// view is a table that readers may use for as long as they like. Entries that
// became known after a larger table took its place are missing from it, which
// costs a look at the newest.
type view struct {
	rows   []uint32 // stride entries for each state; the first row is no state
	states []state  // by row
	cache  *cache
}

// cache is what the views of one generation share. When its bytes are used up a
// new generation takes its place.
type cache struct {
	rowOf map[string]uint32 // by key: the row's number
	bytes int
}

// state is what a row stands for. Its key has everything that what follows
// depends on: see appendKey.
type state struct {
	key     string
	matched []uint32 // patterns found on the way into this state
}

// stateOverhead is what a state costs beside its row and key: its place in
// states and in the map. Measured with the benchmarks' pattern sets.
const stateOverhead = 128

// dfa is the automaton's memory and the lock for adding to it.
type dfa struct {
	p      *program
	stride int // classes and the end of the text
	limit  int // bytes
	newest atomic.Pointer[view]

	mu  sync.Mutex // of everything below, and of writing to newest
	w   *stepper
	set []uint32
	key []byte
}

const firstRow = 1

func newDFA(p *program, limit int) *dfa {
	d := &dfa{p: p, stride: p.count + 1, limit: limit, w: newStepper(p)}
	d.flush()
	return d
}

// flush begins a new generation, which knows the first state only.
func (d *dfa) flush() {
	const rows = 16
	v := &view{rows: make([]uint32, rows*d.stride), states: make([]state, rows), cache: &cache{rowOf: map[string]uint32{}}}
	v.cache.bytes = 4 * d.stride
	d.newest.Store(v)
	d.row(appendKey(nil, edge, nil, nil), nil) // not in d.key, which may hold the state that asked for room
}

// appendKey writes a state as bytes: the kind of the rune before, how many
// patterns were found, these, and the threads; all in order, so that equal
// states have equal keys.
func appendKey(key []byte, prev kind, matched, set []uint32) []byte {
	key = binary.LittleEndian.AppendUint32(key, uint32(prev))
	key = binary.LittleEndian.AppendUint32(key, uint32(len(matched)))
	for _, pat := range matched {
		key = binary.LittleEndian.AppendUint32(key, pat)
	}
	for _, pc := range set {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	return key
}

// readKey returns what stands behind a rune: its kind, and the threads.
func readKey(key string, set []uint32) (prev kind, threads []uint32) {
	b := unsafe.Slice(unsafe.StringData(key), len(key)) // read only, here
	prev = kind(binary.LittleEndian.Uint32(b))
	b = b[8+4*binary.LittleEndian.Uint32(b[4:]):]
	for set = set[:0]; len(b) > 0; b = b[4:] {
		set = append(set, binary.LittleEndian.Uint32(b))
	}
	return prev, set
}

// row returns the number of the state's row in the newest table, and makes one
// if there is none.
func (d *dfa) row(key []byte, matched []uint32) uint32 {
	v := d.newest.Load()
	if row, ok := v.cache.rowOf[string(key)]; ok {
		return row
	}
	row := uint32(len(v.cache.rowOf)) + firstRow
	if int(row) == len(v.states) { // full: twice as large, for readers to come
		larger := &view{rows: make([]uint32, 2*len(v.rows)), states: make([]state, 2*len(v.states)), cache: v.cache}
		copy(larger.rows, v.rows)
		copy(larger.states, v.states)
		d.newest.Store(larger)
		v = larger
	}
	s := state{key: string(key), matched: slices.Clone(matched)}
	v.states[row] = s
	v.cache.rowOf[s.key] = row
	v.cache.bytes += 4*d.stride + len(key) + 4*len(matched) + stateOverhead
	return row
}

// next returns the entry of a class in the row of v at base, and the view to
// read on with, which may be a newer one. The cost of finding out is taken from
// work; when that is used up, ok is false.
func (d *dfa) next(v *view, base uint32, class int, work *int) (nv *view, entry uint32, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := v.states[int(base)/d.stride]
	cur := d.newest.Load()
	if v.cache == cur.cache {
		if entry := cur.rows[int(base)+class]; entry != 0 {
			return cur, entry, true
		}
	} else {
		base = 0 // its row is gone; what it stands for is not
	}
	if *work <= 0 {
		return v, 0, false
	}
	prev, matched := d.step(from.key, class)
	*work -= d.w.cost + stepCost
	d.w.cost = 0

	d.key = appendKey(d.key[:0], prev, matched, d.w.next)
	if cur.cache.bytes+4*d.stride+len(d.key)+stateOverhead > d.limit {
		d.flush()
		base = 0
	}
	entry = d.row(d.key, matched) * uint32(d.stride)
	if len(matched) > 0 {
		entry |= found
	}
	cur = d.newest.Load()
	if base != 0 {
		atomic.StoreUint32(&cur.rows[int(base)+class], entry)
	}
	return cur, entry, true
}

// stepCost is what a new entry costs beside its threads, in visits.
const stepCost = 32

// step computes the state behind a rune of the class. Its threads are left in
// the stepper, in order.
func (d *dfa) step(key string, class int) (prev kind, matched []uint32) {
	w := d.w
	prev, d.set = readKey(key, d.set)
	w.begin()
	w.step(d.set, prev, class)
	w.start(&d.p.startAny[class])
	w.start(&d.p.startAt[prev][class])
	w.end()
	slices.Sort(w.next)
	slices.Sort(w.matched)
	return d.p.kind[class], w.matched
}
