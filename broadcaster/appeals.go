package broadcaster

import (
	"context"
	"errors"

	"approver.example"
	"approver.example/broadcaster/sealing"
	"github.com/google/uuid"
)

// Appeal makes the request of an appeal. It is parked from the start: nobody waits for the
// answer until the call comes back.
func (b *Broadcaster) Appeal(
	ctx context.Context, call approver.ToolCall, why approver.Verdict,
) (approver.Appealed, error) {
	if err := b.tasks.awaitReady(ctx); err != nil {
		return approver.Appealed{}, err
	}
	bound, err := b.Fingerprint(ctx, call)
	if err != nil {
		return approver.Appealed{}, err
	}
	q := question{call: call, why: why, bound: bound, holder: uuid.NewString()}
	if err := b.opener.appealedBefore(ctx, q); err != nil {
		return approver.Appealed{}, err
	}
	r, err := b.opener.create(ctx, q, nil)
	if err != nil {
		return approver.Appealed{}, err
	}
	r, err = b.opener.park(ctx, r, call)
	return approver.Appealed{Request: r.ID, Until: r.TakeBy}, err
}

// appealedBefore returns ErrAppealed if people are asked about the same appeal now, or did not
// approve it a short time ago.
func (o *opener) appealedBefore(ctx context.Context, q question) error {
	stored, _, err := o.Store.Get(ctx, approver.Key("parked", scopeOf(q.call, q.bound.Fingerprint)))
	if errors.Is(err, approver.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	ids := parkedIDs(stored)
	if len(ids) == 0 {
		return nil
	}
	r, _, now, err := o.requests.loadNow(ctx, ids[len(ids)-1])
	switch {
	case errors.Is(err, approver.ErrNotFound), errors.Is(err, sealing.ErrUnknownKey):
		return nil
	case err != nil:
		return err
	case r.Verdict.Appeal.Of == "" || !r.Parked || !q.asks(r), !now.Before(r.TakeBy), r.State == approver.Consumed:
		return nil
	case r.State.Settled() && r.Resolution.Cause != approver.ByPerson && r.Resolution.Cause != approver.TimedOut &&
		r.Resolution.Cause != approver.AgentGone:
		return nil // nobody was asked
	}
	return approver.ErrAppealed
}

// Appealed returns people's answer to an appeal of the same call, and records it; ok is false
// if there is none. It asks nobody.
func (b *Broadcaster) Appealed(
	ctx context.Context, call approver.ToolCall, why approver.Verdict,
) (v approver.Verdict, ok bool, err error) {
	if err := b.tasks.awaitReady(ctx); err != nil {
		return v, false, err
	}
	bound, err := b.Fingerprint(ctx, call)
	if err != nil {
		return v, false, err
	}
	q, fp := question{call: call, why: why, bound: bound, holder: uuid.NewString()}, bound.Fingerprint
	r, dead, err := b.Requests.findByCall(ctx, call.ID) // its connection may have been lost
	if q.dead = dead; errors.Is(err, approver.ErrNotFound) {
		r, err = b.opener.joinParked(ctx, q)
	}
	switch {
	case errors.Is(err, approver.ErrNotFound):
		return v, false, nil
	case err != nil:
		return v, false, err
	case r.Verdict.Appeal.Of == "" || !r.Parked || !q.asks(r):
		return v, false, nil
	}
	runs := false
	defer b.handovers.end(q.holder)
	if r.Granted() {
		if r, err = b.releases.release(ctx, r, call, q.holder); err != nil && !errors.Is(err, ErrSettled) {
			return v, false, err
		}
	}
	if r, runs, err = b.releases.mayRun(ctx, r, call, fp, q.holder); err != nil {
		return v, false, err
	}
	if err := b.releases.answeredBefore(ctx, r, call); err != nil {
		return v, false, err
	}
	r, runs = b.releases.told(ctx, r, call, runs)
	if r.State.Settled() {
		b.editor.settle(r.ID)
	}
	return b.releases.verdict(r, runs), true, nil
}
