package channeltest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
)

// This file checks the buttons that a card has only where its request allows it, on the channels that
// have them.

var buttonChecks = []check{
	{"a button says what the person wants", checkButtons},
	{"a card has no button for what its request does not allow", checkButtonsAllowed},
	{"the address in a tap is enough to take the buttons off", checkTapAddress},
	{"a no with a reason as a reply", checkReason},
}

// further are the buttons that not every card has, and what a tap on each means.
var further = []struct {
	button fake.Button
	want   approver.Reply
}{
	{fake.QuarterButton, approver.Reply{Approve: true, Grant: approver.Term{For: 15 * time.Minute}}},
	{fake.SessionButton, approver.Reply{Approve: true, Grant: approver.Term{Session: true}}},
	{fake.TimeButton, approver.Reply{Want: approver.WantTime}},
	{fake.DisownButton, approver.Reply{Want: approver.WantDisown}},
	{fake.EditButton, approver.Reply{Want: approver.WantEdit}},
}

// open is a card whose request allows everything.
func open(t *testing.T) approver.Card {
	t.Helper()
	card := high(t)
	card.Lasting, card.Extends, card.Disowns, card.Edits = "git push --force in acme/shop", true, true, true
	return card
}

func checkButtons(t *testing.T, m maker) {
	b, card, ref := posted(t, m, open)
	n := 0
	for _, f := range further {
		if !slices.Contains(b.shown(ref).Buttons, f.button) {
			continue
		}
		b.tap(b.Approver, ref, f.button)
		n++
		r := b.wantReplies(n)[n-1]
		b.fromHere(r)
		b.wantTapOf(r, card, ref)
		if r.Approve != f.want.Approve || r.Grant != f.want.Grant || r.Want != f.want.Want || r.Choice != 0 {
			t.Errorf("button %d gave %+v", f.button, r)
		}
		_ = b.Fake.Tap(b.Stranger, ref.Conversation, ref.Message, f.button)
		b.noReply("a stranger's tap")
	}
}

func checkButtonsAllowed(t *testing.T, m maker) {
	b, _, ref := posted(t, m, high)
	deadly := open(t)
	deadly.Severity, deadly.OneTap = approver.Catastrophic, false
	refDeadly, _ := b.post(b.second(), deadly)
	for _, f := range further {
		if slices.Contains(b.shown(ref).Buttons, f.button) {
			t.Errorf("a card whose request does not allow it has button %d", f.button)
		}
		if f.want.Approve && slices.Contains(b.shown(refDeadly).Buttons, f.button) {
			t.Errorf("a catastrophic card has button %d, which approves", f.button)
		}
	}
}

// checkTapAddress: of a request that the store has lost, nobody knows more of its card than what the
// platform says of a tap on it.
func checkTapAddress(t *testing.T, m maker) {
	b, card, ref := posted(t, m, open)
	b.tap(b.Approver, ref, fake.DenyButton)
	r := b.wantReplies(1)[0]
	tapped := approver.Ref{
		Destination: approver.Destination{Channel: r.Channel, Conversation: r.Conversation}, Message: r.Message,
	}
	const gone = "approver has no record of this request any more"
	s := b.update(tapped, approver.Card{Request: card.Request, State: approver.Withdrawn, Push: gone, Result: "↩ Void"})
	if len(s.Buttons) > 0 || !strings.Contains(plain(s.Text), gone) {
		t.Errorf("the card has the buttons %v and shows %q", s.Buttons, s.Text)
	}
}

// checkReason: a person who refuses in a reply to the card says why, and the agent is told.
func checkReason(t *testing.T, m maker) {
	b, card, ref := posted(t, m, high)
	if !b.Reasons || !b.Fake.ReplyTo(b.Approver, ref.Conversation, ref.Message, "no, use a branch instead") {
		return
	}
	r := b.wantReplies(1)[0]
	b.fromHere(r)
	if r.Approve || r.Reason != "use a branch instead" || r.Request != card.Request || r.Message != ref.Message {
		t.Errorf("the reply is %+v", r)
	}
}
