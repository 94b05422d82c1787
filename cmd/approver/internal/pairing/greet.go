package pairing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/display"
	"approver.example/internal/section"
	"approver.example/tokens"
)

// This file is what happens on the phone once the code was sent: a greeting, and a card to try.

const (
	notPaired = "You were not added: nothing was changed."
	tryAgain  = "approver ask --severity high -- echo hello shows one."
	// tellWithin bounds how long one message to the person may take, and comeUp how long the bot's
	// connection may take to be there.
	tellWithin = 10 * time.Second
	comeUp     = 20 * time.Second
	// tapWithin is how long the test card waits.
	tapWithin = 2 * time.Minute
	// afterwards is how long the connection stays, so that what was said arrives.
	afterwards = time.Second
)

// greeting is the first that somebody reads who was paired. help is what they can send to the bot;
// empty if there is nothing.
func greeting(who approver.Paired, help string) string {
	hello := "You are paired."
	if name := display.OneLine(who.Name); name != "" && name != who.ID {
		hello = "You are paired, " + name + "."
	}
	text := hello + " approver will ask you here before an AI agent does what is hard to take back: a force-push, " +
		"deleting files, sending a secret, for example. Reading, building and testing need no answer. Nothing to install " +
		"on the phone.\n\nA question has buttons: one tap answers. What is most dangerous has no button for a yes: type " +
		"the code that it shows. Silence is a no."
	if help != "" {
		text += " " + help + " says what works."
	}
	return text
}

// tell says something to the person, as far as that works: pairing does not depend on it.
func tell(ctx context.Context, bot approver.Pairer, who approver.Paired, text string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellWithin)
	defer cancel()
	if err := bot.Tell(ctx, who, text); err != nil {
		term.Say("the bot could not write to them: " + err.Error())
	}
}

// try shows the person a card on which nothing depends, on the channel that was just configured, and
// prints what comes of it. It ends without an error: the person is paired.
func (c flags) try(ctx context.Context, cfg configs.Config, name string, who approver.Paired) {
	all := cfg.Channels.InUse()
	at := slices.IndexFunc(all, func(ch configs.Channel) bool { return ch.Name == name })
	if at < 0 {
		return
	}
	ch, err := all[at].Open(section.Installation{}, slog.New(slog.DiscardHandler))
	if err == nil {
		t := &trial{who: who, wait: min(tapWithin, c.Timeout), tapped: make(chan approver.Reply, 1)}
		err = t.run(ctx, ch, placeOf(all[at].Destinations(), who))
	}
	if err != nil {
		term.Say("no test card was shown: " + err.Error() + "\nWhen the daemon runs, " + tryAgain)
	}
}

// placeOf is the destination where the code was sent.
func placeOf(all []approver.Destination, who approver.Paired) (to approver.Destination) {
	want := who.Chat
	if who.Thread != 0 {
		want = fmt.Sprintf("%s/%d", who.Chat, who.Thread)
	}
	if i := slices.IndexFunc(all, func(d approver.Destination) bool { return d.Conversation == want }); i >= 0 {
		return all[i]
	}
	return to
}

// A trial is one test card.
type trial struct {
	who    approver.Paired
	wait   time.Duration
	tapped chan approver.Reply

	mu     sync.Mutex
	card   approver.Card
	posted time.Time
	took   time.Duration
}

// run shows the card and waits for the tap.
func (t *trial) run(ctx context.Context, ch approver.Channel, to approver.Destination) (err error) {
	run, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := ch.Run(run, t.reply); err != nil {
			stop(err)
		}
	}()
	defer func() { stop(nil); <-ended }()
	if err := up(run, ch); err != nil {
		return err
	}
	card, err := testCard(time.Now(), t.wait)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.card = card
	t.mu.Unlock()
	post, cancel := context.WithTimeout(run, tellWithin)
	defer cancel()
	ref, err := ch.Post(post, to, card)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.posted = time.Now()
	t.mu.Unlock()
	term.Print(0, "a test card is there: tap a button on it. Waiting %s; nothing depends on it\n",
		display.Duration(t.wait))
	return t.settle(run, ch, ref, card)
}

