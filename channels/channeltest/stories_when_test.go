package channeltest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/channeltest/fake"
)

// Stories of when an answer counts.

// The story (C15, C21): a prompt stood there, nobody answered, and the command ran all the same; or the log said that
// a person had denied it. Silence is a no, it is nobody's, and a press that comes later runs nothing.
func silenceIsANoOfNobody(t *testing.T, x *story) {
	answer := x.askAs(t.Context(), x.call("make deploy"), approver.Verdict{Severity: approver.High, TTL: 3 * time.Second})
	message, request := x.card("make deploy")
	if v := verdictOf(t, answer); v.Decision != approver.Deny {
		t.Fatalf("%+v", v)
	}
	x.until("the end", func() bool { return x.request(request).State == approver.Expired })
	x.until("the card says so", func() bool { return len(x.shown(message).Buttons) == 0 })
	if text := x.shown(message).Text; strings.Contains(text, "Denied") || strings.Contains(text, "Ann") {
		t.Errorf("the card is %s", text)
	}
	x.refused(x.ann, message, request, fake.ApproveButton)
	r := x.request(request)
	if r.State != approver.Expired || r.Resolution.Cause != approver.TimedOut ||
		r.Resolution.Person != (approver.Person{}) {
		t.Errorf("it is %v by %+v", r.State, r.Resolution)
	}
	if said := x.audit.of(request, approver.EventExpired); len(said) != 1 ||
		said[0].Resolution.Cause != approver.TimedOut || said[0].Resolution.Person != (approver.Person{}) {
		t.Errorf("the records are %+v", said)
	}
	if wrong := x.audit.of(request, approver.EventDenied, approver.EventApproved, approver.EventReleased); len(wrong) > 0 {
		t.Errorf("the records are %+v", wrong)
	}
}

// The story (C16): the hook was killed before anybody answered, and the call ran, or the tap was lost. A tap between
// two couriers of one call is for the one that comes back. After the last one has gone it runs nothing, and says so.
func aTapAfterTheHookWasKilled(t *testing.T, x *story) {
	call := x.call("make deploy")
	ctx, kill := context.WithCancel(t.Context())
	first := x.ask(ctx, call)
	message, request := x.card("make deploy")
	kill()
	if v := verdictOf(t, first); v.Decision == approver.Allow {
		t.Fatalf("the killed hook got %+v", v)
	}
	x.tap(x.ann, message, fake.ApproveButton)
	if v := verdictOf(t, x.ask(t.Context(), call)); v.Decision != approver.Allow {
		t.Errorf("the tap is lost: %+v", v)
	}
	gone, end := context.WithCancelCause(t.Context())
	last := x.ask(gone, x.call("make other"))
	message, request = x.card("make other")
	end(approver.ErrGone)
	if v := verdictOf(t, last); v.Decision == approver.Allow {
		t.Errorf("%+v", v)
	}
	x.until("the withdrawal", func() bool { return x.request(request).State == approver.Withdrawn })
	x.refused(x.ann, message, request, fake.ApproveButton)
	if r := x.request(request); r.State != approver.Withdrawn {
		t.Errorf("it is %v", r.State)
	}
}

// The story (C17, C18): the daemon was restarted while somebody read the card. The request was lost, or the
// first press after the restart was swallowed. The card and its buttons outlive the restart, the courier that
// comes back gets the answer of one press, once.
func onePressAfterARestart(t *testing.T, x *story) {
	call := x.call("make deploy")
	ctx, end := context.WithCancelCause(t.Context())
	before := x.ask(ctx, call)
	message, request := x.card("make deploy")
	end(approver.ErrShuttingDown)
	if v := verdictOf(t, before); v.Decision == approver.Allow {
		t.Fatalf("the end of the daemon released it: %+v", v)
	}
	x.restart()
	after := x.ask(t.Context(), call)
	x.until("the courier and the channel are back", func() bool {
		return x.request(request).WithdrawAt.IsZero() && x.core.Channels.State(x.to.Channel).Up
	})
	x.tap(x.ann, message, fake.ApproveButton)
	if v := verdictOf(t, after); v.Decision != approver.Allow {
		t.Errorf("%+v", v)
	}
	if r := x.request(request); r.State != approver.Consumed || r.Resolution.Person.Name != "Ann" {
		t.Errorf("%v by %+v", r.State, r.Resolution.Person)
	}
	for _, c := range x.Cards(x.to.Conversation) {
		if c.Message != message && strings.Contains(c.Text, "make deploy") {
			t.Errorf("a second card: %s", c.Text)
		}
	}
}

