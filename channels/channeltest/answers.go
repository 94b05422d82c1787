package channeltest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/display"
	"approver.example/tokens"
)

var answerChecks = []check{
	{"a tap on approve", func(t *testing.T, m maker) { checkTap(t, m, fake.ApproveButton) }},
	{"a tap on deny", func(t *testing.T, m maker) { checkTap(t, m, fake.DenyButton) }},
	{"a tap answers its own card", checkTapOwnCard},
	{"a tap in the other conversation", checkTapThere},
	{"a tap on a catastrophic card denies at most", checkCatastrophicTap},
	{"the outcome reaches that person alone", checkOutcomePrivate},
	{"the command to approve", func(t *testing.T, m maker) { checkCommand(t, m, "/approve ", true) }},
	{"the command to deny", func(t *testing.T, m maker) { checkCommand(t, m, "/deny ", false) }},
	{"a command without a readable code", checkBadCommand},
	{"the code in the dialog", checkDialog},
	{"a wrong form in the dialog", checkBadDialog},
	{"the code as a message", checkCodeMessage},
	{"a refusal with the code never approves", checkRefusalWithCode},
	{"yes as a reply to the card", func(t *testing.T, m maker) { checkPlain(t, m, "yes", true) }},
	{"no as a reply to the card", func(t *testing.T, m maker) { checkPlain(t, m, "no", false) }},
	{"ordinary talk is left alone", checkTalk},
}

// fromHere checks the fields that every reply of the approver to a card in the
// first conversation has.
func (b *bench) fromHere(r approver.Reply) {
	b.t.Helper()
	if r.Channel != b.Channel.Name() || r.Conversation != b.Here.Conversation || r.Sender != b.Approver {
		b.t.Errorf("the reply is from %q in %q on %q, want %q in %q on %q",
			r.Sender, r.Conversation, r.Channel, b.Approver, b.Here.Conversation, b.Channel.Name())
	}
}

func checkTap(t *testing.T, m maker, button fake.Button) {
	b, card, ref := posted(t, m, high)
	b.tap(b.Approver, ref, button)
	r := b.wantReplies(1)[0]
	b.fromHere(r)
	b.wantTapOf(r, card, ref)
	if r.Approve != (button == fake.ApproveButton) {
		t.Errorf("the reply approves: %v", r.Approve)
	}
}

// press is the method of a press of a button.
func (b *bench) press() approver.Method { return cmp.Or(b.Press, approver.ByTap) }

func (b *bench) wantTapOf(r approver.Reply, card approver.Card, ref approver.Ref) {
	b.t.Helper()
	if r.Method != b.press() || r.Request != card.Request || r.Message != ref.Message || !r.Code.IsZero() {
		b.t.Errorf("the reply is %s of request %q on message %q with code %v, want tap of %q on %q without a code",
			r.Method, r.Request, r.Message, r.Code, card.Request, ref.Message)
	}
}

func checkTapOwnCard(t *testing.T, m maker) {
	b := start(t, m)
	first, second := high(t), high(t)
	refFirst, _ := b.post(b.Here, first)
	refSecond, _ := b.post(b.Here, second)
	b.tap(b.Approver, refSecond, fake.DenyButton)
	b.wantTapOf(b.wantReplies(1)[0], second, refSecond)
	b.tap(b.Approver, refFirst, fake.ApproveButton)
	b.wantTapOf(b.wantReplies(2)[1], first, refFirst)
}

