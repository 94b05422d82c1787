package sqlitestore

import (
	"sync"

	"approver.example"
)

// Bounds of what is remembered of the file.
const (
	maxRecent      = 512
	maxRecentBytes = 2 << 10 // of a value; of a larger one only the revision is remembered
)

// recents are the records that were read or written last, also those that are not there. No other
// process writes to the file, so what is remembered is what it has. A reader of SQLite begins anew
// after each commit of the writer; most records are read again and again, and seldom written.
//
// The zero value remembers nothing. All methods are safe for concurrent use.
type recents struct {
	mu      sync.Mutex
	of      map[string]recentRecord
	writing map[string]int // the commits under way that change a record
	commits uint64         // that have begun, and that have ended
}

// A recentRecord is a record as the file has it; without a revision there is none.
type recentRecord struct {
	rev   approver.Rev
	keep  int64
	value []byte
	whole bool // value is all of it
}

// get returns what is remembered of a record, if that answers a reader who knows a revision.
func (k *recents) get(key string, known approver.Rev) (r recentRecord, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok = k.of[key]
	return r, ok && (r.whole || r.rev == known)
}

// now is the moment that add needs: what is read from here on.
func (k *recents) now() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.commits
}

// add remembers what was read since a moment, unless a commit has begun or ended since, or writes it now.
func (k *recents) add(key string, r recentRecord, since uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.commits == since && k.writing[key] == 0 {
		k.keep(key, r)
	}
}

// keep remembers a record in the place of any other. The caller holds the lock.
func (k *recents) keep(key string, r recentRecord) {
	if k.of == nil {
		k.of = make(map[string]recentRecord)
	}
	if _, has := k.of[key]; !has && len(k.of) >= maxRecent {
		for other := range k.of { // any: it costs one reading
			delete(k.of, other)
			break
		}
	}
	if len(r.value) > maxRecentBytes {
		r.value, r.whole = nil, false
	}
	k.of[key] = r
}

// begin forgets records that are about to be committed: until the writers are told, others may read
// them as they were or as they will be, but never as they were after somebody read the new ones.
func (k *recents) begin(parts []part) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.commits++
	if k.writing == nil {
		k.writing = make(map[string]int)
	}
	for i := range parts {
		k.writing[parts[i].key]++
		delete(k.of, parts[i].key)
	}
}

// end remembers the records if they were committed.
func (k *recents) end(parts []part, committed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.commits++ // what was read meanwhile may be of before
	for i := range parts {
		p := &parts[i]
		if k.writing[p.key]--; k.writing[p.key] == 0 {
			delete(k.writing, p.key)
		}
		if committed {
			k.keep(p.key, recentRecord{p.rev, p.keep, p.value, true})
		}
	}
}
