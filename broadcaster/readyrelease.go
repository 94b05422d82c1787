package broadcaster

import (
	"context"
	"time"

	"approver.example"
)

// examineWithin is how long an answer waits for [releases.examine], so that its own commit
// releases the call. After that the courier's connection does it.
const examineWithin = 100 * time.Millisecond

// lastMoment is how long before its deadline an answer waits for nothing.
const lastMoment = time.Second

// A readyRelease is a call that waits in this process and gets the yes in the commit of the
// answer. The zero value is of a call that waits elsewhere, or must not have it.
type readyRelease struct {
	call   approver.ToolCall
	fp     approver.Fingerprint
	holder string
	waits  context.Context // of its connection
	// examined is when that was found out. It counts for examinedFor.
	examined time.Time
}

// examinedFor is how long it counts what a call would run. After that it is looked at again.
const examinedFor = time.Second

// prepare looks for the call that a yes to r is for.
func (l *releases) prepare(ctx context.Context, r Request, waiting *waitingCalls) (ready readyRelease) {
	w, here := waiting.of(r)
	left := time.Until(w.due)
	if !here || r.Parked || r.State != approver.Pending || w.call.Control != "" || left < lastMoment {
		return ready
	}
	ctx, cancel := context.WithTimeout(ctx, examineWithin)
	defer cancel()
	done := make(chan readyRelease, 1)
	go func() {
		var y readyRelease
		err := unpanicked(func() error {
			began := time.Now()
			fp, why, err := l.examine(ctx, r, w.call)
			if err == nil && why == approver.NoCause {
				y = readyRelease{w.call, fp, r.Holder, w.waits, began}
			}
			return err
		})
		if err != nil && ctx.Err() == nil {
			l.Log.Warn("what an answer would release could not be examined before it was stored", "request", r.ID, "error", err)
		}
		done <- y
	}()
	select {
	case ready = <-done:
	case <-ctx.Done():
	}
	return ready
}

// release consumes a yes that was just given, if the call still waits for it.
func (y readyRelease) release(l *releases, r Request, now time.Time) Request {
	if y.holder == "" || y.waits.Err() != nil || r.State != approver.Approved || r.Parked || r.Holder != y.holder ||
		r.CallID != y.call.ID || r.Resolution.Edit != nil {
		return r
	}
	next, err := l.consumed(y.waits, r, y.call, y.fp, y.holder, now)
	if err != nil {
		return r // its courier finds out why
	}
	return next
}
