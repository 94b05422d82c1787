package broadcaster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"approver.example"
)

// Answer records a person's answer. At the deadline or later it is ErrOverdue, and the caller
// applies Expire instead. A yes of somebody whom the verdict does not name is ErrNotAsked.
func (r Request) Answer(res approver.Resolution, now time.Time) (Request, error) {
	switch {
	case r.State != approver.Pending:
		return r, ErrSettled
	case !now.Before(r.Due):
		return r, approver.ErrOverdue
	case res.Cause != approver.ByPerson || res.Person.ID == "":
		return r, fmt.Errorf("an answer needs a person, got cause %q", res.Cause)
	}
	if err := admits(r.Verdict, res); err != nil {
		return r, err
	}
	if res.Edit != nil && (uneditable(r).Format != "" || res.Calls != 0 || res.Grant != approver.Term{} ||
		res.Approve && !r.takesEdit()) {
		return r, errUneditable
	}
	r.State = approver.Denied
	if res.Approve {
		r.State = approver.Approved
		if r.Parked {
			r.Due, r.Audit = r.TakeBy, grantRecord(r) // the yes waits for the call
			r.Granting = Granting{now, r.CallID, cmp.Or(r.Session, r.Call.Session)}
		} else if by := releaseBy(r.Deadline, now); by.After(r.Due) {
			r.Due = by
		}
	}
	res.At = now
	r.Resolution = res
	if !res.Approve || r.Parked {
		return r, nil
	}
	// The yes is for the callers that the card showed. If it may release one call only, the
	// first of them that takes it gets it: see Consume. After a restart nobody knows whose
	// courier comes back. If none of them waits any more, the yes releases nothing, and the
	// calls that wait are asked anew: see excludes.
	unshown := func(c Caller) bool { return c.N > res.Calls }
	all := r.callers()
	for _, c := range all {
		if unshown(c) {
			r.Ended = r.Ended.with(approver.NotShown, now, c)
		}
	}
	if all = slices.DeleteFunc(all, unshown); len(all) == 0 {
		return r.withCallers(Callers{{}}).End(approver.Withdrawn, approver.NotShown, now)
	}
	return r.withCallers(all), nil
}

// grantRecord is the Once of the audit record of a yes that waits for its call.
func grantRecord(r Request) string { return r.ID + ":" + string(approver.EventGranted) }

// noteGrant notes of a yes that waits for its call that its record is in this commit.
func (r Request) noteGrant(time.Time) (Request, error) {
	if r.State != approver.Approved || !r.Parked || r.Audit != "" {
		return r, errNoChange
	}
	r.Audit = grantRecord(r)
	r.Granting = Granting{r.Resolution.At, r.CallID, cmp.Or(r.Session, r.Call.Session)}
	return r, nil
}

// releaseBy is until when a yes of now may be released. A yes in time counts although its
// release takes a moment, but the answer must reach the courier before its deadline.
func releaseBy(deadline, now time.Time) time.Time {
	by, last := now.Add(ReplyWait), deadline.Add(-AnswerMargin)
	if by.After(last) {
		return last
	}
	return by
}

// Expire applies the clock. At the deadline, silence is a no. So is an approval that the agent
// has not taken or that could not be released, and a question that reached nobody.
func (r Request) Expire(now time.Time) (Request, error) {
	switch {
	case r.State.Settled():
		return r, ErrSettled
	case now.Before(r.Due):
		return r, ErrTooSoon
	case r.State == approver.Approved && !r.Parked && r.WithdrawAt.IsZero(): // its courier still waits
		return r.End(approver.Expired, approver.Unreleased, now)
	case r.State == approver.Approved:
		return r.End(approver.Expired, approver.AgentGone, now)
	case r.Postings.unseen() && r.Postings.crowded():
		return r.End(approver.Denied, approver.NoRoom, now)
	case r.Postings.unseen(): // people who were not asked did not stay silent
		return r.End(approver.Denied, approver.Unreachable, now)
	}
	return r.End(approver.Expired, approver.TimedOut, now)
}

