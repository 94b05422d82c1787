package match

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The deterministic automaton is built while texts are read. A state is a set of threads. For each
// state and class the table has the offset of the next state's row. Readers take no lock: an entry is
// written once, by an atomic store, after the row that it refers to.

// found is set in an entry whose state has patterns to report. An entry that is 0 is not known yet.
const found = 1 << 31

// A view is a version of the table. Readers may use it for as long as they like. It lacks the entries
// that were computed after a larger table replaced it; these are in the newest view.
type view struct {
	rows   []uint32 // stride entries for each state; the first row is no state
	states []state  // by row
	cache  *cache
}

// A cache is shared by the views of one generation. When its bytes are used up, a new generation
// replaces it.
type cache struct {
	rowOf map[string]uint32 // by key: the row's number
	bytes int
}

// A state belongs to a row. Its key says everything about it, see appendKey.
type state struct {
	key     string
	matched []uint32 // patterns found on the way into this state
}

// The bytes that a state needs besides its row and key: its place in states, and in the map.
const (
	statePlace = 40
	mapPlace   = 88
)

// dfa is the automaton's memory and the lock for adding to it.
type dfa struct {
	p      *program
	stride int // classes and the end of the text
	limit  int // bytes
	newest atomic.Pointer[view]
	credit atomic.Int64 // visits that may still be spent on new entries

	mu  sync.Mutex // of everything below, and of writing to newest
	w   *stepper
	set []uint32
	key []byte
}

const firstRow = 1

// The work that a new set may spend on new entries before texts earn it more: this many times
// Limits.BuildWork, and this much for each instruction of the program.
const (
	warmUpCalls = 20
	warmUpInsts = 32
)

func newDFA(p *program, limits Limits) *dfa {
	d := &dfa{p: p, stride: p.count + 1, limit: limits.CacheBytes, w: newStepper(p)}
	d.credit.Store(warmUpCalls*int64(limits.BuildWork) + warmUpInsts*int64(len(p.insts)))
	d.flush()
	return d
}

// flush begins a new generation, which contains only the first state. It changes neither d.key, which
// may be the key of the state that needs room, nor d.w.
func (d *dfa) flush() {
	const rows = 16
	first := string(appendKey(nil, edge, d.p.after[edge][d.p.count], nil, nil))
	v := &view{rows: make([]uint32, rows*d.stride), states: make([]state, rows),
		cache: &cache{rowOf: map[string]uint32{first: firstRow}}}
	v.states[firstRow].key = first
	v.cache.bytes = rows*d.rowBytes() + len(first) + mapPlace
	d.newest.Store(v) // whole: readers begin with it at once
}

// appendKey writes a state as bytes: the kind of the rune before, the number of the list of threads
// that began before that rune (see program.begun), the number of patterns that were found, these, and
// all other threads. They are sorted, so that equal states have equal keys.
func appendKey(key []byte, prev kind, begun uint32, matched, set []uint32) []byte {
	key = binary.LittleEndian.AppendUint32(key, uint32(prev))
	key = binary.LittleEndian.AppendUint32(key, begun)
	key = binary.LittleEndian.AppendUint32(key, uint32(len(matched)))
	for _, pat := range matched {
		key = binary.LittleEndian.AppendUint32(key, pat)
	}
	for _, pc := range set {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	return key
}

// readKey returns the parts of a key, without the patterns that were found.
func readKey(key string, set []uint32) (prev kind, begun uint32, threads []uint32) {
	b := unsafe.Slice(unsafe.StringData(key), len(key)) // read only, here
	prev, begun = kind(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:])
	b = b[12+4*binary.LittleEndian.Uint32(b[8:]):]
	for set = set[:0]; len(b) > 0; b = b[4:] {
		set = append(set, binary.LittleEndian.Uint32(b))
	}
	return prev, begun, set
}

// rowBytes returns the bytes of the place for a state, used or not.
func (d *dfa) rowBytes() int { return 4*d.stride + statePlace }

