package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example"
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
func (n *endings) close(ctx context.Context, r Request) (hash string, err error) {
	if r.Closed {
		return r.Audit, nil
	}
	n.mu.Lock()
	c, found := n.closing[r.ending()]
	if !found {
		c = &closing{done: make(chan struct{})}
		n.closing[r.ending()] = c
	}
	n.mu.Unlock()
	if !found {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic while the end was recorded: %v\n%s", p, debug.Stack())
				c.err = err
				close(c.done)
				n.forget(r)
			}
		}()
		ctx := context.WithoutCancel(ctx)
		// Whoever looked at the request a moment ago may have missed that it has
		// been closed since: only the record says.
		fresh, _, err := n.requests.load(ctx, r.ID)
		closed := err == nil && fresh.Closed
		if closed {
			c.hash = fresh.Audit
		} else {
			c.hash, c.err = n.recordEnd(ctx, r)
		}
		close(c.done)
		if closed || c.err != nil {
			n.forget(r)
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

func (n *endings) forget(r Request) {
	n.mu.Lock()
	delete(n.closing, r.ending())
	n.mu.Unlock()
}

// settle brings every card of a request that has ended up to date, in the background.
// At most one runs per request; a further call makes it run once more.
func (e *editor) settle(id string) {
	e.mu.Lock()
	_, busy := e.settling[id]
	e.settling[id] = busy
	e.mu.Unlock()
	if busy {
		return
	}
	e.tasks.start(func(ctx context.Context) {
		again := true
		defer func() {
			if again { // a panic: let others try
				e.mu.Lock()
				delete(e.settling, id)
				e.mu.Unlock()
			}
		}()
		for again {
			e.settleOnce(ctx, id)
			e.mu.Lock()
			if again = e.settling[id]; again {
				e.settling[id] = false
			} else {
				delete(e.settling, id)
			}
			e.mu.Unlock()
		}
	})
}

// isSettling reports whether the cards of a request are being brought up to date.
func (e *editor) isSettling(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, busy := e.settling[id]
	return busy
}

func (e *editor) settleOnce(ctx context.Context, id string) {
	e.giving.wait(ctx, id)
	r, _, now, err := e.requests.loadNow(ctx, id)
	if err != nil || !r.ended() {
		return
	}
	var hash string
	var closeErr error
	if r.State.Settled() {
		hash, closeErr = e.endings.close(ctx, r)
	}
	if closeErr != nil {
		e.log.Error("the end of a request could not be recorded; trying again", "request", id, "error", closeErr)
		if r.State == approver.Consumed {
			return // rule: nobody is told "approved" before it is recorded
		}
	}
	card := e.cards.card(r, tokens.Code{})
	todo := e.toShow(r, now)
	failed := make([]error, len(todo))
	_ = inParallel(len(todo), func(n int) error {
		if p := r.Postings[todo[n]]; p.refusedTo(e.process) {
			failed[n] = errRefused
		} else {
			failed[n] = e.update(ctx, p, card)
		}
		return nil
	})
	if ctx.Err() != nil {
		return
	}
	crossed := false
	after, err := e.requests.change(ctx, id, func(fresh Request, now time.Time) (Request, error) {
		closing := false
		crossed = false
		if fresh.State != r.State || fresh.endLine() != r.endLine() || len(fresh.Postings) < len(r.Postings) {
			crossed = true // the cards say something else now, or a fail-over took something back: look again
			return fresh.crossed(todo)
		}
		if closeErr == nil && !fresh.Closed && fresh.State.Settled() {
			fresh.Closed, fresh.Audit, closing = true, cmp.Or(fresh.Audit, hash), true
		}
		next, err := fresh.updated(e.process, r.Postings, todo, failed, now)
		if closing && errors.Is(err, errNoChange) {
			err = nil
		}
		return next, err
	})
	if (err == nil || errors.Is(err, errNoChange)) && closeErr == nil && !crossed {
		e.endings.forget(r)
	}
	if crossed && err == nil {
		e.settle(id)
	}
	for n, err := range failed {
		if err != nil && !errors.Is(err, errElsewhere) {
			i := todo[n]
			e.logStale(r.Postings[i], id, err, i < len(after.Postings) && after.Postings[i].GivenUp)
		} else if p := r.Postings[todo[n]]; err == nil && p.Attempts > 0 {
			e.log.Info("a card that could not be brought up to date is right again", "request", id, "channel", p.To.Channel, "tries", p.Attempts+1)
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
func (e *editor) toShow(r Request, now time.Time) (todo []int) {
	for i, p := range r.Postings {
		from := p.Next
		if p.refusedTo(e.process) {
			from = from.Add(othersGrace)
		}
		if p.stale() && !now.Before(from) {
			todo = append(todo, i)
		}
	}
	return todo
}

// logStale says once that a card is tried again, and once that it is given up.
func (e *editor) logStale(p Posting, id string, err error, givenUp bool) {
	level, what := slog.LevelDebug, "a card could not be brought up to date; trying again"
	switch {
	case errors.Is(err, errRefused):
		level, what = slog.LevelInfo, "a card that cannot be brought up to date is given up, and stays as it is"
	case errors.Is(err, approver.ErrFinal):
		level, what = slog.LevelInfo, "a card cannot be brought up to date by this daemon; another one may"
	case givenUp:
		level, what = slog.LevelWarn, "a card could not be brought up to date and is given up"
	case p.Attempts == 0:
		level = slog.LevelWarn
	}
	e.log.Log(context.Background(), level, what, "request", id, "channel", p.To.Channel, "tries", p.Attempts+1, "error", err)
}

// update brings the cards of a posting up to date, if they are this hub's to change.
// The error is final only if that of each card is.
func (e *editor) update(ctx context.Context, p Posting, card approver.Card) error {
	if p.Hub != "" && p.Hub != e.host {
		return errElsewhere
	}
	var passing, final error
	for _, ref := range p.refs() {
		err := e.channels.updateOne(ctx, ref, card)
		if errors.Is(err, approver.ErrFinal) {
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
	errRefused   = fmt.Errorf("the card cannot be changed, and no other daemon has changed it: %w", approver.ErrFinal)
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
		case errors.Is(err, approver.ErrFinal):
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
func (w *sweeper) sweep(ctx context.Context) {
	if s, ok := w.store.(approver.Sweeper); ok {
		w.sweepAgain(ctx, func() ([]string, error) { return s.DueAll(ctx, maxDue) })
	}
	if ctx.Err() != nil {
		return
	}
	var all sync.WaitGroup
	for shard := range approver.Shards {
		all.Go(func() {
			w.sweepAgain(ctx, func() ([]string, error) { return w.store.Due(ctx, shard, maxDue) })
		})
	}
	all.Wait()
}

// maxDue is how many keys of a shard are looked at in one go.
const maxDue = 128

// sweepAgain attends to what is due, again and again until ctx ends, or the store
// cannot look in this way.
func (w *sweeper) sweepAgain(ctx context.Context, look func() ([]string, error)) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		keys, err := look()
		if ctx.Err() != nil || errors.Is(err, errors.ErrUnsupported) {
			return
		}
		w.uptime.seen(ctx, err)
		if err != nil {
			w.records.noteTrouble(err)
		} else {
			w.reports.catchUp()
		}
		_ = inParallel(min(len(keys), 8), func(worker int) error {
			for i := worker; i < len(keys); i += 8 {
				if id, ok := requestOfKey(keys[i]); ok {
					w.attend(ctx, id)
				} else if _, scope, ok := strings.Cut(keys[i], "}:grant:"); ok {
					_ = w.grants.end(ctx, scope, "expired", "its time is over") // else at the next look
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
func (s *records) noteTrouble(err error) {
	s.mu.Lock()
	quiet := time.Since(s.troubled) < 10*time.Second
	if !quiet {
		s.troubled = time.Now()
	}
	s.mu.Unlock()
	if !quiet {
		s.log.Warn("the store has a problem with what is due", "error", err)
	}
}

// attend does what one request wants now.
func (w *sweeper) attend(ctx context.Context, id string) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("panic while a request was attended to", "request", id, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	r, _, err := w.requests.load(ctx, id)
	if errors.Is(err, approver.ErrTampered) {
		w.log.Error("a request that is due cannot be read", "request", id, "error", err)
		return
	} else if err != nil {
		w.records.noteTrouble(err)
		return
	}
	if !r.State.Settled() {
		r, err = w.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
			if next, err := r.Expire(now); err == nil {
				return next, nil
			}
			if next, err := r.Withdraw(now); err == nil {
				return next, nil
			}
			return r, ErrTooSoon
		})
		if err != nil && !errors.Is(err, ErrTooSoon) {
			w.log.Warn("a request that is due could not be changed", "request", id, "error", err)
			return
		}
	}
	w.endings.recordEnded(ctx, r)
	if !r.State.Settled() {
		w.tasks.start(func(ctx context.Context) { w.poster.repost(ctx, id) }) // a slow channel must not hold up the clock
	}
	if !r.ended() {
		return
	}
	if r.lapses() {
		err = w.reports.lapse(ctx, r)
		if err != nil && !errors.Is(err, ErrTooSoon) && !errors.Is(err, errNoChange) {
			w.records.noteTrouble(err)
		}
	}
	if !w.editor.isSettling(id) {
		w.editor.settle(id)
	}
}
