package broadcaster

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"approver.example"
	"github.com/google/uuid"
)

// Ask puts a call before people and waits for the end of the request: Allow once the call is
// released, else Deny with a reason. A call whose ID was asked before resumes that request. If
// ctx ends first, the courier has left: the request is withdrawn unless the same call comes
// back within WithdrawGrace. With ErrGone as the cause of that, it is withdrawn at once.
func (b *Broadcaster) Ask(ctx context.Context, call approver.ToolCall, why approver.Verdict) approver.Verdict {
	r, runs, err := b.ask(ctx, call, why)
	if err != nil {
		return b.blocked(ctx, r, call, why, err)
	}
	return b.releases.verdict(r, runs)
}

// ask returns the request at its end, or parked. runs reports whether the call may run.
func (b *Broadcaster) ask(
	ctx context.Context, call approver.ToolCall, why approver.Verdict,
) (r Request, runs bool, err error) {
	// After a restart, couriers may come back before Run has begun.
	if err := b.tasks.awaitReady(ctx); err != nil {
		return Request{}, false, err
	}
	if call.ID == "" {
		return Request{}, false, errors.New("the call has no id")
	}
	bound, err := b.Fingerprint(ctx, call)
	if err != nil {
		return Request{}, false, err
	}
	scope := scopeOf(call, bound.Fingerprint)
	ctx = approver.ReadAhead(ctx, b.Store, approver.Key("grant", scope), approver.Key("call", call.ID),
		approver.Key("parked", scope), approver.Key("same", scope))
	// A yes that lasts needs nobody.
	err = patiently(ctx, func() error { r, err = b.Grants.use(ctx, call, why, bound.Fingerprint); return err })
	if !errors.Is(err, approver.ErrNotFound) {
		return r, err == nil, err
	}
	// Else people are asked, and this connection holds the request.
	holder := uuid.NewString()
	q := question{call: call, why: why, bound: bound, holder: holder}
	defer b.handovers.end(holder)
	b.waiting.add(ctx, holder, call)
	defer b.waiting.remove(holder)
	err = patiently(ctx, func() error { r, err = b.opener.openOrResume(ctx, q); return err })
	if err != nil {
		return Request{}, false, err
	}
	r, err = b.await(ctx, r, call, holder)
	for errors.Is(err, errVanished) {
		// A fail-over has lost the record. The agent still waits and nobody was told
		// anything, so people are asked anew.
		b.Log.Warn("the store has lost a request; people are asked anew", "request", r.ID)
		b.editor.vanished(r)
		b.handovers.end(holder)
		if r, err = b.opener.openOrResume(ctx, q); err == nil {
			r, err = b.await(ctx, r, call, holder)
		}
	}
	switch {
	case err != nil:
		return r, false, err
	case r.excludes(call, bound.Fingerprint): // people answered before the card showed this call
		b.handovers.end(holder) // else the end of that request would wait for this one
		return b.ask(ctx, call, why)
	case !r.State.Settled():
		return r, false, nil // parked
	case r.State == approver.Consumed && r.Resolution.Approve && !r.Parked && r.Also.awaits(call.ID):
		return b.releases.share(ctx, r, call, why, holder)
	}
	return b.releases.answerCourier(ctx, r, call, bound.Fingerprint, holder)
}

// blocked is the verdict of a call that people could not be asked about. It is logged and
// recorded.
func (b *Broadcaster) blocked(
	ctx context.Context, r Request, call approver.ToolCall, why approver.Verdict, err error,
) approver.Verdict {
	note := "asking people failed"
	v, limited := overLimit(why, err)
	if limited {
		note = "people were not asked"
	} else {
		v = why.Blocked("the approval could not be obtained, so the call was blocked: "+publicCause(err), err.Error())
	}
	v.Unanswered = limited || isQuiet(err) || isAny(err, errNobody, errNobodyLeft, errNoTime)
	level := slog.LevelWarn
	if limited || isQuiet(err) || isAny(err, context.Canceled, approver.ErrOutdated, errNobodyLeft, errNobody, errNoTime) {
		level = slog.LevelDebug // the log line of the answer says why, and a stopped agent is no problem
	}
	b.Log.Log(ctx, level, note, "call", call.ID, "error", err)
	if r.ID != "" && ctx.Err() != nil || b.tasks.stopping(ctx) {
		return v // nobody reads the answer; the end of the request is recorded later
	}
	if _, err := b.Audit.Record(context.WithoutCancel(ctx), approver.Record{
		Event: approver.EventVerdict, At: call.At, Request: r.ID, Call: call, Verdict: v, Note: note,
	}); err != nil {
		b.Log.Error("audit failed", "call", call.ID, "error", err)
	}
	return v
}

