package broadcaster

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
)

// A Request is one call that waits for people, as it is stored. Its methods are
// the pure state machine: they read no clock, do no I/O, and return an error
// and change nothing when the step is not allowed. Whoever applies a step
// writes the record by compare-and-set and tells nobody before that succeeded.
type Request struct {
	ID          string               `json:"id"`     // UUIDv7
	CallID      string               `json:"call"`   // the courier's call id
	Holder      string               `json:"holder"` // the connection that waits, made anew for each
	Fingerprint approver.Fingerprint `json:"fingerprint"`
	Unbound     []string             `json:"unbound,omitempty"` // names, for cards, of what the fingerprint does not bind
	Call        approver.ToolCall    `json:"tool_call"`
	Verdict     approver.Verdict     `json:"verdict"`          // what put it before people
	Notice      string               `json:"notice,omitempty"` // of a freeze or pause that it was made in, for cards
	Created     time.Time            `json:"created"`
	Due         time.Time            `json:"due"` // silence becomes a no
	// Deadline is the courier's own: after it the answer is given to nobody.
	Deadline   time.Time           `json:"deadline"`
	State      approver.State      `json:"state"`
	Resolution approver.Resolution `json:"resolution,omitzero"`
	// Parked reports that the agent was told to run the same call again later: a
	// yes then waits for that call until TakeBy.
	Parked bool      `json:"parked,omitempty"`
	ParkAt time.Time `json:"park_at,omitzero"` // when it is to be parked, by the store's clock
	TakeBy time.Time `json:"take_by,omitzero"`
	// WithdrawAt is when the request is withdrawn because its courier is gone;
	// zero while the courier holds the line.
	WithdrawAt time.Time `json:"withdraw_at,omitzero"`
	// Also are identical calls that wait for the same answer, and once there is a yes
	// those that it is for, beside the call in CallID. N is the number of that one, and
	// Joined that of the last that joined.
	Also   []Caller `json:"also,omitempty"`
	N      int      `json:"n,omitempty"`
	Joined int      `json:"joined,omitempty"`
	// Ended are calls that were taken off the request, until the audit has that.
	Ended    []Ending  `json:"ended,omitempty"`
	Postings []Posting `json:"postings"`
	// Asked reports that the question itself is in the audit; before that, no
	// card goes out.
	Asked bool `json:"asked,omitempty"`
	// Audit is the hash of the audit record of the resolution, once durable.
	Audit string `json:"audit,omitempty"`
	// Closed reports that the last event of the request's life is in the audit.
	Closed bool `json:"closed,omitempty"`
	// ReleasedAt is when the request was consumed, and Acked since when its yes is
	// read by nobody again: because the courier has it, or its time was over.
	ReleasedAt time.Time `json:"released_at,omitzero"`
	Acked      time.Time `json:"acked,omitzero"`
	Repeats    int       `json:"repeats,omitempty"` // how often the yes was read again
	// ReleasedBy is the process that released it, and Withheld why its last look kept
	// the yes from the courier all the same.
	ReleasedBy string         `json:"released_by,omitempty"`
	Withheld   approver.Cause `json:"withheld,omitzero"`
	// Fate is what became of the call after its release, for cards. Lapsed reports that
	// the time in which calls of Also take their yes is over.
	Fate   Fate `json:"fate,omitzero"`
	Lapsed bool `json:"lapsed,omitempty"`
}

// Errors of the state machine.
var (
	ErrSettled   = errors.New("the request is already answered")
	ErrTooSoon   = errors.New("it is not time for that yet")
	ErrNotHolder = errors.New("another connection holds the request")
	ErrNotBound  = errors.New("the call is not the one that was approved")
)

// Answer records a person's answer. The clock is a replier: at the deadline or
// later the answer is ErrOverdue and the caller applies Expire instead. A yes of
// somebody whom the verdict does not name is ErrNotAsked.
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
	r.State = approver.Denied
	if res.Approve {
		r.State = approver.Approved
		if r.Parked {
			r.Due = r.TakeBy // nobody waits: the yes does
		} else if by := r.releaseBy(now); by.After(r.Due) {
			r.Due = by
		}
	}
	res.At = now
	r.Resolution = res
	if res.Approve && !r.Parked {
		r = r.cover(res.Calls, now)
	}
	return r, nil
}

// releaseBy is until when a yes of now may be released: a yes in time counts although
// the release takes a moment, but the answer must reach the courier before its deadline.
func (r Request) releaseBy(now time.Time) time.Time {
	by, last := now.Add(ReplyWait), r.Deadline.Add(-AnswerMargin)
	if by.After(last) {
		return last
	}
	return by
}

