package telegram

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/display"
	"approver.example/tokens"
)

// prompted taps "Deny, say why…" and returns the question that ann is asked.
func (b *bench) prompted(ref approver.Ref) telegramtest.Message {
	b.Helper()
	at, err := parsePlace(ref.Conversation)
	if err != nil {
		b.Fatal(err)
	}
	before := len(b.s.AskedToReply(text(ann), at.chat))
	b.tap(ann, ref, fake.WhyButton)
	b.eventually("the question", func() bool { return len(b.s.AskedToReply(text(ann), at.chat)) > before })
	return b.s.AskedToReply(text(ann), at.chat)[before]
}

func (b *bench) answerTo(user int64, m telegramtest.Message, says string) {
	b.s.ReplyTo(text(user), place{m.Chat, m.Thread}.conversation(), strconv.Itoa(m.ID), says)
}

// A person who denies can say why: the bot asks, and what they reply is the reason for the agent. Nobody
// else is asked.
func TestDenyAndSayWhy(t *testing.T) {
	b := running(t)
	card := highCard(t)
	to := testConfig(b.s).Destinations()[2]
	ref := b.postTo(to, card)
	q := b.prompted(ref)
	if strconv.Itoa(q.ReplyTo) != ref.Message || q.Thread != topic || q.Force.Placeholder != sayWhyShort ||
		!strings.HasPrefix(q.Text, "Ann, why not?") || len(b.s.AskedToReply(text(bob), teamChat)) != 0 {
		t.Errorf("the question is %+v", q)
	}
	if got := b.got(); len(got) != 0 {
		t.Errorf("the question alone gave %+v", got)
	}
	b.answerTo(ann, q, "use a branch instead")
	if r := b.want(1); r.Approve || r.Reason != "use a branch instead" || r.Request != card.Request ||
		r.Message != ref.Message || r.Method != approver.ByPlain || r.Conversation != to.Conversation ||
		r.Sender != text(ann) || r.Sent.IsZero() {
		t.Errorf("the reply is %+v", r)
	}
	b.wantTold(ann, "no. 1 is noted")
}

// Whatever is said to the question denies or changes nothing, and no code reaches the agent.
func TestWhatIsSaidToWhy(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	q := b.prompted(ref)
	code := mint(t)
	heard := 0
	for says, want := range map[string]string{
		"no, too late today":                 "too late today",
		"No":                                 "",
		"is this staging?":                   "is this staging?",
		"because " + code.Reveal() + " is x": "because is x",
		"/unknown":                           "/unknown",
	} {
		b.answerTo(ann, q, says)
		heard++
		r := b.want(heard)
		if r.Approve || r.Reason != want || r.Request == "" ||
			strings.Contains(r.Reason, code.Reveal()[len(tokens.Prefix):]) {
			t.Errorf("%q gave %+v", says, r)
		}
	}
	b.eventually("a word on each", func() bool { return len(b.told(ann)) == heard })
	for _, says := range []string{"yes", "Allow", code.Reveal(), "ok " + code.Reveal(), "/approve " + code.Reveal(),
		"/approve " + code.Reveal() + " session", "/approve@" + telegramtest.BotName + " " + code.Reveal()} {
		told := len(b.told(ann))
		b.answerTo(ann, q, says)
		b.eventually("a word on "+says, func() bool { return len(b.told(ann)) > told })
		if got := b.told(ann)[told]; got != sayNoYes {
			t.Errorf("%q is told %q", says, got)
		}
	}
	b.want(heard)
	for says, want := range map[string]string{
		"/deny " + code.Reveal() + " not on main": "not on main", code.Reveal() + " if Bob agrees": "if Bob agrees",
		"/approve " + code.Reveal() + " if Bob agrees": "/approve if Bob agrees",
	} {
		b.answerTo(ann, q, says)
		heard++
		if r := b.want(heard); r.Approve || !r.Code.Equal(code) || r.Request == "" || r.Reason != want {
			t.Errorf("%q gave %+v", says, r)
		}
	}
	b.answerTo(ann, q, "/pending")
	if r := b.want(heard + 1); r.Want != approver.WantPending {
		t.Errorf("a command gave %+v", r)
	}
}

// The question is for the person who tapped. Another approver, a stranger, or a copy of it is not heard.
func TestOnlyWhoWasAskedSaysWhy(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	q := b.prompted(ref)
	b.answerTo(bob, q, "my words, not hers")
	b.wantTold(bob, sayNotAsked)
	b.answerTo(mallory, q, "mine")
	forwarded := b.s.Payload(ann, teamChat, "hers, but from elsewhere")
	forwarded["reply_to_message"] = b.s.Copy(teamChat, strconv.Itoa(q.ID))
	forwarded["forward_origin"] = map[string]any{"type": "hidden_user", "date": 1, "sender_user_name": "Ann"}
	b.s.Inject(map[string]any{"message": forwarded})
	b.nothing()
}

