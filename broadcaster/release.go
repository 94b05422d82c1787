package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"approver.example"
	"approver.example/display"
)

// releases gives calls the yes that people said.
type releases struct {
	*Options
	channels  *Channels
	grants    *Grants
	reports   *Reports
	requests  *Requests
	editor    *editor
	history   *history
	records   *records
	uptime    *uptime
	handovers *handovers
}

// release consumes a yes for the connection holder. A call that cannot be recorded, or is no
// longer what was shown, is denied instead.
func (l *releases) release(ctx context.Context, r Request, call approver.ToolCall, holder string) (Request, error) {
	fp, why, err := l.examine(ctx, r, call)
	if err != nil {
		return r, err
	}
	if why == approver.Unrecorded {
		l.Log.Error("the approval could not be recorded, so the call was denied", "request", r.ID, "error",
			approver.Ready(l.Audit))
	}
	if why != approver.NoCause {
		return l.requests.fail(ctx, r.ID, why)
	}
	l.handovers.begin(holder, r.ID, time.Now())
	next, err := l.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		return l.consumed(ctx, r, call, fp, holder, now)
	})
	if err == nil {
		l.makeLasting(ctx, next)
	}
	return next, err
}

// examine looks at what a yes to a request would release to a call now. why says why it must
// not; err is that this is not known.
func (l *releases) examine(
	ctx context.Context, r Request, call approver.ToolCall,
) (fp approver.Fingerprint, why approver.Cause, err error) {
	bound, err := l.Fingerprint(context.WithoutCancel(ctx), call) // the call is the same if its courier left
	if err != nil || !bound.Fingerprint.Equal(r.Fingerprint) || !l.stillEdited(ctx, r, call) {
		return "", approver.CallChanged, nil
	}
	c, err := recentControls(ctx, l.Store, l.Mark) // the last look reads them again
	if err == nil {
		err = l.grants.goodUnder(ctx, c, r, call)
	}
	if isVoid(err) {
		return "", causeOf(err), nil
	} else if err != nil {
		return "", approver.NoCause, err
	}
	if moot, err := l.grants.moot(ctx, r); err != nil {
		return "", approver.NoCause, err
	} else if moot {
		return "", approver.Moot, nil
	}
	if ctx.Err() != nil {
		return "", approver.NoCause, ctx.Err()
	}
	if approver.Ready(l.Audit) != nil {
		return "", approver.Unrecorded, nil
	}
	return bound.Fingerprint, approver.NoCause, nil
}

// consumed is the step that releases the call, if it is approved.
func (l *releases) consumed(
	ctx context.Context, r Request, call approver.ToolCall, fp approver.Fingerprint, holder string, now time.Time,
) (next Request, err error) {
	record := r.ID + ":" + string(approver.EventApproved)
	if r.Parked {
		readable := time.Minute
		if deadline, ok := ctx.Deadline(); ok {
			readable = time.Until(deadline)
		}
		next, err = r.Take(call, fp, record, now.Add(readable), now)
	} else {
		next, err = r.Consume(call.ID, fp, record, now)
	}
	if err == nil {
		next.Holder, next.ReleasedBy = holder, l.process
	}
	return next, err
}

// makeLasting keeps a yes that lasts, after its call was released.
func (l *releases) makeLasting(ctx context.Context, r Request) {
	if err := l.grants.makeLasting(context.WithoutCancel(ctx), r); err != nil {
		l.Log.Error("a yes could not be kept for longer than once", "request", r.ID, "error", err)
	}
}

// answerCourier gives the end of a request to the courier of a call.
func (l *releases) answerCourier(
	ctx context.Context, r Request, call approver.ToolCall, fp approver.Fingerprint, holder string,
) (Request, bool, error) {
	r, runs, err := l.mayRun(ctx, r, call, fp, holder)
	if err != nil {
		if isVoid(err) {
			l.editor.settle(r.ID)
		}
		return r, false, err
	}
	if err := l.answeredBefore(ctx, r, call); err != nil {
		l.Log.Error("audit failed", "request", r.ID, "error", err)
	}
	if r, runs = l.told(ctx, r, call, runs); r.EndedBy == l.process {
		l.editor.settle(r.ID)
	}
	return r, runs, nil
}