// The story (C18): a chat said "allowed" before anything was decided, and the yes was lost afterwards. Nobody reads a
// word, no card changes and nothing runs before the yes is recorded; where it cannot be, it does not count.
func nothingIsToldBeforeItIsRecorded(t *testing.T, x *story) {
	hold := make(chan struct{})
	x.audit.set(hold, false)
	answer := x.ask(t.Context(), x.call("make deploy"))
	message, request := x.card("make deploy")
	before := x.shown(message)
	x.tap(x.ann, message, fake.ApproveButton)
	time.Sleep(700 * time.Millisecond)
	if told := x.Told(x.ann); len(told) > 0 || !slices.Equal(x.shown(message).Buttons, before.Buttons) ||
		len(answer) > 0 || len(x.audit.of(request, approver.EventReleased)) > 0 {
		t.Errorf("told %q, and the card is %s", told, x.shown(message).Text)
	}
	close(hold)
	if v := verdictOf(t, answer); v.Decision != approver.Allow {
		t.Errorf("%+v", v)
	}
	x.until("the outcome", func() bool { return len(x.Told(x.ann)) > 0 })
	x.audit.set(nil, true)
	answer = x.ask(t.Context(), x.call("make other"))
	message, request = x.card("make other")
	if told := x.refused(x.ann, message, request, fake.ApproveButton); strings.HasPrefix(told, "Approved") {
		t.Errorf("told %q", told)
	}
	if v := verdictOf(t, answer); v.Decision == approver.Allow {
		t.Errorf("it runs without its record: %+v", v)
	}
}

// The story (C19): approve and deny were two tokens, each burnt by itself, so that both counted. Two people
// press at the same moment, again and again: one answer stands, the courier gets that one, and who pressed is told.
func twoPressesAtOnce(t *testing.T, x *story) {
	for n := range 8 {
		command := fmt.Sprintf("make part-%d", n)
		answer := x.ask(t.Context(), x.call(command))
		message, request := x.card(command)
		told := len(x.Told(x.ann)) + len(x.Told(x.bob))
		var both sync.WaitGroup
		both.Go(func() { _ = x.Tap(x.ann, x.to.Conversation, message, fake.ApproveButton) })
		both.Go(func() { _ = x.Tap(x.bob, x.to.Conversation, message, fake.DenyButton) })
		both.Wait()
		v := verdictOf(t, answer)
		x.until("the end of "+command, func() bool { return x.request(request).State.Settled() })
		r := x.request(request)
		if yes := r.Resolution.Approve; yes != (v.Decision == approver.Allow) ||
			yes != (r.Resolution.Person.Name == "Ann") {
			t.Errorf("%s: the courier got %v, and it is %v by %s", command, v.Decision, r.State, r.Resolution.Person.Name)
		}
		x.until("who pressed is told", func() bool { return len(x.Told(x.ann))+len(x.Told(x.bob)) >= told+1 })
	}
}

// The story (C20): another surface answered by itself with a no, before anybody could read the card. A channel that
// takes no card, breaks or ends is nobody's answer: people on the one that works have all their time.
func aBrokenChannelAnswersNothing(t *testing.T, x *story) {
	chat := newPlatform("")
	chat.Break(fake.RateLimited) // for a second
	x.with = func(o *broadcaster.Options) {
		o.Channels = append(o.Channels, channel{chat, &approver.ReceptionMeter{}})
		o.Destinations = append(o.Destinations, approver.Destination{Channel: "memory", Conversation: "nowhere"},
			approver.Destination{Channel: "memory", Conversation: "here"})
		o.People.Add("memory", []approver.Approver{{ID: "approver", Name: "Ann", Person: "ann"}})
	}
	x.restart()
	answer := x.ask(t.Context(), x.call("make deploy"))
	message, request := x.card("make deploy")
	chat.gone("here") // so its card is refused for good by then
	x.until("the end of the card elsewhere", func() bool {
		return !slices.ContainsFunc(x.request(request).Postings, func(p broadcaster.Posting) bool {
			return p.Phase == broadcaster.Sending
		})
	})
	chat.Break(fake.Revoked)
	time.Sleep(500 * time.Millisecond)
	if r := x.request(request); r.State != approver.Pending || len(answer) > 0 {
		t.Fatalf("it is %v by %+v", r.State, r.Resolution)
	}
	x.tap(x.ann, message, fake.ApproveButton)
	if v := verdictOf(t, answer); v.Decision != approver.Allow {
		t.Errorf("%+v", v)
	}
	if said := x.audit.of(request, approver.EventDenied); len(said) > 0 {
		t.Errorf("the records are %+v", said)
	}
}
