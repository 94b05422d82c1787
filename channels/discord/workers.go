package discord

import (
	"log/slog"
	"sync"

	"approver.example/channels/internal/receiving"
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

// workers handle the events of one Run, each event in a goroutine of its own.
type workers struct {
	log *slog.Logger

	mu      sync.Mutex
	busy    map[string]int
	stopped bool
	all     sync.WaitGroup
}

func newWorkers(log *slog.Logger) *workers { return &workers{log: log, busy: map[string]int{}} }

// try runs fn in a goroutine unless limit of the same key are under way already
// or the workers have stopped; then it returns false. A panic in fn is logged.
func (w *workers) try(key string, limit int, fn func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.busy[key] >= limit {
		return false
	}
	w.busy[key]++
	w.all.Go(func() {
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

// stop takes no more work and waits for what is under way.
func (w *workers) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.all.Wait()
}