func checkTapThere(t *testing.T, m maker) {
	b := start(t, m)
	if b.There.Conversation == "" {
		return // one conversation only: there is no other to keep apart
	}
	card := high(t)
	ref, _ := b.post(b.There, card)
	b.tap(b.Second, ref, fake.ApproveButton)
	r := b.wantReplies(1)[0]
	b.wantTapOf(r, card, ref)
	if r.Conversation != b.There.Conversation || r.Sender != b.Second {
		t.Errorf("the reply is from %q in %q, want %q in %q", r.Sender, r.Conversation, b.Second, b.There.Conversation)
	}

	// The code and the command carry the conversation where they are typed.
	b.Fake.Type(b.Second, b.There.Conversation, "/deny "+card.Code.Reveal())
	if r = b.wantReplies(2)[1]; r.Conversation != b.There.Conversation || !r.Code.Equal(card.Code) {
		t.Errorf("the command typed in %q gave the reply %+v", b.There.Conversation, r)
	}
}

func checkCatastrophicTap(t *testing.T, m maker) {
	b, card, ref := posted(t, m, catastrophic)
	if b.Fake.Forge(b.Approver, ref.Conversation, ref.Message, card.Request, fake.ApproveButton) {
		b.waitReady()
		time.Sleep(b.quiet)
		for _, r := range b.got() {
			if r.Approve {
				b.wantTapOf(r, card, ref) // a tap without a code: the core refuses it
			}
		}
	}
	before := len(b.got())
	b.tap(b.Approver, ref, fake.DenyButton)
	r := b.wantReplies(before + 1)[before]
	b.wantTapOf(r, card, ref)
	if r.Approve {
		t.Errorf("the deny button approved")
	}
}

func checkOutcomePrivate(t *testing.T, m maker) {
	b, _, ref := posted(t, m, high)
	b.tap(b.Approver, ref, fake.ApproveButton)
	text := outcomeFor(b.wantReplies(1)[0])
	b.eventually("the outcome to reach the person who tapped", func() bool { return b.wasTold(b.Approver, text) })
	for _, other := range []string{b.Second, b.Stranger} {
		if got := b.told(other); len(got) != 0 {
			t.Errorf("%s was told %q of somebody else's answer", other, got)
		}
	}
	if n := b.showing(b.Here.Conversation, text) + b.showing(b.There.Conversation, text); n != 0 {
		t.Errorf("the outcome of a tap is shown to all in %d messages", n)
	}
}

func checkCommand(t *testing.T, m maker, command string, approve bool) {
	b, card, _ := posted(t, m, catastrophic)
	for i, text := range []string{card.Code.Reveal(),
		strings.ToLower(strings.TrimPrefix(card.Code.Reveal(), tokens.Prefix))} {
		b.Fake.Type(b.Approver, b.Here.Conversation, command+text)
		r := b.wantReplies(i + 1)[i]
		b.fromHere(r)
		if r.Method != approver.ByCommand || r.Approve != approve || !r.Code.Equal(card.Code) || r.Request != "" {
			t.Errorf("%s gave the reply %+v (same code: %v)", command, r, r.Code.Equal(card.Code))
		}
		b.eventually("the outcome", func() bool { return b.wasTold(b.Approver, outcomeFor(r)) })
	}
}

func checkBadCommand(t *testing.T, m maker) {
	b, card, _ := posted(t, m, catastrophic)
	code := card.Code.Reveal()
	for _, text := range []string{
		"/approve everything!", "/approve CONFIRM-1", "/approve " + code + " " + mint(t).Reveal(),
		"/approve no " + code, "/approve " + code + " don't", "/approve do NOT run " + code,
	} {
		before := len(b.told(b.Approver))
		b.Fake.Type(b.Approver, b.Here.Conversation, text)
		b.eventually("a word on what is wrong with "+text[:16], func() bool { return len(b.told(b.Approver)) > before })
		for _, r := range b.got() {
			if r.Approve || !r.Code.IsZero() {
				t.Errorf("%q gave the reply %+v", text, r)
			}
		}
	}
}

