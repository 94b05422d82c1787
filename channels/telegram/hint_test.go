package telegram

import (
	"context"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/telegram/telegramtest"
)

// "No, use a branch instead" as a reply to a card met silence, and the card expired 18 s
// later; /start and /help met silence too. Now each gets a word of what works here.
func TestHints(t *testing.T) {
	b := idle(t)
	b.c.pace.hint = 0
	b.run()
	ref, over := b.post(highCard(t)), b.post(highCard(t))
	settled := highCard(t)
	settled.State = approver.Expired
	if err := b.c.Update(t.Context(), over, settled); err != nil {
		t.Fatal(err)
	}
	team, private := text(teamChat), text(ann)
	for i, c := range []struct {
		where, reply, says, want string
	}{
		{team, ref.Message, "no, use a branch instead", sayNeither},
		{team, ref.Message, "what does it do?", sayNeither},
		{team, ref.Message, "/pending", sayNeither},
		{team, ref.Message, "да", sayNeither},
		{team, ref.Message, "👍", sayNeither},
		{team, over.Message, "yes", sayOver},
		{team, over.Message, "No!", sayOver},
		{team, over.Message, "sorry, was asleep", ""},
		{team, "", "/start", sayHelp},
		{team, "", "/HELP now", sayHelp},
		{team, "", "/help@" + telegramtest.BotName, sayHelp},
		{team, "", "/pending@" + telegramtest.BotName, sayHelp},
		{team, "", "/pending", ""},
		{team, "", "/help@another_bot", ""},
		{team, "", "hello all", ""},
		{team, "", "yes", ""},
		{team, "", "a@b.example", ""},
		{private, "", "/start", sayHelp},
		{private, "", "/pending", sayHelp},
		{private, "", "yes", sayHelp},
		{private, "", "hello?", sayHelp},
		{private, "", "/help@another_bot", ""},
		{team, "", "/approve", sayForm},
	} {
		told := len(b.told(ann))
		if c.reply != "" {
			b.s.ReplyTo(text(ann), c.where, c.reply, c.says)
		} else {
			b.s.Type(text(ann), c.where, c.says)
		}
		if b.settled(); c.want != "" {
			b.eventually("a word", func() bool { return len(b.told(ann)) > told })
		}
		if got := b.told(ann)[told:]; (c.want == "") != (len(got) == 0) ||
			c.want != "" && !slices.Equal(got, []string{c.want}) {
			t.Errorf("%d: %q got %q, want %q", i, c.says, got, c.want)
		}
	}
	b.s.ReplyTo(text(mallory), team, ref.Message, "no, use a branch")
	b.s.Type(text(mallory), team, "/start")
	b.settled()
	if got := b.told(mallory); len(got) != 0 {
		t.Errorf("a stranger was told %q", got)
	}
	if len(b.got()) != 0 {
		t.Errorf("a hint became a reply: %+v", b.got())
	}
}

// A picture as a reply to a card is no answer either; a note that something was pinned
// is meant for nobody.
func TestHintsWithoutText(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	pinned := b.s.Payload(ann, ann, "x")
	delete(pinned, "text")
	b.s.Inject(map[string]any{"message": pinned})
	picture := b.s.Payload(ann, teamChat, "x")
	delete(picture, "text")
	picture["reply_to_message"] = b.s.Copy(teamChat, ref.Message)
	b.s.Inject(map[string]any{"message": picture})
	b.wantTold(ann, sayNeither)
	if n := len(b.told(ann)); n != 1 {
		t.Errorf("told %q", b.told(ann))
	}
}

// Who talks on gets one hint, not one for each sentence; others get their own.
func TestHintsAreFew(t *testing.T) {
	b := running(t)
	for range 3 {
		b.s.Type(text(ann), text(teamChat), "/start")
		b.s.Type(text(bob), text(teamChat), "/help")
	}
	b.nothing()
	for who, want := range map[int64]int{ann: 1, bob: 1} {
		got := slices.DeleteFunc(b.told(who), func(s string) bool { return s != sayHelp })
		if len(got) != want {
			t.Errorf("%d was told %q", who, b.told(who))
		}
	}
}

// A reason behind /deny went nowhere, and nobody said so.
func TestReasonGoesNowhere(t *testing.T) {
	b := running(t)
	b.judge = func(_ context.Context, r approver.Reply) approver.Outcome {
		if r.Approve {
			return approver.Outcome{Kind: approver.OutcomeApproved, Text: "Approved."}
		}
		return approver.Outcome{Kind: approver.OutcomeDenied, Text: "Denied."}
	}
	for i, c := range []struct {
		says   string
		reason bool
	}{
		{"/deny CODE", false},
		{"/deny CODE use a branch instead", true},
		{"no CODE", false},
		{"no CODE use a branch", true},
		{"/approve CODE", false},
		{"/approve CODE 15m", false},
	} {
		told := len(b.told(ann))
		b.s.Type(text(ann), text(teamChat), strings.Replace(c.says, "CODE", mint(t).Reveal(), 1))
		b.want(i + 1)
		b.eventually("the outcome", func() bool { return len(b.told(ann)) > told })
		if got := b.told(ann)[told]; strings.Contains(got, sayNoReason) != c.reason {
			t.Errorf("%s: told %q", c.says, got)
		}
	}
	if b.got()[1].Approve {
		t.Error("/deny with a reason approves")
	}
}
