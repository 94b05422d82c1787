package approver

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example/tokens"
)

// This file ends requests: the last record, the last look of every card, and
// the clock for what nobody waits for.

// A closing is one attempt to record the end of a request.
type closing struct {
	done chan struct{}
	hash string
	err  error
}

// close makes the last record of a settled request durable, once per process
// however many ask for it, and returns its hash.
func (b *Broadcaster) close(ctx context.Context, r Request) (hash string, err error) {
	if r.Closed {
		return r.Audit, nil
	}
	b.mu.Lock()
	c, found := b.closing[r.ending()]
	if !found {
		c = &closing{done: make(chan struct{})}
		b.closing[r.ending()] = c
	}
	b.mu.Unlock()
	if !found {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic while the end was recorded: %v\n%s", p, debug.Stack())
				c.err = err
				close(c.done)
				b.forget(r)
			}
		}()
		ctx := context.WithoutCancel(ctx)
		// Whoever looked at the request a moment ago may have missed that it has
		// been closed since: only the record says.
		fresh, _, err := b.load(ctx, r.ID)
		closed := err == nil && fresh.Closed
		if closed {
			c.hash = fresh.Audit
		} else {
			c.hash, c.err = b.Audit.Record(ctx, r.record(r.lastEvent()))
		}
		close(c.done)
		if closed || c.err != nil {
			b.forget(r)
		}
		return c.hash, c.err
	}
	select {
	case <-c.done:
		return c.hash, c.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// ending names the end of a request: after a fail-over it may have another.
func (r Request) ending() string { return r.ID + ":" + string(r.lastEvent()) }

func (b *Broadcaster) forget(r Request) {
	b.mu.Lock()
	delete(b.closing, r.ending())
	b.mu.Unlock()
}

// settle brings every card of a settled request up to date, in the background.
// At most one runs per request; a further call makes it run once more.
func (b *Broadcaster) settle(id string) {
	b.mu.Lock()
	_, busy := b.settling[id]
	b.settling[id] = busy
	b.mu.Unlock()
	if busy {
		return
	}
	b.start(func(ctx context.Context) {
		again := true
		defer func() {
			if again { // a panic: let others try
				b.mu.Lock()
				delete(b.settling, id)
				b.mu.Unlock()
			}
		}()
		for again {
			b.settleOnce(ctx, id)
			b.mu.Lock()
			if again = b.settling[id]; again {
				b.settling[id] = false
			} else {
				delete(b.settling, id)
			}
			b.mu.Unlock()
		}
	})
}

func (b *Broadcaster) settleOnce(ctx context.Context, id string) {
	r, _, err := b.load(ctx, id)
	if err != nil || !r.State.Settled() {
		return
	}
	hash, closeErr := b.close(ctx, r)
	if closeErr != nil {
		b.Log.Error("the end of a request could not be recorded; trying again", "request", id, "error", closeErr)
		if r.State == Consumed {
			return // rule: nobody is told "approved" before it is recorded
		}
	}
	card := b.card(r, tokens.Code{})
	failed := make([]error, len(r.Postings))
	_ = inParallel(len(r.Postings), func(i int) error {
		if p := r.Postings[i]; p.Phase == Posted && !p.Shown && p.Attempts < MaxUpdateAttempts {
			if failed[i] = errElsewhere; p.Hub == "" || p.Hub == b.Host {
				failed[i] = b.updateOne(ctx, p.Ref, card)
			}
		}
		return nil
	})
	if ctx.Err() != nil {
		return
	}
	_, err = b.change(ctx, id, func(fresh Request, _ time.Time) (Request, error) {
		if fresh.State != r.State || len(fresh.Postings) < len(r.Postings) {
			return fresh, ErrTooSoon // a fail-over took something back: look again
		}
		return fresh.updated(r.Postings, failed, hash, closeErr == nil)
	})
	if (err == nil || errors.Is(err, errNoChange)) && closeErr == nil {
		b.forget(r)
	}
	for i, err := range failed {
		if err != nil && !errors.Is(err, errElsewhere) {
			b.Log.Warn("a card could not be brought up to date; trying again", "request", id, "channel", r.Postings[i].To.Channel, "error", err)
		}
	}
}

var (
	errNoChange  = errors.New("nothing has changed")
	errElsewhere = errors.New("the card is another hub's to change")
)

// updated notes what became of the tries to bring cards up to date, of which
// failed has the errors, and whether the end is recorded.
func (r Request) updated(tried []Posting, failed []error, hash string, closed bool) (Request, error) {
	changed := closed && !r.Closed
	if closed {
		r.Closed, r.Audit = true, firstOf(r.Audit, hash)
	}
	r.Postings = slices.Clone(r.Postings)
	for i, p := range tried {
		now := &r.Postings[i]
		if p.Phase != Posted || p.Shown || p.Attempts >= MaxUpdateAttempts || now.Phase != Posted || now.Shown {
			continue
		}
		changed = true
		if failed[i] == nil {
			now.Shown = true
		} else {
			now.Attempts++
			now.Error = failed[i].Error()
		}
	}
	if !changed {
		return r, errNoChange
	}
	return r, nil
}

// sweep is the clock for what nobody waits for: it looks for requests that want
// attention, whichever process made them. Unless the store can look through all
// shards at once, each has a clock of its own, so that one on a node that hangs
// does not hold up the others.
func (b *Broadcaster) sweep(ctx context.Context) {
	if s, ok := b.Store.(Sweeper); ok {
		b.sweepAgain(ctx, func() ([]string, error) { return s.DueAll(ctx, maxDue) })
	}
	if ctx.Err() != nil {
		return
	}
	var all sync.WaitGroup
	for shard := range Shards {
		all.Go(func() {
			b.sweepAgain(ctx, func() ([]string, error) { return b.Store.Due(ctx, shard, maxDue) })
		})
	}
	all.Wait()
}

// maxDue is how many keys of a shard are looked at in one go.
const maxDue = 128

// sweepAgain attends to what is due, again and again until ctx ends, or the store
// cannot look in this way.
func (b *Broadcaster) sweepAgain(ctx context.Context, look func() ([]string, error)) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		keys, err := look()
		if ctx.Err() != nil || errors.Is(err, errors.ErrUnsupported) {
			return
		}
		b.seen(ctx, err)
		if err != nil {
			b.noteTrouble(err)
		}
		_ = inParallel(min(len(keys), 8), func(worker int) error {
			for i := worker; i < len(keys); i += 8 {
				if id, ok := requestOfKey(keys[i]); ok {
					b.attend(ctx, id)
				} else if _, scope, ok := strings.Cut(keys[i], "}:grant:"); ok {
					_ = b.endGrant(ctx, scope, "expired", "its time is over") // else at the next look
				}
			}
			return nil
		})
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// noteTrouble logs that the store cannot say what is due, or show it, now and
// then: every shard says so twice a second.
func (b *Broadcaster) noteTrouble(err error) {
	b.mu.Lock()
	quiet := time.Since(b.troubled) < 10*time.Second
	if !quiet {
		b.troubled = time.Now()
	}
	b.mu.Unlock()
	if !quiet {
		b.Log.Warn("the store has a problem with what is due", "error", err)
	}
}

// attend does what one request wants now.
func (b *Broadcaster) attend(ctx context.Context, id string) {
	defer func() {
		if p := recover(); p != nil {
			b.Log.Error("panic while a request was attended to", "request", id, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	r, _, err := b.load(ctx, id)
	if errors.Is(err, ErrTampered) {
		b.Log.Error("a request that is due cannot be read", "request", id, "error", err)
		return
	} else if err != nil {
		b.noteTrouble(err)
		return
	}
	if !r.State.Settled() {
		r, err = b.change(ctx, id, func(r Request, now time.Time) (Request, error) {
			if next, err := r.Expire(now); err == nil {
				return next, nil
			}
			if next, err := r.Withdraw(now); err == nil {
				return next, nil
			}
			return r, ErrTooSoon
		})
		if err != nil && !errors.Is(err, ErrTooSoon) {
			b.Log.Warn("a request that is due could not be changed", "request", id, "error", err)
			return
		}
	}
	if !r.State.Settled() {
		b.start(func(ctx context.Context) { b.repost(ctx, id) }) // a slow channel must not hold up the clock
		return
	}
	if r.State == Consumed && r.Acked.IsZero() {
		r, err = b.change(ctx, id, func(r Request, now time.Time) (Request, error) { return r.lapse(b.backSince(now), now) })
		if err == nil {
			err = b.acked(ctx, r, "no courier said that it has the answer, and the time for that is over")
		}
		if err != nil && !errors.Is(err, ErrTooSoon) && !errors.Is(err, errNoChange) {
			b.noteTrouble(err)
		}
	}
	b.mu.Lock()
	_, busy := b.settling[id]
	b.mu.Unlock()
	if !busy {
		b.settle(id)
	}
}
