package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"approver.example"
)

// This file gives a yes that was lost on its way to the same courier again: for
// some seconds, until the courier says that it has it, and never after a freeze.

// RepeatFor is how long a courier that comes back may read a yes again, unless it
// has acknowledged it: from the release on or, if the daemon or its store went
// away before that time was over, from when they are back.
const RepeatFor = 15 * time.Second

var (
	errAnswered = errors.New("its yes was given before, and a yes is given once: run the call again to ask anew")
	errBurned   = errors.New("everything was frozen since the call was approved")
	errHeld     = errors.New("every call of this agent was frozen since the call was approved")

	errTakenBack = errors.New("whoever approved the call was removed since")
)

// Repeat notes that the courier of callID reads the yes once more. back is since
// when the daemon and its store have been there.
func (r Request) Repeat(callID string, fp approver.Fingerprint, back, now time.Time) (Request, error) {
	switch {
	case !r.Released(callID, fp):
		return r, ErrNotBound
	case !r.readable(back, now):
		return r, errAnswered
	}
	r.Repeats++
	return r, nil
}

// readable reports that the yes may still be read again.
func (r Request) readable(back, now time.Time) bool {
	if r.State != approver.Consumed || r.ReleasedAt.IsZero() || !r.Acked.IsZero() || !now.Before(r.Deadline) {
		return false
	}
	return now.Before(r.givenUntil(back))
}

// givenUntil is when the time ends in which the yes is given: again, or to identical calls.
func (r Request) givenUntil(back time.Time) time.Time {
	if back.After(r.ReleasedAt) {
		return back.Add(RepeatFor)
	}
	return r.ReleasedAt.Add(RepeatFor)
}

// lapses reports that the end of that time is still to be noted.
func (r Request) lapses() bool {
	return r.State == approver.Consumed && !r.ReleasedAt.IsZero() && (r.Acked.IsZero() || r.owing())
}

// Ack notes that the courier has the yes: nobody reads it again.
func (r Request) Ack(now time.Time) (Request, error) {
	switch {
	case r.State != approver.Consumed || r.ReleasedAt.IsZero():
		return r, ErrTooSoon
	case !r.Acked.IsZero():
		return r, errNoChange
	}
	r.Acked = now
	return r, nil
}

// spend ends at once the time in which a yes is given, to the first call again or to those
// beside it. why is for the audit the cause of those that did not take it, NoCause where
// the store cannot say which those are.
func (r Request) spend(why approver.Cause, now time.Time) (Request, error) {
	switch {
	case r.State != approver.Consumed || r.ReleasedAt.IsZero():
		return r, ErrTooSoon
	case !r.lapses():
		return r, errNoChange
	}
	was := r
	if r.owing() {
		for _, c := range r.Also {
			if c.Taken.IsZero() && why != approver.NoCause {
				r = r.off(why, now, c)
			}
		}
		r.Lapsed = true
	}
	if next, err := r.Ack(now); err == nil {
		r = next
	}
	return r.sayAnew(was), nil
}

// lapse acknowledges a yes whose time is over, and notes that nobody took it if sure
// says that an acknowledgment would have been heard. It is stored so that the next daemon
// knows that a daemon was there while that time passed.
func (r Request) lapse(sure bool, back, now time.Time) (Request, error) {
	switch {
	case !r.lapses():
		return r, errNoChange
	case r.readable(back, now), r.owing() && now.Before(r.givenUntil(back)):
		return r, ErrTooSoon
	}
	was := r
	if r.Lapsed = len(r.Also) > 0; r.Lapsed && !was.Lapsed {
		for _, c := range r.Also {
			if c.Taken.IsZero() {
				r = r.off(approver.AgentGone, now, c)
			}
		}
	}
	if next, err := r.Ack(now); err == nil {
		r = next
		if next, err := r.fated(r.CallID, Untaken); err == nil && sure {
			r = next
		}
	}
	return r.sayAnew(was), nil
}

