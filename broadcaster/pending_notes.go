package broadcaster

import (
	"context"
	"slices"
	"sync"
)

// maxPendingNotes bounds the notes that are kept.
const maxPendingNotes = 4096

// A note is one report that is still to be stored.
type note struct {
	call string
	do   func(context.Context) error
}

// pendingNotes are the reports of couriers that the store did not take yet, oldest first.
type pendingNotes struct {
	mu sync.Mutex
	of []note
	at string // the call of the note that is being stored
}

// has reports whether a report of a call is pending.
func (u *pendingNotes) has(call string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.at != "" && call == u.at || slices.ContainsFunc(u.of, func(n note) bool { return n.call == call })
}

// some reports whether there are notes that nobody is storing.
func (u *pendingNotes) some() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.of) > 0
}

// keep adds a note; false if there are too many.
func (u *pendingNotes) keep(n note) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.of) >= maxPendingNotes {
		return false
	}
	u.of = append(u.of, n)
	return true
}

// next takes the oldest note out.
func (u *pendingNotes) next() (note, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.of) == 0 {
		return note{}, false
	}
	n := u.of[0]
	u.at, u.of = n.call, u.of[1:]
	return n, true
}

// done ends the work on the note that next returned. kept puts it behind the others, so that
// one that cannot be stored yet delays no other.
func (u *pendingNotes) done(n note, kept bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at = ""; kept {
		u.of = append(u.of, n)
	}
}
