package broadcaster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file judges whether a request can reach anybody, and says why not.

const (
	// endedFor is how long the channel of each card of a request must have ended before nobody is asked. Until
	// then it may have been a moment's trouble of the platform.
	endedFor = time.Minute
	// proveWithin is how long a request waits to learn whether its channels end again. Whoever
	// still does not know goes on waiting for the channels.
	proveWithin = 30 * time.Second
	// leaveAfter is how long this process tries a card at least before it is left to another one that receives.
	leaveAfter = 5 * time.Second
	// runsApart is the time between the beginnings of two runs of a channel that ended, however many
	// requests need it: a platform counts them.
	runsApart = 10 * time.Second
)

// A route says whether a request can reach anybody.
type route uint8

const (
	// open: somebody sees it, or may in time. A channel that is only away, or has not begun yet, may
	// come back by itself.
	open route = iota
	// unproven: the channel of each card has ended, and is run once more: its token may be good again.
	unproven
	// closed: each of them ended again, for something that only people can mend.
	closed
)

// route judges the way of a request that was asked at a time. A card that was refused, as by a screen that nobody
// watches, is no way, nor is a page, and one that may be before people is one. So is a step of the ladder that was not
// taken yet: it is taken soon if nothing else is delivered.
func (h *Channels) route(r Request, asked time.Time) route {
	if !r.Climb.Next.IsZero() {
		return open
	}
	way := open
	for _, p := range r.Postings {
		switch s := h.State(p.To.Channel); {
		case p.Page:
		case p.Phase == Posted, p.Unsure:
			return open
		case p.Phase == Void, p.Phase == Failed:
		case !s.shutOut() || time.Since(s.EndedAt) < endedFor:
			return open
		case s.ended.Before(asked):
			way = unproven
		case way == open:
			way = closed
		}
	}
	return way
}

// wake cuts short the rest of a channel that ended, for a request that was asked at a time, unless the channel was
// run since. A request that waits for longer does so again and again.
func (h *Channels) wake(name string, asked time.Time) {
	s := h.states.of(name)
	if s.Ended == nil || !s.began.Before(asked) && time.Since(s.began) < DefaultRunAgain {
		return
	}
	select {
	case h.wakes[name] <- struct{}{}:
	default:
	}
}

// rest is the pause before a channel that ended is run again, which wake cuts short. It returns false if ctx ends
// first.
func (h *Channels) rest(ctx context.Context, name string, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	case <-h.wakes[name]:
	}
	return sleep(ctx, max(0, min(pause, time.Until(h.states.of(name).began.Add(runsApart)))))
}

// hopeless reports that a card is not tried again by this process, because it cannot reach anybody. began is when it
// was tried first; the time in which it waited for its turn does not count, for then nothing was tried.
func (d *poster) hopeless(ctx context.Context, r Request, began time.Time, rep *report) bool {
	p := r.Postings[rep.i]
	var patience approver.Patience
	switch {
	case d.noWay(ctx, r, began, rep.err):
		rep.left = d.leaves(r, p)
		return true
	case errors.As(rep.err, &patience): // one bot is asked for it, whoever posts
		return false
	}
	rep.left = time.Since(began) >= leaveAfter && d.leaves(r, p) && d.channels.State(p.To.Channel).Hearing().Elsewhere
	return rep.left
}

// noWay reports that the channel of a card has ended, as err says, and so has every other way of the request to people.
// To be sure, those channels are run once more.
func (d *poster) noWay(ctx context.Context, r Request, began time.Time, err error) bool {
	if !errors.Is(err, errEnded) {
		return false
	}
	for {
		now, _, err := d.requests.load(ctx, r.ID)
		if err != nil || now.State != approver.Pending {
			return false
		}
		for _, p := range now.Postings { // of a step that was taken before, too
			if p.Phase == Sending && !p.Page {
				d.channels.wake(p.To.Channel, began)
			}
		}
		way := d.channels.route(now, began)
		if way != unproven {
			return way == closed
		}
		for way == unproven { // what people were shown meanwhile is looked up afterwards
			if time.Since(began) > proveWithin || !sleep(ctx, pollEvery/2) {
				return false
			}
			way = d.channels.route(now, began)
		}
	}
}

