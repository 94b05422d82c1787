package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// Channels are the channels of this process: what each can do, and its state.
type Channels struct {
	*Options

	byName map[string]approver.Channel
	states states
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
	_, s.Solo = c.(approver.Solo)
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
	if err := h.states.of(channel).Ended; err != nil {
		return fmt.Errorf("%w: %w", errEnded, err)
	}
	return nil
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

// updateOne edits one card.
func (h *Channels) updateOne(work context.Context, ref approver.Ref, card approver.Card) error {
	ctx, cancel := context.WithTimeout(work, PostTimeout)
	defer cancel()
	c := h.byName[ref.Channel]
	if c == nil {
		return fmt.Errorf("channel %q is no longer configured", ref.Channel)
	}
	err := unpanicked(func() error { return c.Update(ctx, ref, card) })
	if !errors.Is(err, approver.ErrShowsLess) { // which says nothing of the platform
		h.noteSent(work, ref.Destination, err, h.states.edited)
	}
	return err
}

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
	return err != nil && !errors.Is(err, approver.ErrFinal) && !errors.As(err, &patience) && !errors.Is(err, errEnded)
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

// seeLog tells an agent, whose user may look there.
const seeLog = ". The operator finds why in approver's log, and in what approver status and approver doctor say"

// endedFor is how long the channel of each card of a request must have ended before nobody is asked. Until
// then it may have been a moment's trouble of the platform.
const endedFor = time.Minute

// noRoute reports that none of the cards can be shown to anybody: their channels have ended some time ago and
// only people can bring them back, or they were refused, as by a screen that nobody watches. What is only away,
// or has not begun yet, may come in time.
func (h *Channels) noRoute(cards Postings) bool {
	ended := 0
	for _, p := range cards {
		if p.Phase == Void || p.Phase == Failed && !p.Unsure {
			continue
		}
		s := h.states.of(p.To.Channel)
		if p.Phase == Posted || p.Unsure || s.Ended == nil || time.Since(s.EndedAt) < endedFor {
			return false
		}
		ended++
	}
	return ended > 0
}

// unreached says, after a sentence, why nobody was shown a request, to its agent and to people. What a platform
// answered is for people alone: an error may hold more than an agent may know.
func (h *Channels) unreached(r Request) (agent, people string) {
	if agent, people = h.shutOut(r.Postings); agent != "" {
		return agent, people
	}
	why := h.unseen(r)
	return why, why
}

// shutOut is unreached if a channel has ended, and no other one could show its card either.
func (h *Channels) shutOut(cards Postings) (agent, people string) {
	var names, whys []string
	for _, p := range cards {
		s := h.states.of(p.To.Channel)
		switch {
		case h.screen(p.To.Channel), p.Phase == Void:
			continue
		case s.Ended == nil && p.Phase == Failed && !p.Unsure:
			whys = append(whys, p.To.Channel+": "+display.SafeLine(p.Error))
			continue
		case s.Ended == nil:
			return "", ""
		}
		name := p.To.Channel + " (since " + s.EndedAt.UTC().Format("15:04 UTC") + ")"
		if !slices.Contains(names, name) {
			names, whys = append(names, name), append(whys, name+": "+display.SafeLine(s.Ended.Error()))
		}
	}
	if len(names) == 0 {
		return "", ""
	}
	const again = "Run the call again once that is mended, or while somebody watches a terminal (approver watch)"
	return ": " + strings.Join(names, " and ") + " ended, which only people can mend, as when a token was revoked. " +
			"The operator finds the cause and the cure with approver status. " + again,
		": only people can mend that. " + strings.Join(whys, "; ") + ". approver doctor tells more. " + again
}

// unseen says, after a sentence, why nobody was shown a request although a channel of it has not ended.
func (h *Channels) unseen(r Request) string {
	elsewhere := "and no other channel is configured"
	for _, to := range h.Destinations {
		if !h.screen(to.Channel) {
			elsewhere = "and this was to be asked nowhere else"
		}
	}
	for _, p := range r.Postings {
		if !h.screen(p.To.Channel) {
			return seeLog
		}
	}
	if len(r.Postings) == 0 {
		return ": no channel is configured for it"
	}
	return ": nobody watches the " + r.Postings[0].To.Channel + " (approver watch), " + elsewhere
}
