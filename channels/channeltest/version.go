package channeltest

import (
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
)

// This file checks that an answer names the version of the card that was read, by the
// number of identical calls that it counted, or else when it was sent.

var versionChecks = []check{
	{"a tap names the version of its card", checkTapVersion},
	{"the code dialog names the version of its card", checkDialogVersion},
	{"an answer that names no version has a time", checkSent},
}

// counted is a card that is edited while it waits, to count more calls.
func (b *bench) counted(ref approver.Ref, card approver.Card, upto int) {
	b.t.Helper()
	card.Upto, card.Warnings = upto, []string{"Many identical calls wait: a yes runs each of them once."}
	b.update(ref, card)
}

func checkTapVersion(t *testing.T, m maker) {
	b, card, ref := posted(t, m, high)
	for i, upto := range []int{0, 1, 31, 999_999} {
		if upto > 0 {
			b.counted(ref, card, upto)
		}
		b.tap(b.Approver, ref, fake.ApproveButton)
		r := b.wantReplies(2*i + 1)[2*i]
		b.wantTapOf(r, card, ref)
		if r.Shown != upto || !r.Approve || !r.Sent.IsZero() {
			t.Errorf("a tap on the card that counts up to %d gave %+v", upto, r)
		}
		b.tap(b.Approver, ref, fake.DenyButton)
		if r := b.wantReplies(2*i + 2)[2*i+1]; r.Approve {
			t.Errorf("a tap on deny of the card that counts up to %d gave %+v", upto, r)
		}
	}
}

func checkDialogVersion(t *testing.T, m maker) {
	b := start(t, m)
	card := high(t)
	card.OneTap = false
	ref, _ := b.post(b.Here, card)
	b.counted(ref, card, 7)
	began := time.Now()
	if err := b.Fake.EnterCode(b.Approver, ref.Conversation, ref.Message, card.Code.Reveal()); err != nil {
		t.Fatalf("enter the code: %v", err)
	}
	r := b.wantReplies(1)[0]
	wantCodeOf(t, r, card, ref)
	if r.Sent.IsZero() && r.Shown == 7 {
		return
	}
	wantSent(t, r, began) // a command, or a reply to the card
}

func checkSent(t *testing.T, m maker) {
	b := start(t, m)
	if _, screen := b.Channel.(approver.Presence); screen {
		return // it knows what stands on the screen
	}
	card := high(t)
	ref, _ := b.post(b.Here, card)
	began := time.Now()
	b.Fake.Type(b.Approver, b.Here.Conversation, "/approve "+card.Code.Reveal())
	wantSent(t, b.wantReplies(1)[0], began)
	if b.CodeByMessage {
		n := len(b.got())
		b.Fake.Type(b.Approver, b.Here.Conversation, card.Code.Reveal())
		wantSent(t, b.wantReplies(n + 1)[n], began)
	}
	n := len(b.got())
	if b.Fake.ReplyTo(b.Approver, ref.Conversation, ref.Message, "yes") {
		wantSent(t, b.wantReplies(n + 1)[n], began)
	}
}

// wantSent checks the time of a message that was sent after began. Platforms may round it
// down to the second.
func wantSent(t *testing.T, r approver.Reply, began time.Time) {
	t.Helper()
	if r.Sent.Before(began.Add(-2*time.Second)) || r.Sent.After(time.Now().Add(time.Second)) {
		t.Errorf("a message that was sent after %v has the time %v: %+v", began.UTC(), r.Sent.UTC(), r)
	}
}