// Leave notes that the connection of holder ended without an answer. The
// request is withdrawn after grace unless the courier comes back.
func (r Request) Leave(holder string, now time.Time, grace time.Duration) (Request, error) {
	if r.State.Settled() {
		return r, ErrSettled
	}
	i := slices.IndexFunc(r.Also, func(c Caller) bool { return c.Holder == holder })
	switch {
	case r.Parked || holder != r.Holder && i < 0:
		return r, ErrNotHolder
	case holder == r.Holder:
		r.WithdrawAt = now.Add(grace)
	default:
		r.Also = slices.Clone(r.Also)
		r.Also[i].WithdrawAt = now.Add(grace)
	}
	return r, nil
}

// Hold notes that the courier of callID waits on a new connection.
func (r Request) Hold(callID string, fp approver.Fingerprint, holder string) (Request, error) {
	if !r.callers().includes(callID) || !fp.Equal(r.Fingerprint) {
		return r, ErrNotBound
	}
	if r.State.Settled() {
		return r, ErrSettled
	}
	if i := r.Also.at(callID); i >= 0 {
		r.Also = slices.Clone(r.Also)
		r.Also[i].Holder, r.Also[i].WithdrawAt = holder, time.Time{}
		return r, nil
	}
	r.Holder, r.WithdrawAt = holder, time.Time{}
	return r, nil
}

// Withdraw removes the calls whose couriers did not come back, and ends the request if none is
// left.
func (r Request) Withdraw(now time.Time) (Request, error) {
	if r.State.Settled() {
		return r, ErrSettled
	}
	gone := func(c Caller) bool { return !c.WithdrawAt.IsZero() && !now.Before(c.WithdrawAt) }
	all := r.callers()
	left := slices.DeleteFunc(slices.Clone(r.Also), func(c Caller) bool { return !gone(c) })
	if gone(all[0]) {
		left = append(left, all[0])
	}
	waiting := slices.DeleteFunc(all, gone)
	switch {
	case len(waiting) == 0:
		return r.End(approver.Withdrawn, approver.AgentGone, now)
	case len(left) == 0:
		return r, ErrTooSoon
	}
	r.Ended = r.Ended.with(approver.AgentGone, now, left...)
	return r.withCallers(waiting), nil
}

// End settles a request without a release, for a cause other than a person's answer, such as
// unreachable people or a changed call. It also takes back an approval that was not released
// yet.
func (r Request) End(s approver.State, cause approver.Cause, now time.Time) (Request, error) {
	if r.State.Settled() {
		return r, ErrSettled
	}
	if r.Granted() { // its cards say that the yes waits
		r.Postings = r.Postings.redrawn()
	}
	r.State, r.WithdrawAt = s, time.Time{}
	r.Resolution.Approve, r.Resolution.Cause, r.Resolution.At = false, cause, now
	return r, nil
}

// Consume releases an approved call, once, to the courier that asked, if what would run now is
// what was shown. audit is the Once of the record of the approval, which is made of what is
// stored here. Without it, nothing is released.
func (r Request) Consume(callID string, fp approver.Fingerprint, audit string, now time.Time) (Request, error) {
	switch {
	case r.State.Settled():
		return r, ErrSettled
	case r.State != approver.Approved || !r.Resolution.Approve || audit == "":
		return r, ErrTooSoon
	case !now.Before(r.Due):
		return r, approver.ErrOverdue
	case !r.callers().includes(callID) || !fp.Equal(r.Fingerprint):
		return r, ErrNotBound
	}
	if i := r.Also.at(callID); i >= 0 { // the first caller did not come
		all := r.callers()
		all[0], all[i+1] = all[i+1], all[0]
		r = r.withCallers(all)
	}
	if !mayShare(r.Verdict, r.Fingerprint, r.Call) { // this one takes the yes
		r.Ended = r.Ended.with(approver.NotShown, now, r.Also...)
		r.Also = nil
	}
	if r.Granted() { // its cards say that the yes waits
		r.Postings = r.Postings.redrawn()
	}
	r.State, r.Audit, r.WithdrawAt, r.ReleasedAt = approver.Consumed, audit, time.Time{}, now
	return r, nil
}

