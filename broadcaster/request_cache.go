package broadcaster

import (
	"slices"
	"sync"

	"approver.example"
)

// Bounds of the cache: requests of a usual size, of which some dozen are read or written
// at one moment.
const (
	maxCached      = 512
	maxCachedBytes = 16 << 10 // of the stored record
	// maxClosed bounds the closed requests among them, which are read once or twice more.
	maxClosed = 64
)

// requestCache has the requests that were read or written last, each at one revision. A record
// is sealed JSON, and every step of a request reads it: a record that has not changed need not
// be opened again. The store still decides which revision counts, in a Get or in the
// compare-and-set of a Put.
//
// The requests are shared: whoever changes a slice of one makes a copy first. The zero value
// is empty. All methods are safe for concurrent use.
type requestCache struct {
	mu     sync.Mutex
	of     map[string]*versions // by id
	closed []string             // ids, the oldest first
}

// versions are the cached revisions of one request. Two writers may be told of their writes in the other order.
type versions struct {
	last, before version
	writing      []version
}

type version struct {
	rev  approver.Rev
	r    *Request // never changed
	mine bool     // this process was told that it is stored, durably
}

// at returns the request as it is at a revision, if it is cached.
func (k *requestCache) at(id string, rev approver.Rev) (Request, bool) {
	v := k.version(id, rev)
	if v.r == nil {
		return Request{}, false
	}
	return *v.r, true
}

func (k *requestCache) version(id string, rev approver.Rev) version {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.of[id]
	switch {
	case all == nil || rev == "":
		return version{}
	case all.last.rev == rev:
		return all.last
	case all.before.rev == rev:
		return all.before
	}
	for _, v := range all.writing {
		if v.rev == rev {
			return v
		}
	}
	return version{}
}

// last returns the newest cached revision of a request.
func (k *requestCache) last(id string) (Request, approver.Rev, bool) {
	k.mu.Lock()
	var v version
	if all := k.of[id]; all != nil {
		v = all.last
	}
	k.mu.Unlock()
	if v.r == nil {
		return Request{}, "", false
	}
	return *v.r, v.rev, true
}

// stored returns the newest cached revision of a request if this process wrote it, and was told that
// it is durable.
func (k *requestCache) stored(id string) (Request, approver.Rev, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.of[id]
	if all == nil || !all.last.mine {
		return Request{}, "", false
	}
	return *all.last.r, all.last.rev, true
}

// begin remembers a request that is about to be stored at rev: whoever waits for it reads it before the writer
// is told that it is stored. The writer calls the returned function once it is told.
func (k *requestCache) begin(rev approver.Rev, r *Request) (done func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := r.ID
	all := k.room(id)
	all.writing = append(all.writing, version{rev: rev, r: r})
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		all.writing = slices.DeleteFunc(all.writing, func(v version) bool { return v.rev == rev })
		if all.last.r == nil && len(all.writing) == 0 && k.of[id] == all {
			delete(k.of, id)
		}
	}
}

// room returns the place of a request, and forgets another request if there is none left.
func (k *requestCache) room(id string) *versions {
	if k.of == nil {
		k.of = map[string]*versions{}
	}
	if all := k.of[id]; all != nil {
		return all
	}
	if len(k.of) >= maxCached {
		for id := range k.of { // any: it costs one reading
			delete(k.of, id)
			break
		}
	}
	all := &versions{}
	k.of[id] = all
	return all
}

// note remembers a request as it was read at rev, in size bytes. It forgets one that is too large,
// and the oldest of many that are closed.
func (k *requestCache) note(r *Request, rev approver.Rev, size int) {
	k.keep(version{rev: rev, r: r}, size)
}

// wrote is note for a request that this process has stored.
func (k *requestCache) wrote(r *Request, rev approver.Rev, size int) {
	k.keep(version{rev: rev, r: r, mine: true}, size)
}

func (k *requestCache) keep(v version, size int) {
	r := v.r
	k.mu.Lock()
	defer k.mu.Unlock()
	if size > maxCachedBytes {
		delete(k.of, r.ID)
		return
	}
	all := k.room(r.ID)
	if v.mine && v.rev == all.before.rev { // its writer is told late: it was replaced since
		return
	}
	if all.last.rev != v.rev {
		all.before = all.last
	} else {
		v.mine = v.mine || all.last.mine // it was also read
	}
	all.last = v
	if !r.Closed || slices.Contains(k.closed, r.ID) {
		return
	}
	if k.closed = append(k.closed, r.ID); len(k.closed) > maxClosed {
		delete(k.of, k.closed[0])
		k.closed = slices.Delete(k.closed, 0, 1)
	}
}
