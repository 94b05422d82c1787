package discord

import (
	"log/slog"
	"sync"

	"approver.example/channels/internal/receiving"
)

const (
	// maxPerPerson bounds the answers of one person that are handled at once, so that nobody
	// crowds out the others. The length of the approver list bounds the total. An answer waits
	// until its card is known to be posted, so the limit must allow for the answers to all
	// cards of a busy minute.
	maxPerPerson = 32
	// maxRefusals bounds the refusals that are sent at once; more are dropped.
	maxRefusals = 4
	// overheard is the key of codes that are noted: they crowd out no refusal.
	overheard = "overheard"
)

// workers handle the events of one Run, each in a goroutine of its own.
type workers struct {
	log *slog.Logger

	mu      sync.Mutex
	busy    map[string]int
	stopped bool
	begins  func() (end func()) // is told of work that begins now
	all     sync.WaitGroup
}

func newWorkers(log *slog.Logger) *workers { return &workers{log: log, busy: map[string]int{}} }

// try runs fn in a goroutine and returns true. If limit calls with the same key are under way,
// or the workers have stopped, it does nothing and returns false. A panic in fn is logged.
func (w *workers) try(key string, limit int, fn func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.busy[key] >= limit {
		return false
	}
	w.busy[key]++
	end := func() {}
	if w.begins != nil {
		end = w.begins()
	}
	w.all.Go(func() {
		defer end()
		defer func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.busy[key]--; w.busy[key] == 0 {
				delete(w.busy, key)
			}
		}()
		defer receiving.Recovered(w.log, "an event handler panicked")
		fn()
	})
	return true
}

// during runs f, which does not wait, and tells begins of each piece of work that begins meanwhile; end is called
// when it is done.
func (w *workers) during(begins func() (end func()), f func()) {
	set := func(begins func() (end func())) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.begins = begins
	}
	set(begins)
	defer set(nil)
	f()
}

// stop accepts no more work and waits for what is under way.
func (w *workers) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.all.Wait()
}