// AddCaller notes that an identical call waits too. A request that is parked or answered
// takes none.
func (r Request) AddCaller(c Caller, now time.Time) (Request, error) {
	switch {
	case r.State != approver.Pending:
		return r, ErrSettled
	case !now.Before(r.Due):
		return r, approver.ErrOverdue
	case r.Parked || c.CallID == "" || r.callers().includes(c.CallID) || len(r.Also)+len(r.Ended) >= maxCallers:
		return r, ErrTooSoon
	}
	r.Joined++
	c.N = r.Joined
	r.Also = append(slices.Clone(r.Also), c)
	return r, nil
}

// Share releases the call of a caller beside the first, once, after the first was
// released, if what would run now is what was shown. Its time ends like that of a
// repetition: back is since when the daemon and its store have been there.
func (r Request) Share(
	callID string, fp approver.Fingerprint, holder string, back, now time.Time,
) (Request, error) {
	i := r.Also.at(callID)
	switch {
	case i < 0 || !fp.Equal(r.Fingerprint):
		return r, ErrNotBound
	case r.State != approver.Consumed || !r.Resolution.Approve || r.Parked || r.Audit == "" || r.ReleasedAt.IsZero():
		return r, ErrTooSoon
	case !r.Also[i].Taken.IsZero():
		return r, ErrSettled
	case r.Lapsed || !now.Before(r.Due) || !now.Before(givenUntil(r.ReleasedAt, back)):
		return r, approver.ErrOverdue
	}
	r.Also = slices.Clone(r.Also)
	r.Also[i].Taken, r.Also[i].Holder, r.Also[i].WithdrawAt = now, holder, time.Time{}
	return r, nil
}

// Park notes that the agent was told to come back, until takeBy at the latest.
func (r Request) Park(takeBy, now time.Time) (Request, error) {
	switch {
	case r.State.Settled():
		return r, ErrSettled
	case r.State != approver.Pending: // a caller that waits takes the yes now
		return r, ErrTooSoon
	}
	r.Parked, r.TakeBy, r.WithdrawAt = true, takeBy, time.Time{}
	for _, c := range r.Also { // those that still wait are told to come back
		if !c.WithdrawAt.IsZero() {
			r.Ended = r.Ended.with(approver.AgentGone, now, c)
		}
	}
	r.Also = nil // its yes is for the first call that comes back
	return r, nil
}

// Take is Consume for a call that came back after its request was parked. The record then has
// the id of that call, and only that call may read the answer again, until its courier's
// deadline.
func (r Request) Take(
	call approver.ToolCall, fp approver.Fingerprint, audit string, deadline, now time.Time,
) (Request, error) {
	switch {
	case r.State.Settled():
		return r, ErrSettled
	case !r.Parked || !sameCall(r, call, fp):
		return r, ErrNotBound
	}
	taken := r
	taken.CallID, taken.Session, taken.Deadline = call.ID, call.Session, deadline
	taken, err := taken.Consume(call.ID, fp, audit, now)
	if err != nil {
		return r, err
	}
	return taken, nil
}

