package broadcaster

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// This file posts one card, and tries again what may be over in a moment.

// The pause after the first try of a card that failed, which doubles with each, and
// the longest one.
const (
	firstPause = 300 * time.Millisecond
	maxPause   = 10 * time.Second
)

// postUntil posts one card. While the request waits for it, what may be over in a
// moment is tried again, with the same code: a card whose post was carried out and
// whose answer was lost works as well. What others must know before it is over goes
// to reports, at most twice.
func (d *poster) postUntil(ctx context.Context, r Request, i int, code tokens.Code, reports chan<- report) report {
	rep, limit, to := report{i: i}, PostTimeout, r.Postings[i].To
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		rep.tries++
		rep.ref, rep.err = d.postOne(ctx, r, i, code, limit)
		if rep.err == nil || ctx.Err() != nil || errors.Is(rep.err, approver.ErrFinal) {
			return rep
		}
		wait, more := jittered(pause), time.Duration(0)
		var patience approver.Patience
		if errors.As(rep.err, &patience) {
			wait = max(patience.RetryAfter(), 0)
			more = rand.N(wait/10 + time.Millisecond) //nolint:gosec // only not all at once
		}
		// What was refused was not carried out; of all else nobody knows.
		unsure := mayBeDone(rep.err)
		if rep.tries == 1 || unsure && !rep.unsure {
			if unsure {
				fitter, ok := d.channels.byName[to.Channel].(approver.Fitter)
				rep.unsure, rep.whole = true, ok && fitter.Fits(d.cards.card(r, code))
			}
			said := rep
			said.again = true
			reports <- said
		}
		if limit = min(d.wanted(ctx, r.ID, i, wait, more), PostTimeout); limit <= 0 {
			return rep
		}
	}
}

// mayBeDone reports that the platform may have carried out what failed with err: it did
// not say that it refused it, for good or for now.
func mayBeDone(err error) bool {
	var patience approver.Patience
	return err != nil && !errors.Is(err, approver.ErrFinal) && !errors.As(err, &patience) && !errors.Is(err, errEnded)
}

// wanted waits for a pause to be over and returns for how long a request then still
// wants a card. It waits somewhat more, but never so long that the deadline comes before
// the try. It returns at once, and zero, when the request has ended, or the card was found
// by its button or replaced.
func (d *poster) wanted(ctx context.Context, id string, i int, pause, more time.Duration) time.Duration {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	hint, err := d.store.Watch(ctx, approver.Key("req", id))
	if err != nil {
		hint = nil
	}
	over, there := time.Now().Add(pause), time.Now()
	for {
		r, _, now, err := d.requests.loadNow(ctx, id)
		wait, left := max(time.Until(over), 0), r.Due.Sub(now)
		if err == nil && more > 0 {
			more = min(more, max(left-wait, 0)/2)
			over, wait, more = over.Add(more), wait+more, 0
		}
		switch {
		case errors.Is(err, approver.ErrNotFound) && time.Since(there) > vanishedAfter:
			return 0
		case err != nil:
			wait = max(wait, pollEvery)
		case r.State != approver.Pending || i >= len(r.Postings) || r.Postings[i].Phase != Sending || left <= 0:
			return 0
		case wait == 0:
			return left
		default:
			wait, there = min(wait, left), time.Now()
		}
		if !hinted(ctx, hint, wait) {
			return 0
		}
	}
}

func (d *poster) postOne(work context.Context, r Request, i int, code tokens.Code, limit time.Duration) (ref approver.Ref, err error) {
	ctx, cancel := context.WithTimeout(work, limit)
	defer cancel()
	to := r.Postings[i].To
	if err := d.channels.Deaf(to.Channel); err != nil {
		return ref, err
	}
	err = unpanicked(func() (err error) {
		ref, err = d.channels.byName[to.Channel].Post(ctx, to, d.cards.card(r, code))
		return err
	})
	if err == nil && ref.Message == "" {
		err = errors.New("the channel returned no message id")
	}
	d.channels.noteSent(work, to, err, d.channels.states.posted)
	ref.Destination = to
	return ref, err
}
