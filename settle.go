package approver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
			c.hash, c.err = b.recordEnd(ctx, r)
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

// settle brings every card of a request that has ended up to date, in the background.
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

// isSettling reports whether the cards of a request are being brought up to date.
func (b *Broadcaster) isSettling(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, busy := b.settling[id]
	return busy
}

func (b *Broadcaster) settleOnce(ctx context.Context, id string) {
	b.giving.wait(ctx, id)
	r, _, now, err := b.loadNow(ctx, id)
	if err != nil || !r.ended() {
		return
	}
	var hash string
	var closeErr error
	if r.State.Settled() {
		hash, closeErr = b.close(ctx, r)
	}
	if closeErr != nil {
		b.Log.Error("the end of a request could not be recorded; trying again", "request", id, "error", closeErr)
		if r.State == Consumed {
			return // rule: nobody is told "approved" before it is recorded
		}
	}
	card := b.card(r, tokens.Code{})
	todo := b.toShow(r, now)
	failed := make([]error, len(todo))
	_ = inParallel(len(todo), func(n int) error {
		if p := r.Postings[todo[n]]; p.refusedTo(b.process) {
			failed[n] = errRefused
		} else {
			failed[n] = b.update(ctx, p, card)
		}
		return nil
	})
	if ctx.Err() != nil {
		return
	}
	crossed := false
	after, err := b.change(ctx, id, func(fresh Request, now time.Time) (Request, error) {
		closing := false
		crossed = false
		if fresh.State != r.State || fresh.endLine() != r.endLine() || len(fresh.Postings) < len(r.Postings) {
			crossed = true // the cards say something else now, or a fail-over took something back: look again
			return fresh.crossed(todo)
		}
		if closeErr == nil && !fresh.Closed && fresh.State.Settled() {
			fresh.Closed, fresh.Audit, closing = true, firstOf(fresh.Audit, hash), true
		}
		next, err := fresh.updated(b.process, r.Postings, todo, failed, now)
		if closing && errors.Is(err, errNoChange) {
			err = nil
		}
		return next, err
	})
	if (err == nil || errors.Is(err, errNoChange)) && closeErr == nil && !crossed {
		b.forget(r)
	}
	if crossed && err == nil {
		b.settle(id)
	}
	for n, err := range failed {
		if err != nil && !errors.Is(err, errElsewhere) {
			i := todo[n]
			b.logStale(r.Postings[i], id, err, i < len(after.Postings) && after.Postings[i].GivenUp)
		} else if p := r.Postings[todo[n]]; err == nil && p.Attempts > 0 {
			b.Log.Info("a card that could not be brought up to date is right again", "request", id, "channel", p.To.Channel, "tries", p.Attempts+1)
		}
	}
}

// crossed is for cards that were edited while something else became true of their request:
// that edit may have been the later one, so what another process showed may be gone.
func (r Request) crossed(edited []int) (Request, error) {
	r.Postings = slices.Clone(r.Postings)
	some := false
	for _, i := range edited {
		if i < len(r.Postings) && r.Postings[i].Shown {
			r.Postings[i].Shown, some = false, true
		}
	}
	if !some {
		return r, ErrTooSoon
	}
	return r, nil
}

// toShow are the postings whose cards this process is to bring up to date now.
func (b *Broadcaster) toShow(r Request, now time.Time) (todo []int) {
	for i, p := range r.Postings {
		from := p.Next
		if p.refusedTo(b.process) {
			from = from.Add(othersGrace)
		}
		if p.stale() && !now.Before(from) {
			todo = append(todo, i)
		}
	}
	return todo
}

// logStale says once that a card is tried again, and once that it is given up.
func (b *Broadcaster) logStale(p Posting, id string, err error, givenUp bool) {
	level, what := slog.LevelDebug, "a card could not be brought up to date; trying again"
	switch {
	case errors.Is(err, errRefused):
		level, what = slog.LevelInfo, "a card that cannot be brought up to date is given up, and stays as it is"
	case errors.Is(err, ErrFinal):
		level, what = slog.LevelInfo, "a card cannot be brought up to date by this daemon; another one may"
	case givenUp:
		level, what = slog.LevelWarn, "a card could not be brought up to date and is given up"
	case p.Attempts == 0:
		level = slog.LevelWarn
	}
	b.Log.Log(context.Background(), level, what, "request", id, "channel", p.To.Channel, "tries", p.Attempts+1, "error", err)
}

// update brings the cards of a posting up to date, if they are this hub's to change.
// The error is final only if that of each card is.
func (b *Broadcaster) update(ctx context.Context, p Posting, card Card) error {
	if p.Hub != "" && p.Hub != b.Host {
		return errElsewhere
	}
	var passing, final error
	for _, ref := range p.refs() {
		err := b.updateOne(ctx, ref, card)
		if errors.Is(err, ErrFinal) {
			final = err
		} else if err != nil {
			passing = err
		}
	}
	if passing != nil {
		return passing
	}
	return final
}

var (
	errNoChange  = errors.New("nothing has changed")
	errElsewhere = errors.New("the card is another hub's to change")
	errRefused   = fmt.Errorf("the card cannot be changed, and no other daemon has changed it: %w", ErrFinal)
)

// updated notes what became of the tries to bring some of the postings in was up to date,
// of which failed has the errors. What is final for one process leaves the card to others.
func (r Request) updated(process string, was []Posting, tried []int, failed []error, now time.Time) (Request, error) {
	changed := false
	r.Postings = slices.Clone(r.Postings)
	for n, i := range tried {
		p := &r.Postings[i]
		if !p.stale() {
			continue
		}
		changed = true
		switch err := failed[n]; {
		case err == nil:
			p.Shown = len(p.refs()) == len(was[i].refs()) // else one was found meanwhile
		case errors.Is(err, errRefused):
			p.GivenUp = true
		case errors.Is(err, ErrFinal):
			p.Refused, p.Next, p.Error = append(slices.Clone(p.Refused), process), now, err.Error()
		default:
			if !errors.Is(err, errElsewhere) { // whose card it is tries when it likes
				p.Next = now.Add(editPause(err, p.Attempts))
			}
			p.Attempts++
			p.Error = err.Error()
			p.GivenUp = !now.Before(r.Due.Add(editsFor))
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
		} else {
			b.catchUp()
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
	b.recordEnded(ctx, r)
	if !r.State.Settled() {
		b.start(func(ctx context.Context) { b.repost(ctx, id) }) // a slow channel must not hold up the clock
	}
	if !r.ended() {
		return
	}
	if r.lapses() {
		err = b.lapse(ctx, r)
		if err != nil && !errors.Is(err, ErrTooSoon) && !errors.Is(err, errNoChange) {
			b.noteTrouble(err)
		}
	}
	if !b.isSettling(id) {
		b.settle(id)
	}
}
