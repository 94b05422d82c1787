package broadcaster

import (
	"context"
	"sync"
	"time"

	"approver.example"
)

// presence says since when this process has run with its store in reach, and since when it has
// received every report of couriers. Both are by the store's clock.
type presence struct {
	back  time.Time // zero while the store is away, or was never there
	heard time.Time // never before back; zero after something that couriers told was lost
	lost  uint64    // how often one of them began anew
}

// uptime knows since when this process and its store have been available.
type uptime struct {
	store approver.KV

	mu      sync.Mutex
	present presence
}

// seen notes the result of a read of the store.
func (u *uptime) seen(ctx context.Context, err error) {
	u.mu.Lock()
	there := !u.present.back.IsZero() && !u.present.heard.IsZero()
	if err != nil && passing(err) {
		if !u.present.back.IsZero() {
			u.present.lost++
		}
		u.present.back, u.present.heard = time.Time{}, time.Time{}
		there = true
	}
	lost := u.present.lost
	u.mu.Unlock()
	if there {
		return
	}
	now, err := u.store.Now(ctx)
	if err != nil {
		return // the next look comes soon
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.present.lost != lost {
		return
	}
	if u.present.back.IsZero() {
		u.present.back = now
	}
	if u.present.heard.IsZero() {
		u.present.heard = now
	}
}

// missed notes that a report of a courier was lost. Nobody is then told that calls released
// before were not reported.
func (u *uptime) missed() {
	u.mu.Lock()
	u.present.heard = time.Time{}
	u.present.lost++
	u.mu.Unlock()
}

// heardSince reports that daemon and store have been available since t without a break, and
// every report of couriers was received. Only then does the lack of a report prove anything.
func (u *uptime) heardSince(t time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return !t.IsZero() && !u.present.heard.IsZero() && !u.present.heard.After(t)
}

// backSince is since when daemon and store have been available without a break. While that is
// not known it is now.
func (u *uptime) backSince(now time.Time) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.present.back.IsZero() {
		return now
	}
	return u.present.back
}
