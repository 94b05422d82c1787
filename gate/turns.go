package gate

import (
	"context"
	"slices"
	"sync"
)

// Turns shares the processors among the users whose calls are judged. Only so many calls
// are worked on at once, and of one user only half of them: what a user's agents bring
// waits behind more of the same, and not what another user's bring. It bounds the memory
// that judging takes, too. A turn is for work; who waits, for a store, a model or
// people, has none. A nil Turns lets everything go on at once.
type Turns struct {
	all, each int

	mu    sync.Mutex
	busy  int
	users map[uint32]*turnsOf
	next  []uint32 // those who wait, in the order in which they get a turn
}

// turnsOf are the turns of one user.
type turnsOf struct {
	busy    int
	waiting []chan struct{} // closed when its turn has come
}

// NewTurns returns Turns for a machine with so many processors. One user's work can take
// all of them, while another's still begins at once.
func NewTurns(processors int) *Turns {
	return &Turns{all: 2 * processors, each: processors, users: map[uint32]*turnsOf{}}
}

// Take waits for a turn of uid, which [Turns.Give] ends. The error is that of ctx: then
// there is no turn to end. Who has one must not take another.
func (t *Turns) Take(ctx context.Context, uid uint32) error {
	if t == nil {
		return nil
	}
	mine := t.enter(uid)
	if mine == nil {
		return nil
	}
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	if !t.leave(uid, mine) { // it came just now
		t.Give(uid)
	}
	return context.Cause(ctx)
}

// enter takes a turn and returns nil, or what is closed when there is one.
func (t *Turns) enter(uid uint32) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.users[uid]
	if u == nil {
		u = &turnsOf{}
		t.users[uid] = u
	}
	if t.busy < t.all && u.busy < t.each && len(u.waiting) == 0 {
		t.busy++
		u.busy++
		return nil
	}
	if len(u.waiting) == 0 {
		t.next = append(t.next, uid)
	}
	mine := make(chan struct{})
	u.waiting = append(u.waiting, mine)
	return mine
}

// leave ends the waiting, and reports whether it had not come to an end.
func (t *Turns) leave(uid uint32, mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.users[uid]
	at := slices.Index(u.waiting, mine)
	if at < 0 {
		return false
	}
	u.waiting = slices.Delete(u.waiting, at, at+1)
	if len(u.waiting) == 0 {
		t.next = slices.DeleteFunc(t.next, func(other uint32) bool { return other == uid })
	}
	t.forget(uid, u)
	return true
}

// Give ends a turn of uid. Whoever has waited longest, of the user whose last turn is
// the longest ago, has the next one.
func (t *Turns) Give(uid uint32) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.users[uid]
	t.busy--
	u.busy--
	t.forget(uid, u)
	for t.busy < t.all && t.grant() {
	}
}

// grant gives a turn to the first who may have one, and reports whether there was one.
func (t *Turns) grant() bool {
	for i, uid := range t.next {
		u := t.users[uid]
		if u.busy >= t.each {
			continue
		}
		close(u.waiting[0])
		u.waiting = u.waiting[1:]
		t.busy++
		u.busy++
		t.next = slices.Delete(t.next, i, i+1)
		if len(u.waiting) > 0 {
			t.next = append(t.next, uid)
		}
		return true
	}
	return false
}

// forget keeps nothing of a user who has nothing here.
func (t *Turns) forget(uid uint32, u *turnsOf) {
	if u.busy == 0 && len(u.waiting) == 0 {
		delete(t.users, uid)
	}
}
