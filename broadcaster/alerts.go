package broadcaster

import (
	"context"
	"errors"
	"time"

	"approver.example"
	"approver.example/display"
)

// alerts tell people something that is no question: a card without buttons, everywhere.
type alerts struct {
	*Options
	cards    *Cards
	channels *Channels
	tasks    *tasks
}

// alertTries is how often an alert is sent to one destination.
const alertTries = 5

// tell posts in every destination, in the background, that an agent is frozen because a person did not
// ask for a call of it. It shows nothing of the call: its card may be for others.
func (l *alerts) tell(r Request, agent Who, by string) {
	for _, to := range l.Destinations {
		l.tasks.start(func(ctx context.Context) { l.post(ctx, to, l.card(r, agent, by, l.cards.textsOf(to))) })
	}
}

// card is an alert in one language.
func (l *alerts) card(r Request, agent Who, by string, t display.Texts) approver.Card {
	c := approver.Card{
		Request: r.ID, State: approver.Denied, Severity: approver.Catastrophic, Texts: t, Created: r.Created,
		Push:   display.PushLine(approver.Catastrophic.String(), "🚫 "+t.Text("FROZEN: %s", agent.says()), ""),
		Result: "🚫 " + t.Text("%s did not ask for a call of this agent. Every call of it is denied.", by),
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

// post posts a card in one destination, and tries again for a while.
func (l *alerts) post(ctx context.Context, to approver.Destination, card approver.Card) {
	for try := 1; ; try++ {
		err := l.channels.Deaf(to.Channel)
		if err == nil {
			within, cancel := context.WithTimeout(ctx, PostTimeout)
			err = unpanicked(func() error {
				_, err := l.channels.byName[to.Channel].Post(within, to, card)
				return err
			})
			cancel()
			l.channels.noteSent(ctx, to, err, l.channels.states.posted)
		}
		switch {
		case err == nil || l.channels.nobodyThere(to.Channel, err):
			return
		case try >= alertTries || errors.Is(err, approver.ErrFinal) || !sleep(ctx, pauseAfter(err, try, time.Minute)):
			l.Log.Error("people could not be told of a frozen agent", "channel", to.Channel, "error", err)
			return
		}
	}
}
