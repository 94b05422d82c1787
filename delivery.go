package approver

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"approver.example/tokens"
)

// This file brings cards before people and up to date. What is still to be
// done is always in the record, so that any replica can go on after a crash.

// Run runs the channels and the clock until ctx ends, then waits for all work
// that was begun. Requests that are open then stay open for the next process.
// A channel that fails for good does not stop the others, and gets no more cards,
// whose buttons nobody would hear; its error is logged at once and returned at the
// end.
func (b *Broadcaster) Run(ctx context.Context) error {
	b.mu.Lock()
	if b.work != nil {
		b.mu.Unlock()
		return errors.New("the broadcaster is already running")
	}
	b.work = ctx
	close(b.ready)
	b.mu.Unlock()

	var all sync.WaitGroup
	all.Go(func() { b.sweep(ctx) })
	all.Go(func() { b.guard(ctx) })
	b.start(b.regrant)
	for _, c := range b.Channels {
		all.Go(func() {
			if err := b.runChannel(ctx, c); err != nil && ctx.Err() == nil {
				b.Log.Error("a channel has failed for good", "channel", c.Name(), "error", err)
				b.mu.Lock()
				b.failed[c.Name()] = err
				b.mu.Unlock()
			}
		})
	}
	<-ctx.Done()
	all.Wait()
	b.busy.Wait()
	var errs []error
	for name, err := range b.failed {
		errs = append(errs, fmt.Errorf("channel %s: %w", name, err))
	}
	return errors.Join(errs...)
}

// deaf returns why a channel no longer hears answers, or nil.
func (b *Broadcaster) deaf(channel string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.failed[channel]; err != nil {
		return fmt.Errorf("the channel has failed for good: %w", err)
	}
	return nil
}

// Solo is an extra ability of a channel whose platform gives every event to
// one receiver only, or to each: it receives under a lease of this name, so
// that of several replicas one does. All of them may post.
type Solo interface {
	LeaseName() string
}

func (b *Broadcaster) runChannel(ctx context.Context, c Channel) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	solo, ok := c.(Solo)
	if !ok {
		return c.Run(ctx, b.Reply)
	}
	return Lead(ctx, b.Store, solo.LeaseName(), b.Log, func(ctx context.Context) error { return c.Run(ctx, b.Reply) })
}

// running returns the context of Run, or nil before Run.
func (b *Broadcaster) running() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.work
}

// start runs f as part of Run, which waits for it. After Run's end it does
// nothing: the record says what is left to do.
func (b *Broadcaster) start(f func(ctx context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.work == nil || b.work.Err() != nil {
		return
	}
	ctx := b.work
	b.busy.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				b.Log.Error("panic in the background", "panic", p, "stack", string(debug.Stack()))
			}
		}()
		f(ctx)
	})
}

// posting is what became of sending one card.
type posting struct {
	i   int
	ref Ref
	err error
}

// post sends the cards whose codes are given, all at once: a dead channel
// delays nobody. When none could be shown anywhere, the request is denied.
func (b *Broadcaster) post(ctx context.Context, r Request, codes map[int]tokens.Code) {
	if !b.askedFor(ctx, r) {
		return
	}
	results := make(chan posting, len(codes))
	for i, code := range codes {
		go func() { // awaited below: each sends exactly one result
			ref, err := b.postOne(ctx, r, i, code)
			results <- posting{i, ref, err}
		}()
	}
	// What is on the phones is noted even while this process stops: a card
	// without a note would be posted twice.
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*PostTimeout)
	defer cancel()
	shown := false
	for left := len(codes); left > 0; {
		batch := []posting{<-results}
		for more := true; more; {
			select {
			case res := <-results:
				batch = append(batch, res)
			default:
				more = false
			}
		}
		left -= len(batch)
		now, err := b.note(noting, r.ID, batch, ctx.Err() != nil)
		for err != nil && sleep(noting, pollEvery) { // the store may come back in time
			now, err = b.note(noting, r.ID, batch, ctx.Err() != nil)
		}
		if err != nil {
			b.Log.Error("could not note where a card is", "request", r.ID, "error", err)
			continue
		}
		for _, res := range batch {
			shown = shown || res.err == nil
			b.posted(noting, now, res)
		}
		if now.State.Settled() {
			b.settle(r.ID) // the answer was faster than the card
		} else if now.Granted() {
			b.start(func(ctx context.Context) { b.refresh(ctx, now) })
		}
	}
	if ctx.Err() == nil && !shown {
		b.noteUnreachable(ctx, r.ID)
	}
}

// askedFor makes the record of the question durable before anybody sees it. If
// that fails, the request is denied.
func (b *Broadcaster) askedFor(ctx context.Context, r Request) bool {
	if r.Asked {
		return true
	}
	err := b.recordAsked(ctx, r)
	if err == nil {
		return true
	}
	b.Log.Error("a question could not be recorded, so the call is denied", "request", r.ID, "error", err)
	if _, err := b.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) { return r.Fail(Unrecorded, now) }); err != nil {
		b.Log.Error("nor could the denial be stored; no card goes out", "request", r.ID, "error", err)
	}
	return false
}

