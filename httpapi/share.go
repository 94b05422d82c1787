package httpapi

import (
	"fmt"
	"sync"
)

// Limits of the submit socket. One uid may have a quarter of each, so that a
// uid that uses all of its share leaves room for others. A share is far more than an
// agent needs: Claude Code runs some ten calls in parallel.
const (
	defaultHeld     = 1024      // calls that wait, in total
	DefaultHeldEach = 256       // and those of one uid
	maxBytes        = 128 << 20 // total size of their bodies
	maxBytesEach    = 32 << 20
)

// A tally counts what is in use, in total and by uid. The zero value is ready to use.
type tally struct {
	mu  sync.Mutex
	all int64
	of  map[uint32]int64
}

// take counts n more in use by uid. If that would exceed a limit, it counts nothing, and the
// error names the limit.
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

// give undoes take.
func (t *tally) give(uid uint32, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all -= n
	if t.of[uid] -= n; t.of[uid] == 0 {
		delete(t.of, uid)
	}
}

// or returns n, or standard if n is not set.
func or(n int, standard int64) int64 {
	if n > 0 {
		return int64(n)
	}
	return standard
}

// Limits of reports and acknowledgments: that a call ran, or that its answer has arrived.
// They are counted apart from calls, so that an agent with the maximum number of waiting calls
// cannot keep the report of another call out.
const (
	maxToldPlaces     = 256
	maxToldPlacesEach = 64
)

// tell counts a report or acknowledgment with its body; free uncounts it.
func (s *Submit) tell(uid uint32, size int64) (free func(), err error) {
	return s.told.enter(uid, size, maxToldPlaces, maxToldPlacesEach, "reports are taken in", "send it again")
}

// hold counts a waiting call with its body; free uncounts it.
func (s *Submit) hold(uid uint32, size int64) (free func(), err error) {
	return s.held.enter(uid, size, or(s.MaxHeld, defaultHeld), or(s.MaxHeldEach, DefaultHeldEach),
		"calls wait for an answer", "wait until some are answered")
}

// A limiter limits the number of calls or reports in progress, and their bytes. The zero value
// has none in progress.
type limiter struct{ places, bytes tally }

// enter counts one more of size bytes; free uncounts it. If there are too many, the error says
// of what, and what helps.
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
