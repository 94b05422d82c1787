package httpapi

import (
	"fmt"
	"sync"
)

// Bounds of the submit socket. Those of one uid are a quarter or an eighth of all: a
// uid that takes all that it can leaves room for the others. It is far more than an
// agent has at once: Claude Code runs some ten calls in parallel.
const (
	defaultHeld     = 1024 // calls that wait, in all
	defaultHeldEach = 256
	maxBytes        = 128 << 20 // of their bodies
	maxBytesEach    = 32 << 20
)

// A tally counts what is in use, in all and by each uid. The zero value counts.
type tally struct {
	mu  sync.Mutex
	all int64
	of  map[uint32]int64
}

// take notes n more in use by uid, unless that is more than a bound: then it says
// which.
func (t *tally) take(uid uint32, n, all, each int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.of[uid]+n > each:
		return fmt.Errorf("of uid %d, at most %d", uid, each)
	case t.all+n > all:
		return fmt.Errorf("of all users together, at most %d", all)
	}
	if t.of == nil {
		t.of = map[uint32]int64{}
	}
	t.all += n
	t.of[uid] += n
	return nil
}

// give takes back what take noted.
func (t *tally) give(uid uint32, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all -= n
	if t.of[uid] -= n; t.of[uid] == 0 {
		delete(t.of, uid)
	}
}

// or is n, or where that is not set, standard.
func or(n int, standard int64) int64 {
	if n > 0 {
		return int64(n)
	}
	return standard
}

// Bounds of the places for what is told of calls: that one ran, or that an answer is here.
// They have places of their own, so that an agent that holds all the calls that it may
// cannot keep the report of another one out.
const (
	maxToldPlaces     = 256
	maxToldPlacesEach = 64
)

// tell takes a place for what is told of a call, and for its body.
func (s *Submit) tell(uid uint32, size int64) (free func(), err error) {
	return s.told.enter(uid, size, maxToldPlaces, maxToldPlacesEach, "reports are taken in", "send it again")
}

// hold takes a place for a call that waits, and for its body.
func (s *Submit) hold(uid uint32, size int64) (free func(), err error) {
	return s.held.enter(uid, size, or(s.MaxHeld, defaultHeld), or(s.MaxHeldEach, defaultHeldEach),
		"calls wait for an answer", "wait until some are answered")
}

// A limiter bounds how many calls or reports are under way, and their bytes. The zero value has
// none under way.
type limiter struct{ places, bytes tally }

// enter takes a place for size bytes; free gives both back. Where there is none, the error
// says of what there are too many, and what helps.
func (m *limiter) enter(uid uint32, size, all, each int64, what, cure string) (free func(), err error) {
	if err := m.places.take(uid, 1, all, each); err != nil {
		return nil, fmt.Errorf("too many %s (%w): %s", what, err, cure)
	}
	if err := m.bytes.take(uid, size, maxBytes, maxBytesEach); err != nil {
		m.places.give(uid, 1)
		return nil, fmt.Errorf("too many large %s (%w bytes): %s", what, err, cure)
	}
	return func() {
		m.places.give(uid, 1)
		m.bytes.give(uid, size)
	}, nil
}
