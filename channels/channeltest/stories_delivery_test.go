package channeltest_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/gate"
)

// Stories of what reaches people.

// The story (D23): the platform did not understand the markup of the question, so nobody saw it, and the agent
// waited for ever. The card arrives in a plainer form, with all of the command; it is answered as any other, and
// shows its end.
func aRefusedMarkupStillArrives(t *testing.T, x *story) {
	x.refuseMarkup()
	const command = "echo '*_~`<b>&amp;</b> [x](y)' && make deploy"
	answer := x.ask(t.Context(), x.call(command))
	message, request := x.card(command)
	if code := codeOnCard.FindString(x.shown(message).Text); code == "" {
		t.Errorf("the card has no code: %s", x.shown(message).Text)
	}
	x.tap(x.ann, message, fake.ApproveButton)
	if v := verdictOf(t, answer); v.Decision != approver.Allow {
		t.Errorf("%+v", v)
	}
	x.until("the end on the card", func() bool {
		card := x.shown(message)
		return len(card.Buttons) == 0 && strings.Contains(card.Text, "Ann") && strings.Contains(card.Text, command)
	})
	if r := x.request(request); len(x.Cards(x.to.Conversation)) != 1 || r.Postings[0].Error != "" {
		t.Errorf("%d cards, and the posting has %q", len(x.Cards(x.to.Conversation)), r.Postings[0].Error)
	}
}

// The story (D24): the question of one topic was sent to the whole group, or to another topic, and people read a
// command that was not for them. A card for a topic goes there alone; once the topic is gone it goes nowhere, and
// the call is denied.
func aCardGoesToNoOtherPlace(t *testing.T, x *story) {
	ctx, leave := context.WithCancelCause(t.Context())
	before := x.ask(ctx, x.call("make first"))
	earlier, _ := x.card("make first")
	leave(approver.ErrGone)
	_ = verdictOf(t, before)
	x.stop()
	listed := []approver.Approver{{ID: x.ann, Name: "Ann", Person: "ann"}}
	channel, to, err := x.openTopic(earlier, listed)
	if err != nil {
		t.Fatal(err)
	}
	x.to = to
	o := coreOptions(x.kv, channel, to, listed)
	o.Audit = x.audit
	x.stop = x.run(o)
	x.until("the channel is up", func() bool { return x.core.Channels.State(to.Channel).Up })
	answer := x.ask(t.Context(), x.call("make within"))
	message, request := x.card("make within")
	x.tap(x.ann, message, fake.ApproveButton)
	if v := verdictOf(t, answer); v.Decision != approver.Allow {
		t.Errorf("%+v", v)
	}
	x.until("the end on the card", func() bool { return len(x.shown(message).Buttons) == 0 })
	if to := x.request(request).Postings[0].Ref.Destination; to != x.to {
		t.Errorf("the card went to %+v", to)
	}
	x.closeTopic(earlier)
	if v := verdictOf(t, x.ask(t.Context(), x.call("make homeless"))); v.Decision != approver.Deny {
		t.Errorf("nobody was asked: %+v", v)
	}
	if r := x.request(x.audit.asked("make homeless")); r.Resolution.Cause != approver.Unreachable ||
		r.Postings[0].Ref.Message != "" {
		t.Errorf("it is %v by %v, and its card is %+v", r.State, r.Resolution.Cause, r.Postings[0].Ref)
	}
	for _, text := range x.around() {
		if strings.Contains(text, "make within") || strings.Contains(text, "make homeless") {
			t.Errorf("everybody can read: %s", text)
		}
	}
}

// The story (D25): nobody could be asked, and the call failed only after all of its time, without a word. It is
// denied as soon as that is known; the agent reads that nobody was reached, and what is stored says what to do about
// it.
func noWayToPeopleIsANoAtOnce(t *testing.T, x *story) {
	x.expel()
	v := verdictOf(t, x.ask(t.Context(), x.call("make deploy")))
	if v.Decision != approver.Deny || !v.Unanswered ||
		!strings.Contains(v.Reason, "no approval channel could be reached") ||
		!strings.Contains(v.Reason, "approver doctor") {
		t.Errorf("%+v", v)
	}
	r := x.request(x.audit.asked("make deploy"))
	if r.Resolution.Cause != approver.Unreachable || r.Resolution.Person != (approver.Person{}) {
		t.Errorf("it is %v by %+v", r.State, r.Resolution)
	}
	why := r.Postings[0].Error
	cures := []string{"add the bot to the group again", "check the channel id", "/invite @bot"}
	if !slices.ContainsFunc(cures, func(cure string) bool { return strings.Contains(why, cure) }) {
		t.Errorf("the posting does not say what to do: %q", why)
	}
	if said := x.audit.of(r.ID, approver.EventExpired, approver.EventApproved); len(said) > 0 {
		t.Errorf("the records are %+v", said)
	}
}