// After a restart nothing is known of the question: the person is told so, and nothing happens in silence.
func TestWhyAfterARestart(t *testing.T) {
	b := running(t)
	b.c.pace.hint = 1 << 40
	q := b.prompted(b.post(highCard(t)))
	b.settled() // the question is remembered after it is shown
	b.c.asked = prompts{}
	for range 2 {
		told := len(b.told(ann))
		b.answerTo(ann, q, "because")
		b.eventually("a word", func() bool { return len(b.told(ann)) > told })
		if got := b.told(ann)[told]; got != sayForgotten {
			t.Errorf("told %q", got)
		}
	}
	b.answerTo(bob, q, "because")
	b.wantTold(bob, sayNotAsked)
	b.nothing()
}

// If the question cannot be sent, the person is told what to do instead.
func TestWhyThatCannotBeAsked(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	b.s.FailNext("sendMessage", failure400("not enough rights to send text messages to the chat"))
	b.tap(ann, ref, fake.WhyButton)
	b.wantTold(ann, sayCannotAsk)
	if got := b.s.Toasts(text(ann)); len(got) != 1 || !got[0].Alert {
		t.Errorf("%+v", got)
	}
}

// A reason is the rest of a command, of a no on the card, or of a refusal with the code. A long one is cut,
// and that is said.
func TestReasons(t *testing.T) {
	b := running(t)
	b.judge = func(context.Context, approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeDenied, Text: "Denied."}
	}
	ref := b.post(highCard(t))
	code := mint(t).Reveal()
	long := strings.Repeat("é", approver.MaxReason)
	for i, c := range []struct {
		says, reason string
		reply        bool
	}{
		{"no, use a branch instead", "use a branch instead", true},
		{"don't do that on main", "don't do that on main", true},
		{"/deny " + code + " wrong host", "wrong host", false},
		{"no " + code + ", not today", "not today", false},
		{"/deny " + code, "", false},
		{"no, " + long, long[:approver.MaxReason], true},
	} {
		told := len(b.told(ann))
		if c.reply {
			b.s.ReplyTo(text(ann), ref.Conversation, ref.Message, c.says)
		} else {
			b.s.Type(text(ann), ref.Conversation, c.says)
		}
		if r := b.want(i + 1); r.Approve || r.Reason != c.reason || (r.Request != "") != c.reply {
			t.Errorf("%.40q gave %+v", c.says, r)
		}
		b.eventually("the outcome", func() bool { return len(b.told(ann)) > told })
		if got := b.told(ann)[told]; strings.Contains(got, "first 500 bytes") != (c.reason == long[:approver.MaxReason]) {
			t.Errorf("%.40q: told %q", c.says, got)
		}
	}
}

// The memory of questions is bounded, and forgets the oldest first.
func TestPromptsAreFew(t *testing.T) {
	var p prompts
	at := place{chat: 5}
	for i := range 3 * maxPrompts {
		p.add(at, i, why{card: i})
	}
	known := func(i int) bool { _, ok := p.of[promptKey{at, i}]; return ok }
	if len(p.of) != maxPrompts || len(p.keys) != maxPrompts || !known(3*maxPrompts-1) || known(2*maxPrompts-1) {
		t.Errorf("%d questions, %d keys", len(p.of), len(p.keys))
	}
}

// The question is in the language of whoever is asked, and short enough for the field.
func TestWhyIsTranslated(t *testing.T) {
	german, err := display.In("de")
	if err != nil {
		t.Fatal(err)
	}
	b := running(t)
	b.c.Speak(func(sender, conversation string) display.Texts {
		if sender == text(ann) && conversation == text(teamChat) {
			return german
		}
		return display.Texts{}
	})
	q := b.prompted(b.post(highCard(t)))
	if want := german.Text(sayWhyShort); q.Force.Placeholder != want || want == sayWhyShort ||
		!strings.Contains(q.Text, german.Text(sayWhy)) || german.Text(sayWhy) == sayWhy {
		t.Errorf("the question is %q, %q", q.Text, q.Force.Placeholder)
	}
	if p := b.prompted(b.postTo(testConfig(b.s).Destinations()[1], highCard(t))); p.Force.Placeholder != sayWhyShort {
		t.Errorf("in another chat: %q", p.Force.Placeholder)
	}
}

// A name is no markup, and names nobody else.
func TestWhyWithAHostileName(t *testing.T) {
	b := running(t)
	name := `</a>@bob_lee <b>x</b> https://evil.example`
	b.s.AddUser(ann, name)
	q := b.prompted(b.post(highCard(t)))
	if !strings.HasPrefix(q.Text, name) || len(b.s.AskedToReply(text(bob), teamChat)) != 0 ||
		slices.ContainsFunc(q.Entities, func(e telegramtest.Entity) bool { return e.Type == "bold" }) {
		t.Errorf("the question is %q with %v", q.Text, fmt.Sprint(q.Entities))
	}
}