// told has the audit follow a request before its courier hears of it. Nobody, not even the
// agent, hears of a yes that the audit does not follow. A no stays a no if that fails.
func (l *releases) told(ctx context.Context, r Request, call approver.ToolCall, runs bool) (Request, bool) {
	if !runs && r.EndedBy != l.process { // its process does that
		return r, false
	}
	began := time.Now()
	err := l.history.follow(ctx, r)
	if err == nil && runs && time.Since(began) > lookAgainAfter { // people may have frozen everything meanwhile
		err = l.stands(ctx, r, call)
	}
	if err == nil {
		return r, runs
	}
	l.Log.Error("audit failed", "request", r.ID, "error", err)
	if runs {
		why := approver.Unrecorded
		if isVoid(err) {
			why = causeOf(err)
		}
		r = l.withhold(context.WithoutCancel(ctx), r, why)
	}
	return r, false
}

// lookAgainAfter is how old a look at whether a yes stands may be when the yes is given. A freeze is
// acknowledged only effectTime after it is stored, which is more than two of these.
const lookAgainAfter = 20 * time.Millisecond

// maxLooks bounds the looks at a store that takes longer than that for each.
const maxLooks = 3

// stands looks whether a yes still stands, until a look is young enough.
func (l *releases) stands(ctx context.Context, r Request, call approver.ToolCall) (err error) {
	return l.grants.stands(ctx, r, call)
}

func (k *Grants) stands(ctx context.Context, r Request, call approver.ToolCall) (err error) {
	for range maxLooks {
		began := time.Now()
		if err = k.stillGood(ctx, r, call); err != nil || time.Since(began) <= lookAgainAfter {
			return err
		}
	}
	return nil
}

// youngLook records a yes that stands, and looks again if that took long.
func (k *Grants) youngLook(ctx context.Context, r Request, call approver.ToolCall, record func() error) error {
	if err := k.stands(ctx, r, call); err != nil {
		return err
	}
	began := time.Now()
	if err := record(); err != nil || time.Since(began) <= lookAgainAfter {
		return err
	}
	return k.stands(ctx, r, call)
}

// yesRecorded has the audit take people's yes before the last look at whether it stands. If the
// store is on other machines, it is durable in this daemon's own log then.
func (l *releases) yesRecorded(ctx context.Context, r Request) error {
	if !l.SyncRelease {
		return nil
	}
	return l.history.yesDurable(ctx, r)
}

// mayRun reports whether the courier of a call may take r as a yes: because r was released on
// its connection, holder, or because it may be repeated. A repetition is one compare-and-set,
// which excludes an acknowledgment; then [Grants.stillGood] is checked as before a release;
// then it is recorded.
func (l *releases) mayRun(
	ctx context.Context, r Request, call approver.ToolCall, fp approver.Fingerprint, holder string,
) (Request, bool, error) {
	switch {
	case r.State != approver.Consumed || r.CallID != call.ID:
		return r, false, nil
	case holder != "" && r.Holder == holder:
		return l.lastLook(ctx, r, call, holder)
	case !r.Call.Peer.SameUser(call.Peer):
		return r, false, ErrNotBound
	}
	r, err := l.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		return r.Repeat(call.ID, fp, l.uptime.backSince(now), now)
	})
	if err != nil {
		return r, false, err
	}
	rec := auditRecord(r, approver.EventRepeated)
	rec.At, rec.Once, rec.Call = call.At, fmt.Sprintf("%s:%d", rec.Once, r.Repeats), call
	rec.Note = fmt.Sprintf("the courier came back for its answer: time %d", r.Repeats)
	err = l.grants.youngLook(ctx, r, call, func() error {
		if _, err := l.Audit.Record(ctx, rec); err != nil {
			return fmt.Errorf("the answer could not be repeated, because that could not be recorded: %w", err)
		}
		return nil
	})
	if err != nil {
		if isVoid(err) { // so that nobody waits for its courier
			r = l.withhold(context.WithoutCancel(ctx), r, causeOf(err))
		}
		return r, false, err
	}
	l.Log.Warn("a yes was told to its courier once more", "request", r.ID, "call", call.ID, "time", r.Repeats)
	return r, true, nil
}