// await waits for the end of a request on behalf of its courier, and releases the call when
// people said yes. It returns early if the request was parked, or if its answer is not for
// this call.
func (b *Broadcaster) await(ctx context.Context, r Request, call approver.ToolCall, holder string) (Request, error) {
	watchCtx, stop := context.WithCancel(ctx)
	defer stop()
	hint := hints(watchCtx, b.Store, approver.Key("req", r.ID))
	dropFirst(hint) // what it says first is looked at now
	var seen approver.Rev
	var there time.Time // when the record last existed
	for {
		next, rev, within, err := b.advance(ctx, r, seen, call, holder)
		switch {
		case err == nil && (next.State.Settled() || next.excludes(call, next.Fingerprint)):
			return next, nil
		case !errors.Is(err, approver.ErrNotFound) || there.IsZero():
			there = time.Now()
		case time.Since(there) > vanishedAfter:
			return r, errVanished
		}
		park := parkAt(ctx, next, call)
		if err == nil && mayPark(next, park) {
			if next, err = b.opener.park(ctx, next, call); err == nil {
				return next, nil
			}
		}
		if err != nil && ctx.Err() == nil {
			b.Log.Warn("the store failed while a call waits; trying again", "request", r.ID, "error", err)
		}
		wait := pollEvery
		if err == nil {
			r, seen = next, rev
			if hint != nil {
				wait = hintedPoll
			}
			wait = min(wait, within)
			if !park.IsZero() {
				wait = min(wait, max(time.Until(park), retryEvery))
			}
		}
		if !hinted(ctx, &hint, wait) {
			return r, b.leave(ctx, r.ID, holder)
		}
	}
}

// advance takes the next step of a request on behalf of the waiting courier: it expires at its
// deadline, and is released after a yes. r is the record at revision seen. The caller looks
// again within this time at the latest.
func (b *Broadcaster) advance(
	ctx context.Context, r Request, seen approver.Rev, call approver.ToolCall, holder string,
) (next Request, rev approver.Rev, within time.Duration, err error) {
	if mine, rev, ok := b.Requests.cache.stored(r.ID); ok && mine.State.Settled() {
		return mine, rev, 0, nil // the answer that has just come released it, in this process
	}
	r, rev, now, err := b.Requests.reload(ctx, r, seen)
	if err != nil || r.State.Settled() {
		return r, rev, 0, err
	}
	switch {
	case !now.Before(r.Due):
		next, err = b.Requests.change(ctx, r.ID, Request.Expire)
	case r.State == approver.Approved && (r.Parked || r.callers().mayTake(call.ID, now.Sub(r.Resolution.At))):
		next, err = b.releases.release(ctx, r, call, holder)
	case r.State == approver.Approved:
		return r, rev, pollEvery, nil
	default:
		b.editor.updateCounts(r)
		b.waiting.until(holder, r.Due.Sub(now))
		return r, rev, r.Due.Sub(now), nil
	}
	switch {
	case errors.Is(err, ErrSettled): // another process was first, and next is its result
		err = nil
	case errors.Is(err, ErrTooSoon), errors.Is(err, approver.ErrOverdue): // the clock decides at the next look
		return r, "", retryEvery, nil
	}
	return next, "", retryEvery, err
}

// leave notes that the courier is gone: after a grace period the request is withdrawn. When
// this process shuts down it notes nothing, because the courier will come back.
func (b *Broadcaster) leave(ctx context.Context, id, holder string) error {
	cause, grace := context.Cause(ctx), WithdrawGrace
	if b.tasks.stopping(ctx) {
		return cause
	}
	if isAny(cause, approver.ErrGone, approver.ErrOutdated, approver.ErrAtDesk) {
		grace = 0
	}
	b.tasks.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, PostTimeout)
		defer cancel()
		_, err := b.Requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
			if errors.Is(cause, approver.ErrOutdated) {
				return r.End(approver.Withdrawn, approver.Outdated, now)
			}
			if errors.Is(cause, approver.ErrAtDesk) {
				return r.End(approver.Withdrawn, approver.AtDesk, now)
			}
			r, err := r.Leave(holder, now, grace)
			if err != nil || grace > 0 {
				return r, err
			}
			return r.Withdraw(now)
		})
		switch {
		case err == nil && grace == 0:
			b.sweeper.attend(ctx, id) // record and show its end now, not at the next sweep
		case err != nil && !errors.Is(err, ErrSettled) && !errors.Is(err, ErrNotHolder):
			b.Log.Warn("could not note that a courier left", "request", id, "error", err)
		}
	})
	return cause
}
