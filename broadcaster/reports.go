package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"approver.example"
)

// Reports takes what couriers report of released calls.
type Reports struct {
	*Options
	requests *Requests
	editor   *editor
	tasks    *tasks
	uptime   *uptime

	pending pendingNotes
}

// Acknowledge notes that the courier of a call has its whole answer. Only the user who asked
// can say so. A call that nobody was asked about needs none. If the store is away, the report
// is kept until it is back.
func (p *Reports) Acknowledge(ctx context.Context, peer approver.Peer, callID string) error {
	var before ackTries
	return p.noteOrKeep(ctx, callID, func(ctx context.Context) error {
		defer func() { before.tried = true }()
		return p.acknowledge(ctx, peer, callID, &before)
	})
}

// ackTries is the state of earlier tries to store an acknowledgment: one may have stored the
// step and failed to record it.
type ackTries struct{ tried, late bool }

func (p *Reports) acknowledge(ctx context.Context, peer approver.Peer, callID string, before *ackTries) error {
	id, _, err := p.requests.idByCall(ctx, callID)
	if errors.Is(err, approver.ErrNotFound) {
		return nil // a grant released it: the call has no request
	} else if err != nil {
		return err
	}
	r, err := p.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if !r.callers().includes(callID) || !r.Call.Peer.SameUser(peer) {
			return r, ErrNotBound
		}
		if callID != r.CallID { // only the first call reads its yes again
			return r, errNoChange
		}
		was := r
		if r.Fate == Untaken { // the courier has it after all
			before.late = true
			r.Fate = NoFate
			return redrawIfChanged(r, was), nil
		}
		var err error
		r.Release, err = r.ack(now)
		return r, err
	})
	switch {
	case errors.Is(err, errNoChange) && (!before.tried || callID != r.CallID):
		return nil
	case err != nil && !errors.Is(err, errNoChange):
		return err
	case before.late:
		p.editor.settle(r.ID)
		rec := auditRecord(r, approver.EventAcked)
		rec.Once, rec.Note = rec.Once+":late", "the agent's hook said late that it has the yes"
		_, err := p.Audit.Record(ctx, rec)
		return err
	}
	return p.recordAcked(ctx, r, "the agent's hook has the yes, so nobody is given it again")
}

// recordAcked records that a yes is not repeated any more, so that an older store does not
// bring it back.
func (p *Reports) recordAcked(ctx context.Context, r Request, why string) error {
	rec := auditRecord(r, approver.EventAcked)
	rec.At, rec.Note = r.Acked, why
	if _, err := p.Audit.Record(ctx, rec); err != nil {
		return fmt.Errorf("that the answer is not repeated any more could not be recorded: %w", err)
	}
	return nil
}

// Released reports whether the yes of a request was given to a call. If request is not empty, this
// process may have given it a moment ago.
func (p *Reports) Released(ctx context.Context, callID, request string) (bool, error) {
	r, _, mine := p.requests.cache.stored(request)
	if mine && r.CallID == callID && r.ReleasedBy == p.process && gaveTo(r, callID) {
		return true, nil
	}
	id, _, err := p.requests.idByCall(ctx, callID)
	if err == nil {
		r, err = p.requests.Get(ctx, id)
	}
	if errors.Is(err, approver.ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return gaveTo(r, callID), nil
}

func gaveTo(r Request, callID string) bool {
	if r.State != approver.Consumed || !r.Resolution.Approve {
		return false
	}
	if i := r.Also.at(callID); i >= 0 {
		return !r.Also[i].Taken.IsZero() && !r.Also[i].Lost
	}
	return r.CallID == callID && (r.Withheld == approver.NoCause || r.Repeats > 0)
}

// lapse ends the time in which the yes to r may be taken. The process that released it does so
// first and knows whether nobody took it, because it heard the couriers. After a grace period
// others do, and claim nothing.
func (p *Reports) lapse(ctx context.Context, r Request) error {
	unread, sure := r.Acked.IsZero(), false
	r, err := p.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		ours, back := r.ReleasedBy == p.process, p.uptime.backSince(now)
		if p.pending.has(r.CallID) || !ours && now.Before(givenUntil(r.ReleasedAt, back).Add(settleGrace)) {
			return r, ErrTooSoon
		}
		sure = ours && p.uptime.heardSince(r.ReleasedAt)
		return r.lapse(sure, back, now)
	})
	if err != nil || !unread {
		return err
	}
	why := "the time in which a courier may take the answer is over; whether one has it is not known"
	if sure {
		why = "the time to take this yes is over, so nobody is given it again"
	}
	return p.noteOrKeep(ctx, r.CallID, func(ctx context.Context) error { return p.recordAcked(ctx, r, why) })
}