// wantCodeOf checks the reply to a code: it may name request and message, and
// then they are the card's.
func wantCodeOf(t *testing.T, r approver.Reply, card approver.Card, ref approver.Ref) {
	t.Helper()
	if r.Method != approver.ByCode || !r.Approve || !r.Code.Equal(card.Code) {
		t.Errorf("the reply is %+v (same code: %v), want an approval by code", r, r.Code.Equal(card.Code))
	}
	if r.Request != "" && r.Request != card.Request || r.Message != "" && r.Message != ref.Message {
		t.Errorf("the reply names request %q and message %q, want %q and %q or neither", r.Request, r.Message, card.Request,
			ref.Message)
	}
}

func checkDialog(t *testing.T, m maker) {
	for name, card := range map[string]approver.Card{"high": high(t), "catastrophic": catastrophic(t)} {
		t.Run(name, func(t *testing.T) {
			card.OneTap = false
			b := start(t, m)
			ref, _ := b.post(b.Here, card)
			if err := b.Fake.EnterCode(b.Approver, ref.Conversation, ref.Message,
				" "+strings.ToLower(card.Code.Reveal())+" "); err != nil {
				t.Fatalf("enter the code: %v", err)
			}
			r := b.wantReplies(1)[0]
			b.fromHere(r)
			wantCodeOf(t, r, card, ref)
			b.eventually("the outcome", func() bool { return b.wasTold(b.Approver, outcomeFor(r)) })
		})
	}
}

func checkBadDialog(t *testing.T, m maker) {
	b, _, ref := posted(t, m, catastrophic)
	for _, text := range []string{"let me in", "CONFIRM-", "CONFIRM-🔥🔥🔥🔥🔥🔥", strings.Repeat("A", 200)} {
		// A dialog may refuse the text by itself: then there is nothing to send.
		_ = b.Fake.EnterCode(b.Approver, ref.Conversation, ref.Message, text)
	}
	b.noReply("a text that is no code")
}

func checkCodeMessage(t *testing.T, m maker) {
	b, card, ref := posted(t, m, catastrophic)
	b.Fake.Type(b.Approver, b.Here.Conversation, "yes, please: "+card.Code.Reveal())
	if b.CodeByMessage {
		r := b.wantReplies(1)[0]
		b.fromHere(r)
		wantCodeOf(t, r, card, ref)
		b.eventually("the outcome", func() bool { return b.wasTold(b.Approver, outcomeFor(r)) })
		return
	}
	b.waitReady()
	time.Sleep(b.quiet)
	for _, r := range b.got() {
		if r.Approve {
			t.Errorf("a code in an ordinary message approved: %+v", r)
		}
	}
}

func checkRefusalWithCode(t *testing.T, m maker) {
	b, card, _ := posted(t, m, catastrophic)
	b.Fake.Type(b.Approver, b.Here.Conversation, "no, "+card.Code.Reveal())
	b.waitReady()
	time.Sleep(b.quiet)
	got := b.got()
	if len(got) > 1 || b.CodeByMessage && len(got) == 0 {
		t.Fatalf("a refusal with the code gave %d replies", len(got))
	}
	for _, r := range got {
		if r.Approve || r.Method != approver.ByCode || !r.Code.Equal(card.Code) {
			t.Errorf("a refusal with the code gave %+v", r)
		}
	}
}

func checkPlain(t *testing.T, m maker, word string, approve bool) {
	b, card, ref := posted(t, m, high)
	if !b.Fake.ReplyTo(b.Approver, ref.Conversation, ref.Message, word) {
		b.noReply(word + " where there are no replies to a card")
		return
	}
	r := b.wantReplies(1)[0]
	b.fromHere(r)
	if r.Method != approver.ByPlain || r.Approve != approve || r.Request != card.Request || r.Message != ref.Message ||
		!r.Code.IsZero() {
		t.Errorf("%s as a reply to the card gave %+v", word, r)
	}
	b.eventually("the outcome", func() bool { return b.wasTold(b.Approver, outcomeFor(r)) })
}