// leaves reports that a card is to be left to the other daemons that share the store: their token or their
// network may be good. It is done once for each card.
func (d *poster) leaves(r Request, p Posting) bool {
	return d.Shared && !d.channels.screen(p.To.Channel) && !r.Postings.leftBy(d.process, p.To)
}

// cannot reports that this process cannot show a card now.
func (d *poster) cannot(r Request, p Posting) bool {
	return p.refusedTo(d.process) || r.Postings.leftBy(d.process, p.To) || d.channels.Deaf(p.To.Channel) != nil
}

// givesUp reports that this process does not try a card any more which no other process took.
func (d *poster) givesUp(r Request, p Posting) bool {
	return p.refusedTo(d.process) || r.Postings.leftBy(d.process, p.To) && d.channels.Deaf(p.To.Channel) != nil
}

// seeLog tells an agent, whose user may look there.
const seeLog = ". The operator finds why in approver's log, and in what approver status and approver doctor say"

// unreached says, after a sentence, why nobody was shown a request, to its agent and to people. What a platform
// answered is for people alone: an error may hold more than an agent may know.
func (h *Channels) unreached(r Request) (agent, people string) {
	agent, people = h.outOfReach(r)
	if r.Climb.Quiet.After(r.Resolution.At) {
		quiet := ". Other chats have " + quietError{r.Climb.Quiet.UTC()}.Error() + quietCure
		return agent + quiet, people + quiet
	}
	return agent, people
}

// outOfReach is unreached without what quiet hours have to do with it.
func (h *Channels) outOfReach(r Request) (agent, people string) {
	if agent, people = h.shutOut(r.Postings); agent != "" {
		return agent, people
	}
	agent = h.unseen(r)
	if agent != seeLog {
		return agent, agent
	}
	if whys := h.whys(r.Postings); len(whys) > 0 {
		return agent, ": " + strings.Join(whys, "; ") + agent
	}
	return agent, agent
}

// shutOut is unreached if a channel has ended, and no other one could show its card either.
func (h *Channels) shutOut(cards Postings) (agent, people string) {
	var names []string
	for _, p := range cards {
		s := h.State(p.To.Channel)
		switch {
		case h.screen(p.To.Channel), p.Phase == Void, p.Page:
		case s.shutOut():
			if name := h.sinceWhen(p.To.Channel, s); !slices.Contains(names, name) {
				names = append(names, name)
			}
		case s.Ended != nil || p.Phase != Failed || p.Unsure:
			return "", ""
		}
	}
	if len(names) == 0 {
		return "", ""
	}
	again := "Run the call again once that is mended"
	if slices.ContainsFunc(h.Destinations, func(to approver.Destination) bool { return h.screen(to.Channel) }) {
		again += ", or while somebody watches a terminal (approver watch)"
	}
	return ": " + strings.Join(names, " and ") + " ended, which only people can mend, as when a token was revoked. " +
			"The operator finds the cause and the cure with approver status. " + again,
		": only people can mend that. " + strings.Join(h.whys(cards), "; ") + ". approver doctor tells more. " + again
}

// sinceWhen names a channel that has ended.
func (h *Channels) sinceWhen(name string, s ChannelState) string {
	return name + " (since " + s.EndedAt.UTC().Format("15:04 UTC") + ")"
}

// whys say of each card that nobody saw why not, as far as that is known now.
func (h *Channels) whys(cards Postings) (whys []string) {
	for _, p := range cards {
		if h.screen(p.To.Channel) || p.Phase == Void || p.Page {
			continue
		}
		name, why := p.To.Channel, p.Error
		if s := h.State(name); s.Hearing().Why != "" {
			if why = s.Hearing().Why; s.shutOut() {
				name = h.sinceWhen(name, s)
			}
		}
		if said := name + ": " + display.SafeLine(why); why != "" && !slices.Contains(whys, said) {
			whys = append(whys, said)
		}
	}
	return whys
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
