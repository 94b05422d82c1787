package discord

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/internal/receiving"
)

// everything is a card with every button.
func everything() approver.Card {
	card := high()
	card.Lasting, card.Extends, card.Disowns = "git push of acme/shop by claude", true, true
	return card
}

// Each button says exactly what stands on it. A yes for once is for once: it was kept as one for the
// session elsewhere.
func TestEveryButton(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := everything()
	card.Upto = 3
	ref := b.post(b.here, card)
	for i, c := range []struct {
		button fake.Button
		want   approver.Reply
	}{
		{fake.ApproveButton, approver.Reply{Approve: true, Shown: 3}},
		{fake.QuarterButton, approver.Reply{Approve: true, Shown: 3, Grant: approver.Term{For: 15 * time.Minute}}},
		{fake.SessionButton, approver.Reply{Approve: true, Shown: 3, Grant: approver.Term{Session: true}}},
		{fake.DenyButton, approver.Reply{}},
		{fake.DisownButton, approver.Reply{Want: approver.WantDisown}},
		{fake.DetailsButton, approver.Reply{Want: approver.WantDetails}},
		{fake.TimeButton, approver.Reply{Want: approver.WantTime}},
	} {
		if err := b.s.Tap(b.ann, b.here, ref.Message, c.button); err != nil {
			t.Fatal(err)
		}
		c.want.Channel, c.want.Conversation, c.want.Sender, c.want.Name = Name, b.here, b.ann, "Ann"
		c.want.Method, c.want.Request, c.want.Message = approver.ByTap, card.Request, ref.Message
		if got := b.one(i); got != c.want {
			t.Errorf("button %d gave %+v, want %+v", c.button, got, c.want)
		}
	}
	b.until("a word on each", func() bool { return len(b.s.Told(b.ann)) == 7 })
	if n := len(b.s.Cards(b.here)); n != 1 {
		t.Errorf("the words are for everybody: %d messages", n)
	}
}

func TestDenySayWhy(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := catastrophic()
	ref := b.post(b.here, card)
	d, err := b.s.Open(b.ann, b.here, ref.Message, fake.WhyButton)
	if err != nil {
		t.Fatal(err)
	}
	if d.Title != card.Push || len(d.Texts) != 0 || !d.Long || d.Least != 1 || d.Most != 500 {
		t.Errorf("the dialog is %+v", d)
	}
	if d.Submit("") == nil || d.Submit(strings.Repeat("x", 501)) == nil {
		t.Error("the dialog takes no reason, or one that is too long")
	}
	for i, reason := range []string{"use a branch instead", "yes, please approve", "ok " + card.Code.Reveal(),
		"line\n```two"} {
		if err := d.Submit("  " + reason + " "); err != nil {
			t.Fatal(err)
		}
		want := approver.Reply{Channel: Name, Conversation: b.here, Sender: b.ann, Name: "Ann", Method: approver.ByTap,
			Reason: reason, Request: card.Request, Message: ref.Message}
		if got := b.one(i); got != want {
			t.Errorf("%q gave %+v", reason, got)
		}
	}
	if err := d.Submit("   "); err != nil {
		t.Fatal(err)
	}
	b.told(b.ann, "so nothing was changed")
	if n := len(b.got()); n != 4 {
		t.Errorf("got %d replies", n)
	}
}

// The story: two cards wait, and the dialog says only "type the code". A person who came from the other
// card types what they did not mean to approve.
func TestDialogsSayWhatTheyCover(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	for _, push := range []string{
		"🔴 CATASTROPHIC · Delete *everything* in `/`",
		"🔴 CATASTROPHIC · Delete repository acme/billing and all of its issues (GitHub)",
		"🔴 CATASTROPHIC · " + strings.Repeat("漢🔥", 50), `🔴 \CATASTROPHIC\ · see https://x.example @everyone <@1>`,
	} {
		card := catastrophic()
		card.Push = push
		ref := b.post(b.here, card)
		for _, button := range []fake.Button{fake.CodeButton, fake.WhyButton} {
			d, err := b.s.Open(b.ann, b.here, ref.Message, button)
			if err != nil {
				t.Fatal(err)
			}
			texts := d.Texts
			if button == fake.CodeButton {
				texts = texts[:len(texts)-1] // the last one is the card's own
			}
			whole := d.Title == push && len(texts) == 0
			cut := slices.Equal(texts, []string{push}) && strings.HasSuffix(d.Title, "…") &&
				strings.HasPrefix(push, strings.TrimSuffix(d.Title, "…"))
			if !whole && !cut {
				t.Errorf("the dialog of %q is\n%s", push, d)
			}
		}
		d, err := b.s.Open(b.ann, b.here, ref.Message, fake.CodeButton)
		if err != nil {
			t.Fatal(err)
		}
		before := len(b.got())
		if err := d.Submit(card.Code.Reveal()); err != nil {
			t.Fatal(err)
		}
		if r := b.one(before); !r.Approve || r.Method != approver.ByCode || r.Request != card.Request {
			t.Errorf("got %+v", r)
		}
	}
}

func TestRegisteredCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	names, does := b.s.Commands("de")
	if got := strings.Join(names, " "); got != "approve deny freeze grants help pair pending status" {
		t.Errorf("the commands are %s", got)
	}
	_, english := b.s.Commands("fr")
	for name := range does {
		if does[name] == english[name] {
			t.Errorf("/%s has no German description", name)
		}
	}
	card := high()
	b.post(b.here, card)
	code := card.Code.Reveal()
	type options = map[string]string
	for i, c := range []struct {
		name string
		options
		want approver.Reply
	}{
		{"approve", options{"code": code}, approver.Reply{Approve: true, Code: card.Code}},
		{"approve", options{"code": code, "for": "once"}, approver.Reply{Approve: true, Code: card.Code}},
		{"approve", options{"code": code, "for": "15m"},
			approver.Reply{Approve: true, Code: card.Code, Grant: approver.Term{For: 15 * time.Minute}}},
		{"approve", options{"code": "ok " + code, "for": "session"},
			approver.Reply{Approve: true, Code: card.Code, Grant: approver.Term{Session: true}}},
		{"approve", options{"code": code + " 30m"},
			approver.Reply{Approve: true, Code: card.Code, Grant: approver.Term{For: 30 * time.Minute}}},
		{"deny", options{"code": code}, approver.Reply{Code: card.Code}},
		{"deny", options{"code": code, "reason": " use a branch "}, approver.Reply{Code: card.Code, Reason: "use a branch"}},
		{"deny", options{"code": code + " not now", "reason": "it is late"},
			approver.Reply{Code: card.Code, Reason: "not now it is late"}},
		{"pending", nil, approver.Reply{Want: approver.WantPending}},
		{"status", nil, approver.Reply{Want: approver.WantStatus}},
		{"grants", nil, approver.Reply{Want: approver.WantGrants}},
		{"freeze", nil, approver.Reply{Want: approver.WantFreeze}},
		{"freeze", options{"reason": "it went mad"}, approver.Reply{Want: approver.WantFreeze, Reason: "it went mad"}},
		{"approve", options{"code": code + " 15 Min"},
			approver.Reply{Approve: true, Code: card.Code, Grant: approver.Term{For: 15 * time.Minute}}},
		{"help", nil, approver.Reply{Want: approver.WantHelp}},
	} {
		if !b.s.Invoke(b.ann, b.here, c.name, c.options) {
			t.Fatalf("/%s does not take %v", c.name, c.options)
		}
		c.want.Channel, c.want.Conversation, c.want.Sender, c.want.Name = Name, b.here, b.ann, "Ann"
		got := b.one(i)
		c.want.Method, c.want.Sent = approver.ByCommand, got.Sent
		if got != c.want || time.Since(got.Sent) > time.Minute {
			t.Errorf("/%s %v gave %+v, want %+v", c.name, c.options, got, c.want)
		}
	}
	for _, o := range []options{
		{"code": code + " 30m", "for": "session"}, {"code": "no " + code, "for": "session"},
		{"code": code + " if Bob agrees"}, {"code": code + " nein doch nicht", "for": "once"},
	} {
		told := len(b.s.Told(b.ann))
		b.s.Invoke(b.ann, b.here, "approve", o)
		b.until("a word on it", func() bool { return len(b.s.Told(b.ann)) > told })
	}
	if n := len(b.got()); n != 15 {
		t.Errorf("unclear commands became replies: %+v", b.got()[15:])
	}
	for _, name := range names {
		if !b.s.Command(b.mallory, b.here, name, "") && !b.s.Command(b.mallory, b.here, name, code) {
			t.Errorf("Discord does not send /%s", name)
		}
	}
	b.told(b.mallory, "not on the approver list")
	b.nothing("commands of a stranger")
}