// Expire applies the clock: at the deadline, silence is a no, and so is an
// approval that the agent has not taken or that could not be released, and a question
// that reached nobody.
func (r Request) Expire(now time.Time) (Request, error) {
	if r.State.Settled() {
		return r, ErrSettled
	}
	if now.Before(r.Due) {
		return r, ErrTooSoon
	}
	switch {
	case r.State == approver.Approved && !r.Parked && r.WithdrawAt.IsZero(): // its courier waits
		return r.end(approver.Expired, approver.Unreleased, now), nil
	case r.State == approver.Approved:
		return r.end(approver.Expired, approver.AgentGone, now), nil
	case r.unseen(): // silence is no answer of people who were not asked
		return r.end(approver.Denied, approver.Unreachable, now), nil
	}
	return r.end(approver.Expired, approver.TimedOut, now), nil
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
	if !r.lists(callID) || !fp.Equal(r.Fingerprint) {
		return r, ErrNotBound
	}
	if r.State.Settled() {
		return r, ErrSettled
	}
	if i := r.beside(callID); i >= 0 {
		r.Also = slices.Clone(r.Also)
		r.Also[i].Holder, r.Also[i].WithdrawAt = holder, time.Time{}
		return r, nil
	}
	r.Holder, r.WithdrawAt = holder, time.Time{}
	return r, nil
}

// Withdraw takes off the calls whose couriers did not come back, and ends the request
// if none is left.
func (r Request) Withdraw(now time.Time) (Request, error) {
	if r.State.Settled() {
		return r, ErrSettled
	}
	next, some, err := r.withoutGone(now)
	if err == nil && !some {
		next = r.end(approver.Withdrawn, approver.AgentGone, now)
	}
	return next, err
}

// Outdate ends a question about a file that was changed again. Nobody waits for it.
func (r Request) Outdate(now time.Time) (Request, error) {
	if r.State.Settled() {
		return r, ErrSettled
	}
	return r.end(approver.Withdrawn, approver.Outdated, now), nil
}

// Fail denies for a reason that is no person's: unreachable, unrecorded,
// changed. It also takes back an approval that was not yet released.
func (r Request) Fail(cause approver.Cause, now time.Time) (Request, error) {
	if r.State.Settled() {
		return r, ErrSettled
	}
	return r.end(approver.Denied, cause, now), nil
}

func (r Request) end(s approver.State, cause approver.Cause, now time.Time) Request {
	if r.Granted() { // its cards say that the yes waits
		r = r.anew()
	}
	r.State = s
	r.Resolution.Approve = false
	r.Resolution.Cause = cause
	r.Resolution.At = now
	r.WithdrawAt = time.Time{}
	return r
}

// Consume releases an approved call, once, to the courier that asked, if what
// would run now is what was shown. audit is the hash of the durable record of
// the approval; without one nothing is released.
func (r Request) Consume(callID string, fp approver.Fingerprint, audit string, now time.Time) (Request, error) {
	switch {
	case r.State.Settled():
		return r, ErrSettled
	case r.State != approver.Approved || !r.Resolution.Approve || audit == "":
		return r, ErrTooSoon
	case !now.Before(r.Due):
		return r, approver.ErrOverdue
	case !r.lists(callID) || !fp.Equal(r.Fingerprint):
		return r, ErrNotBound
	}
	if i := r.beside(callID); i >= 0 { // the first does not come
		next := r.Also[i]
		r.Also = slices.Clone(r.Also)
		r.Also[i] = r.first()
		r = r.led(next)
	}
	if !r.several() { // of those that it could be for, this is the one
		r = r.off(approver.NotShown, now, r.Also...)
		r.Also = nil
	}
	if r.Granted() { // its cards say that the yes waits
		r = r.anew()
	}
	r.State, r.Audit, r.WithdrawAt, r.ReleasedAt = approver.Consumed, audit, time.Time{}, now
	return r, nil
}

// Released reports whether the request was released to this call: the same call
// id and the same call, and nobody else. Whether its courier may read that again
// is for [Request.Repeat] to say.
func (r Request) Released(callID string, fp approver.Fingerprint) bool {
	return r.State == approver.Consumed && r.Resolution.Approve &&
		callID != "" && callID == r.CallID && fp.Equal(r.Fingerprint)
}

// Told is what people may be told at this state: ok is false until the request
// is settled, so that nobody hears "approved" for a call that was not released.
func (r Request) Told() (res approver.Resolution, ok bool) {
	if !r.State.Settled() {
		return approver.Resolution{}, false
	}
	res = r.Resolution
	res.Approve = res.Approve && r.State == approver.Consumed
	if r.gaveNothing() {
		res.Approve, res.Cause = false, r.Withheld
	}
	return res, true
}

// Attention is when the request next wants work: a card to post anew, a
// withdrawal, the deadline, a card to update, the end of the time in which a yes
// is repeated. Zero means never again.
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
	if r.State.Settled() && !r.Closed || len(r.Ended) > 0 {
		sooner(now.Add(settleGrace))
	}
	if r.lapses() {
		sooner(r.ReleasedAt.Add(RepeatFor))
	}
	for _, p := range r.Postings {
		switch {
		case p.Phase == Sending && !r.State.Settled(): // the end of a card on its way is up to who sends it
			sooner(p.Until)
		case r.ended() && p.stale():
			sooner(p.lookAgain(now))
		}
	}
	return next
}
