package broadcaster

import (
	"context"
	"time"

	"log/slog"

	"approver.example"
)

// This file releases a call that people said yes to, and records what becomes of the
// calls that the yes was not for.

// releases gives calls the yes that people said.
type releases struct {
	channels    *Channels
	grants      *Grants
	reports     *Reports
	requests    *Requests
	editor      *editor
	poster      *poster
	records     *records
	uptime      *uptime
	audit       approver.Recorder
	fingerprint func(context.Context, approver.ToolCall) (approver.Binding, error)
	giving      *giving
	log         *slog.Logger
	process     string
	store       approver.KV
}

// release records the approval and then consumes it for the connection holder.
// What cannot be recorded, or is no longer what was shown, is denied instead.
func (l *releases) release(ctx context.Context, r Request, call approver.ToolCall, holder string) (Request, error) {
	began := time.Now()
	bound, err := l.fingerprint(context.WithoutCancel(ctx), call) // a courier that left has not changed the call
	fp := bound.Fingerprint
	if err != nil || !fp.Equal(r.Fingerprint) {
		return l.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) { return r.Fail(approver.CallChanged, now) })
	}
	if err := l.grants.stillGood(ctx, r, call); isVoid(err) {
		return l.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) { return r.Fail(causeOf(err), now) })
	} else if err != nil {
		return r, err
	}
	if moot, err := l.grants.moot(ctx, r); err != nil {
		return r, err
	} else if moot {
		return l.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) { return r.Fail(approver.Moot, now) })
	}
	// What ended meanwhile was not approved: nobody reads that of it in the audit.
	if time.Since(began) > retryEvery {
		if fresh, _, now, err := l.requests.loadNow(ctx, r.ID); err != nil {
			return r, err
		} else if fresh.State != approver.Approved {
			return fresh, ErrSettled
		} else if !now.Before(fresh.Due) {
			return fresh, approver.ErrOverdue
		}
	}
	hash, err := l.recordApproved(ctx, r)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil || hash == "" {
		l.log.Error("the approval could not be recorded, so the call was denied", "request", r.ID, "error", err)
		return l.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) { return r.Fail(approver.Unrecorded, now) })
	}
	next, err := l.consume(ctx, r, call, fp, hash, holder)
	if err == nil {
		if err := l.grants.keep(context.WithoutCancel(ctx), next); err != nil {
			l.log.Error("a yes could not be kept for longer than once", "request", r.ID, "error", err)
		}
	}
	return next, err
}

// recordApproved makes the record of people's yes, and before it that of the
// question: who answers by a request's id can be ahead of it, as after a crash.
func (l *releases) recordApproved(ctx context.Context, r Request) (hash string, err error) {
	if !r.Asked {
		if err := l.poster.recordAsked(ctx, r); err != nil {
			return "", err
		}
	}
	return l.audit.Record(ctx, r.record(approver.EventApproved))
}

func (l *releases) consume(ctx context.Context, r Request, call approver.ToolCall, fp approver.Fingerprint, hash, holder string) (Request, error) {
	readable := time.Minute
	if deadline, ok := ctx.Deadline(); ok {
		readable = time.Until(deadline)
	}
	l.giving.begin(holder, r.ID)
	return l.requests.change(ctx, r.ID, func(r Request, now time.Time) (next Request, err error) {
		if r.Parked {
			next, err = r.Take(call, fp, hash, now.Add(readable), now)
		} else {
			next, err = r.Consume(call.ID, fp, hash, now)
		}
		if err == nil {
			next.Holder, next.ReleasedBy = holder, l.process
		}
		return next, err
	})
}
