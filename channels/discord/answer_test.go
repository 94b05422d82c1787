package discord

import (
	"context"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/receiving"
)

func TestRedeliveredEventsCountOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := high()
	ref := b.post(b.here, card)
	b.s.SendPress(b.ann, b.here, ref.Message, discordtest.CustomID(card.Request, "o"), 3, nil)
	b.one(0)
	acknowledged := func() int { return strings.Count(strings.Join(b.s.Log(), "\n"), "/callback") }
	b.until("an acknowledgment", func() bool { return acknowledged() > 0 })
	if n := acknowledged(); n != 1 {
		t.Errorf("one event was acknowledged %d times", n)
	}
	b.s.SendMessage(b.ann, b.here, "<@"+b.s.Bot()+"> no "+card.Code.Reveal(), 3, nil)
	if r := b.one(1); r.Approve || !r.Code.Equal(card.Code) {
		t.Errorf("got %+v", r)
	}
}

// The answer is acknowledged at once, however long it takes to decide.
func TestSlowReplyIsAcknowledged(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.s.AckWithin = 1500 * time.Millisecond })
	b.run(func(ctx context.Context, _ approver.Reply) approver.Outcome {
		_ = calls.Sleep(ctx, 2500*time.Millisecond)
		return approver.Outcome{Kind: approver.OutcomeApproved, Text: "at last"}
	})
	ref := b.post(b.here, high())
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	b.told(b.ann, "at last")
	if n := b.s.Unanswered(); n != 0 {
		t.Errorf("%d interactions failed before the person's eyes", n)
	}
}

// An answer counts even if Discord no longer takes the acknowledgement.
func TestLateAcknowledgement(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.s.AckWithin = 0 }).connected()
	ref := b.post(b.here, high())
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.one(0)
	if log, _ := b.stop(); !strings.Contains(log, "cannot be told") || !strings.Contains(log, "10062") {
		t.Errorf("the log does not say so:\n%s", log)
	} else if strings.Contains(log, discordtest.InteractionToken) {
		t.Errorf("the log shows the token of an interaction:\n%s", log)
	}
}

func TestDialog(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := catastrophic()
	ref := b.post(b.here, card)
	code := card.Code.Reveal()
	enter := func(text string) {
		t.Helper()
		if err := b.s.EnterCode(b.ann, b.here, ref.Message, text); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		text    string
		approve bool
	}{
		{code, true}, {" " + strings.ToLower(code) + " ", true}, {code[len("CONFIRM-"):], true}, {"ok, " + code, true},
		{"no " + code, false}, {"/deny " + code, false},
	} {
		enter(c.text)
		r := b.one(i)
		if r.Approve != c.approve || r.Method != approver.ByCode || !r.Code.Equal(card.Code) || r.Request != card.Request ||
			r.Message != ref.Message {
			t.Errorf("%q gave %+v", c.text, r)
		}
	}
	before := len(b.got())
	for text, want := range map[string]string{
		"yes": "not a confirmation code", "my code is " + code: "/deny and the code", "   ": "empty",
		code + " CONFIRM-7KQ4MX": "more than one code", "CONFIRM-": "not a confirmation code",
	} {
		enter(text)
		b.told(b.ann, want)
	}
	if got := b.got(); len(got) != before {
		t.Errorf("a text without a code became an answer: %+v", got[before:])
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := catastrophic()
	b.post(b.here, card)
	if !b.s.Command(b.ann, b.here, "approve", "confirm-7kq4mx is wrong, I mean "+card.Code.Reveal()) {
		t.Fatal("/approve is not registered")
	}
	b.told(b.ann, "more than one code")
	if !b.s.Command(b.ann, b.here, "approve", card.Code.Reveal()) ||
		!b.s.Command(b.bob, b.there, "deny", card.Code.Reveal()) {
		t.Fatal("a command is not registered")
	}
	b.until("two replies", func() bool { return len(b.got()) == 2 })
	for _, r := range b.got() {
		if r.Method != approver.ByCommand || r.Request != "" || r.Message != "" || !r.Code.Equal(card.Code) ||
			r.Approve != (r.Sender == b.ann) || (r.Conversation == b.here) != (r.Sender == b.ann) {
			t.Errorf("got %+v", r)
		}
	}
	elsewhere := b.s.AddChannel()
	b.s.Command(b.bob, elsewhere, "approve", card.Code.Reveal())
	b.told(b.bob, "not a channel that approver uses")
	b.s.Command(b.mallory, b.here, "approve", card.Code.Reveal())
	b.told(b.mallory, "not on the approver list")
	if got := b.got(); len(got) != 2 {
		t.Errorf("got %+v", got[2:])
	}
}

// The story: a colleague pastes "/approve", then thinks better of it and writes
// "no" before the code, as would be a refusal in every other chat. The
// registered command must hear the words too, above all on a CATASTROPHIC card,
// where the typed code is all that stands between the call and its run.
func TestRefusalInTheCommandDoesNotApprove(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := catastrophic()
	b.post(b.here, card)
	code := card.Code.Reveal()
	for _, text := range []string{"no " + code, code + " don't!", "do NOT run " + code, "deny " + code} {
		before := len(b.s.Told(b.ann))
		b.s.Command(b.ann, b.here, "approve", text)
		b.until("a word about "+text, func() bool { return len(b.s.Told(b.ann)) > before })
		if told := b.s.Told(b.ann)[before]; !strings.Contains(told, "neither a clear yes nor a clear no") {
			t.Errorf("/approve code:%q was answered with %q", text, told)
		}
	}
	if got := b.got(); len(got) != 0 {
		t.Errorf("a refusal became the answer %+v", got)
	}
	b.s.Command(b.ann, b.here, "deny", "yes, deny "+code)
	if r := b.one(0); r.Approve || r.Method != approver.ByCommand || !r.Code.Equal(card.Code) {
		t.Errorf("/deny gave %+v", r)
	}
}

// Text may deny; it approves only where the configuration says so.
func TestTypedAnswers(t *testing.T) {
	t.Parallel()
	for name, approvals := range map[string]bool{"text_approvals off": false, "text_approvals on": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(b *bench) { b.cfg.TextApprovals, b.s.MessageContent = approvals, true }).connected()
			card := high()
			ref := b.post(b.here, card)
			mention := "<@" + b.s.Bot() + "> "
			n := 0
			for _, c := range []struct {
				text    string
				approve bool
				method  approver.Method
			}{
				{mention + card.Code.Reveal(), true, approver.ByCode},
				{mention + "/approve " + card.Code.Reveal(), true, approver.ByCommand},
				{mention + "no " + card.Code.Reveal(), false, approver.ByCode},
				{mention + "/deny " + card.Code.Reveal(), false, approver.ByCommand},
			} {
				told := len(b.s.Told(b.ann))
				b.s.Type(b.ann, b.here, c.text)
				b.until("a word about "+c.text, func() bool { return len(b.s.Told(b.ann)) > told })
				if c.approve && !approvals {
					continue
				}
				if r := b.one(n); r.Approve != c.approve || r.Method != c.method || !r.Code.Equal(card.Code) {
					t.Errorf("%q gave %+v", c.text, r)
				}
				n++
			}
			for word, approve := range map[string]bool{"yes": true, "no": false} {
				told := len(b.s.Told(b.ann))
				b.s.ReplyMentioning(b.ann, b.here, ref.Message, word)
				b.until("a word about "+word, func() bool { return len(b.s.Told(b.ann)) > told })
				if approve && !approvals {
					continue
				}
				if r := b.one(n); r.Approve != approve || r.Method != approver.ByPlain || r.Request != card.Request ||
					r.Message != ref.Message {
					t.Errorf("%q gave %+v", word, r)
				}
				n++
			}
			if len(b.got()) != n {
				t.Errorf("got %+v", b.got())
			}
			if told := strings.Join(b.s.Told(b.ann), "\n"); strings.Contains(told, "cannot approve here") == approvals {
				t.Errorf("told %q", told)
			}
			if pings := b.s.Pings(); len(pings) != 0 {
				t.Errorf("messages of ours notified %q", pings)
			}
		})
	}
}

