package broadcaster

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"approver.example"
)

// A sweeper does what is due in requests that nobody waits for.
type sweeper struct {
	*Options
	deeds     *deeds
	grants    *Grants
	reports   *Reports
	requests  *Requests
	editor    *editor
	history   *history
	poster    *poster
	escalator *escalator
	records   *records
	senders   *senders
	tasks     *tasks
	uptime    *uptime
}

// sweep looks for requests that need attention, whichever process made them, until ctx ends.
// If the store cannot look through all shards at once, each shard has a loop of its own, so
// that a node that hangs does not delay the others.
func (w *sweeper) sweep(ctx context.Context) {
	if s, ok := w.Store.(approver.Sweeper); ok {
		w.sweepAgain(ctx, func() ([]string, error) { return s.DueAll(ctx, maxDue) })
	}
	if ctx.Err() != nil {
		return
	}
	var all sync.WaitGroup
	for shard := range approver.Shards {
		all.Go(func() {
			w.sweepAgain(ctx, func() ([]string, error) { return w.Store.Due(ctx, shard, maxDue) })
		})
	}
	all.Wait()
}

// sweepAgain attends to what is due, again and again until ctx ends, or the store does not
// support this look.
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
		_ = spread(len(keys), func(i int) error {
			if id, ok := idInKey(keys[i]); ok {
				w.attend(ctx, id)
			} else if _, scope, ok := strings.Cut(keys[i], "}:grant:"); ok {
				_ = w.grants.end(ctx, scope, "expired", "") // or at the next look
			} else if keys[i] == sendersKey() {
				w.tasks.startSingle(burying{}, false, w.senders.bury)
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

// attend does what is due in one request.
func (w *sweeper) attend(ctx context.Context, id string) {
	defer func() {
		if p := recover(); p != nil {
			w.Log.Error("panic while a request was attended to", "request", id, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	w.poster.noteLost(ctx, id) // before it ends: it says what was shown
	r, _, err := w.requests.load(ctx, id)
	if errors.Is(err, approver.ErrTampered) {
		w.Log.Error("a request that is due cannot be read", "request", id, "error", err)
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
			w.Log.Warn("a request that is due could not be changed", "request", id, "error", err)
			return
		}
	}
	w.history.recordEnded(ctx, r)
	_ = w.deeds.finish(ctx, r) // or at the next look
	if len(r.Untold.To) > 0 {
		w.deeds.alerts.tell(id)
	}
	if !r.State.Settled() {
		w.tasks.start(func(ctx context.Context) { w.poster.repost(ctx, id) }) // a slow channel must not hold up the clock
	}
	w.escalator.look(r)
	if r.Renews && r.State == approver.Pending {
		w.tasks.startSingle(renewing(id), false, func(ctx context.Context) { w.poster.renewCodes(ctx, id) })
	}
	if !r.ended() {
		return
	}
	if r.awaitsLapse(r.Also) {
		err = w.reports.lapse(ctx, r)
		if err != nil && !errors.Is(err, ErrTooSoon) && !errors.Is(err, errNoChange) {
			w.records.noteTrouble(err)
		}
	}
	if !w.tasks.runs(settling(id)) {
		w.editor.settle(id)
	}
}

// maxDue bounds the keys that one look returns.
const maxDue = 128
