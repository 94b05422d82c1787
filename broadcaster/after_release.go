package broadcaster

import (
	"slices"
	"time"

	"approver.example"
)

// Repeat notes that the courier of callID reads the yes once more. back is since
// when the daemon and its store have been there.
func (r Request) Repeat(callID string, fp approver.Fingerprint, back, now time.Time) (Request, error) {
	switch {
	case !r.Released(callID, fp):
		return r, ErrNotBound
	case !r.readable(r.Deadline, back, now):
		return r, errAnswered
	}
	r.Repeats++
	return r, nil
}

// withhold notes why the first call does not get the yes that it was released by.
func (r Request) withhold(why approver.Cause, now time.Time) (Request, error) {
	switch {
	case r.State != approver.Consumed || r.ReleasedAt.IsZero():
		return r, ErrTooSoon
	case r.Withheld != approver.NoCause || !r.Acked.IsZero(): // its courier has it, or will never
		return r, errNoChange
	}
	was := r
	r.Withheld, r.Acked = why, now
	if r.Repeats == 0 {
		r.Closed = false // its end is another now
	}
	return sayAnew(r, was), nil
}

// spend ends at once the time in which a yes is given, to the first call again or to those
// beside it. why is for the audit the cause of those that did not take it, NoCause where
// the store cannot say which those are.
func (r Request) spend(why approver.Cause, now time.Time) (Request, error) {
	switch {
	case r.State != approver.Consumed || r.ReleasedAt.IsZero():
		return r, ErrTooSoon
	case !r.lapses(r.Also):
		return r, errNoChange
	}
	was := r
	if r.untaken(r.Also) {
		for _, c := range r.Also {
			if c.Taken.IsZero() && why != approver.NoCause {
				r.Ended = r.Ended.with(why, now, c)
			}
		}
		r.Lapsed = true
	}
	if next, err := r.ack(now); err == nil {
		r.Release = next
	}
	return sayAnew(r, was), nil
}

// lapse acknowledges a yes whose time is over, and notes that nobody took it if sure
// says that an acknowledgment would have been heard. It is stored so that the next daemon
// knows that a daemon was there while that time passed.
func (r Request) lapse(sure bool, back, now time.Time) (Request, error) {
	switch {
	case !r.lapses(r.Also):
		return r, errNoChange
	case r.readable(r.Deadline, back, now), r.untaken(r.Also) && now.Before(givenUntil(r.ReleasedAt, back)):
		return r, ErrTooSoon
	}
	was := r
	if r.Lapsed = len(r.Also) > 0; r.Lapsed && !was.Lapsed {
		for _, c := range r.Also {
			if c.Taken.IsZero() {
				r.Ended = r.Ended.with(approver.AgentGone, now, c)
			}
		}
	}
	if next, err := r.ack(now); err == nil {
		r.Release = next
		if next, err := r.fated(r.CallID, Untaken); err == nil && sure {
			r = next
		}
	}
	return sayAnew(r, was), nil
}

// fated notes what became of a call that was released, and has every card say it. That
// it ran is the last word, and is noted only where something else was. A call that took
// the place of the one that asked may have a courier that acknowledges nothing.
func (r Request) fated(callID string, f Fate) (Request, error) {
	i, had, acked := r.Also.at(callID), r.Fate, !r.Acked.IsZero()
	if i >= 0 {
		had, acked = r.Also[i].Fate, true
	}
	switch {
	case r.State != approver.Consumed:
		return r, ErrTooSoon
	case !r.callers().includes(callID), i < 0 && r.Withheld != approver.NoCause,
		i >= 0 && (r.Also[i].Taken.IsZero() || r.Also[i].Lost):
		return r, ErrNotBound // it was not released
	case had == f, had == DidRun, f == NoFate:
		return r, errNoChange
	case f == DidRun && had == NoFate && acked:
		return r, errNoChange // as the cards say
	case f == Untaken && (had != NoFate || !r.Call.Acks || r.N > 0):
		return r, errNoChange
	}
	was := r
	if i >= 0 {
		r.Also = slices.Clone(r.Also)
		r.Also[i].Fate = f
	} else {
		r.Fate = f
	}
	return sayAnew(r, was), nil
}

// sayAnew has every card brought up to date, if people are told something else than of was.
func sayAnew(r Request, was Request) Request {
	if endLine(r) == endLine(was) {
		return r
	}
	r.Postings = r.Postings.redrawn()
	return r
}
