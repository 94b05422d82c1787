// Package calls is what channels share in calling the API of a chat platform: what an error
// means for the next try, how long to wait before it, and whether an answer is the
// platform's own.
package calls

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"approver.example"
)

// Final returns an error, formatted as by [fmt.Errorf], that is an [approver.ErrFinal].
func Final(format string, args ...any) error { return finalError{fmt.Errorf(format, args...)} }

type finalError struct{ error }

func (f finalError) Unwrap() error        { return f.error }
func (f finalError) Is(target error) bool { return target == approver.ErrFinal }

// Limited returns err as an [approver.Patience]: the next try has to wait that long.
func Limited(err error, wait time.Duration) error { return limitedError{err, wait} }

type limitedError struct {
	error
	wait time.Duration
}

func (l limitedError) Unwrap() error             { return l.error }
func (l limitedError) RetryAfter() time.Duration { return l.wait }

// Asked is the wait that an error asks for; zero if it asks for none.
func Asked(err error) time.Duration {
	if p, ok := errors.AsType[approver.Patience](err); ok {
		return p.RetryAfter()
	}
	return 0
}

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

// Backoff is the wait after a number of failures: it doubles from first to last, with jitter.
func Backoff(first, last time.Duration, failures int) time.Duration {
	return Jitter(min(first<<min(failures, 16), last))
}

// Jitter shortens d by up to half, so that many processes do not call at the same moment.
func Jitter(d time.Duration) time.Duration {
	if d <= 1 {
		return d
	}
	return d - rand.N(d/2) //nolint:gosec // spreads load, hides nothing
}
