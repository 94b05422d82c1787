// Package calls is what channels share in calling the API of a chat platform: what an error
// means for the next try, how long to wait before it, and whether an answer is the
// platform's own.
package calls

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Pauses remembers, for each kind of call, until when a platform wants none, so that the next
// one waits instead of being refused too. The zero value is ready.
type Pauses[K comparable] struct {
	mu    sync.Mutex
	until map[K]time.Time
}

// Note holds back calls of a kind until the given time. It never shortens a pause.
func (p *Pauses[K]) Note(kind K, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(kind, until)
}

func (p *Pauses[K]) note(kind K, until time.Time) {
	if p.until == nil {
		p.until = map[K]time.Time{}
	}
	p.forget()
	if until.After(p.until[kind]) {
		p.until[kind] = until
	}
}

// forget removes the pauses that are over, so that the map stays small.
func (p *Pauses[K]) forget() {
	now := time.Now()
	maps.DeleteFunc(p.until, func(_ K, until time.Time) bool { return !until.After(now) })
}

// maxBegun bounds the pauses that Begin notes at once: strangers may choose the kinds.
const maxBegun = 1024

// Begin notes a pause unless one is on, and reports whether none was: it limits an action to
// once per pause. While 1,024 pauses are on, no other begins.
func (p *Pauses[K]) Begin(kind K, pause time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Until(p.until[kind]) > 0 {
		return false
	}
	if p.forget(); len(p.until) >= maxBegun {
		return false
	}
	p.note(kind, time.Now().Add(pause))
	return true
}

// Left is how long a call has to wait that is of all these kinds; zero means not at all.
func (p *Pauses[K]) Left(kinds ...K) (left time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range kinds {
		left = max(left, time.Until(p.until[k]))
	}
	return left
}

// Others reports whether calls of any kind other than these have to wait.
func (p *Pauses[K]) Others(kinds ...K) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, t := range p.until {
		if !slices.Contains(kinds, k) && time.Until(t) > 0 {
			return true
		}
	}
	return false
}

// Len is how many kinds are remembered.
func (p *Pauses[K]) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.until)
}

// Sleep waits. It returns the error of ctx if that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A Backoff is how long to wait between tries to reach a platform. It doubles from First to Last,
// with jitter.
type Backoff struct{ First, Last time.Duration }

// Usual is the back-off of a channel that has no reason for another one.
func Usual() Backoff { return Backoff{First: 500 * time.Millisecond, Last: 30 * time.Second} }

// After is the wait after a number of failures before the last one, which was err. It is at least
// as long as the platform asks for.
func (b Backoff) After(failures int, err error) time.Duration {
	return max(Jitter(min(b.First<<min(failures, 16), b.Last)), Asked(err))
}

// Jitter shortens d by up to half, so that many processes do not call at the same moment.
func Jitter(d time.Duration) time.Duration {
	if d <= 1 {
		return d
	}
	return d - rand.N(d/2) //nolint:gosec // spreads load, hides nothing
}
