package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// This file answers what people want to know. It shows them what concerns them where they ask, and never
// a code.

// mostListed bounds the lines of a list in a chat.
const mostListed = 20

// wanted does what somebody wants who does not answer a request.
func (a *Answers) wanted(ctx context.Context, rep approver.Reply, who approver.Person) told {
	var r Request
	var out told
	switch rep.Want {
	case approver.WantDetails:
		r, out = a.details(ctx, rep, who)
	case approver.WantTime:
		r, out = a.moreTime(ctx, rep, who)
	case approver.WantDisown:
		r, out = a.disown(ctx, rep, who)
	case approver.WantHelp:
		out = a.help(rep)
	case approver.WantPending:
		out = a.pending(ctx, rep, who)
	case approver.WantStatus:
		out = a.status(ctx, rep, who)
	case approver.WantGrants:
		out = a.grantsHere(ctx, rep, who)
	case approver.WantFreeze:
		out = a.freeze(ctx, rep, who)
	default:
		out = newOutcome(approver.OutcomeRefused, "approver does not know what you want. Nothing was changed.")
	}
	if out.Kind != approver.OutcomeShown && out.Kind != approver.OutcomeDenied {
		a.noteRefusal(ctx, rep, r, out)
	}
	return out
}

// answered is an outcome for every answer: nobody is met with silence.
func answered(out told) told {
	if out.Text == "" {
		return newOutcome(out.Kind,
			"approver has nothing to say to that: nothing was approved. Send /help to see what counts.")
	}
	return out
}

// listing is an outcome that shows lines beside its text.
func listing(says display.Message, lines ...string) told {
	out := outcomeOfMessage(approver.OutcomeShown, says)
	out.Details = strings.Join(lines, "\n")
	return out
}

// help says what can be sent.
func (a *Answers) help(rep approver.Reply) told {
	t, approve, deny := a.readerOf(rep), "/approve", "/deny"
	if c, is := a.channels.byName[rep.Channel].(approver.Commander); is {
		approve, deny = c.Commands()
	}
	return listing(display.Msg("What you can do here:"),
		t.Text("Press a button of a card, or reply to the card: “no, use a branch instead”."),
		t.Text("%s CODE · yes, once. The code is on the card.", approve),
		t.Text("%s CODE 15m · yes, and the very same call for 15 minutes; 1m to 60m, or session", approve),
		t.Text("%s CODE reason · no. The agent is told the reason.", deny),
		t.Text("CATASTROPHIC takes the typed code only. Silence is a no."),
		t.Text("/pending · what waits for an answer here"),
		t.Text("/grants · what runs without asking, by an earlier yes"),
		t.Text("/status · how approver is"),
		t.Text("/freeze · nothing runs any more"),
	)
}

// concerns reports whether somebody who asks is to be told of a request: its card is where they ask. Where
// nobody else can see the answer, it is enough that they may answer it.
func concerns(r Request, rep approver.Reply, who approver.Person) bool {
	if rep.Conversation == "" {
		return isFor(r.Verdict, who) && shownOn(r.Verdict, rep.Channel)
	}
	return isHere(r, rep)
}

// list is an outcome with a line for each thing that was found.
func list(t display.Texts, none, some display.Message, lines []string, incomplete bool) told {
	if len(lines) == 0 {
		some = none
	}
	if left := len(lines) - mostListed; left > 0 {
		lines = append(lines[:mostListed:mostListed], t.Text("… and %d more", left))
	}
	if incomplete {
		lines = append(lines, t.Text("The store had a problem: something may be missing here."))
	}
	return listing(some, lines...)
}

// pending lists the requests that wait for an answer.
func (a *Answers) pending(ctx context.Context, rep approver.Reply, who approver.Person) told {
	t := a.readerOf(rep)
	open, err := a.requests.Open(ctx)
	now, nowErr := a.Store.Now(ctx)
	if nowErr != nil || err != nil && !errors.Is(err, ErrIncomplete) {
		return *a.trouble(errors.Join(err, nowErr))
	}
	var lines []string
	for _, r := range open {
		if !r.ended() && concerns(r, rep, who) {
			left := display.Duration(r.Due.Sub(now))
			lines = append(lines, a.cards.card(r, t, tokens.Code{}).Push+" · "+t.Text("%s left", left))
		}
	}
	return list(t, display.Msg("No request waits for an answer here."),
		display.Msg("Requests that wait here: %d", len(lines)), lines, err != nil)
}