// Attention is when the request next needs work: a card to post anew, the next step of the ladder, a
// withdrawal, the deadline, a card to update, or the end of the time in which a yes is repeated. Zero means
// never.
func (r Request) Attention(now time.Time) time.Time {
	var next time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if !r.State.Settled() {
		sooner(r.Due)
		sooner(r.WithdrawAt)
		for _, c := range r.Also {
			sooner(c.WithdrawAt)
		}
	}
	if r.State == approver.Pending {
		sooner(r.Climb.due(r.Postings))
		sooner(r.Climb.RemindAt)
	}
	if r.clears() {
		sooner(later(r.Climb.ClearAt, now))
	}
	if r.State.Settled() && !r.logged() || len(r.Ended) > 0 || len(r.Deeds) > 0 {
		sooner(now.Add(settleGrace))
	}
	sooner(r.Untold.Next)
	if r.awaitsLapse(r.Also) {
		sooner(r.ReleasedAt.Add(RepeatFor))
	}
	for _, p := range r.Postings {
		if r.State == approver.Pending {
			sooner(p.renewAt(r.Due))
		}
		switch {
		case p.Phase == Sending && !r.State.Settled(): // its sender edits it
			sooner(p.Until)
		case r.ended() && p.stale():
			sooner(p.lookAgain(now))
		}
	}
	return next
}

// Repeat notes that the courier of callID reads the yes once more. back is since when the
// daemon and its store have been available.
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

// withhold notes why the first call does not get the yes after its release.
func (r Request) withhold(why approver.Cause, now time.Time) (Request, error) {
	switch {
	case r.State != approver.Consumed || r.ReleasedAt.IsZero():
		return r, ErrTooSoon
	case r.Withheld != approver.NoCause || !r.Acked.IsZero(): // its courier has the yes, or will never get it
		return r, errNoChange
	}
	was := r
	r.Withheld, r.Acked = why, now
	if r.Repeats == 0 {
		r.Closed = false // it ends in another way now
	}
	return redrawIfChanged(r, was), nil
}

// cancelYes ends at once the time in which a yes may be taken or read again. why is the cause
// that the audit gives for calls that did not take it. It is NoCause if the store cannot say
// which those are.
func (r Request) cancelYes(why approver.Cause, now time.Time) (Request, error) {
	switch {
	case r.State != approver.Consumed || r.ReleasedAt.IsZero():
		return r, ErrTooSoon
	case !r.awaitsLapse(r.Also):
		return r, errNoChange
	}
	was := r
	if r.hasUntaken(r.Also) {
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
	return redrawIfChanged(r, was), nil
}

// lapse ends the time in which a yes may be taken, once it is over. If sure, nobody took the
// yes: an acknowledgment would have been heard. The step is stored so that the next daemon
// knows that one was running during that time.
func (r Request) lapse(sure bool, back, now time.Time) (Request, error) {
	switch {
	case !r.awaitsLapse(r.Also):
		return r, errNoChange
	case r.readable(r.Deadline, back, now), r.hasUntaken(r.Also) && now.Before(givenUntil(r.ReleasedAt, back)):
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
		if next, err := r.setFate(r.CallID, Untaken); err == nil && sure {
			r = next
		}
	}
	return redrawIfChanged(r, was), nil
}

// setFate notes what became of a call after its release, and has every card show it. A report
// that the call ran is final. A call that replaced the one that asked may have a courier that
// acknowledges nothing.
func (r Request) setFate(callID string, f Fate) (Request, error) {
	i, had := r.Also.at(callID), r.Fate
	if i >= 0 {
		had = r.Also[i].Fate
	}
	switch {
	case r.State != approver.Consumed:
		return r, ErrTooSoon
	case !r.callers().includes(callID), i < 0 && r.Withheld != approver.NoCause,
		i >= 0 && (r.Also[i].Taken.IsZero() || r.Also[i].Lost):
		return r, ErrNotBound // it was not released
	case had == f, had.Ran(), f == NoFate:
		return r, errNoChange
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
	return redrawIfChanged(r, was), nil
}

// redrawIfChanged has every card updated if people are told something else than before the
// step.
func redrawIfChanged(r Request, was Request) Request {
	if endLine(r) == endLine(was) {
		return r
	}
	r.Postings = r.Postings.redrawn()
	return r
}
