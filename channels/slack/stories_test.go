package slack_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/slack"
)

// Bug class C18 of approval systems: a chat said "allowed" before anything was decided, and the yes was lost
// afterwards. Slack gets its acknowledgement at once; the person reads nothing, and the card stays as it is,
// until the core has decided.
func TestNothingIsToldBeforeTheOutcome(t *testing.T) {
	decide := make(chan approver.Outcome)
	b := start(t, setup{outcome: func(context.Context, approver.Reply) approver.Outcome { return <-decide }})
	ref := b.post(b.full())
	before := string(b.fake.Messages(here)[0].Blocks)
	for _, button := range []fake.Button{fake.ApproveButton, fake.SessionButton, fake.DisownButton} {
		told, acks := len(b.fake.Told(ann)), b.fake.Count(" ack interactive")
		if err := b.fake.Tap(ann, here, ref.Message, button); err != nil {
			t.Fatal(err)
		}
		b.eventually("the acknowledgement", func() bool { return b.fake.Count(" ack interactive") > acks })
		b.pass()
		if got := b.fake.Told(ann)[told:]; len(got) != 0 || string(b.fake.Messages(here)[0].Blocks) != before {
			t.Errorf("button %d: nothing is decided, and %q was said", button, got)
		}
		decide <- approver.Outcome{Kind: approver.OutcomeTooLate, Text: "Ben was first."}
		b.eventually("the outcome", func() bool { return len(b.fake.Told(ann)) > told })
	}
	b.told(ann, "Ben was first.")
}

// Bug classes C17 and C18: after a restart the first press was swallowed, and open cards could not be answered.
// A channel keeps nothing in memory that an answer to an older card needs.
func TestAnswersAfterRestart(t *testing.T) {
	old := start(t, setup{})
	card, other := old.full(), old.catastrophic()
	ref, refOther := old.post(card), old.post(other)
	if err := old.fake.Tap(ben, here, refOther.Message, fake.CodeButton); err != nil {
		t.Fatal(err)
	}
	old.eventually("the dialog", func() bool { return old.fake.Open(ben) })
	old.cancel()
	old.ended <- <-old.ended

	b := &bench{t: t, fake: old.fake, ended: make(chan error, 1), logs: &logs{}, outcome: old.outcome}
	c, err := slack.New(config(b.fake), slog.New(slog.NewTextHandler(b.logs, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { b.ended <- c.Run(ctx, b.reply) }()
	t.Cleanup(func() {
		cancel()
		<-b.ended
	})
	b.eventually("its connections", func() bool { open, _ := b.fake.Connections(); return open == 2 })
	if err := b.fake.Tap(ann, here, ref.Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	b.eventually("the press", func() bool { return len(b.got()) == 1 })
	b.fake.ReplyTo(ann, here, ref.Message, "no, use a branch")
	b.eventually("the no below the card", func() bool { return len(b.got()) == 2 })
	if err := b.fake.Submit(ben, other.Code.Reveal()); err != nil { // in the dialog that was open
		t.Fatal(err)
	}
	got := b.want(3)
	if r := got[0]; !r.Approve || r.Request != card.Request {
		t.Errorf("the press is %+v", r)
	}
	if r := got[1]; r.Approve || r.Request != card.Request || r.Reason != "use a branch" {
		t.Errorf("the no is %+v", r)
	}
	if r := got[2]; !r.Approve || r.Request != other.Request || r.Message != refOther.Message || r.Sender != ben {
		t.Errorf("the code is %+v", r)
	}
}

// Bug class B12: "once" was stored as "for the session". Only the two buttons that say so last, and only if
// the card says what they cover.
func TestOnceIsOnce(t *testing.T) {
	b := start(t, setup{})
	card := b.full()
	card.Lasting = ""
	ref := b.post(card)
	for _, button := range []fake.Button{fake.QuarterButton, fake.SessionButton} {
		if err := b.fake.Tap(ann, here, ref.Message, button); err == nil {
			t.Errorf("the card has button %d", button)
		}
	}
	b.fake.Type(ann, here, "/approve "+card.Code.Reveal())
	b.eventually("the yes", func() bool { return len(b.got()) == 1 })
	b.fake.Type(ann, here, "/approve "+card.Code.Reveal()+" 15m")
	b.eventually("the longer yes", func() bool { return len(b.got()) == 2 })
	if once, lasts := b.got()[0], b.got()[1]; once.Grant != (approver.Term{}) ||
		lasts.Grant != (approver.Term{For: 15 * time.Minute}) {
		t.Errorf("the replies are %+v and %+v", once, lasts)
	}
}

// Bug class A4: who calls themselves what an approver does is nobody, also to the dialog that an approver left
// open on a shared screen.
func TestNamesDoNotCount(t *testing.T) {
	b := start(t, setup{config: func(c *slack.Config) { c.Approvers[0].Name = "mallory" }})
	ref := b.post(b.full())
	for _, button := range []fake.Button{fake.ApproveButton, fake.WhyButton, fake.DisownButton} {
		if err := b.fake.Tap(stranger, here, ref.Message, button); err != nil {
			t.Fatal(err)
		}
	}
	b.told(stranger, "not on the approver list")
	if b.want(0); b.fake.Open(stranger) || strings.Contains(strings.Join(b.fake.Told(stranger), ""), "Noted") {
		t.Error("a dialog opened for somebody with an approver's name")
	}
}
