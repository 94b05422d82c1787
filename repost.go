package approver

import (
	"context"
	"errors"
	"slices"
	"time"

	"approver.example/tokens"
)

// This file posts cards anew that nobody can see.

// repost replaces cards that a crash left without a trace, or whose message
// did not outlive a restart: the old code is void, a new card gets a new one.
func (b *Broadcaster) repost(ctx context.Context, id string) {
	r, _, now, err := b.loadNow(ctx, id)
	if err != nil || r.State != Pending {
		return
	}
	lost := b.lost(r, now)
	if b.volatile(r, lost) && now.Sub(b.backSince(now)) < terminalsReturn {
		// Couriers come back to a daemon that was restarted before terminals do.
		if !sleep(ctx, terminalsReturn) {
			return
		}
		if r, _, now, err = b.loadNow(ctx, id); err != nil || r.State != Pending {
			return
		}
		lost = b.lost(r, now)
	}
	if refused := slices.DeleteFunc(slices.Clone(lost), func(i int) bool { return !r.Postings[i].refusedTo(b.process) }); len(refused) > 0 {
		b.giveUp(ctx, id, refused)
		return // what else is lost comes at the next look
	}
	if len(lost) == 0 {
		return
	}
	if stray, err := b.stray(ctx, r); stray || err != nil {
		if stray {
			_, _ = b.change(ctx, id, func(r Request, now time.Time) (Request, error) { return r.Fail(StoreTrouble, now) })
		}
		return
	}
	to := make([]Destination, len(lost))
	for n, i := range lost {
		to[n] = r.Postings[i].To
	}
	minted := r
	ways, err := b.mint(&minted, to, now)
	if err == nil {
		err = b.saveWays(ctx, ways, r.Due.Add(b.KeepFor))
	}
	if err != nil {
		b.Log.Warn("a lost card could not be replaced", "request", id, "error", err)
		return
	}
	before, codes := len(r.Postings), map[int]tokens.Code{}
	for _, w := range ways {
		minted.Postings[w.entry.Posting].Code, codes[w.entry.Posting] = w.hash, w.code
	}
	r, err = b.change(ctx, id, func(fresh Request, now time.Time) (Request, error) {
		// Since it was read, another replica may have replaced a card, or a card
		// may have been noted after all: then this attempt is void.
		if fresh.State != Pending || len(fresh.Postings) != before || !slices.Equal(b.lost(fresh, now), lost) {
			return fresh, ErrTooSoon
		}
		fresh.Postings = append(slices.Clone(fresh.Postings), minted.Postings[before:]...)
		for _, i := range lost {
			fresh.Postings[i].Phase = Void
		}
		return fresh, nil
	})
	if err == nil {
		b.shown.note(r, codes)
		b.post(ctx, r, codes, true)
	}
}

// giveUp notes that no process could post some cards: this one was refused for good, and
// no other has taken them in time.
func (b *Broadcaster) giveUp(ctx context.Context, id string, refused []int) {
	_, err := b.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		changed := false
		r.Postings = slices.Clone(r.Postings)
		for _, i := range refused {
			if i < len(r.Postings) && slices.Contains(b.lost(r, now), i) && r.Postings[i].refusedTo(b.process) {
				r.Postings[i].Phase, changed = Failed, true
				if b.screen(r.Postings[i].To.Channel) {
					r.Postings[i].Refused = nil // that was only that nobody watched
				}
			}
		}
		if r.State != Pending || !changed {
			return r, ErrTooSoon
		}
		return r, nil
	})
	if err == nil {
		b.noteUnreachable(ctx, id)
	}
}

// terminalsReturn is how long a terminal that watched takes to connect again.
const terminalsReturn = 2 * time.Second

// watchScreens shows what is open to whoever begins to watch a channel whose messages do
// not outlive the process: what nobody watched when it was asked was not shown there.
func (b *Broadcaster) watchScreens(ctx context.Context, screen Presence) {
	for seen := 0; sleep(ctx, pollEvery); {
		now, ever := screen.Watches()
		if now == 0 || ever == seen {
			continue
		}
		open, err := b.Requests(ctx)
		for _, r := range open {
			if len(b.lost(r, time.Now())) > 0 {
				b.start(func(ctx context.Context) { b.repost(ctx, r.ID) })
			}
		}
		if err == nil || errors.Is(err, ErrNoList) || unreadable(err) { // else the store may be back in a moment
			seen = ever
		}
	}
}

func watched(screen Presence) bool {
	now, _ := screen.Watches()
	return now > 0
}

// volatile reports whether one of these cards was on a channel whose messages do not
// outlive the process.
func (b *Broadcaster) volatile(r Request, postings []int) bool {
	return slices.ContainsFunc(postings, func(i int) bool {
		_, is := b.channels[r.Postings[i].To.Channel].(Presence)
		return is
	})
}

// lost lists the cards of a pending request that nobody can see, and that are this process's
// to replace: a card on its way to a place that is not its own, or that the platform has
// refused it, is left to others for a while.
func (b *Broadcaster) lost(r Request, now time.Time) []int {
	var lost []int
	for i, p := range r.Postings {
		if b.channels[p.To.Channel] == nil {
			continue
		}
		if p.Hub != "" && p.Hub != b.Host {
			continue // not here to be seen
		}
		presence, volatile := b.channels[p.To.Channel].(Presence)
		until := p.Until
		if !slices.Contains(b.Destinations, p.To) || p.refusedTo(b.process) {
			until = until.Add(othersGrace)
		}
		gone := p.Phase == Sending && !now.Before(until)
		if volatile {
			gone = gone || p.Phase == Posted && !presence.Shows(p.Ref) || p.Phase == Failed && !p.refusedTo(b.process) && watched(presence)
		}
		if gone {
			lost = append(lost, i)
		}
	}
	return lost
}