// settle waits for the tap, shows on the card what became of it, and prints it.
func (t *trial) settle(ctx context.Context, ch approver.Channel, ref approver.Ref, card approver.Card) error {
	timer := time.NewTimer(t.wait)
	defer timer.Stop()
	card.Code, card.OneTap = tokens.Code{}, false
	said := ""
	select {
	case <-ctx.Done():
		card.State, card.Result = approver.Withdrawn, "The test has ended. Nothing ran."
		said = "the test has ended: " + context.Cause(ctx).Error()
	case r := <-t.tapped:
		answer, took := answered(r), t.after()
		card.State, card.Result = answer.state, "It works: "+answer.word+" in "+took+". This was a test: nothing ran."
		said = "the answer came after " + took + ": " + answer.word + ". It works"
	case <-timer.C:
		wait := display.Duration(t.wait)
		card.State, card.Result = approver.Expired, "Nobody tapped within "+wait+". This was a test: nothing ran."
		said = "nobody tapped within " + wait + ". They are paired all the same. Look whether the chat's notifications " +
			"are on; when the daemon runs, " + tryAgain
	}
	tell, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellWithin)
	defer cancel()
	err := ch.Update(tell, ref, card)
	term.Say(said)
	if err != nil {
		term.Say("the card could not be changed: " + err.Error())
	}
	linger(ctx)
	return nil
}

// reply takes the answers that come while the card is shown. Only the person's own answer to this
// card counts, once.
func (t *trial) reply(_ context.Context, r approver.Reply) approver.Outcome {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := r.Request == t.card.Request || r.Request == "" && r.Code.Equal(t.card.Code)
	switch {
	case t.card.Request == "" || !mine:
		return approver.Outcome{Kind: approver.OutcomeUnknown, Text: "The daemon does not take answers while somebody is " +
			"being paired. Nothing was changed."}
	case !r.Code.IsZero() && !r.Code.Equal(t.card.Code):
		return approver.Outcome{Kind: approver.OutcomeUnknown, Text: "That is not the code of this card. Nothing ran."}
	case r.Sender != t.who.ID:
		return approver.Outcome{Text: "This test is for whoever was just paired. Nothing was changed."}
	case t.took > 0:
		return approver.Outcome{Kind: approver.OutcomeUsed, Text: "The test was answered already. Nothing ran."}
	}
	t.took = max(time.Since(t.posted), 1)
	if t.posted.IsZero() { // the platform was faster than its own answer
		t.took = 1
	}
	t.tapped <- r
	answer := answered(r)
	return approver.Outcome{Kind: answer.kind, Text: "It works: " + answer.word + " in " + seconds(t.took) + ". This " +
		"was a test: nothing ran."}
}

func (t *trial) after() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return seconds(t.took)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// An answer is what the person said, in the words of a card.
type answer struct {
	kind  approver.OutcomeKind
	state approver.State
	word  string
}

func answered(r approver.Reply) answer {
	if r.Approve {
		return answer{approver.OutcomeApproved, approver.Consumed, "you said yes"}
	}
	return answer{approver.OutcomeDenied, approver.Denied, "you said no"}
}

// up waits until the channel receives.
func up(ctx context.Context, ch approver.Channel) error {
	receiver, can := ch.(approver.Receiver)
	if !can {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, comeUp, errors.New("the bot's connection did not come up"))
	defer cancel()
	for !receiver.Reception().Up {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// testCard is the card to try: a request like any other, but for its words.
func testCard(now time.Time, wait time.Duration) (approver.Card, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return approver.Card{}, err
	}
	code, err := tokens.Mint(tokens.MinLength)
	if err != nil {
		return approver.Card{}, err
	}
	return approver.Card{
		Request: id.String(), State: approver.Pending, Severity: approver.High, OneTap: true,
		Push: "TEST: nothing runs, tap a button to try",
		Body: []display.Block{{Kind: display.Code, Text: "This is a test: nothing runs. Tap a button to try."}},
		Why: []string{"You were just paired. This is what a question looks like: at this place it says what an agent is " +
			"about to do."},
		Context: "approver pair", Code: code, Created: now, Due: now.Add(wait),
	}, nil
}
