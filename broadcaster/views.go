package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// This file shows people what is known of a request. It answers none.

// readerOf is what somebody is answered with.
func (a *Answers) readerOf(rep approver.Reply) display.Texts {
	return a.textsFor(rep.Channel, rep.Sender, rep.Conversation)
}

// nameOf says who wants something, and where.
func nameOf(who approver.Person, rep approver.Reply) string {
	return cmp.Or(who.Name, who.ID) + " via " + display.Platform(rep.Channel)
}

// isHere reports whether a request has, or had, a card where somebody asks.
func isHere(r Request, rep approver.Reply) bool {
	return slices.ContainsFunc(r.Postings, func(p Posting) bool {
		return p.To.Channel == rep.Channel && p.To.Conversation == rep.Conversation
	})
}

// shownHere finds the request that somebody means who wants something else than to answer it: by a card
// of it in that conversation, whatever became of the card, or by its code. A non-nil outcome means that
// there is none.
func (a *Answers) shownHere(ctx context.Context, rep approver.Reply, who approver.Person) (Request, *told) {
	rep.Approve = false
	if !rep.Code.IsZero() {
		r, _, out := a.locate(ctx, rep, who)
		return r, out
	}
	unknown := newOutcome(approver.OutcomeUnknown, "There is no such request in this conversation.")
	if rep.Request == "" {
		return Request{}, &unknown
	}
	r, err := a.requests.loadPatiently(ctx, rep.Request)
	switch {
	case errors.Is(err, approver.ErrNotFound):
		return Request{}, a.forgotten(rep)
	case err == nil && !isHere(r, rep):
		return Request{}, &unknown
	case err != nil:
		return Request{}, a.trouble(err)
	}
	return r, nil
}

// details shows all that is known of a request to somebody who may answer it, where its card is.
func (a *Answers) details(ctx context.Context, rep approver.Reply, who approver.Person) (Request, told) {
	r, none := a.shownHere(ctx, rep, who)
	if none != nil {
		return r, *none
	}
	t := a.cards.textsOf(approver.Destination{Channel: rep.Channel, Conversation: rep.Conversation})
	card := a.cards.card(r, t, tokens.Code{})
	out := newOutcome(approver.OutcomeShown, "%s", display.Shown(card.Push))
	out.Details = card.Whole()
	return r, out
}
