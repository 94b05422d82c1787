package broadcaster

import (
	"context"
	"errors"
	"time"

	"approver.example"
)

// This file retires cards that no record has. The store does not know that they still need an
// edit, so this process tries until it is done.

// orphanFor is how long a card without a record is tried to be retired.
const orphanFor = time.Hour

// retire removes the buttons and the code from a card that no record has: it was replaced
// while it was on its way, or a crash lost its note and somebody now presses it. Nothing else
// would ever update it.
func (e *editor) retire(ctx context.Context, r Request, ref approver.Ref) {
	e.hide(ctx, r.ID, ref, e.cards.replaced(r, ref.Destination), func(ctx context.Context) (approver.Card, bool) {
		fresh, _, err := e.requests.load(ctx, r.ID)
		if err == nil && fresh.Postings.hold(ref) {
			return approver.Card{}, false // its note was only late
		}
		if err == nil {
			r = fresh
		}
		return e.cards.replaced(r, ref.Destination), true
	})
}

// hide shows card on a message that no record has. A temporary failure is tried again in the
// background. Before each try, now returns what the card has to show then; it returns false if
// another part updates the card by then.
func (e *editor) hide(
	ctx context.Context, request string, ref approver.Ref, card approver.Card,
	now func(context.Context) (approver.Card, bool),
) {
	log := e.Log.With("request", request, "channel", ref.Channel)
	err := e.channels.updateOne(ctx, ref, card)
	switch {
	case err == nil:
	case errors.Is(err, approver.ErrFinal):
		log.Warn("a replaced card could not be taken out of sight", "error", err)
	default:
		e.tasks.startSingle(ref, false, func(ctx context.Context) {
			log.Warn("a replaced card could not be taken out of sight; trying again", "error", err)
			tries := 1
			for began := time.Now(); time.Since(began) < orphanFor && sleep(ctx, editPause(err, tries-1)); tries++ {
				card, stray := now(ctx)
				if !stray {
					return
				}
				if err = e.channels.updateOne(ctx, ref, card); err == nil {
					log.Info("a replaced card was taken out of sight after all", "tries", tries+1)
					return
				} else if errors.Is(err, approver.ErrFinal) {
					break
				}
			}
			if ctx.Err() == nil {
				log.Warn("a replaced card could not be taken out of sight and is given up", "tries", tries, "error", err)
			}
		})
	}
}

// vanished retires the cards of a request that the store has lost. Its call is asked anew.
func (e *editor) vanished(r Request) {
	e.tasks.start(func(ctx context.Context) {
		for _, p := range r.Postings {
			for _, ref := range p.refs() {
				if p.Hub == "" || p.Hub == e.Host {
					e.retire(ctx, r, ref)
				}
			}
		}
	})
}
