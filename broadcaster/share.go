package broadcaster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"approver.example"
)

// This file is what a request does with identical calls: those of the same user,
// agent, folder and content that wait at the same time. They share one card. A yes is
// for exactly the calls that the answered card showed, each once; a no, and silence,
// are for all of them.

// maxCallers is how many identical calls wait beside the first.
const maxCallers = 31

// A Caller is one more call that waits for the answer of a request.
type Caller struct {
	CallID     string    `json:"call"`
	Holder     string    `json:"holder"` // the connection that waits
	N          int       `json:"n"`      // in the order of joining; the first call is 0
	WithdrawAt time.Time `json:"withdraw_at,omitzero"`
	Taken      time.Time `json:"taken,omitzero"` // since when it has its yes
	Fate       Fate      `json:"fate,omitzero"`  // what became of it then
	// Lost reports that it took its yes and was not released: see void.
	Lost bool `json:"lost,omitempty"`
}

// An Ending is a call that waited for the answer of a request, and does not any more.
type Ending struct {
	CallID string         `json:"call"`
	Why    approver.Cause `json:"why"`
	At     time.Time      `json:"at"`
}

// off notes calls that are taken off r without its answer, for the audit.
func (r Request) off(why approver.Cause, now time.Time, gone ...Caller) Request {
	r.Ended = slices.Clone(r.Ended)
	for _, c := range gone {
		if c.CallID != "" {
			r.Ended = append(r.Ended, Ending{c.CallID, why, now})
		}
	}
	return r
}

// onRecord takes off r the endings that the audit has.
func (r Request) onRecord(ended []Ending) (Request, error) {
	left := slices.DeleteFunc(slices.Clone(r.Ended), func(e Ending) bool { return slices.Contains(ended, e) })
	if len(left) == len(r.Ended) {
		return r, errNoChange
	}
	if r.Ended = left; len(left) == 0 {
		r.Ended = nil
	}
	return r, nil
}

// first is the call in the place of the one that asked, as a Caller.
func (r Request) first() Caller {
	return Caller{CallID: r.CallID, Holder: r.Holder, N: r.N, WithdrawAt: r.WithdrawAt}
}

// led puts a caller in the first place.
func (r Request) led(c Caller) Request {
	r.CallID, r.Holder, r.N, r.WithdrawAt = c.CallID, c.Holder, c.N, c.WithdrawAt
	return r
}

// beside returns the place in Also of a call, or -1.
func (r Request) beside(callID string) int {
	return slices.IndexFunc(r.Also, func(c Caller) bool { return callID != "" && c.CallID == callID })
}

// lists reports whether a call waits for the answer of r, or got it.
func (r Request) lists(callID string) bool {
	return callID != "" && callID == r.CallID || r.beside(callID) >= 0
}

// Join notes that an identical call waits too. A request that is parked or answered
// takes none.
func (r Request) Join(callID, holder string, now time.Time) (Request, error) {
	switch {
	case r.State != approver.Pending:
		return r, ErrSettled
	case !now.Before(r.Due):
		return r, approver.ErrOverdue
	case r.Parked || callID == "" || r.lists(callID) || len(r.Also)+len(r.Ended) >= maxCallers:
		return r, ErrTooSoon
	}
	r.Joined++
	r.Also = append(slices.Clone(r.Also), Caller{CallID: callID, Holder: holder, N: r.Joined})
	return r, nil
}

// several reports whether one yes can be for more than one call: not a CATASTROPHIC
// one, nor where a second run may be of something else than what was shown.
func (r Request) several() bool {
	return r.Verdict.Severity == approver.High && r.Fingerprint.Bound() && !r.obscured()
}

