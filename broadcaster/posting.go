package broadcaster

import (
	"errors"
	"slices"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// A Phase says how far the posting of one card has come.
type Phase uint8

// The phases. Sending is stored before the card goes out, so that a crash
// leaves a trace: a card still Sending after its time is void, and a new card
// with a new code takes its place.
const (
	Sending Phase = iota
	Posted
	Failed
	Void
)

// A Posting is one card of a request.
type Posting struct {
	To  approver.Destination `json:"to"`
	Hub string               `json:"hub,omitempty"` // the only one that can see and change a volatile card
	// Page reports that it only calls people to the other cards: it shows nobody the request.
	Page     bool         `json:"page,omitempty"`
	Code     tokens.Hash  `json:"code"`
	Phase    Phase        `json:"phase"`
	Ref      approver.Ref `json:"ref,omitzero"`
	PostedAt time.Time    `json:"posted_at,omitzero"` // since when it is known to be visible
	Until    time.Time    `json:"until,omitzero"`     // a Sending card is given up after this
	Shown    bool         `json:"shown,omitempty"`    // the card shows the settled state
	Attempts int          `json:"attempts,omitzero"`  // failed tries to show it
	GivenUp  bool         `json:"given_up,omitempty"` // it is not tried any more
	Next     time.Time    `json:"next,omitzero"`      // before which it is not tried again
	// Sender is the process that is still about to post the card, if that takes longer: it says that it is there,
	// and moves Until on. Full reports that its chat took no more messages.
	Sender string `json:"sender,omitempty"`
	Full   bool   `json:"full,omitempty"`
	// Refused are the processes that the platform refused for good, for an edit or for the
	// replacement of another process's card. Another process may have another bot.
	Refused []string `json:"refused,omitempty"`
	// Left is the process that left the card to the others, because it cannot reach anybody with it.
	Left  string `json:"left,omitempty"`
	Error string `json:"error,omitempty"` // why posting failed
	Upto  int    `json:"upto,omitempty"`  // the last identical call that the card shows
	// UptoAt is when it was known, by the store's clock, that the platform shows Upto.
	UptoAt time.Time `json:"upto_at,omitzero"`
	// Unsure reports that posting failed at least once and the platform did not say that it
	// refused, or that a crash left no trace of it: a card without a note may be visible. Whole
	// reports that a card shows everything, as its channel says before it is posted.
	Unsure bool `json:"unsure,omitempty"`
	Whole  bool `json:"whole,omitempty"`
	// Late reports that an edit of the number of calls had no answer of the platform: it
	// may be carried out after a later one, so the card shows no more calls than before.
	Late bool `json:"late,omitempty"`
	// Also has further cards of this posting, which were found by their buttons. They
	// are brought up to date like Ref.
	Also []approver.Ref `json:"also,omitempty"`
	renewal
}

// refusedTo reports that the platform will never let this process show or change the card.
func (p Posting) refusedTo(process string) bool { return slices.Contains(p.Refused, process) }

// refs are the cards of a posting that people can see.
func (p Posting) refs() []approver.Ref {
	if p.Phase != Posted {
		return p.Also
	}
	return append([]approver.Ref{p.Ref}, p.Also...)
}

// refOf returns the card that is this message.
func (p Posting) refOf(message string) (approver.Ref, bool) {
	refs := p.refs()
	at := slices.IndexFunc(refs, func(ref approver.Ref) bool { return ref.Message == message })
	if at < 0 {
		return approver.Ref{}, false
	}
	return refs[at], true
}

// arrived notes that the platform took the card. Another card that was found before stays
// beside it.
func (p *Posting) arrived(ref approver.Ref) {
	others := slices.DeleteFunc(slices.Clone(p.refs()), func(other approver.Ref) bool {
		return other.Message == ref.Message
	})
	if p.Ref != ref {
		p.Upto, p.UptoAt = 0, time.Time{} // the other card showed the count
	}
	p.Phase, p.Ref, p.Also, p.Error, p.Sender, p.Full = Posted, ref, others, "", "", false
}

// unnoted reports that a card of the posting may be visible without a note. It is not if the platform has
// refused each try so far.
func (p Posting) unnoted() bool { return p.Phase == Sending && p.Error == "" || p.Unsure }

// seen reports that Ref is a card that people can see: its post was noted, or it was found by its button.
func (p Posting) seen() bool {
	_, noted := p.refOf(p.Ref.Message)
	return noted
}

// replaced voids a posting whose card has no note, because another posting takes its place. Its code
// counts no more. If its channel keeps messages, the card may be visible, and its buttons still count:
// see Postings.with.
func (p *Posting) replaced(volatile bool) {
	p.Unsure = p.Unsure || p.Phase == Sending && p.Left == "" && !volatile
	p.Phase = Void
}

// takesCode reports whether the code of the posting counts: its card shows everything, or has
// it attached. If the platform's answer was lost, that is known only of a card that is Whole.
func (p Posting) takesCode() bool {
	switch p.Phase {
	case Posted:
		return true
	case Sending:
		return !p.Unsure || p.Whole
	case Failed:
		return p.Unsure && p.Whole
	default:
		return false
	}
}

// double reports that a second card with the same code may be visible, because an answer of
// the platform was lost. That card may show fewer calls.
func (p Posting) double() bool { return p.Unsure || len(p.Also) > 0 }

// redraw notes that the cards of a posting may still have buttons although the request has
// ended.
func (p *Posting) redraw() { p.Shown, p.GivenUp, p.Attempts, p.Refused = false, false, 0, nil }

// stale reports that cards of a posting whose request has ended still have to be updated.
func (p Posting) stale() bool {
	return len(p.refs()) > 0 && !p.Shown && !p.GivenUp
}

// lookAgain is when to check a stale posting again. One that was never tried here is updated
// by the process that ended the request, or belongs to another hub.
func (p Posting) lookAgain(now time.Time) time.Time {
	if p.Next.After(now) {
		return p.Next
	}
	return now.Add(backoff(p.Attempts))
}

// How long the end of a request is tried to be shown on a card, counted from the
// request's deadline: as long as its record is kept at least. A card that keeps its buttons
// says something untrue, however long its platform was away.
const editsFor = approver.MinKeepFor

// mostEditPause bounds the time between two tries to show a settled state: whoever looks
// at the card when its platform is back must not see its buttons for long. After so many
// promptEdits, which is about a quarter of an hour, it is lateEditPause.
const (
	mostEditPause = 5 * time.Second
	promptEdits   = 180
	lateEditPause = time.Minute
)

// editPause is how long to wait after an edit of a card of an ended request has failed. before
// counts the failures before it.
func editPause(err error, before int) time.Duration {
	if before < promptEdits {
		return pauseAfter(err, before, mostEditPause)
	}
	return pauseAfter(err, before, lateEditPause)
}

// othersGrace is how long a card that one process is refused for good is left to the others,
// before it is given up for all.
const othersGrace = 10 * time.Second

func backoff(attempts int) time.Duration {
	return time.Second << min(attempts, 8)
}

// pauseAfter is how long to wait after a failed edit: as long as the platform asked for, else
// longer after each failure, up to most.
func pauseAfter(err error, before int, most time.Duration) time.Duration {
	var patience approver.Patience
	if errors.As(err, &patience) && patience.RetryAfter() > 0 {
		return patience.RetryAfter()
	}
	return min(backoff(before), most)
}

// Postings are the cards of a request.
type Postings []Posting

// unseen reports that none of the cards was ever visible to people.
func (ps Postings) unseen() bool {
	return len(ps) > 0 && !slices.ContainsFunc(ps, func(p Posting) bool {
		return !p.Page && (p.Ref.Message != "" || len(p.Also) > 0)
	})
}

// leftBy reports that a process left a card of a place to the others.
func (ps Postings) leftBy(process string, to approver.Destination) bool {
	return slices.ContainsFunc(ps, func(p Posting) bool { return p.Left != "" && p.Left == process && p.To == to })
}

// crowded reports that a card was not posted because its chat took no more messages.
func (ps Postings) crowded() bool {
	return slices.ContainsFunc(ps, func(p Posting) bool { return !p.Page && p.Phase == Sending && p.Full })
}

// hold reports that a message is noted as one of the cards.
func (ps Postings) hold(ref approver.Ref) bool {
	return slices.ContainsFunc(ps, func(p Posting) bool {
		_, is := p.refOf(ref.Message)
		return is && p.To.Channel == ref.Channel && p.To.Conversation == ref.Conversation
	})
}

// redrawn has all cards updated once more.
func (ps Postings) redrawn() Postings {
	ps = slices.Clone(ps)
	for i := range ps {
		ps[i].redraw()
	}
	return ps
}

// unshown marks cards as not updated. They were edited while their request changed, so the
// edit may have overwritten what another process showed.
func (ps Postings) unshown(edited []int) (next Postings, some bool) {
	ps = slices.Clone(ps)
	for _, i := range edited {
		if i < len(ps) && ps[i].Shown {
			ps[i].Shown, some = false, true
		}
	}
	return ps, some
}

// updated notes the results of updating the postings in was with the indexes in todo. failed
// has an error or nil for each. An error that is final for this process leaves the card to
// others. After giveUp no card is tried again.
func (ps Postings) updated(
	process string, was Postings, todo []int, failed []error, now, giveUp time.Time,
) (next Postings, changed bool) {
	ps = slices.Clone(ps)
	for n, i := range todo {
		p := &ps[i]
		if !p.stale() {
			continue
		}
		changed = true
		switch err := failed[n]; {
		case err == nil:
			p.Shown = len(p.refs()) == len(was[i].refs()) // false if another card was found meanwhile
		case errors.Is(err, errRefused):
			p.GivenUp = true
		case errors.Is(err, errQueued):
			p.Next = now.Add(turnFor) // others leave it to this process
		case errors.Is(err, errNoTurn): // it still waits
			p.Next = now
		case errors.Is(err, approver.ErrFinal):
			p.Refused, p.Next, p.Error = append(slices.Clone(p.Refused), process), now, err.Error()
		default:
			if !errors.Is(err, errElsewhere) { // the process that it belongs to tries
				p.Next = now.Add(editPause(err, p.Attempts))
			}
			p.Attempts++
			p.Error = err.Error()
			p.GivenUp = !now.Before(giveUp)
		}
	}
	return ps, changed
}

// maxFound bounds the cards of one posting that were found by their buttons.
const maxFound = 32

// with notes that a message, found by its button, is a card of the i-th posting: the platform's answer
// was lost, or a crash came before its note. After the end of the request that holds for every card.
func (ps Postings) with(i int, message string, ended bool) (Postings, error) {
	if i >= len(ps) {
		return ps, ErrTooSoon // a fail-over took the posting back
	}
	next := slices.Clone(ps)
	p := &next[i]
	if _, noted := p.refOf(message); noted {
		return ps, errNoChange
	}
	if !ended && !p.unnoted() || len(p.Also) >= maxFound {
		return ps, ErrTooSoon
	}
	ref := approver.Ref{Destination: p.To, Message: message, Partial: !p.Whole}
	if p.Whole && p.Phase != Posted && p.Phase != Void {
		p.arrived(ref)
	} else {
		p.Also = append(slices.Clone(p.Also), ref)
	}
	p.redraw()
	return next, nil
}
