package slack_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
)

// full is a card with every button.
func (b *bench) full() approver.Card {
	card := b.card()
	card.Lasting, card.Extends, card.Disowns, card.Upto = "the very same call in ~/src", true, true, 3
	card.Choices = []approver.Choice{{Label: "also later", Detail: "deploy"}}
	return card
}

// Each button is the reply that its label says, and no other; only a yes says how many calls it saw.
func TestEveryButton(t *testing.T) {
	b := start(t, setup{})
	card := b.full()
	ref := b.post(card)
	for n, c := range []struct {
		button fake.Button
		want   approver.Reply
	}{
		{fake.ApproveButton, approver.Reply{Approve: true, Shown: 3}},
		{fake.QuarterButton, approver.Reply{Approve: true, Shown: 3, Grant: approver.Term{For: 15 * time.Minute}}},
		{fake.SessionButton, approver.Reply{Approve: true, Shown: 3, Grant: approver.Term{Session: true}}},
		{fake.ChoiceButton(1), approver.Reply{Approve: true, Choice: 1}},
		{fake.DenyButton, approver.Reply{}},
		{fake.DetailsButton, approver.Reply{Want: approver.WantDetails}},
		{fake.TimeButton, approver.Reply{Want: approver.WantTime}},
		{fake.DisownButton, approver.Reply{Want: approver.WantDisown}},
	} {
		if err := b.fake.Tap(ann, here, ref.Message, c.button); err != nil {
			t.Fatal(err)
		}
		c.want.Channel, c.want.Conversation, c.want.Request, c.want.Message = "slack", here, card.Request, ref.Message
		c.want.Sender, c.want.Name, c.want.Method = ann, "ann", approver.ByTap
		b.eventually("the reply", func() bool { return len(b.got()) > n })
		if got := b.got()[n]; got != c.want {
			t.Errorf("button %d is %+v, want %+v", c.button, got, c.want)
		}
	}
	if !b.fake.Forge(ann, here, ref.Message, card.Request, fake.NoButton) {
		t.Fatal("not sent")
	}
	b.want(8)
}

// The story: people who said no had no way to say why, so the agent tried the same again. The dialog shows
// the card that it is about, takes 500 characters, and whatever stands in it, it is a no.
func TestDenyWithReason(t *testing.T) {
	b := start(t, setup{outcome: func(_ context.Context, r approver.Reply) approver.Outcome {
		if r.Reason == "late" {
			return approver.Outcome{Kind: approver.OutcomeUnknown, Text: "No such request."}
		}
		return approver.Outcome{Kind: approver.OutcomeDenied, Text: "Denied, with your reason."}
	}})
	card := b.full()
	ref := b.post(card)
	enter := func(text string) error { return b.fake.Fill(ben, here, ref.Message, fake.WhyButton, text) }
	for n, text := range []string{"yes, but on a branch <b>", "approve " + card.Code.Reveal(), strings.Repeat("é", 500)} {
		if err := enter(text); err != nil {
			t.Fatal(err)
		}
		b.eventually("the reply", func() bool { return len(b.got()) > n })
		r := b.got()[n]
		if r.Approve || r.Reason != text || r.Method != approver.ByTap || r.Request != card.Request ||
			r.Message != ref.Message || r.Sender != ben || r.Conversation != here || !r.Code.IsZero() {
			t.Errorf("the reply is %+v", r)
		}
		b.eventually("the dialog closes", func() bool { return !b.fake.Open(ben) })
	}
	b.told(ben, "Denied, with your reason.")
	if err := enter(strings.Repeat("é", 501)); err == nil {
		t.Error("the dialog takes more than 500 characters")
	}
	if err := enter("  "); err != nil {
		t.Fatal(err)
	}
	b.told(ben, "Nothing was typed")
	if err := enter("late"); err != nil {
		t.Fatal(err)
	}
	b.told(ben, "No such request.")
	b.want(4)
}

