package broadcaster

import (
	"context"
	"errors"
	"slices"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// This file posts anew the cards that nobody can see.

// repost replaces cards that nobody can see: a crash left no trace of their post, or their
// message did not outlive a restart. The old code becomes void, and the new card has a new
// one. If the old card is visible after all, its buttons still count: see foundCard.
func (d *poster) repost(ctx context.Context, id string) {
	r, _, now, err := d.requests.loadNow(ctx, id)
	if err != nil || r.State != approver.Pending {
		return
	}
	lost := d.lostPostings(r, now)
	if d.channels.volatile(r, lost) && now.Sub(d.uptime.backSince(now)) < terminalsReturn {
		// Couriers come back to a daemon that was restarted before terminals do.
		if !sleep(ctx, terminalsReturn) {
			return
		}
		if r, _, now, err = d.requests.loadNow(ctx, id); err != nil || r.State != approver.Pending {
			return
		}
		lost = d.lostPostings(r, now)
	}
	if refused := slices.DeleteFunc(slices.Clone(lost), func(i int) bool {
		return !d.givesUp(r, r.Postings[i])
	}); len(refused) > 0 {
		d.giveUpRefused(ctx, id, refused)
		return // the others are replaced at the next look
	}
	if len(lost) == 0 {
		return
	}
	if stray, err := d.requests.orphaned(ctx, r); stray || err != nil {
		if stray {
			_, _ = d.requests.fail(ctx, id, approver.StoreTrouble)
		}
		return
	}
	to := make([]approver.Destination, len(lost))
	for n, i := range lost {
		to[n] = r.Postings[i].To
	}
	minted := r
	ways, err := d.codes.mint(&minted, to, now)
	for n, i := range lost {
		if was := r.Postings[i]; err == nil && !d.channels.screen(was.To.Channel) {
			minted.Postings[len(r.Postings)+n].Refused = was.Refused
		}
	}
	if err == nil {
		err = d.codes.saveLinks(ctx, ways, r.Due.Add(d.KeepFor))
	}
	if err != nil {
		d.Log.Warn("a lost card could not be replaced", "request", id, "error", err)
		return
	}
	before, codes := len(r.Postings), map[int]tokens.Code{}
	for _, w := range ways {
		minted.Postings[w.entry.Posting].Code, codes[w.entry.Posting] = w.hash, w.code
	}
	r, err = d.requests.change(ctx, id, func(fresh Request, now time.Time) (Request, error) {
		// Since it was read, another replica may have replaced a card, or a card
		// may have been noted after all: then this attempt is void.
		if fresh.State != approver.Pending || len(fresh.Postings) != before ||
			!slices.Equal(d.lostPostings(fresh, now), lost) {
			return fresh, ErrTooSoon
		}
		fresh.Postings = append(slices.Clone(fresh.Postings), minted.Postings[before:]...)
		for _, i := range lost {
			fresh.Postings[i].replaced(d.channels.screen(fresh.Postings[i].To.Channel))
		}
		return fresh, nil
	})
	if err == nil {
		d.editor.live.note(r, codes)
		d.post(ctx, r, codes, true)
	}
}

// giveUpRefused marks cards as failed that the platform refused this process for good, or that it left to others,
// and that no other process has posted in time.
func (d *poster) giveUpRefused(ctx context.Context, id string, refused []int) {
	_, err := d.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		changed := false
		r.Postings = slices.Clone(r.Postings)
		for _, i := range refused {
			if i < len(r.Postings) && slices.Contains(d.lostPostings(r, now), i) && d.givesUp(r, r.Postings[i]) {
				r.Postings[i].Phase, changed = Failed, true
				if d.channels.screen(r.Postings[i].To.Channel) {
					r.Postings[i].Refused = nil // it was refused only because nobody watched
				}
			}
		}
		if r.State != approver.Pending || !changed {
			return r, ErrTooSoon
		}
		return r, nil
	})
	if err == nil {
		d.noteUnreachable(ctx, id)
	}
}

// terminalsReturn is how long a terminal that watched takes to connect again.
const terminalsReturn = 2 * time.Second

// watchScreens posts open requests to a terminal when somebody begins to watch it: nobody saw
// them there before.
func (d *poster) watchScreens(ctx context.Context, screen approver.Presence) {
	for seen := 0; sleep(ctx, pollEvery); {
		now, ever := screen.Watches()
		if now == 0 || ever == seen {
			continue
		}
		open, err := d.requests.Open(ctx)
		for _, r := range open {
			if len(d.lostPostings(r, time.Now())) > 0 {
				d.tasks.start(func(ctx context.Context) { d.repost(ctx, r.ID) })
			}
		}
		if err == nil || errors.Is(err, ErrNoList) || unreadable(err) { // else the store may be back soon
			seen = ever
		}
	}
}

// watched reports whether anybody watches now.
func watched(screen approver.Presence) bool {
	now, _ := screen.Watches()
	return now > 0
}

// lostPostings lists the cards of a pending request that nobody can see and that this process
// may replace. Cards for destinations that are not configured here, or that the platform
// refuses this process, are left to others for a while.
func (d *poster) lostPostings(r Request, now time.Time) []int {
	var lost []int
	for i, p := range r.Postings {
		if d.channels.byName[p.To.Channel] == nil {
			continue
		}
		if p.Hub != "" && p.Hub != d.Host {
			continue // not here to be seen
		}
		presence, volatile := d.channels.byName[p.To.Channel].(approver.Presence)
		until := p.Until
		if !slices.Contains(d.Destinations, p.To) || d.cannot(r, p) {
			until = until.Add(othersGrace)
		}
		gone := p.Phase == Sending && !now.Before(until)
		switch {
		case p.Phase != Sending || p.Sender == "":
		case p.Sender == d.process:
			gone = gone && !d.senders.carries(r.ID, i)
		default: // where the store was away, its sender could not move Until on
			gone = gone && now.Sub(d.uptime.backSince(now)) >= lateNote
		}
		if volatile {
			gone = gone || p.Phase == Posted && !presence.Shows(p.Ref) || p.Phase == Failed && !p.refusedTo(d.process) &&
				watched(presence)
		}
		if gone {
			lost = append(lost, i)
		}
	}
	return lost
}
