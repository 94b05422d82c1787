package broadcaster

import (
	"context"
	"sync"
	"time"
)

// uptime knows since when this process has run with its store in reach, and since when it has
// received every report of couriers. Both are by the store's clock.
type uptime struct {
	*Options

	mu    sync.Mutex
	back  time.Time // zero while the store is away, or was never there
	heard time.Time // never before back; zero after a report of a courier was lost
	gaps  uint64    // how often one of them began anew
}

// seen notes the result of a read of the store.
func (u *uptime) seen(ctx context.Context, err error) {
	u.mu.Lock()
	there := !u.back.IsZero() && !u.heard.IsZero()
	if err != nil && passing(err) {
		if !u.back.IsZero() {
			u.gaps++
		}
		u.back, u.heard = time.Time{}, time.Time{}
		there = true
	}
	gaps := u.gaps
	u.mu.Unlock()
	if there {
		return
	}
	now, err := u.Store.Now(ctx)
	if err != nil {
		return // the next look comes soon
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gaps != gaps {
		return
	}
	if u.back.IsZero() {
		u.back = now
	}
	if u.heard.IsZero() {
		u.heard = now
	}
}

// missed notes that a report of a courier was lost. Nobody is then told that calls released
// before were not reported.
func (u *uptime) missed() {
	u.mu.Lock()
	u.heard = time.Time{}
	u.gaps++
	u.mu.Unlock()
}

// heardSince reports that daemon and store have been available since t without a break, and
// every report of couriers was received. Only then does the lack of a report prove anything.
func (u *uptime) heardSince(t time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return !t.IsZero() && !u.heard.IsZero() && !u.heard.After(t)
}

// backSince is since when daemon and store have been available without a break. While that is
// not known it is now.
func (u *uptime) backSince(now time.Time) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.back.IsZero() {
		return now
	}
	return u.back
}
