package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"approver.example"
)

// endings makes the audit records of questions, of answers and of the end of each request,
// once.
type endings struct {
	*Options
	requests *Requests
	records  *records

	mu      sync.Mutex
	closing map[string]*closing
}

// closeOnce records the end of a settled request, once per process however many ask for it,
// and returns the hash of the record.
func (n *endings) closeOnce(ctx context.Context, r Request) (hash string, err error) {
	if r.Closed {
		return r.Audit, nil
	}
	n.mu.Lock()
	c, found := n.closing[endKey(r)]
	if !found {
		c = &closing{done: make(chan struct{})}
		n.closing[endKey(r)] = c
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
		// The caller's copy may be older than the end of the request: only the record
		// says whether it is closed.
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

// A closing is one attempt to record the end of a request.
type closing struct {
	done chan struct{}
	hash string
	err  error
}

func (n *endings) forget(r Request) {
	n.mu.Lock()
	delete(n.closing, endKey(r))
	n.mu.Unlock()
}

// recordAsked records the question in the audit, once.
func (n *endings) recordAsked(ctx context.Context, r Request) error {
	rec := eventRecord(r, approver.EventAsked, "")
	rec.At, rec.Once = r.Created, r.ID+":asked"
	_, err := n.Audit.Record(ctx, rec)
	return err
}

// recordEnd makes the last record of a request, and one for each call that shared it. Calls
// that a yes released have a record of their own already: see releases.share.
func (n *endings) recordEnd(ctx context.Context, r Request) (hash string, err error) {
	if r.State != approver.Consumed {
		errs := make([]error, len(r.Also))
		_ = inParallel(len(r.Also), func(i int) error {
			_, errs[i] = n.recordAnswer(ctx, recordOf(auditRecord(r, lastEvent(r)), r.Also[i].CallID, r.Also[i].Session))
			return nil
		})
		if err := errors.Join(errs...); err != nil {
			return "", err
		}
	}
	return n.recordAnswer(ctx, auditRecord(r, lastEvent(r)))
}

// recordAnswer makes a record durable. If it is of a person's answer to the very call, OnAnswer is called:
// whoever changed it said neither yes nor no to it.
func (n *endings) recordAnswer(ctx context.Context, rec approver.Record) (hash string, err error) {
	hash, err = n.Audit.Record(ctx, rec)
	answer := rec.Event == approver.EventApproved || rec.Event == approver.EventDenied
	if err == nil && answer && rec.Resolution.Cause == approver.ByPerson && rec.Resolution.Edit == nil &&
		n.OnAnswer != nil {
		n.OnAnswer(ctx, rec)
	}
	return hash, err
}

// recordEnded records the calls that were taken off a request before its answer. A failure is
// tried again, because the request stays due.
func (n *endings) recordEnded(ctx context.Context, r Request) {
	if len(r.Ended) == 0 {
		return
	}
	for _, e := range r.Ended {
		rec := recordOf(auditRecord(r, approver.EventWithdrawn), e.CallID, e.Session)
		rec.At, rec.Took, rec.Resolution = e.At, e.At.Sub(r.Created), approver.Resolution{Cause: e.Why, At: e.At}
		rec.Note = "its courier did not come back, or not for its yes; other calls may wait for the same answer"
		if e.Why == approver.Revoked {
			rec.Note = "the yes was taken back before it was given to this call"
		}
		if e.Why == approver.NotShown {
			rec.Note = "the yes was not for it: if it still waits, it is asked about anew"
		}
		if _, err := n.Audit.Record(ctx, rec); err != nil {
			n.Log.Error("the end of a call that shared a request could not be recorded; trying again", "request", r.ID, "call",
				e.CallID, "error", err)
			return
		}
	}
	_, err := n.requests.change(ctx, r.ID, func(fresh Request, _ time.Time) (Request, error) {
		left := fresh.Ended.without(r.Ended)
		if len(left) == len(fresh.Ended) {
			return fresh, errNoChange
		}
		fresh.Ended = left
		return fresh, nil
	})
	if err != nil && !errors.Is(err, errNoChange) {
		n.records.noteTrouble(err)
	}
}

// eventRecord is the audit record of something that happened to a request.
func eventRecord(r Request, e approver.Event, note string) approver.Record {
	return approver.Record{
		Event: e, Request: r.ID, Fingerprint: r.Fingerprint, Call: r.Call, Verdict: r.Verdict, Note: note,
	}
}

// auditRecord is the audit record of what became of a request. It names the call that a yes was
// released to, which may be another one than the first, of another session.
func auditRecord(r Request, e approver.Event) approver.Record {
	if r.CallID != "" {
		r.Call.ID, r.Call.Session = r.CallID, cmp.Or(r.Session, r.Call.Session)
	}
	rec := eventRecord(r, e, "")
	rec.At, rec.Took = r.Resolution.At, r.Resolution.At.Sub(r.Created)
	rec.Once, rec.Resolution = r.ID+":"+string(e), r.Resolution
	if e == approver.EventDenied && r.Withheld != approver.NoCause {
		rec.At, rec.Resolution.Approve, rec.Resolution.Cause = r.Acked, false, r.Withheld
		rec.Note = "it was approved, and not given to the agent"
	}
	return rec
}

// lastEvent is the event that ends a request's life.
func lastEvent(r Request) approver.Event {
	switch r.State {
	case approver.Consumed:
		if r.Withheld != approver.NoCause && r.Repeats == 0 {
			return approver.EventDenied
		}
		return approver.EventReleased
	case approver.Expired:
		return approver.EventExpired
	case approver.Withdrawn:
		return approver.EventWithdrawn
	default:
		return approver.EventDenied
	}
}

// endKey names the end of a request. After a fail-over a request may end in another way.
func endKey(r Request) string { return r.ID + ":" + string(lastEvent(r)) }

// recordOf is rec for one of several calls that share a request.
func recordOf(rec approver.Record, callID, session string) approver.Record {
	rec.Once, rec.Call.ID, rec.Call.Session = rec.Once+":"+callID, callID, cmp.Or(session, rec.Call.Session)
	return rec
}