// stateBytes returns the bytes that a state needs besides its place.
func stateBytes(key []byte, matched []uint32) int { return len(key) + 4*len(matched) + mapPlace }

// row returns the number of the state's row in the newest table, and makes one if there is none.
// flushed means that the limit left no room, so that a new generation has begun.
func (d *dfa) row(key []byte, matched []uint32) (row uint32, flushed bool) {
	v := d.newest.Load()
	if row, ok := v.cache.rowOf[string(key)]; ok {
		return row, false
	}
	row = uint32(len(v.cache.rowOf)) + firstRow
	room := d.limit - v.cache.bytes - stateBytes(key, matched)
	if full := int(row) == len(v.states); row > firstRow+1 && (room < 0 || full && !d.grow(v, room)) {
		d.flush()
		row, _ = d.row(key, matched)
		return row, true
	}
	v = d.newest.Load()
	s := state{key: string(key), matched: slices.Clone(matched)}
	v.states[row] = s
	v.cache.rowOf[s.key] = row
	v.cache.bytes += stateBytes(key, matched)
	return row, false
}

// grow makes a larger table the newest: twice as large, or as large as the room allows. It returns
// false if that would be hardly larger.
func (d *dfa) grow(v *view, room int) bool {
	rows := len(v.states)
	more := min(rows, room/2/d.rowBytes())
	if more < rows/8 {
		return false
	}
	larger := &view{rows: make([]uint32, (rows+more)*d.stride), states: make([]state, rows+more), cache: v.cache}
	copy(larger.rows, v.rows)
	copy(larger.states, v.states)
	larger.cache.bytes += more * d.rowBytes()
	d.newest.Store(larger)
	return true
}

// next returns the entry of a class in the row of v at base, and the view to read on with, which may
// be a newer one. The cost of computing an entry is taken from work and credit; ok is false if one of
// them is used up.
func (d *dfa) next(v *view, base uint32, class int, work *int) (nv *view, entry uint32, ok bool) {
	if cur := d.newest.Load(); cur.cache == v.cache {
		if entry := atomic.LoadUint32(&cur.rows[int(base)+class]); entry != 0 {
			return cur, entry, true
		}
	}
	if *work <= 0 || d.credit.Load() <= 0 {
		return v, 0, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	cur, from := d.newest.Load(), v.states[int(base)/d.stride].key
	known := cur.cache == v.cache // else the row is gone, but its state is still in v
	if known && cur.rows[int(base)+class] != 0 {
		return cur, cur.rows[int(base)+class], true
	}
	matched := d.step(from, class)
	*work -= d.w.cost + stepCost
	d.credit.Add(-int64(d.w.cost + stepCost))
	d.w.cost = 0
	row, flushed := d.row(d.key, matched)
	entry = row * uint32(d.stride)
	if len(matched) > 0 {
		entry |= found
	}
	cur = d.newest.Load()
	if known && !flushed {
		atomic.StoreUint32(&cur.rows[int(base)+class], entry)
	}
	return cur, entry, true
}

// stepCost is the cost of a new entry besides its threads, in visited instructions.
const stepCost = 32

// step computes the state after a rune of the class, and leaves its key in d.key.
func (d *dfa) step(key string, class int) (matched []uint32) {
	w, p := d.w, d.p
	prev, begun, set := readKey(key, d.set)
	d.set = set
	w.begin()
	w.step(set, prev, class)
	w.step(p.begun[begun], prev, class)
	w.startMatches(&p.start[anyKind][class])
	w.startMatches(&p.start[prev][class])
	w.end()
	begun = p.after[prev][class]
	w.next = slices.DeleteFunc(w.next, func(pc uint32) bool {
		_, there := slices.BinarySearch(p.begun[begun], pc)
		return there
	})
	slices.Sort(w.next)
	slices.Sort(w.matched)
	d.key = appendKey(d.key[:0], p.kind[class], begun, w.matched, w.next)
	w.cost += 4 * len(w.next) // sorting and storing
	return w.matched
}
