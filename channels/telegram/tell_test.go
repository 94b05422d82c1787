package telegram

import (
	"context"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/receiving"
	"approver.example/channels/telegram/telegramtest"
)

// lastingCard is a card with every button.
func lastingCard(t testing.TB) approver.Card {
	card := highCard(t)
	card.Lasting, card.Extends, card.Disowns = "git push in acme/shop", true, true
	return card
}

// Every button says what the person wants; what a client makes of its data is for the core to check.
func TestEveryButton(t *testing.T) {
	b := running(t)
	card := lastingCard(t)
	card.Upto = 3
	ref := b.post(card)
	for i, c := range []struct {
		button fake.Button
		want   approver.Reply
	}{
		{fake.ApproveButton, approver.Reply{Approve: true, Shown: 3}},
		{fake.QuarterButton, approver.Reply{Approve: true, Shown: 3, Grant: approver.Term{For: approver.TapTerm}}},
		{fake.SessionButton, approver.Reply{Approve: true, Shown: 3, Grant: approver.Term{Session: true}}},
		{fake.DenyButton, approver.Reply{}},
		{fake.DetailsButton, approver.Reply{Want: approver.WantDetails}},
		{fake.TimeButton, approver.Reply{Want: approver.WantTime}},
		{fake.DisownButton, approver.Reply{Want: approver.WantDisown}},
	} {
		b.tap(ann, ref, c.button)
		c.want.Channel, c.want.Conversation, c.want.Sender, c.want.Name = Name, ref.Conversation, text(ann), "Ann"
		c.want.Method, c.want.Request, c.want.Message = approver.ByTap, card.Request, ref.Message
		if r := b.want(i + 1); r != c.want {
			t.Errorf("button %d gave %+v, want %+v", c.button, r, c.want)
		}
	}
	for _, row := range b.message(ref).Buttons {
		for _, button := range row {
			if len(button.Data) > 64 || len(button.Copy) > 256 {
				t.Errorf("%+v is too long", button)
			}
		}
	}
}

// Good news pass by; a refusal has to be dismissed. Nothing is said before the core has decided.
func TestToastsAndAlerts(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	alerts := map[approver.OutcomeKind]bool{
		approver.OutcomeRefused: true, approver.OutcomeTooLate: true, approver.OutcomeExpired: true,
		approver.OutcomeUnknown: true, approver.OutcomeUsed: true, approver.OutcomeLocked: true,
		approver.OutcomeNeedCode: true,
		approver.OutcomeApproved: false, approver.OutcomeDenied: false, approver.OutcomeRecorded: false,
		approver.OutcomeShown: false,
	}
	for kind, alert := range alerts {
		before := len(b.s.Toasts(text(ann)))
		b.mu.Lock()
		b.judge = func(context.Context, approver.Reply) approver.Outcome {
			if got := b.s.Toasts(text(ann)); len(got) != before {
				t.Errorf("told %+v before the core decided", got[before:])
			}
			return approver.Outcome{Kind: kind, Text: "so it is"}
		}
		b.mu.Unlock()
		b.tap(ann, ref, fake.DenyButton)
		b.eventually("the answer", func() bool { return len(b.s.Toasts(text(ann))) > before })
		if got := b.s.Toasts(text(ann))[before]; got != (telegramtest.Toast{Text: "so it is", Alert: alert}) {
			t.Errorf("outcome %d: %+v", kind, got)
		}
	}
	b.tap(mallory, ref, fake.DenyButton)
	b.wantTold(mallory, sayStranger)
	if got := b.s.Toasts(text(mallory)); !got[0].Alert {
		t.Errorf("a stranger: %+v", got)
	}
}

// What a command asks for is shown to that person: aside in a group if Telegram can, else as a reply. The
// command itself may be one that only the bot saw.
func TestCommandsThatShow(t *testing.T) {
	for _, c := range []struct {
		name, where string
		admin, old  bool
		typed       bool // as a message that everybody sees
		alone       bool
	}{
		{"a command that only the bot sees", text(teamChat), false, false, false, true},
		{"one in a topic", text(teamChat) + "/7", false, false, false, true},
		{"typed in a group", text(teamChat), false, false, true, false},
		{"typed where the bot is an administrator", text(teamChat), true, false, true, true},
		{"typed on a server that knows no such messages", text(teamChat), true, true, true, false},
		{"in private", text(ann), false, false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := running(t)
			at, err := parsePlace(c.where)
			if err != nil {
				t.Fatal(err)
			}
			b.s.AddChat(telegramtest.Chat{ID: at.chat, Topics: []int{topic, 8}, Admin: c.admin})
			b.s.SetOld(c.old)
			for i, details := range []string{"1. git push", "", strings.Repeat("line\n", 1000)} {
				b.shows("What waits:", details)
				before := len(b.s.Whispers(text(ann))) + len(b.s.Messages(at.chat))
				if c.typed {
					b.s.Type(text(ann), c.where, "/pending")
					before++
				} else {
					b.s.TypeAside(text(ann), c.where, "/pending")
				}
				if r := b.want(i + 1); r.Want != approver.WantPending || r.Approve || r.Conversation != c.where ||
					r.Sender != text(ann) || r.Method != approver.ByCommand {
					t.Errorf("the reply is %+v", r)
				}
				b.eventually("the answer", func() bool {
					return len(b.s.Whispers(text(ann)))+len(b.s.Messages(at.chat)) > before
				})
				all := b.s.Messages(at.chat)
				if c.alone {
					all = b.s.Whispers(text(ann))
				}
				m := all[len(all)-1]
				if got := m.Text + "\n" + m.File; !strings.HasPrefix(got, "What waits:") ||
					!strings.Contains(got, strings.TrimSpace(details)) || (m.Aside > 0) != c.alone || m.Thread != at.thread ||
					!c.alone && m.ReplyTo == 0 {
					t.Errorf("the answer is %+v", m)
				}
			}
		})
	}
}

// A command is never met with silence, whatever the core says.
func TestCommandsThatShowNothing(t *testing.T) {
	b := running(t)
	b.judge = func(context.Context, approver.Reply) approver.Outcome { return approver.Outcome{} }
	for _, says := range []string{"/start", "/help@" + telegramtest.BotName, "/grants"} {
		told := len(b.told(ann))
		b.s.Type(text(ann), text(teamChat), says)
		b.eventually("a word", func() bool { return len(b.told(ann)) > told })
		if got := b.told(ann)[told]; got != receiving.SilentText {
			t.Errorf("%s: %q", says, got)
		}
	}
}