// grantsHere lists the yeses that may still run something.
func (a *Answers) grantsHere(ctx context.Context, rep approver.Reply, who approver.Person) told {
	t := a.readerOf(rep)
	grants, err := a.grants.List(ctx)
	if err != nil && !errors.Is(err, ErrIncomplete) {
		return *a.trouble(err)
	}
	var lines []string
	for _, g := range grants {
		r, getErr := a.requests.Get(ctx, g.ID) // a grant has no cards
		if getErr != nil {
			err = getErr
		} else if concerns(r, rep, who) {
			line := t.Text("%s, until %s", g.Kind, g.Until.UTC().Format("15:04:05 UTC"))
			what := push(withoutSecrets(r, r.Call.Display().Hidden()), t)
			lines = append(lines, what+" · "+line+" · "+g.By+" · approver grants revoke "+g.ID)
		}
	}
	return list(t, display.Msg("Nothing from here runs without asking."),
		display.Msg("What runs without asking, by an earlier yes: %d", len(lines)), lines, err != nil)
}

// status says in a few lines how approver is.
func (a *Answers) status(ctx context.Context, rep approver.Reply, who approver.Person) told {
	t := a.readerOf(rep)
	var lines []string
	line := func(m display.Message) { lines = append(lines, t.Message(m)) }
	c, now, err := a.controls.Load(ctx)
	says := display.Msg("approver works: calls are judged.")
	switch {
	case err != nil:
		says = display.Msg("The store does not answer: every call that needs people is denied.")
	case c.FrozenText() != "":
		says = display.Msg("Frozen: calls are denied until people lift that with approver unfreeze.")
		for _, f := range c.freezes() {
			line(f)
		}
	default:
		for _, p := range c.loosened(now) {
			lines = append(lines, t.Say(p))
		}
	}
	if err == nil {
		line(a.pending(ctx, rep, who).says)
	}
	for _, name := range slices.Sorted(maps.Keys(a.channels.shownWhere())) {
		switch heard := a.channels.State(name).Hearing(); {
		case heard.Here:
			line(display.Msg("%s receives answers.", display.Platform(name)))
		case heard.Elsewhere:
			line(display.Msg("%s receives answers in another daemon.", display.Platform(name)))
		default:
			line(display.Msg("%s receives no answers: %s", display.Platform(name), heard.Why))
		}
	}
	for _, s := range []approver.Severity{approver.High, approver.Catastrophic} {
		if why := a.approvers.nobody(s); why.Format != "" {
			line(display.Msg("Nobody can approve %s requests now: %s", s.String(), why))
		}
	}
	if a.Troubles != nil {
		for _, trouble := range a.Troubles(ctx) {
			line(display.Msg("%s", trouble))
		}
	}
	if a.Notice != "" {
		line(display.Msg("%s", a.Notice))
	}
	return listing(says, lines...)
}

// freeze stops everything, as approver freeze does. A wish that is delivered again after people lifted that
// freeze stops nothing.
func (a *Answers) freeze(ctx context.Context, rep approver.Reply, who approver.Person) told {
	event := eventOf(rep)
	if c, _, err := a.controls.Load(ctx); err == nil && !c.Frozen() && c.Events.has(event) {
		return newOutcome(approver.OutcomeShown, "This message froze everything before, and people have lifted that since. "+
			"To stop everything again, send /freeze again.")
	}
	denied, before, err := a.controls.FreezeBeside(context.WithoutCancel(ctx), nameOf(who, rep),
		cmp.Or(reasonOf(rep), "/freeze in a chat"), event)
	says := display.Msg("Frozen: every call is denied from now on. Open requests that were denied: %d.", denied)
	if !before.At.IsZero() {
		says = display.Msg("It was frozen already, since %s, by %s.", before.At.UTC().Format(time.DateTime+" UTC"), before.By)
	}
	if err != nil {
		a.Log.Error("a freeze had a problem", "error", err)
		says = display.Msg("%s There was a problem: %s.", says, err.Error())
	}
	return newOutcome(approver.OutcomeShown, "%s approver unfreeze, on the machine, asks people to lift that.", says)
}
