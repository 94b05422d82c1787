package broadcaster

import (
	"sync"

	"approver.example"
)

// Bounds of the cache: requests of a usual size, of which some dozen are read or written
// at one moment.
const (
	maxCached      = 512
	maxCachedBytes = 16 << 10 // of the stored record
)

// requestCache has the requests that were read or written last, each at one revision. A record
// is sealed JSON, and every step of a request reads it: a record that has not changed need not
// be opened again. The store still decides which revision counts, in a Get or in the
// compare-and-set of a Put.
//
// The requests are shared: whoever changes a slice of one makes a copy first. The zero value
// is empty. All methods are safe for concurrent use.
type requestCache struct {
	mu      sync.Mutex
	of      map[string]version // by id
	writing map[string]version // those that are being written
}

type version struct {
	rev approver.Rev
	r   Request
}

// at returns the request as it is at a revision, if it is cached.
func (k *requestCache) at(id string, rev approver.Rev) (Request, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, of := range []map[string]version{k.of, k.writing} {
		if v, ok := of[id]; ok && v.rev == rev {
			return v.r, true
		}
	}
	return Request{}, false
}

// begin remembers a request that is about to be stored at rev: whoever waits for it reads it before the writer
// is told that it is stored. The writer calls the returned function once it is told.
func (k *requestCache) begin(r Request, rev approver.Rev) (done func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.writing == nil {
		k.writing = map[string]version{}
	}
	k.writing[r.ID] = version{rev, r}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.writing[r.ID].rev == rev {
			delete(k.writing, r.ID)
		}
	}
}

// last returns the newest cached revision of a request.
func (k *requestCache) last(id string) (Request, approver.Rev, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.of[id]
	return v.r, v.rev, ok
}

// note remembers a request as it is stored at rev, in size bytes. It forgets one that is
// closed or too large.
func (k *requestCache) note(r Request, rev approver.Rev, size int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.Closed || size > maxCachedBytes {
		delete(k.of, r.ID)
		return
	}
	if k.of == nil {
		k.of = map[string]version{}
	}
	if _, ok := k.of[r.ID]; !ok && len(k.of) >= maxCached {
		for id := range k.of { // any: it costs one reading
			delete(k.of, id)
			break
		}
	}
	k.of[r.ID] = version{rev, r}
}
