package approver

import (
	"context"
	"errors"
	"runtime/debug"
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
func (b *Broadcaster) close(ctx context.Context, r Request) (string, error) {
	if r.Closed {
		return r.Audit, nil
	}
	b.mu.Lock()
	c, found := b.closing[r.ID]
	if !found {
		c = &closing{done: make(chan struct{})}
		b.closing[r.ID] = c
	}
	b.mu.Unlock()
	if !found {
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
			b.forget(r.ID)
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

func (b *Broadcaster) forget(id string) {
	b.mu.Lock()
	delete(b.closing, id)
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
		for again := true; again; {
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
			failed[i] = b.updateOne(ctx, p.Ref, card)
		}
		return nil
	})
	if ctx.Err() != nil {
		return
	}
	_, err = b.change(ctx, id, func(fresh Request, _ time.Time) (Request, error) {
		fresh.Postings = append([]Posting(nil), fresh.Postings...)
		for i, p := range r.Postings {
			if p.Phase != Posted || p.Shown || fresh.Postings[i].Phase != Posted {
				continue
			}
			if failed[i] == nil {
				fresh.Postings[i].Shown = true
			} else {
				fresh.Postings[i].Attempts++
				fresh.Postings[i].Error = failed[i].Error()
			}
		}
		if closeErr == nil {
			fresh.Closed = true
			fresh.Audit = firstOf(fresh.Audit, hash)
		}
		return fresh, nil
	})
	if err == nil && closeErr == nil {
		b.forget(id)
	}
	for i, err := range failed {
		if err != nil {
			b.Log.Warn("a card could not be brought up to date; trying again", "request", id, "channel", r.Postings[i].To.Channel, "error", err)
		}
	}
}

// sweep is the clock for what nobody waits for: it looks for requests that want
// attention, whichever process made them.
func (b *Broadcaster) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		var trouble error
		for shard := range Shards {
			keys, err := b.Store.Due(ctx, shard, 128)
			if ctx.Err() != nil {
				return
			}
			if err != nil { // other shards may lie on a node that lives
				trouble = err
				continue
			}
			_ = inParallel(min(len(keys), 8), func(worker int) error {
				for i := worker; i < len(keys); i += 8 {
					if id, ok := requestOfKey(keys[i]); ok {
						b.attend(ctx, id)
					}
				}
				return nil
			})
		}
		if trouble != nil {
			b.Log.Warn("the store could not say all that is due", "error", trouble)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
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
	if err != nil {
		b.Log.Error("a request that is due cannot be read", "request", id, "error", err)
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
	b.mu.Lock()
	_, busy := b.settling[id]
	b.mu.Unlock()
	if !busy {
		b.settle(id)
	}
}