// Became notes what the agent's user reports of a released call: that it ran, that it failed, or
// that the agent went on without it. It changes what cards show and nothing else; a call that ran in
// spite of the report is judged like any other. A call that nobody was asked about has no
// card. If the store is away, a report of a run is kept until it is back. A call counts as not
// run only while a report of a run would have been heard.
func (p *Reports) Became(ctx context.Context, peer approver.Peer, callID string, f Fate) error {
	if !f.Ran() {
		return p.became(ctx, peer, callID, f)
	}
	return p.noteOrKeep(ctx, callID, func(ctx context.Context) error { return p.became(ctx, peer, callID, f) })
}

func (p *Reports) became(ctx context.Context, peer approver.Peer, callID string, f Fate) error {
	id, _, err := p.requests.idByCall(ctx, callID)
	if errors.Is(err, approver.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	var at time.Time
	r, err := p.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if !r.callers().includes(callID) || !r.Call.Peer.SameUser(peer) {
			return r, ErrNotBound
		}
		at = now
		since := r.ReleasedAt
		if i := r.Also.at(callID); i >= 0 {
			since = r.Also[i].Taken
		}
		next, err := r.setFate(callID, f)
		if err == nil && f == NotRun && (!p.uptime.heardSince(since) || p.pending.has(callID)) {
			return r, errNoChange // a report may have been missed
		}
		return next, err
	})
	if errors.Is(err, errNoChange) {
		return nil
	} else if err != nil {
		return err
	}
	p.editor.settle(r.ID)
	if f != NotRun { // the report of a run is recorded by itself
		return nil
	}
	rec := auditRecord(r, approver.EventNotRun)
	rec.At, rec.Note = at, "its agent went on, and reported no run of it"
	if i := r.Also.at(callID); i >= 0 {
		rec = recordOf(rec, callID, r.Also[i].Session)
	}
	if _, err := p.Audit.Record(ctx, rec); err != nil {
		return fmt.Errorf("that a released call did not run could not be recorded: %w", err)
	}
	return nil
}

// Missed notes that a report of a courier was lost.
func (p *Reports) Missed() { p.uptime.missed() }

// noteOrKeep stores a report of a call, now or when the store is back.
func (p *Reports) noteOrKeep(ctx context.Context, call string, do func(context.Context) error) error {
	err := do(ctx)
	if err == nil || !comesBack(err) {
		return err
	}
	if !p.pending.keep(note{call, do}) {
		p.uptime.missed()
		return err
	}
	p.Log.Warn("what was told of a released call is kept until the store takes it", "call", call, "error", err)
	return nil
}

// catchUp stores in the background the reports that are pending.
func (p *Reports) catchUp() {
	if !p.pending.some() {
		return
	}
	p.tasks.startSingle(&p.pending, false, func(ctx context.Context) {
		defer p.pending.done(note{}, false) // after a panic, too
		for n, ok := p.pending.next(); ok; n, ok = p.pending.next() {
			step, cancel := context.WithTimeout(ctx, PostTimeout)
			err := n.do(step)
			cancel()
			later := err != nil && comesBack(err)
			p.pending.done(n, later)
			if later {
				return // the next look comes soon, and begins with another
			}
			if err != nil {
				p.Log.Warn("what was told of a released call was not taken", "call", n.call, "error", err)
			}
		}
	})
}