// The story: a dialog for a code did not say which card it was about, and the code of another one was typed.
func TestDialogsShowTheirCard(t *testing.T) {
	b := start(t, setup{})
	for _, button := range []fake.Button{fake.CodeButton, fake.WhyButton} {
		card := b.catastrophic()
		card.Push = fmt.Sprintf("🔴 CATASTROPHIC · Delete number %d", button)
		ref := b.post(card)
		if err := b.fake.Tap(ann, here, ref.Message, button); err != nil {
			t.Fatal(err)
		}
		b.eventually("the dialog", func() bool { return strings.Contains(b.fake.Dialog(ann), card.Push) })
		if strings.Contains(b.fake.Dialog(ann), card.Code.Reveal()) {
			t.Error("the dialog gives the code away")
		}
	}
}

// Other apps have commands of these names too, so they may be called otherwise here.
func TestCommandNames(t *testing.T) {
	b := start(t, setup{
		opts:   slacktest.Options{Commands: []string{"/ok", "/nope", "/approve", "/deny"}},
		config: func(c *slack.Config) { c.Command, c.DenyCommand = "/ok", "/nope" },
	})
	card := b.catastrophic()
	ref := b.post(card)
	if text := string(b.fake.Messages(here)[0].Blocks); !strings.Contains(text, "/ok "+card.Code.Reveal()) ||
		strings.Contains(text, "/approve") {
		t.Errorf("the card says %s", text)
	}
	code := card.Code.Reveal()
	b.fake.Type(ann, here, "/ok "+code)
	b.eventually("the yes", func() bool { return len(b.got()) == 1 && b.got()[0].Approve })
	b.fake.Type(ann, here, "/nope "+code+" use a branch")
	b.eventually("the no", func() bool { return len(b.got()) == 2 && b.got()[1].Reason == "use a branch" })
	b.fake.Type(ben, here, "/approve "+code)
	b.told(ben, "use /ok and /nope")
	b.fake.Type(ben, here, "/ok huh")
	b.told(ben, "send /ok or /nope with the whole of it")
	b.fake.Type(ben, here, "/ok "+code+" /nope")
	b.fake.ReplyTo(ben, here, ref.Message, " /nope "+code+" no")
	b.eventually("the no as text", func() bool { return len(b.got()) == 3 && !b.got()[2].Approve })
	if a, d := b.channel.Commands(); a != "/ok" || d != "/nope" {
		t.Errorf("the commands are %s and %s", a, d)
	}
}

// What somebody wants to see is for them alone, as long as it fits, and says where the rest is.
func TestWants(t *testing.T) {
	long := strings.Repeat("\"a\" <!channel> line\n", 3000) + "the last line"
	b := start(t, setup{outcome: func(_ context.Context, r approver.Reply) approver.Outcome {
		if r.Want == approver.WantGrants {
			return approver.Outcome{Kind: approver.OutcomeShown, Text: "Grants: many", Details: long}
		}
		return approver.Outcome{Kind: approver.OutcomeShown, Text: "Here.", Details: "all of " + r.Want.String()}
	}})
	n := 0
	want := func(what approver.Want, conversation string) {
		t.Helper()
		n++
		b.eventually("the question", func() bool { return len(b.got()) == n })
		if r := b.got()[n-1]; r.Want != what || r.Conversation != conversation || r.Approve || r.Sender != ann ||
			r.Method != approver.ByCommand || r.Request != "" {
			t.Errorf("the reply is %+v, want %s in %q", r, what, conversation)
		}
		b.told(ann, "all of "+what.String())
	}
	b.fake.Type(ann, here, "/approve pending")
	want(approver.WantPending, here)
	b.fake.Type(ann, here, "/approve Status")
	want(approver.WantStatus, here)
	b.fake.Type(ann, "C0OTHER123", "/approve freeze")
	want(approver.WantFreeze, "")
	b.fake.Type(ann, direct, "/approve help")
	want(approver.WantHelp, "")
	b.fake.Type(ann, direct, "pending!")
	want(approver.WantPending, "")
	b.fake.Type(ann, here, "<@"+slacktest.BotUser+"> status")
	want(approver.WantStatus, here)
	b.fake.Type(ann, here, " /help")
	want(approver.WantHelp, here)
	b.fake.Type(ben, here, "/approve grants")
	b.told(ben, "approver grants shows all of it")
	got := strings.Join(b.fake.Told(ben), "\n")
	if !strings.Contains(got, "the last line") || !strings.Contains(got, "bytes hidden") ||
		strings.Contains(got, "nothing") {
		t.Errorf("told %q", got)
	}
	b.fake.Type(stranger, here, "/approve pending")
	b.told(stranger, "not on the approver list")
	if b.fake.Count("shown to everybody") != 0 || len(b.fake.Pinged()) != 0 {
		t.Errorf("everybody saw it, or was alerted: %q", b.fake.Pinged())
	}
	b.want(n + 1)
}