func checkTalk(t *testing.T, m maker) {
	b, _, ref := posted(t, m, high)
	for _, user := range []string{b.Approver, b.Stranger} {
		for _, text := range []string{"lunch?", "yes", "no", "ok", "I approve of this", "please confirm the date", "🔥",
			strings.Repeat("long ", 700)} {
			b.Fake.Type(user, b.Here.Conversation, text)
		}
	}
	b.noReply("ordinary talk")
	for _, user := range []string{b.Approver, b.Stranger} {
		if got := b.told(user); len(got) != 0 {
			t.Errorf("ordinary talk was answered with %q", got)
		}
	}
	// What is meant for the bot and is no answer may get one word of what works there, or be a command of
	// its own that answers nothing.
	for _, user := range []string{b.Approver, b.Stranger} {
		b.Fake.Type(user, b.Here.Conversation, "/helpless")
		b.Fake.ReplyTo(user, ref.Conversation, ref.Message, "what does this do?")
	}
	b.noReply("a question")
	if got := b.told(b.Stranger); len(got) != 0 {
		t.Errorf("a stranger's question was answered with %q", got)
	}
	if got := b.told(b.Approver); len(got) > 1 {
		t.Errorf("an approver's question was answered with %q, want at most one hint", got)
	}
}

var identityChecks = []check{
	{"a stranger's tap, command, code and reply never count", checkStranger},
	{"a stranger is told so in the language of the conversation", checkLanguage},
	{"a code of a stranger is reported", checkOverheard},
	{"a forged button for another request", checkForgeOther},
	{"a forged button in another conversation", checkForgeThere},
	{"a forged button of a stranger", checkForgeStranger},
	{"a forged button after the end", checkForgeSettled},
}

// checkLanguage: what a channel says by itself is in the language that it was told.
func checkLanguage(t *testing.T, m maker) {
	b, _, ref := posted(t, m, high)
	speaker, is := b.Channel.(approver.Speaker)
	if !is {
		return
	}
	german, err := display.In("de")
	if err != nil {
		t.Fatal(err)
	}
	speaker.Speak(func(sender, conversation string) display.Texts {
		if sender == b.Stranger && conversation == ref.Conversation {
			return german
		}
		return display.Texts{}
	})
	_ = b.Fake.Tap(b.Stranger, ref.Conversation, ref.Message, fake.DenyButton)
	b.eventually("the refusal in German", func() bool {
		return slices.ContainsFunc(b.told(b.Stranger), func(said string) bool {
			return strings.Contains(said, "nicht auf der Liste der Berechtigten")
		})
	})
}

func checkStranger(t *testing.T, m maker) {
	b := start(t, m)
	card := high(t)
	ref, s := b.post(b.Here, card)
	code := card.Code.Reveal()
	acts := map[string]func(){
		"approve tap": func() { _ = b.Fake.Tap(b.Stranger, ref.Conversation, ref.Message, fake.ApproveButton) },
		"deny tap":    func() { _ = b.Fake.Tap(b.Stranger, ref.Conversation, ref.Message, fake.DenyButton) },
		"command":     func() { b.Fake.Type(b.Stranger, ref.Conversation, "/approve "+code) },
		"denial":      func() { b.Fake.Type(b.Stranger, ref.Conversation, "/deny "+code) },
		"code":        func() { b.Fake.Type(b.Stranger, ref.Conversation, code) },
		"dialog":      func() { _ = b.Fake.EnterCode(b.Stranger, ref.Conversation, ref.Message, code) },
		"reply yes":   func() { b.Fake.ReplyTo(b.Stranger, ref.Conversation, ref.Message, "yes") },
		"reply no":    func() { b.Fake.ReplyTo(b.Stranger, ref.Conversation, ref.Message, "no") },
		"reply code":  func() { b.Fake.ReplyTo(b.Stranger, ref.Conversation, ref.Message, code) },
	}
	for what, act := range acts {
		before := len(b.told(b.Stranger))
		act()
		b.noReply("a stranger's " + what)
		if told := b.told(b.Stranger)[before:]; len(told) > 1 {
			t.Errorf("a stranger's %s was answered %d times: %q", what, len(told), told)
		}
	}
	for _, text := range b.told(b.Stranger) {
		if strings.Contains(text, strings.TrimPrefix(code, tokens.Prefix)) {
			t.Errorf("the stranger was told the code: %q", text)
		}
	}
	if after := b.shown(ref); timeless(after.Text) != timeless(s.Text) || len(after.Buttons) != len(s.Buttons) {
		t.Errorf("the stranger changed the card from\n%s\nto\n%s", s.Text, after.Text)
	}

	// A stranger does not lock out the people who may answer.
	b.tap(b.Approver, ref, fake.ApproveButton)
	b.wantTapOf(b.wantReplies(1)[0], card, ref)
}

