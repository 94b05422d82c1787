package broadcaster

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
	"github.com/google/uuid"
)

// This file recognizes cards without a note: the platform's answer to their post was lost, or
// the store has lost their request.

// foundCard notes that a message whose button somebody pressed is a card of the i-th posting.
// The platform's answer to its post was lost, or a crash came before the note. The platform says that
// the message is our bot's: channels let no other through. From then on the card is updated like any
// other. A no counts in any case, a yes only if the card is known to show everything. The code of a
// posting that was replaced stays void.
func (a *Answers) foundCard(
	ctx context.Context, r Request, i int, message string,
) (Request, Posting, *told) {
	id := r.ID
	err := whenThere(ctx, func() (err error) {
		r, err = a.requests.change(ctx, id, func(r Request, _ time.Time) (_ Request, err error) {
			r.Postings, err = r.Postings.with(i, message, r.ended())
			return r, err
		})
		return err
	})
	switch {
	case errors.Is(err, ErrTooSoon) && r.ended() && i < len(r.Postings):
		return r, r.Postings[i], nil
	case errors.Is(err, ErrTooSoon):
		return r, Posting{}, noLongerValid()
	case err != nil && !errors.Is(err, errNoChange):
		return r, Posting{}, a.trouble(err)
	}
	p := r.Postings[i]
	p.Ref, _ = p.refOf(message)
	if err == nil {
		a.poster.recordFound(context.WithoutCancel(ctx), r, strconv.Itoa(i), p.Ref,
			", found by its button: the platform's answer was lost, or its note")
	}
	if r.ended() {
		a.editor.settle(r.ID)
	}
	return r, p, nil
}

// find is foundCard for an answer to a request that is open. One message shows one request: a yes does not count if
// the message is known as the card of another one, whatever its button said.
func (a *Answers) find(ctx context.Context, r Request, i int, rep approver.Reply) (Request, Posting, *told) {
	if rep.Approve {
		open, err := a.requests.Open(ctx)
		if err != nil && !isAny(err, ErrIncomplete, ErrNoList) {
			return r, Posting{}, a.trouble(err)
		}
		ref := approver.Ref{Destination: r.Postings[i].To, Message: rep.Message}
		if slices.ContainsFunc(open, func(other Request) bool { return other.ID != r.ID && other.Postings.hold(ref) }) {
			return r, Posting{}, noLongerValid()
		}
	}
	return a.foundCard(ctx, r, i, rep.Message)
}

// stillLive has a card of an ended request updated again: somebody has just answered it, so it
// may still have its buttons. An edit that came late may have brought them back, or the card
// was given up.
func (a *Answers) stillLive(ctx context.Context, id string, rep approver.Reply) {
	_, err := a.requests.change(ctx, id, func(r Request, _ time.Time) (Request, error) {
		i := slices.IndexFunc(r.Postings, func(p Posting) bool {
			_, ok := p.refOf(rep.Message)
			return ok && p.To.Channel == rep.Channel && p.To.Conversation == rep.Conversation
		})
		if i < 0 || !r.ended() || r.Postings[i].stale() {
			return r, errNoChange
		}
		r.Postings = slices.Clone(r.Postings)
		r.Postings[i].redraw()
		return r, nil
	})
	if err == nil {
		a.editor.settle(id)
	} else if !errors.Is(err, errNoChange) {
		a.Log.Warn("a card may have its buttons although its request has ended", "request", id, "channel", rep.Channel,
			"error", err)
	}
}

// foreignFor is how long an unknown request that has no mark of ours may be an open one of another
// installation with the same bot.
const foreignFor = time.Hour

// forgotten is what somebody is told who presses a card whose request the store does not have.
// If the request was made here, or is too old to be open anywhere, the card loses its buttons,
// unless the store finds the request again. The id comes through the client: the message keeps
// its buttons if it is, or may be, a card of a request that is open.
func (a *Answers) forgotten(rep approver.Reply) *told {
	id, err := uuid.Parse(rep.Request)
	ours := err == nil && a.requests.sealer.Knows(sealing.Mark(id[markAt:]))
	if !rep.Method.OnCard() || rep.Message == "" || !ours && time.Since(madeAt(rep.Request)) < foreignFor {
		out := newOutcome(approver.OutcomeUnknown, "There is no such request in this conversation.")
		return &out
	}
	ref := approver.Ref{
		Destination: approver.Destination{Channel: rep.Channel, Conversation: rep.Conversation}, Message: rep.Message,
	}
	live := a.mayLive(a.tasks.running(), ref) // at the tap: it may be answered before the look below
	a.tasks.start(func(ctx context.Context) {
		if live || !sleep(ctx, vanishedAfter) {
			return
		}
		lost := func(ctx context.Context) (approver.Card, bool) {
			_, _, err := a.requests.load(ctx, rep.Request)
			return forgottenCard(rep.Request), errors.Is(err, approver.ErrNotFound) && !a.mayLive(ctx, ref)
		}
		if card, is := lost(ctx); is {
			a.editor.hide(ctx, rep.Request, ref, card, lost)
		}
	})
	out := newOutcome(approver.OutcomeUnknown,
		"This card is void: approver has no record of its request any more. Use the newest card.")
	return &out
}

// mayLive reports that a message may be a card of an open request.
func (a *Answers) mayLive(ctx context.Context, ref approver.Ref) bool {
	open, err := a.requests.Open(ctx)
	return err != nil || slices.ContainsFunc(open, func(r Request) bool {
		return r.Postings.hold(ref) || slices.ContainsFunc(r.Postings, func(p Posting) bool {
			return (p.Phase == Sending || p.Unsure) && p.To.Channel == ref.Channel && p.To.Conversation == ref.Conversation
		})
	})
}

func forgottenCard(request string) approver.Card {
	const text = "approver has no record of this request any more"
	return approver.Card{
		Request: request, State: approver.Withdrawn, Push: text,
		Result: "↩ Void · approver no longer knows what became of it · use the newest card",
	}
}

// madeAt is when a request was made, as its id says. For any other id it is now.
func madeAt(request string) time.Time {
	id, err := uuid.Parse(request)
	if err != nil || id.Version() != 7 {
		return time.Now()
	}
	sec, nsec := id.Time().UnixTime()
	return time.Unix(sec, nsec)
}
