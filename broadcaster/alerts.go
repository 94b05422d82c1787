package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
	"approver.example/display"
)

// alerts tell people something that is no question: a card without buttons, everywhere.
type alerts struct {
	*Options
	cards    *Cards
	channels *Channels
	requests *Requests
	tasks    *tasks
}

// How an alert is repeated: so many tries of one round, so long between rounds, and for so long.
const (
	alertTries = 5
	alertRound = 5 * time.Minute
	alertFor   = 24 * time.Hour
)

// An Untold is whom a request still owes the alert that its agent is frozen. It is stored with the request,
// so that a platform that is away or a daemon that ends loses no alert.
type Untold struct {
	To []approver.Destination `json:"to,omitempty"`
	// Since is when the agent was frozen, Next when the next round of posts may begin.
	Since time.Time `json:"since,omitzero"`
	Next  time.Time `json:"next,omitzero"`
}

// tell posts the alerts that a request owes, in the background: what a chat does not take is tried again.
func (l *alerts) tell(id string) {
	l.tasks.startSingle(alerting(id), false, func(ctx context.Context) { l.round(ctx, id) })
}

// now posts the alerts of a request that could not be stored: each chat gets one round.
func (l *alerts) now(r Request, by string) {
	r.Disowned.By = by
	l.tasks.start(func(ctx context.Context) { l.everywhere(ctx, r, l.Destinations) })
}

// An alerting is the key of the task that posts the alerts of a request.
type alerting string

// round posts the alerts of a request once in each chat that still waits for its own.
func (l *alerts) round(ctx context.Context, id string) {
	r, err := l.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if len(r.Untold.To) == 0 || now.Before(r.Untold.Next) {
			return r, errNoChange // or another process has begun this round
		}
		r.Untold.Next = now.Add(alertRound)
		return r, nil
	})
	if err != nil {
		if !errors.Is(err, errNoChange) {
			l.Log.Warn("people cannot be told of a frozen agent yet", "request", id, "error", err)
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, alertRound-PostTimeout)
	defer cancel()
	told := l.everywhere(ctx, r, r.Untold.To)
	_, err = l.requests.change(context.WithoutCancel(ctx), id, func(r Request, now time.Time) (Request, error) {
		r.Untold.To = slices.DeleteFunc(slices.Clone(r.Untold.To), func(to approver.Destination) bool {
			return slices.Contains(told, to)
		})
		if len(r.Untold.To) > 0 && now.Sub(r.Untold.Since) > alertFor {
			l.Log.Error("chats were never told of a frozen agent: they took no post for a day", "request", id,
				"chats", len(r.Untold.To))
			r.Untold.To = nil
		}
		if len(r.Untold.To) == 0 {
			r.Untold = Untold{}
		}
		return r, nil
	})
	if err != nil {
		l.Log.Warn("it could not be noted who was told of a frozen agent: some are told twice", "request", id, "error", err)
	}
}

// everywhere posts in each of some chats that an agent is frozen because a person did not ask for a call of
// it, and returns the chats that are done. It shows nothing of the call: its card may be for others.
func (l *alerts) everywhere(
	ctx context.Context, r Request, chats []approver.Destination,
) (told []approver.Destination) {
	agent, done := l.whoOf(r.Call), make([]bool, len(chats))
	_ = inParallel(len(chats), func(n int) error {
		to := chats[n]
		done[n] = !slices.Contains(l.Destinations, to) || l.channels.pages(to.Channel) ||
			l.post(ctx, to, l.card(r, agent, l.cards.textsOf(to)))
		return nil
	})
	for n, to := range chats {
		if done[n] {
			told = append(told, to)
		}
	}
	return told
}

// card is an alert in one language.
func (l *alerts) card(r Request, agent Who, t display.Texts) approver.Card {
	c := approver.Card{
		Request: r.ID, State: approver.Denied, Severity: approver.Catastrophic, Texts: t, Created: r.Created,
		Push:   display.PushLine(approver.Catastrophic.String(), "🚫 "+t.Text("FROZEN: %s", agent.says()), ""),
		Result: "🚫 " + t.Text("%s did not ask for a call of this agent. Every call of it is denied.", r.Disowned.By),
		Why: []string{
			t.Text("Find out who or what drives the agent before you lift this with approver unfreeze."),
			t.Text("Every yes to its calls is void, and stays so."),
		},
	}
	if l.Host != "" {
		c.Context = "@ " + display.SafeLine(l.Host)
	}
	return c
}

// post posts a card in one destination, and tries a few times. It reports that no further try is of use.
func (l *alerts) post(ctx context.Context, to approver.Destination, card approver.Card) (done bool) {
	for try := 1; ; try++ {
		_, err := l.postOnce(ctx, to, drawn(card), turnFor)
		switch {
		case err == nil || l.channels.nobodyThere(to.Channel, err):
			return true
		case errors.Is(err, approver.ErrFinal) && !errors.Is(err, errEnded): // a channel that ended may come back
			l.Log.Error("people could not be told of a frozen agent", "channel", to.Channel, "error", err)
			return true
		case try >= alertTries || !sleep(ctx, pauseAfter(err, try, time.Minute)):
			l.Log.Warn("people are not told of a frozen agent yet; trying again", "channel", to.Channel, "error", err)
			return false
		}
	}
}

// postOnce tries once to post a card in one destination, if its turn comes within some time. Then the card is drawn;
// it is not posted if that fails. It comes after the CATASTROPHIC cards of requests and before all others.
func (l *alerts) postOnce(
	ctx context.Context, to approver.Destination, draw func() (approver.Card, error), patience time.Duration,
) (ref approver.Ref, err error) {
	if err := l.channels.Deaf(to.Channel); err != nil {
		return ref, err
	}
	end, err := l.channels.outbox.waitFor(ctx, &send{to: to, severity: approver.High, since: time.Now()}, patience)
	if err != nil {
		return ref, fmt.Errorf("%w: %w", errNoTurn, err)
	}
	defer end(errUnused) // else it has ended already
	card, err := draw()
	if err != nil {
		return ref, err
	}
	within, cancel := context.WithTimeout(ctx, PostTimeout)
	defer cancel()
	err = unpanicked(func() (err error) {
		ref, err = l.channels.byName[to.Channel].Post(within, to, card)
		return err
	})
	end(err)
	l.channels.noteSent(ctx, to, err, l.channels.states.posted)
	ref.Destination = to
	return ref, err
}

// drawn is a card that is drawn already.
func drawn(card approver.Card) func() (approver.Card, error) {
	return func() (approver.Card, error) { return card, nil }
}
