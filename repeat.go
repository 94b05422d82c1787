package approver

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// This file gives a yes that was lost on its way to the same courier again: for
// some seconds, until the courier says that it has it, and never after a freeze.

// RepeatFor is how long a courier that comes back may read a yes again, unless it
// has acknowledged it: from the release on or, if the daemon or its store went
// away before that time was over, from when they are back.
const RepeatFor = 15 * time.Second

var (
	errAnswered = errors.New("its yes was given before, and a yes is given once: run the call again to ask anew")
	errBurned   = errors.New("everything was frozen since the call was approved")
)

// sameUser reports that two calls come from one user of this machine. An unknown peer
// is the daemon itself, which asks about its own changes; the socket admits no other.
func (p Peer) sameUser(other Peer) bool { return p.Known == other.Known && p.UID == other.UID }

// Repeat notes that the courier of callID reads the yes once more. back is since
// when the daemon and its store have been there.
func (r Request) Repeat(callID string, fp Fingerprint, back, now time.Time) (Request, error) {
	switch {
	case !r.Released(callID, fp):
		return r, ErrNotBound
	case !r.readable(back, now):
		return r, errAnswered
	}
	r.Repeats++
	return r, nil
}

// readable reports that the yes may still be read again.
func (r Request) readable(back, now time.Time) bool {
	if r.State != Consumed || r.ReleasedAt.IsZero() || !r.Acked.IsZero() || !now.Before(r.Deadline) {
		return false
	}
	until := r.ReleasedAt.Add(RepeatFor)
	if back.After(r.ReleasedAt) {
		until = back.Add(RepeatFor)
	}
	return now.Before(until)
}

// Ack notes that the courier has the yes: nobody reads it again.
func (r Request) Ack(now time.Time) (Request, error) {
	switch {
	case r.State != Consumed || r.ReleasedAt.IsZero():
		return r, ErrTooSoon
	case !r.Acked.IsZero():
		return r, errNoChange
	}
	r.Acked = now
	return r, nil
}

// lapse acknowledges a yes whose time is over. It is stored so that the next daemon
// knows that a daemon was there while that time passed.
func (r Request) lapse(back, now time.Time) (Request, error) {
	if r.readable(back, now) {
		return r, ErrTooSoon
	}
	return r.Ack(now)
}

// presence says since when this process has run with its store in reach.
type presence struct {
	back time.Time // by the store's clock; zero while it is away, or was never there
	lost uint64    // how often it went away
}

// seen notes what became of a look into the store.
func (b *Broadcaster) seen(ctx context.Context, err error) {
	b.mu.Lock()
	there, lost := !b.present.back.IsZero(), b.present.lost
	if err != nil && passing(err) {
		if there {
			b.present.lost++
		}
		b.present.back = time.Time{}
		there = true
	}
	b.mu.Unlock()
	if there {
		return
	}
	now, err := b.Store.Now(ctx)
	if err != nil {
		return // the next look comes soon
	}
	b.mu.Lock()
	if b.present.lost == lost && b.present.back.IsZero() {
		b.present.back = now
	}
	b.mu.Unlock()
}

// backSince is since when daemon and store have been there without a break. While
// that is not known it is now.
func (b *Broadcaster) backSince(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.present.back.IsZero() {
		return now
	}
	return b.present.back
}

// runs reports whether the courier of a call may take r as a yes: because it was
// released on this connection, by holder, or because it may be repeated to it. A
// repetition is a compare-and-set, which an acknowledgment can only lose or win;
// then the freeze is looked at, as before a release; then it is recorded.
func (b *Broadcaster) runs(
	ctx context.Context, r Request, call ToolCall, fp Fingerprint, holder string,
) (Request, bool, error) {
	switch {
	case r.State != Consumed || r.CallID != call.ID:
		return r, false, nil
	case holder != "" && r.Holder == holder:
		return r, true, nil
	case !r.Call.Peer.sameUser(call.Peer):
		return r, false, ErrNotBound
	}
	r, err := b.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		return r.Repeat(call.ID, fp, b.backSince(now), now)
	})
	if err != nil {
		return r, false, err
	}
	if r.Call.Control == "" {
		c, err := readControls(ctx, b.Store, b.Mark)
		if err != nil {
			return r, false, err
		}
		if c.BurnsFor(r.Call, r.Created) {
			return r, false, errBurned
		}
	}
	rec := r.record(EventRepeated)
	rec.At, rec.Once, rec.Call = call.At, fmt.Sprintf("%s:%d", rec.Once, r.Repeats), call
	rec.Note = fmt.Sprintf("the courier came back for its answer: time %d", r.Repeats)
	if _, err := b.Audit.Record(ctx, rec); err != nil {
		return r, false, fmt.Errorf("the answer could not be repeated, because that could not be recorded: %w", err)
	}
	b.Log.Warn("a yes was told to its courier once more", "request", r.ID, "call", call.ID, "time", r.Repeats)
	return r, true, nil
}

// Acknowledge notes that the courier of a call has its whole answer. Only the user
// who asked can say so. A call that nobody was asked about needs none.
func (b *Broadcaster) Acknowledge(ctx context.Context, peer Peer, callID string) error {
	id, _, err := b.Store.Get(ctx, Key("call", callID))
	if errors.Is(err, ErrNotFound) {
		return nil // released by a grant that lasts: it is not kept under the call's id
	} else if err != nil {
		return err
	}
	r, err := b.change(ctx, string(id), func(r Request, now time.Time) (Request, error) {
		if r.CallID != callID || !r.Call.Peer.sameUser(peer) {
			return r, ErrNotBound
		}
		return r.Ack(now)
	})
	switch {
	case errors.Is(err, errNoChange):
		return nil
	case err != nil:
		return err
	}
	return b.acked(ctx, r, "its courier has the answer")
}

// acked records that a yes is not repeated any more, so that an older store does not
// bring it back.
func (b *Broadcaster) acked(ctx context.Context, r Request, why string) error {
	rec := r.record(EventAcked)
	rec.At, rec.Note = r.Acked, why
	if _, err := b.Audit.Record(ctx, rec); err != nil {
		return fmt.Errorf("that the answer is not repeated any more could not be recorded: %w", err)
	}
	return nil
}