// timeless is a card's text without the time that is left, which a platform
// may count down by itself.
func timeless(text string) string { return relativeTime.ReplaceAllString(text, "…") }

// wantHarmless lets a forged press arrive and checks every reply that came of
// it.
func (b *bench) wantHarmless(ok func(approver.Reply) bool) {
	b.t.Helper()
	b.waitReady()
	time.Sleep(b.quiet)
	for _, r := range b.got() {
		if !ok(r) {
			b.t.Errorf("the forged press gave the reply %+v", r)
		}
	}
}

func checkForgeOther(t *testing.T, m maker) {
	b, _, ref := posted(t, m, high)
	other := uuid.Must(uuid.NewV7()).String()
	if !b.Fake.Forge(b.Approver, ref.Conversation, ref.Message, other, fake.ApproveButton) {
		return // the platform makes it impossible
	}
	b.wantHarmless(func(r approver.Reply) bool {
		return r.Method == b.press() && r.Request == other && r.Message == ref.Message && r.Code.IsZero()
	})
}

func checkForgeThere(t *testing.T, m maker) {
	b := start(t, m)
	if b.There.Conversation == "" {
		return // one conversation only: there is no other to forge in
	}
	here, there := high(t), high(t)
	b.post(b.Here, here)
	refThere, _ := b.post(b.There, there)
	if !b.Fake.Forge(b.Approver, refThere.Conversation, refThere.Message, here.Request, fake.ApproveButton) {
		return // the platform makes it impossible
	}
	b.wantHarmless(func(r approver.Reply) bool {
		return r.Method == b.press() && r.Conversation == refThere.Conversation && r.Message == refThere.Message
	})
}

func checkForgeStranger(t *testing.T, m maker) {
	b := start(t, m)
	for _, card := range []approver.Card{high(t), catastrophic(t)} {
		ref, _ := b.post(b.Here, card)
		if b.Fake.Forge(b.Stranger, ref.Conversation, ref.Message, card.Request, fake.ApproveButton) {
			b.noReply("a stranger's forged press")
		}
	}
}

func checkForgeSettled(t *testing.T, m maker) {
	b, card, ref := posted(t, m, high)
	result := "⌛ Expired after 120 s · blocked"
	s := b.update(ref, settled(card, approver.Expired, result))
	if err := b.Fake.Tap(b.Approver, ref.Conversation, ref.Message, fake.ApproveButton); err == nil {
		t.Errorf("the settled card could still be tapped")
	}
	if b.Fake.Forge(b.Approver, ref.Conversation, ref.Message, card.Request, fake.ApproveButton) {
		b.wantHarmless(func(r approver.Reply) bool {
			return r.Method == b.press() && r.Request == card.Request && r.Message == ref.Message && r.Code.IsZero()
		})
	}
	if after := b.shown(ref); timeless(after.Text) != timeless(s.Text) || len(after.Buttons) != 0 {
		t.Errorf("a late press changed the settled card to %+v", after)
	}
}

// never is an outcome function that waits until its context ends.
func never(ctx context.Context, _ approver.Reply) approver.Outcome {
	<-ctx.Done()
	return approver.Outcome{Kind: approver.OutcomeRefused, Text: "The service is stopping."}
}