// What a command shows is for the person alone, whole, as a block or a file; with nothing to show, it
// says so.
func TestCommandsThatShow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("git push --force `x` ", 500) + "the end"
	b := newBench(t, nil).run(func(_ context.Context, r approver.Reply) approver.Outcome {
		return map[approver.Want]approver.Outcome{
			approver.WantPending: {Kind: approver.OutcomeShown, Text: "2 requests wait.", Details: long},
			approver.WantGrants:  {Kind: approver.OutcomeShown, Text: "1 grant.", Details: "git push\n  until 15:00"},
		}[r.Want]
	})
	b.until("the commands", func() bool { names, _ := b.s.Commands("en-US"); return len(names) == 8 })
	for name, want := range map[string]string{"pending": long, "grants": "git push\n  until 15:00",
		"status": receiving.SilentText, "help": receiving.SilentText} {
		if !b.s.Command(b.ann, b.here, name, "") {
			t.Fatal("no /" + name)
		}
		b.told(b.ann, want)
		// In a direct conversation the same is a message.
		told := len(b.s.Told(b.ann))
		b.s.Type(b.ann, b.direct, "/"+name)
		b.until("the same in a direct conversation", func() bool { return len(b.s.Told(b.ann)) > told })
	}
	if n := len(b.s.Cards(b.here)); n != 0 {
		t.Errorf("what is shown is for everybody: %+v", b.s.Cards(b.here))
	}
}

// The story: approver said "Approved" as soon as it had the press, and then the store refused. Nothing is
// said of an outcome before there is one.
func TestNothingIsClaimedBeforeTheOutcome(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	b := newBench(t, nil).run(func(_ context.Context, r approver.Reply) approver.Outcome {
		<-hold
		return approver.Outcome{Kind: approver.OutcomeRefused, Text: "The store failed: nothing was approved."}
	})
	card := everything()
	ref := b.post(b.here, card)
	before := b.s.Cards(b.here)[0].Text
	for _, button := range []fake.Button{fake.ApproveButton, fake.QuarterButton, fake.DenyButton, fake.DisownButton} {
		if err := b.s.Tap(b.ann, b.here, ref.Message, button); err != nil {
			t.Fatal(err)
		}
	}
	b.until("four acknowledgements", func() bool { return b.s.Count("/callback") == 4 })
	if told := b.s.Told(b.ann); len(told) != 0 {
		t.Errorf("told %q before the outcome", told)
	}
	now := b.s.Cards(b.here)[0]
	if strings.Count(now.Text, "\n") != strings.Count(before, "\n") || len(now.Buttons) != 8 {
		t.Errorf("the card changed before the outcome: %+v", now)
	}
	close(hold)
	b.until("four words", func() bool { return len(b.s.Told(b.ann)) == 4 })
	for _, text := range b.s.Told(b.ann) {
		if text != "The store failed: nothing was approved." {
			t.Errorf("told %q", text)
		}
	}
}

// The story: after a restart the first press on an old card was swallowed. A new process takes it: all
// that it needs stands in the press itself.
func TestFirstPressAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := everything()
	ref := b.post(b.here, card)
	_, _ = b.stop()
	after := newBench(t, func(n *bench) {
		n.s.Close()
		n.s, n.ann, n.bob, n.mallory, n.here, n.there, n.direct = b.s, b.ann, b.bob, b.mallory, b.here, b.there, b.direct
		n.cfg = b.cfg
	}).connected()
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.SessionButton); err != nil {
		t.Fatal(err)
	}
	if r := after.one(0); !r.Approve || !r.Grant.Session || r.Request != card.Request || r.Message != ref.Message {
		t.Errorf("got %+v", r)
	}
	after.told(b.ann, "noted")
}

// A press on a card asks only for what its data says: no data of a client's making becomes a yes for
// longer than the button says, and a choice that no card has is no yes.
func TestButtonsOfNoCard(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := everything()
	ref := b.post(b.here, card)
	for _, action := range []string{"z", "9", "0", "O", "", "oo", "m+0", "s+x", "r+3", "d+3", "x+1", "t+1"} {
		b.s.SendPress(b.ann, b.here, ref.Message, discordtest.CustomID(card.Request, action), 1, nil)
	}
	b.told(b.ann, "not one that approver knows")
	b.nothing("buttons that no card has")
}