// cover leaves the callers that a yes is for: those that the card showed. Where one yes
// is for one call, it is the one of them that takes it first, see Consume: after a restart
// nobody knows whose courier comes back. If none of them waits any more, the yes is for
// nobody, and those that wait are asked anew: left says so of every call.
func (r Request) cover(shown int, now time.Time) Request {
	all := append([]Caller{r.first()}, r.Also...)
	for _, c := range all {
		if c.N > shown {
			r = r.off(approver.NotShown, now, c)
		}
	}
	all = slices.DeleteFunc(all, func(c Caller) bool { return c.N > shown })
	if len(all) == 0 {
		r = r.led(Caller{})
		r.Also = nil
		return r.end(approver.Withdrawn, approver.NotShown, now)
	}
	r = r.led(all[0])
	r.Also = nil
	if len(all) > 1 {
		r.Also = all[1:]
	}
	return r
}

// Share releases the call of a caller beside the first, once, after the first was
// released, if what would run now is what was shown. Its time ends like that of a
// repetition: back is since when the daemon and its store have been there.
func (r Request) Share(callID string, fp approver.Fingerprint, holder string, back, now time.Time) (Request, error) {
	i := r.beside(callID)
	switch {
	case i < 0 || !fp.Equal(r.Fingerprint):
		return r, ErrNotBound
	case r.State != approver.Consumed || !r.Resolution.Approve || r.Parked || r.Audit == "" || r.ReleasedAt.IsZero():
		return r, ErrTooSoon
	case !r.Also[i].Taken.IsZero():
		return r, ErrSettled
	case r.Lapsed || !now.Before(r.Due) || !now.Before(r.givenUntil(back)):
		return r, approver.ErrOverdue
	}
	r.Also = slices.Clone(r.Also)
	r.Also[i].Taken, r.Also[i].Holder, r.Also[i].WithdrawAt = now, holder, time.Time{}
	return r, nil
}

// owing reports that calls beside the first may still take their yes.
func (r Request) owing() bool {
	return !r.Lapsed && slices.ContainsFunc(r.Also, func(c Caller) bool { return c.Taken.IsZero() })
}

// owes reports that the yes is for a call that has not taken it.
func (r Request) owes(callID string) bool {
	i := r.beside(callID)
	return r.State == approver.Consumed && r.Resolution.Approve && !r.Parked && i >= 0 && r.Also[i].Taken.IsZero()
}

// left reports that a call waited for the answer of r, and that the answer is not for
// it: it is asked anew, also while a yes waits for the calls that it is for.
func (r Request) left(call approver.ToolCall, fp approver.Fingerprint) bool {
	return r.State != approver.Pending && !r.Parked && !r.lists(call.ID) && r.sameCall(call, fp)
}

// leads reports whether a call is to take the yes now: the first, and where that does
// not come, another.
func (r Request) leads(callID string, now time.Time) bool {
	return r.Parked || callID == r.CallID || r.beside(callID) >= 0 && now.Sub(r.Resolution.At) > settleGrace
}

// withoutGone takes off the callers whose couriers did not come back. ok is false if
// none is left.
func (r Request) withoutGone(now time.Time) (next Request, ok bool, err error) {
	gone := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	also := slices.DeleteFunc(slices.Clone(r.Also), func(c Caller) bool { return gone(c.WithdrawAt) })
	left := slices.DeleteFunc(slices.Clone(r.Also), func(c Caller) bool { return !gone(c.WithdrawAt) })
	switch {
	case gone(r.WithdrawAt) && len(also) == 0:
		return r, false, nil
	case gone(r.WithdrawAt):
		left = append(left, r.first())
		r = r.led(also[0])
		also = also[1:]
	case len(also) == len(r.Also):
		return r, true, ErrTooSoon
	}
	if r.Also = also; len(also) == 0 {
		r.Also = nil
	}
	return r.off(approver.AgentGone, now, left...), true, nil
}

// double reports that a second card with the same code may be before people, because an
// answer of the platform was lost, and may show fewer calls.
func (p Posting) double() bool { return p.Unsure || len(p.Also) > 0 }

// readFor is how long a card must have shown a number of calls before somebody who types an
// answer can have read it: the edit has to reach their screen, and they have to type. It is
// also more than the second to which Telegram rounds its times.
const readFor = 2 * time.Second