// runs reports whether the courier of a call may take r as a yes: because it was
// released on this connection, by holder, or because it may be repeated to it. A
// repetition is a compare-and-set, which an acknowledgment can only lose or win;
// then [Controls.void] is looked at, as before a release; then it is recorded.
func (l *releases) runs(
	ctx context.Context, r Request, call approver.ToolCall, fp approver.Fingerprint, holder string,
) (Request, bool, error) {
	switch {
	case r.State != approver.Consumed || r.CallID != call.ID:
		return r, false, nil
	case holder != "" && r.Holder == holder:
		return l.lastLook(context.WithoutCancel(ctx), r, call)
	case !r.Call.Peer.SameUser(call.Peer):
		return r, false, ErrNotBound
	}
	r, err := l.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		return r.Repeat(call.ID, fp, l.uptime.backSince(now), now)
	})
	if err != nil {
		return r, false, err
	}
	if err := l.grants.stillGood(ctx, r, call); err != nil {
		if isVoid(err) { // nobody is to wait for its courier, and then be told that nobody came
			r = l.reports.withhold(context.WithoutCancel(ctx), r, causeOf(err))
		}
		return r, false, err
	}
	rec := r.record(approver.EventRepeated)
	rec.At, rec.Once, rec.Call = call.At, fmt.Sprintf("%s:%d", rec.Once, r.Repeats), call
	rec.Note = fmt.Sprintf("the courier came back for its answer: time %d", r.Repeats)
	if _, err := l.audit.Record(ctx, rec); err != nil {
		return r, false, fmt.Errorf("the answer could not be repeated, because that could not be recorded: %w", err)
	}
	l.log.Warn("a yes was told to its courier once more", "request", r.ID, "call", call.ID, "time", r.Repeats)
	return r, true, nil
}

// Missed notes that something a courier came to tell was not taken in.
func (p *Reports) Missed() { p.uptime.missed() }

// Acknowledge notes that the courier of a call has its whole answer. Only the user
// who asked can say so. A call that nobody was asked about needs none. What the store does
// not take now is kept until it does.
func (p *Reports) Acknowledge(ctx context.Context, peer approver.Peer, callID string) error {
	var before ackTries
	return p.noteOrKeep(ctx, callID, func(ctx context.Context) error {
		defer func() { before.tried = true }()
		return p.acknowledge(ctx, peer, callID, &before)
	})
}

// ackTries is what former tries to note an acknowledgment came to: one may have stored it,
// and its record failed.
type ackTries struct{ tried, late bool }

func (p *Reports) acknowledge(ctx context.Context, peer approver.Peer, callID string, before *ackTries) error {
	id, _, err := p.requests.requestOf(ctx, callID)
	if errors.Is(err, approver.ErrNotFound) {
		return nil // released by a grant that lasts: it is not kept under the call's id
	} else if err != nil {
		return err
	}
	r, err := p.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if !r.lists(callID) || !r.Call.Peer.SameUser(peer) {
			return r, ErrNotBound
		}
		if callID != r.CallID { // its yes is repeated to nobody
			return r, errNoChange
		}
		if next, ok := r.takenAfterAll(); ok {
			before.late = true
			return next, nil
		}
		return r.Ack(now)
	})
	switch {
	case errors.Is(err, errNoChange) && (!before.tried || callID != r.CallID):
		return nil
	case err != nil && !errors.Is(err, errNoChange):
		return err
	case before.late:
		p.editor.settle(r.ID)
		rec := r.record(approver.EventAcked)
		rec.Once, rec.Note = rec.Once+":late", "the agent's hook said late that it has the yes"
		_, err := p.audit.Record(ctx, rec)
		return err
	}
	return p.acked(ctx, r, "the agent's hook has the yes, so nobody is given it again")
}

// acked records that a yes is not repeated any more, so that an older store does not
// bring it back.
func (p *Reports) acked(ctx context.Context, r Request, why string) error {
	rec := r.record(approver.EventAcked)
	rec.At, rec.Note = r.Acked, why
	if _, err := p.audit.Record(ctx, rec); err != nil {
		return fmt.Errorf("that the answer is not repeated any more could not be recorded: %w", err)
	}
	return nil
}