// Without the privileged intent Discord hides the text of ordinary messages.
func TestTextThatIsNotShown(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := high()
	b.post(b.here, card)
	b.s.Type(b.ann, b.here, "no "+card.Code.Reveal())
	b.nothing("a text that the bot is not shown")
}

// One person's flood takes nobody else's place, and is told.
func TestFlood(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	b := newBench(t, func(b *bench) { b.s.PostLimit = 100 })
	b.run(func(_ context.Context, r approver.Reply) approver.Outcome {
		if r.Sender == b.ann {
			<-hold
		}
		return approver.Outcome{Kind: approver.OutcomeDenied, Text: "noted"}
	})
	t.Cleanup(func() { close(hold) })
	ref := b.post(b.here, high())
	tap := func(user string) {
		if err := b.s.Tap(user, b.here, ref.Message, fake.DenyButton); err != nil {
			t.Fatal(err)
		}
	}
	for range maxPerPerson {
		tap(b.ann)
	}
	b.until("the answers to be under way", func() bool { return len(b.got()) == maxPerPerson })
	tap(b.ann)
	b.told(b.ann, "Too many of your answers")
	tap(b.bob)
	b.told(b.bob, "noted")
	if n := len(b.got()); n != maxPerPerson+1 {
		t.Errorf("%d answers were handled", n)
	}
	if n := strings.Count(b.log.String(), "too many of this person"); n != 1 {
		t.Errorf("the log tells of it %d times", n)
	}
}

// An answer without an outcome text still says something to the person, and so does a panic.
func TestOutcomeTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply approver.ReplyFunc
		want  string
	}{
		"zero": {func(context.Context, approver.Reply) approver.Outcome { return approver.Outcome{} }, receiving.SilentText},
		"panic": {func(context.Context, approver.Reply) approver.Outcome { panic("boom") },
			receiving.BrokenText},
		"markup": {func(context.Context, approver.Reply) approver.Outcome {
			return approver.Outcome{Text: "by **Ann** @everyone <@1> https://x.example"}
		}, "by **Ann** @everyone <@1> https://x.example"},
		"long": {func(context.Context, approver.Reply) approver.Outcome {
			return approver.Outcome{Text: strings.Repeat("_", 5000)}
		}, "bytes hidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil).run(c.reply)
			ref := b.post(b.here, high())
			if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err != nil {
				t.Fatal(err)
			}
			b.told(b.ann, c.want)
			if len(b.s.Pings()) != 0 {
				t.Errorf("the outcome notified %q", b.s.Pings())
			}
		})
	}
}