// People may talk in the thread of a card: they are told how to answer it, five times a minute, and that those were
// the last.
func TestHintsAreFew(t *testing.T) {
	b := start(t, setup{})
	first, second := b.post(b.card()), b.post(b.card())
	for i := range 8 {
		b.fake.ReplyTo(ann, here, first.Message, "hm")
		b.eventually("a hint", func() bool { return len(b.fake.Told(ann)) > i || i >= 5 })
	}
	b.pass()
	got := b.fake.Told(ann)
	for i, said := range got {
		if !strings.Contains(said, "did not understand") || strings.Contains(said, "More messages like this") != (i == 4) {
			t.Errorf("%d: told %q", i, said)
		}
	}
	if len(got) != 5 {
		t.Errorf("told %q", got)
	}
	b.fake.ReplyTo(ann, here, second.Message, "hm")
	b.eventually("the hint below the other card", func() bool { return len(b.fake.Told(ann)) == 6 })
	if len(b.got()) != 0 {
		t.Errorf("talk became %+v", b.got())
	}
}

// The app's Home shows approvers what waits, and others nothing.
func TestHome(t *testing.T) {
	b := start(t, setup{outcome: func(_ context.Context, r approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeShown, Text: "Requests that wait here: 1",
			Details: "🟠 HIGH · Deploy <!channel> · 1 min left"}
	}})
	b.fake.OpenHome(ann)
	b.eventually("the Home", func() bool { return strings.Contains(b.fake.Home(ann), "🟠 HIGH · Deploy <!channel>") })
	if r := b.got()[0]; r.Want != approver.WantPending || r.Conversation != "" || r.Sender != ann || r.Approve {
		t.Errorf("the core was asked for %+v", r)
	}
	b.fake.OpenHome(stranger)
	b.eventually("the stranger's Home",
		func() bool { return strings.Contains(b.fake.Home(stranger), "not on the approver") })
	for name, change := range map[string]func(p object){
		"another app":       func(p object) { p["api_app_id"] = "A0EVIL1234" },
		"another workspace": func(p object) { p["team_id"] = "T0EVIL1234" },
		"outsiders":         func(p object) { p["is_ext_shared_channel"] = true },
		"the messages tab":  func(p object) { p["event"] = with(p["event"], "tab", "messages") },
		"nobody":            func(p object) { p["event"] = with(p["event"], "user", "") },
	} {
		p := b.fake.HomePayload(ben)
		change(p)
		b.fake.Deliver("events_api", p)
		b.pass()
		if b.fake.Home(ben) != "" || len(b.got()) != 1 {
			t.Errorf("%s: the Home is %q", name, b.fake.Home(ben))
		}
	}
	if strings.Contains(b.fake.Home(stranger), "Deploy") || len(b.fake.Pinged()) != 0 {
		t.Errorf("a stranger sees %q, alerted are %q", b.fake.Home(stranger), b.fake.Pinged())
	}
}

// A wrong code below a card is told at once, and counted once: it is not left to another daemon.
func TestWrongCodeInThread(t *testing.T) {
	b := start(t, setup{outcome: unknown, config: func(c *slack.Config) { c.TextApprovals = true }})
	card := b.card()
	ref := b.post(card)
	b.fake.ReplyTo(ann, here, ref.Message, "CONFIRM-ACDEFGHJ")
	b.told(ann, "There is no such request")
	b.eventually("the acknowledgement", func() bool { return b.fake.Count(" ack events_api") == 1 })
	if r := b.want(1)[0]; r.Request != card.Request || r.Message != ref.Message ||
		strings.Contains(strings.Join(b.fake.Told(ann), ""), "another approver") {
		t.Errorf("the reply is %+v, told %q", r, b.fake.Told(ann))
	}
}
