package gate

import (
	"context"
	"slices"
	"sync"
)

// Turns shares the processors among the users whose calls are judged. The number of calls that
// are processed at once is limited, and one user may have half of them, so that a user's
// agents delay each other but not another user's. This also bounds the memory that judging
// takes. Only work takes a turn; waiting for a store, a model or people does not. A nil Turns
// does not limit anything.
type Turns struct {
	all, each int

	mu    sync.Mutex
	busy  int
	users map[uint32]*turnsOf
	next  []uint32 // the users who wait, in the order in which they get a turn
}

// turnsOf are the turns of one user.
type turnsOf struct {
	busy    int
	waiting []chan struct{} // closed when its turn has come
}

// NewTurns returns Turns for a machine with that many processors. One user's work can use all
// of them, while another user's work still starts at once.
func NewTurns(processors int) *Turns {
	return &Turns{all: 2 * processors, each: processors, users: map[uint32]*turnsOf{}}
}

// Take waits for a turn of uid, which [Turns.Give] ends. The error is that of ctx, and means
// that there is no turn to end. A caller that has a turn must not take another.
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
	if !t.leave(uid, mine) { // the turn came in the meantime
		t.Give(uid)
	}
	return context.Cause(ctx)
}

// enter takes a turn and returns nil, or returns a channel that is closed when there is a
// turn.
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

// leave stops waiting. It reports false if the turn has come already.
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

// Give ends a turn of uid. The next turn goes to the user whose last turn is the longest ago,
// and there to the call that has waited longest.
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

// grant gives a turn to the first waiting user who may have one, and reports whether there was
// one.
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

// forget drops a user who neither has a turn nor waits.
func (t *Turns) forget(uid uint32, u *turnsOf) {
	if u.busy == 0 && len(u.waiting) == 0 {
		delete(t.users, uid)
	}
}

// A turn is one of [Turns], or none yet.
type turn struct {
	of   *Turns
	uid  uint32
	held bool
}

// take takes the turn, unless it is held.
func (t *turn) take(ctx context.Context) error {
	if t.held {
		return nil
	}
	err := t.of.Take(ctx, t.uid)
	t.held = err == nil
	return err
}

// give gives the turn back, if it is held.
func (t *turn) give() {
	if t.held {
		t.held = false
		t.of.Give(t.uid)
	}
}