// shownTo is the last caller that whoever answers was shown, and so whom a yes is for at
// the most. The answer says which version of the card they read: without a word it was the
// first call alone, and nobody has read of calls that did not wait yet, or that the platform
// has not confirmed to show. A message names no version. It counts what the card had shown
// for a while when it was sent, by the store's clock. Where there may be two cards, the yes
// is for the first call alone.
func (r Request) shownTo(p Posting, rep approver.Reply, screen bool, sent time.Time) int {
	said := min(max(rep.Shown, 0), r.Joined)
	if rep.Method == approver.ByID || p.Code == "" {
		return said
	}
	for _, now := range r.Postings {
		switch {
		case !now.Code.Equal(p.Code) || now.double():
		case screen:
			return said
		case rep.Method.OnCard() || rep.Sent.IsZero():
			return min(said, now.Upto)
		case !now.UptoAt.IsZero() && sent.Sub(now.UptoAt) >= readFor:
			return now.Upto
		}
	}
	return 0
}

// age is how long ago an answer was given that this process began to handle at began. The
// answer is there by then, whatever the clock of its platform says.
func age(rep approver.Reply, began time.Time) time.Duration {
	age := time.Since(began)
	if !rep.Sent.IsZero() {
		age = max(age, time.Since(rep.Sent))
	}
	return age
}

// callersNotice says on a card how many identical calls wait, and what a yes from this
// card does.
func (r Request) callersNotice(p Posting) string {
	n := 1 + len(r.Also)
	if p.Late && r.several() && !p.double() {
		return r.lateNotice(p, n)
	}
	switch {
	case r.N > 0 && p.double():
		return fmt.Sprintf("The call of this card has ended: a yes runs nothing, waiting calls (%d) are asked again.", n)
	case n == 1 && r.Joined > 0:
		return "One call waits."
	case n == 1:
		return ""
	case r.several() && !p.double():
		return fmt.Sprintf("%d identical calls wait: a yes runs each of them once.", n)
	}
	return fmt.Sprintf("%d identical calls wait: a yes runs one, the others are asked again.", n)
}

// lateNotice is callersNotice of a card that shows no further calls: see Posting.Late.
func (r Request) lateNotice(p Posting, n int) string {
	runs := 0
	for _, c := range append([]Caller{r.first()}, r.Also...) {
		if c.N <= p.Upto {
			runs++
		}
	}
	switch {
	case runs == 0:
		return fmt.Sprintf("The call of this card has ended: a yes runs nothing, waiting calls (%d) are asked again.", n)
	case n == 1:
		return "One call waits."
	case runs == n:
		return fmt.Sprintf("%d identical calls wait: a yes runs each of them once.", n)
	case runs == 1:
		return fmt.Sprintf("%d identical calls wait: a yes runs one, the others are asked again.", n)
	}
	return fmt.Sprintf("%d identical calls wait: a yes runs %d of them once, the others are asked again.", n, runs)
}

// Bounds of a card that is edited while it waits, in bytes. With the notice, a larger one
// may not fit any more on every platform, and would show less than before.
const (
	maxEditedCard   = 1500
	maxEditedNotice = 140
)

// withCallers is the card of a posting with the number of identical calls, and false if
// that might not fit.
func withCallers(c approver.Card, r Request, p Posting) (approver.Card, bool) {
	c.Notice = strings.TrimSpace(r.callersNotice(p) + " " + c.Notice)
	switch {
	case p.double():
	case p.Late:
		c.Upto = p.Upto
	default:
		c.Upto = r.Joined
	}
	size := 0
	for _, text := range []string{c.Command, c.Why, c.Rule, c.Claimed, c.Agent, c.Session, c.Dir, c.Environment, c.Host} {
		size += len(text)
	}
	return c, size <= maxEditedCard && len(c.Notice) <= maxEditedNotice
}