func (b *Broadcaster) recordAsked(ctx context.Context, r Request) error {
	_, err := b.Audit.Record(ctx, Record{
		Event: EventAsked, At: r.Created, Request: r.ID, Once: r.ID + ":asked", Fingerprint: r.Fingerprint, Call: r.Call, Verdict: r.Verdict,
	})
	return err
}

// note stores what became of some cards. A card whose sending was cut off by
// the end of this process stays Sending, and is posted anew by the next.
func (b *Broadcaster) note(ctx context.Context, id string, batch []posting, stopping bool) (Request, error) {
	return b.change(ctx, id, func(r Request, _ time.Time) (Request, error) {
		r.Asked = true
		r.Postings = append([]Posting(nil), r.Postings...)
		for _, res := range batch {
			if res.i >= len(r.Postings) {
				return r, ErrTooSoon // a fail-over took the posting back
			}
			p := &r.Postings[res.i]
			switch {
			case p.Phase == Void:
			case res.err == nil:
				p.Phase, p.Ref = Posted, res.ref
			case !stopping:
				p.Phase, p.Error = Failed, res.err.Error()
			}
		}
		return r, nil
	})
}

// posted records what became of one card, and takes a card out of sight that
// was replaced while it was on its way.
func (b *Broadcaster) posted(ctx context.Context, r Request, res posting) {
	i, ref, to := res.i, res.ref, r.Postings[res.i].To
	if res.err != nil {
		b.Log.Warn("a card could not be posted", "request", r.ID, "channel", to.Channel, "error", res.err)
		return
	}
	if r.Postings[i].Phase == Void {
		b.retire(ctx, r, ref)
		return
	}
	if _, err := b.Audit.Record(ctx, Record{
		Event: EventPosted, Request: r.ID, Once: fmt.Sprintf("%s:posted:%d", r.ID, i), Fingerprint: r.Fingerprint, Call: r.Call, Verdict: r.Verdict,
		Note: fmt.Sprintf("%s/%s message %s", to.Channel, to.Conversation, ref.Message),
	}); err != nil {
		b.Log.Error("audit failed", "request", r.ID, "error", err)
	}
}

// retire takes the buttons and the code off a card that no record knows: one that
// was replaced while it was on its way, or that a crash kept from being noted and
// somebody now presses. Nothing else would ever bring it up to date.
func (b *Broadcaster) retire(ctx context.Context, r Request, ref Ref) {
	card := b.card(r, tokens.Code{})
	if !r.State.Settled() {
		card.State, card.OneTap, card.Result = Withdrawn, false, "↩ Replaced by a newer card"
	}
	if err := b.updateOne(ctx, ref, card); err != nil {
		b.Log.Warn("a replaced card could not be taken out of sight", "request", r.ID, "channel", ref.Channel, "error", err)
	}
}

// noteUnreachable denies a pending request that no card is on its way for.
func (b *Broadcaster) noteUnreachable(ctx context.Context, id string) {
	_, err := b.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		for _, p := range r.Postings {
			if p.Phase == Posted || p.Phase == Sending {
				return r, ErrTooSoon
			}
		}
		return r.Fail(Unreachable, now)
	})
	if err == nil {
		b.settle(id)
	}
}

func (b *Broadcaster) postOne(ctx context.Context, r Request, i int, code tokens.Code) (ref Ref, err error) {
	ctx, cancel := context.WithTimeout(ctx, PostTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	to := r.Postings[i].To
	if err := b.deaf(to.Channel); err != nil {
		return ref, err
	}
	ref, err = b.channels[to.Channel].Post(ctx, to, b.card(r, code))
	if err == nil && ref.Message == "" {
		err = errors.New("the channel returned no message id")
	}
	ref.Destination = to
	return ref, err
}

func (b *Broadcaster) updateOne(ctx context.Context, ref Ref, card Card) (err error) {
	ctx, cancel := context.WithTimeout(ctx, PostTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	c := b.channels[ref.Channel]
	if c == nil {
		return fmt.Errorf("channel %q is no longer configured", ref.Channel)
	}
	return c.Update(ctx, ref, card)
}

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
		b.post(ctx, r, codes)
	}
}

// terminalsReturn is how long a terminal that watched takes to connect again.
const terminalsReturn = 2 * time.Second

// volatile reports whether one of these cards was on a channel whose messages do not
// outlive the process.
func (b *Broadcaster) volatile(r Request, postings []int) bool {
	return slices.ContainsFunc(postings, func(i int) bool {
		_, is := b.channels[r.Postings[i].To.Channel].(Presence)
		return is
	})
}

// lost lists the cards of a pending request that nobody can see.
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
		if p.Phase == Sending && !now.Before(p.Until) || p.Phase == Posted && volatile && !presence.Shows(p.Ref) {
			lost = append(lost, i)
		}
	}
	return lost
}
