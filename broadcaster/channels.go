package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"approver.example"
)

// Channels are the channels of this process: what each can do, and its state.
type Channels struct {
	*Options

	byName map[string]approver.Channel
	wakes  map[string]chan struct{} // of those that ended: see wake
	states states
	outbox *outbox
}

// State returns what is known of a channel. One that is not configured has the zero value.
func (h *Channels) State(name string) ChannelState {
	c := h.byName[name]
	if c == nil {
		return ChannelState{}
	}
	return h.stateOf(c)
}

func (h *Channels) stateOf(c approver.Channel) ChannelState {
	s := h.states.of(c.Name())
	s.Cards = h.states.cardsOf(c.Name(), h.Destinations)
	s.Solo = soloOf(c) != nil
	s.Crowds = h.outbox.crowds(c.Name())
	s.Pages = h.pages(c.Name())
	if r, ok := c.(approver.Receiver); ok {
		s.Receiver, s.Reception = true, r.Reception()
		if !s.Up && s.There == nil && !s.was.Since.IsZero() { // it is still the same problem
			if s.Since.IsZero() {
				s.Reception = s.was
			}
			s.Since = s.was.Since
		}
	}
	if !s.Up && s.heardThere.After(s.Good) { // it received in the meantime, in another process
		s.Good = s.heardThere
		if !s.Since.IsZero() && s.Since.Before(s.Good) {
			s.Since = s.Good
		}
	}
	return s
}

// errEnded is wrapped by the errors of a channel that has ended and is not back.
var errEnded = errors.New("the channel has ended")

// Deaf returns why a channel receives no answers any more, or nil.
func (h *Channels) Deaf(channel string) error {
	s := h.State(channel)
	if s.Ended == nil {
		return nil
	}
	if why := s.since(); why != "" {
		return fmt.Errorf("%w, and is not back yet: %s", errEnded, why)
	}
	return fmt.Errorf("%w: %w", errEnded, s.Ended)
}

// shownWhere are the channels that get cards.
func (h *Channels) shownWhere() map[string]bool {
	names := map[string]bool{}
	for _, d := range h.Destinations {
		names[d.Channel] = true
	}
	return names
}

// takes reports whether a request of this severity can be approved on a channel.
func (h *Channels) takes(channel string, s approver.Severity) bool {
	taker, is := h.byName[channel].(approver.Taker)
	return !is || taker.Takes(s)
}

// fits reports whether a channel will show all of a card, as far as it can say before the card is posted.
func (h *Channels) fits(channel string, card func() approver.Card) (whole bool) {
	fitter, can := h.byName[channel].(approver.Fitter)
	if !can {
		return false
	}
	err := unpanicked(func() error {
		whole = fitter.Fits(card())
		return nil
	})
	return whole && err == nil
}

// screen reports a channel whose cards are only on the screens of people who watch.
func (h *Channels) screen(channel string) bool {
	_, is := h.byName[channel].(approver.Presence)
	return is
}

// volatile reports whether one of these cards was on a channel whose messages do not outlive
// the process.
func (h *Channels) volatile(r Request, postings []int) bool {
	return slices.ContainsFunc(postings, func(i int) bool { return h.screen(r.Postings[i].To.Channel) })
}

// updateOne edits one card, when it is its turn.
func (h *Channels) updateOne(work context.Context, ref approver.Ref, card approver.Card) error {
	return h.updateSoon(work, ref, card, time.Now(), turnFor)
}

// updateSoon is updateOne for an edit that has waited for its turn since then, and waits no longer than its
// patience: then errNoTurn says that nothing was edited.
func (h *Channels) updateSoon(
	work context.Context, ref approver.Ref, card approver.Card, since time.Time, patience time.Duration,
) error {
	s := &send{to: ref.Destination, edit: true, since: since}
	if card.State == approver.Pending {
		s.request = card.Request
	}
	return h.updateDrawn(work, ref, s, func() (approver.Card, error) { return card, nil }, patience)
}

// updateDrawn is updateSoon for a card that is drawn when its turn has come: it says what is so then.
func (h *Channels) updateDrawn(
	work context.Context, ref approver.Ref, s *send, draw func() (approver.Card, error), patience time.Duration,
) error {
	c := h.byName[ref.Channel]
	if c == nil {
		return fmt.Errorf("channel %q is no longer configured", ref.Channel)
	}
	end, err := h.outbox.waitFor(work, s, patience)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoTurn, err)
	}
	card, err := draw()
	if err != nil {
		end(errUnused)
		return fmt.Errorf("%w: %w", errNoTurn, err)
	}
	ctx, cancel := context.WithTimeout(work, PostTimeout)
	defer cancel()
	err = unpanicked(func() error { return c.Update(ctx, ref, card) })
	if errors.Is(err, approver.ErrShowsLess) { // which says nothing of the platform
		end(errUnused)
		return err
	}
	end(err)
	h.noteSent(work, ref.Destination, err, h.states.edited)
	return err
}

// errNoTurn is wrapped by the errors of an edit whose turn did not come in time: the platform was not called.
var errNoTurn = errors.New("its chat takes no more at the moment")

// noteSent notes the result of sending a card for the state of its channel. It ignores results
// that say nothing about the channel: sends that the end of this process interrupted,
// terminals that nobody watches, and destinations of other processes.
func (h *Channels) noteSent(
	work context.Context, to approver.Destination, err error, note func(approver.Destination, error),
) {
	if work.Err() == nil && slices.Contains(h.Destinations, to) && !h.nobodyThere(to.Channel, err) {
		note(to, err)
	}
}

// nobodyThere reports that nobody watches a terminal, which is no failure of it.
func (h *Channels) nobodyThere(channel string, err error) bool {
	return h.screen(channel) && errors.Is(err, approver.ErrFinal)
}

// mayBeDone reports that the platform may have carried out a request that failed with err: it
// did not refuse it, for good or for now.
func mayBeDone(err error) bool {
	var patience approver.Patience
	return err != nil && !errors.Is(err, approver.ErrFinal) && !errors.As(err, &patience) &&
		!isAny(err, errEnded, errNoTurn)
}

// A panicError is a panic of a channel. Only the log has its stack.
type panicError struct {
	value any
	stack []byte
}

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func (e panicError) LogValue() slog.Value {
	return slog.StringValue(e.Error() + "\n" + string(e.stack))
}

// unpanicked turns a panic of a channel into an error like any other: it is tried again,
// logged, and part of the channel's state.
func unpanicked(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError{p, debug.Stack()}
		}
	}()
	return do()
}