// The story (D26): an agent asked several things at once, and only the first was shown; or a press on a later one
// was met with an unknown id. Each question has a card of its own at the same time, and each press is for the card
// that has it.
func eachOfSeveralQuestionsIsShown(t *testing.T, x *story) {
	const calls = 6
	var answers []<-chan approver.Verdict
	for n := range calls {
		answers = append(answers, x.ask(t.Context(), x.call(fmt.Sprintf("make part-%d", n))))
	}
	var messages []string
	for n := range calls {
		message, _ := x.card(fmt.Sprintf("make part-%d", n))
		if slices.Contains(messages, message) {
			t.Fatalf("two questions are on the card %s", message)
		}
		messages = append(messages, message)
	}
	for n, message := range slices.Backward(messages) { // the last that was asked is answered first
		shown := x.shown(message)
		switch n % 3 {
		case 0:
			x.Type(x.bob, x.to.Conversation, "/approve "+codeOnCard.FindString(shown.Text))
		case 1:
			x.tap(x.ann, message, fake.ApproveButton)
		default:
			x.tap(x.ann, message, fake.DenyButton)
		}
		if v := verdictOf(t, answers[n]); (v.Decision == approver.Allow) != (n%3 < 2) {
			t.Errorf("question %d: %+v", n, v)
		}
		for other := range n {
			if len(answers[other]) > 0 || len(x.shown(messages[other]).Buttons) == 0 {
				t.Fatalf("the answer to question %d was one to question %d", n, other)
			}
		}
	}
	for _, told := range append(x.Told(x.ann), x.Told(x.bob)...) {
		if strings.Contains(told, "no such request") || strings.Contains(told, "no longer") {
			t.Errorf("told %q", told)
		}
	}
}

// The story (D27): calls that need nobody came together with one that does, and people were asked about all of them.
// Those run at once and are on no card; the no to the other one is for that one alone.
func whatNeedsNobodyWaitsForNobody(t *testing.T, x *story) {
	g := gate.Gate{
		Stages: []approver.Stage{deploys{}}, Ask: x.core.Ask, Audit: x.audit, Log: slog.New(slog.DiscardHandler),
		Tiers: approver.TierScreen,
	}
	decide := func(command string) <-chan approver.Verdict {
		verdict, call := make(chan approver.Verdict, 1), x.call(command)
		go func() { verdict <- g.Decide(t.Context(), call) }()
		return verdict
	}
	before, asked, after := decide("make check"), decide("make deploy"), decide("make test")
	for name, harmless := range map[string]<-chan approver.Verdict{"before": before, "after": after} {
		if v := verdictOf(t, harmless); v.Decision != approver.Pass {
			t.Errorf("the call %s it: %+v", name, v)
		}
	}
	message, request := x.card("make deploy")
	if v := verdictOf(t, decide("make lint")); v.Decision != approver.Pass { // while the card waits
		t.Errorf("%+v", v)
	}
	if r := x.request(request); r.State != approver.Pending || r.Joined > 0 || len(asked) > 0 {
		t.Errorf("it is %v, and %d calls wait with it", r.State, r.Joined)
	}
	x.tap(x.ann, message, fake.DenyButton)
	if v := verdictOf(t, asked); v.Decision != approver.Deny {
		t.Errorf("%+v", v)
	}
	for _, command := range []string{"make check", "make test", "make lint"} {
		on := func(text string) bool { return strings.Contains(text, command) }
		if id := x.audit.asked(command); id != "" || slices.ContainsFunc(texts(x.Cards(x.to.Conversation)), on) {
			t.Errorf("people were asked about %s: %q", command, id)
		}
		if v := verdictOf(t, decide(command)); v.Decision != approver.Pass {
			t.Errorf("after the no %s gets %+v", command, v)
		}
	}
}

// deploys is a stage that wants people to be asked about deployments.
type deploys struct{}

func (deploys) Judge(_ context.Context, call approver.ToolCall) (approver.Verdict, error) {
	if strings.Contains(call.Command, "deploy") {
		return approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "deploys", Severity: approver.High}, nil
	}
	return approver.Verdict{Decision: approver.Pass}, nil
}

// asked is the request that was made for a command; empty if none was.
func (l *ledger) asked(command string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.records {
		if r.Event == approver.EventAsked && r.Call.Command == command {
			return r.Request
		}
	}
	return ""
}