// lastLook says whether the courier that r was just released to gets the yes. The store may
// have been away since the release, and people may have frozen everything meanwhile.
func (l *releases) lastLook(
	ctx context.Context, r Request, call approver.ToolCall, holder string,
) (Request, bool, error) {
	if err := l.yesRecorded(ctx, r); err != nil {
		why := approver.Unrecorded
		if ctx.Err() != nil {
			why = approver.AgentGone
		}
		l.Log.Error("audit failed", "request", r.ID, "error", err)
		return l.withhold(context.WithoutCancel(ctx), r, why), false, err
	}
	ctx = context.WithoutCancel(ctx)
	// The call was examined before its yes was stored, which the store may have held up.
	if time.Since(l.handovers.examined(holder)) > examinedFor {
		if bound, bindErr := l.Fingerprint(ctx, call); bindErr != nil || !bound.Fingerprint.Equal(r.Fingerprint) {
			return l.withhold(ctx, r, approver.CallChanged), false, nil
		}
	}
	err := patiently(ctx, func() error { return l.stands(ctx, r, call) })
	if err == nil {
		return r, true, nil
	}
	r = l.withhold(ctx, r, causeOf(err))
	if r.withheldFromAll(r.Also) && isVoid(err) {
		return r, false, nil // the record says why
	}
	return r, false, err
}

// withhold notes that the courier of a released call is not given its yes. If the store is
// away, the note is kept until it is back.
func (l *releases) withhold(ctx context.Context, r Request, why approver.Cause) Request {
	var now atomic.Pointer[Request]
	now.Store(&r)
	err := l.reports.noteOrKeep(ctx, r.CallID, func(ctx context.Context) error {
		next, err := l.requests.change(ctx, r.ID, func(fresh Request, at time.Time) (Request, error) {
			if fresh.CallID != r.CallID {
				return fresh, ErrNotBound
			}
			return fresh.withhold(why, at)
		})
		if errors.Is(err, errNoChange) {
			err = nil
		}
		if err == nil {
			now.Store(&next)
			l.editor.settle(r.ID)
		}
		return err
	})
	if err != nil {
		l.Log.Warn("it could not be noted that an approved call was not given to its agent", "request", r.ID, "error", err)
	}
	return *now.Load()
}

// share releases one more call of a request whose yes is for several. why is the verdict that
// asks about this call now, which may differ from the first.
func (l *releases) share(
	ctx context.Context, r Request, call approver.ToolCall, why approver.Verdict, holder string,
) (Request, bool, error) {
	if !coversOther(r.Verdict, why) {
		return r, false, ErrNotBound
	}
	bound, err := l.Fingerprint(context.WithoutCancel(ctx), call)
	if err != nil {
		return r, false, err
	}
	l.handovers.begin(holder, r.ID, time.Now()) // so that nobody says that the call has the yes before the last look
	r, err = l.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		next, err := r.Share(call.ID, bound.Fingerprint, holder, l.uptime.backSince(now), now)
		if i := next.Also.at(call.ID); err == nil && i >= 0 {
			next.Also[i].TakenBy = l.process
		}
		return next, err
	})
	switch {
	case errors.Is(err, ErrSettled):
		return r, false, errAnswered
	case errors.Is(err, approver.ErrOverdue):
		return r, false, errTooOld
	case err != nil:
		return r, false, err
	}
	if err = l.yesRecorded(ctx, r); err == nil {
		err = l.stands(ctx, r, call)
	}
	if err == nil {
		began := time.Now()
		if err = l.history.followTaken(ctx, r, call.ID); err == nil && time.Since(began) > lookAgainAfter {
			err = l.stands(ctx, r, call)
		}
	}
	if err != nil {
		l.noteLost(ctx, r, call.ID)
		return r, false, err
	}
	return r, ctx.Err() == nil, ctx.Err()
}

