package discord

import (
	"log/slog"
	"runtime/debug"
	"sync"
)

const (
	// maxPerPerson bounds the answers of one person that are handled at once,
	// so that nobody takes the place of the others. The approver list bounds
	// the sum. An answer waits while its card's post is not certain, so those to
	// the cards of a busy minute must fit.
	maxPerPerson = 32
	// maxRefusals bounds the refusals that are told at once; more are dropped.
	maxRefusals = 4
)

// A crew handles the events of one Run, each in a goroutine of its own.
type crew struct {
	log *slog.Logger

	mu      sync.Mutex
	busy    map[string]int
	stopped bool
	all     sync.WaitGroup
}

func newCrew(log *slog.Logger) *crew { return &crew{log: log, busy: map[string]int{}} }

// try runs fn in a goroutine unless limit of the same key are under way already
// or the crew has stopped; then it returns false. A panic in fn is logged.
func (w *crew) try(key string, limit int, fn func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.busy[key] >= limit {
		return false
	}
	w.busy[key]++
	w.all.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				w.log.Error("an event handler panicked", "panic", r, "stack", string(debug.Stack()))
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.busy[key]--; w.busy[key] == 0 {
				delete(w.busy, key)
			}
		}()
		fn()
	})
	return true
}

// stop takes no more work and waits for what is under way.
func (w *crew) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.all.Wait()
}

// A memory tells what was seen before among the latest events, so that one that
// is delivered twice counts once.
type memory struct {
	mu   sync.Mutex
	ids  map[string]bool
	ring []string
	next int
}

func newMemory(size int) *memory {
	return &memory{ids: make(map[string]bool, size), ring: make([]string, size)}
}

// again notes id and reports whether it was noted before.
func (m *memory) again(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ids[id] {
		return true
	}
	delete(m.ids, m.ring[m.next])
	m.ring[m.next] = id
	m.next = (m.next + 1) % len(m.ring)
	m.ids[id] = true
	return false
}