// noteLost notes that a call took its yes and was not released, so that no card counts it. If the
// store is away, the note is kept until it is back.
func (l *releases) noteLost(ctx context.Context, r Request, callID string) {
	ctx = context.WithoutCancel(ctx)
	err := l.reports.noteOrKeep(ctx, callID, func(ctx context.Context) error {
		_, err := l.requests.change(ctx, r.ID, func(r Request, _ time.Time) (Request, error) {
			i, was := r.Also.at(callID), r
			if i < 0 || r.Also[i].Lost {
				return r, errNoChange
			}
			r.Also = slices.Clone(r.Also)
			r.Also[i].Lost = true
			return redrawIfChanged(r, was), nil
		})
		if errors.Is(err, errNoChange) {
			err = nil
		}
		l.editor.settle(r.ID)
		return err
	})
	if err != nil {
		l.Log.Warn("cards may count a call that was not released", "request", r.ID, "call", callID, "error", err)
	}
}

// verdict is the answer to a courier. runs is what mayRun says.
func (l *releases) verdict(r Request, runs bool) approver.Verdict {
	v := r.Verdict
	v.Chain, v.Unasked = nil, false // they belong to the question
	res, settled := r.Told()
	took := display.Duration(res.At.Sub(r.Created))
	who := cmp.Or(res.Person.Name, res.Person.ID)
	v.By = approver.ByPeople
	if settled && res.Approve && runs {
		v.Decision = approver.Allow
		v.Reason = fmt.Sprintf("approved by %s via %s after %s", who, display.Platform(res.Identity.Channel), took)
		if edit := res.Edit; edit != nil {
			v.Args, v.Reason = edit.Args, v.Reason+", who changed the command: what runs is "+exactly(edit.Command)
		}
		v.Detail, v.Approval = v.Reason, yesOf(r)
		return v
	}
	switch {
	case !settled:
		reason := fmt.Sprintf("Waiting for approval (request %s): run the same call again later, until %s", r.ID,
			r.TakeBy.UTC().Format("15:04 UTC"))
		return v.Blocked(reason, reason)
	case res.Approve:
		reason := "another call with the same content has used this approval; run it again to ask anew"
		return v.Blocked(reason, reason)
	}
	reason, people := res.Cause.Sentence(), ""
	switch res.Cause {
	case approver.ByPerson:
		reason = personsNo(res, who)
	case approver.TimedOut:
		reason = fmt.Sprintf("nobody answered within %s, so the call was blocked. It may be tried again when somebody is "+
			"there to approve it",
			display.Duration(r.Due.Sub(r.Created)))
	case approver.Unreachable:
		reason = "no approval channel could be reached, so the call was blocked"
		agent, all := l.channels.unreached(r)
		reason, people = reason+agent, reason+all
	case approver.NoRoom:
		reason += ", so the call was blocked: too many calls waited for people at once. It may be tried again when fewer do"
	default: // the sentence says it
	}
	v = v.Blocked(reason, cmp.Or(people, reason))
	v.Unanswered = res.Cause == approver.TimedOut || res.Cause == approver.Unreachable || res.Cause == approver.NoRoom
	return v
}

// answeredBefore records that a call got the answer to a request that another call made.
func (l *releases) answeredBefore(ctx context.Context, r Request, call approver.ToolCall) error {
	if r.CallID == call.ID || !r.Parked { // recordEnd does that
		return nil
	}
	_, err := l.Audit.Record(context.WithoutCancel(ctx), approver.Record{
		Event: approver.EventVerdict, At: call.At, Request: r.ID, Call: call, Verdict: l.verdict(r, false),
		Note: "the answer of a request that was parked",
	})
	return err
}
