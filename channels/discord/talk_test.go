package discord

import (
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/internal/pairing"
	"approver.example/display"
)

// A no with words beside it is a no, and the agent is told the words. A yes stays where Discord vouches
// for it.
func TestRepliesThatDeny(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := high()
	ref := b.post(b.here, card)
	for i, c := range []struct{ text, reason string }{
		{"no", ""}, {"No, use a branch instead", "use a branch instead"}, {"don't do that", "don't do that"},
		{"nope - wrong repository", "wrong repository"},
	} {
		b.s.ReplyMentioning(b.ann, b.here, ref.Message, c.text)
		r := b.one(i)
		if r.Approve || r.Method != approver.ByPlain || r.Reason != c.reason || r.Request != card.Request ||
			r.Message != ref.Message || r.Sent.IsZero() {
			t.Errorf("%q gave %+v", c.text, r)
		}
	}
	for i, c := range []struct{ text, reason string }{
		{"no " + card.Code.Reveal() + ", use a branch", "use a branch"},
		{"/deny " + card.Code.Reveal() + " not now", "not now"},
	} {
		b.s.ReplyMentioning(b.ann, b.here, ref.Message, c.text)
		r := b.one(4 + i)
		if r.Approve || !r.Code.Equal(card.Code) || r.Request != card.Request || r.Message != ref.Message {
			t.Errorf("%q gave %+v", c.text, r)
		}
	}
	b.s.ReplyMentioning(b.ann, b.here, ref.Message, "yes")
	b.told(b.ann, "cannot approve here")
	b.s.ReplyMentioning(b.ann, b.here, ref.Message, card.Code.Reveal())
	b.nothing("a typed yes")
}

// The story: a person replies to one card with the code of another, and means the card that they look at.
// The reply names both, so that the core can see that they differ.
func TestACodeInAReplyNamesTheCard(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.cfg.TextApprovals, b.s.MessageContent = true, true }).connected()
	first, second := high(), high()
	b.post(b.here, first)
	ref := b.post(b.here, second)
	b.s.ReplyTo(b.ann, b.here, ref.Message, first.Code.Reveal())
	r := b.one(0)
	if !r.Approve || r.Method != approver.ByCode || !r.Code.Equal(first.Code) || r.Request != second.Request ||
		r.Message != ref.Message {
		t.Errorf("got %+v", r)
	}
	second.State, second.Result = approver.Denied, "denied"
	if err := b.c.Update(t.Context(), ref, second); err != nil {
		t.Fatal(err)
	}
	b.s.ReplyTo(b.ann, b.here, ref.Message, first.Code.Reveal())
	if r := b.one(1); !r.Code.Equal(first.Code) || r.Request != "" || r.Message != "" {
		t.Errorf("a reply to a settled card gave %+v", r)
	}
}

// Nothing that is meant for the bot is met with silence, and nothing else is met with anything.
func TestNothingIsMetWithSilence(t *testing.T) {
	t.Parallel()
	for name, readable := range map[string]bool{"the bot sees mentions": false, "the bot sees every text": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var outside string
			b := newBench(t, func(b *bench) {
				b.cfg.TextApprovals, b.s.MessageContent = readable, readable
				outside = b.s.AddDirect(b.bob)
			}).connected()
			card, settled := high(), high()
			ref, over := b.post(b.here, card), b.post(b.here, settled)
			settled.State, settled.Result = approver.Denied, "denied"
			if err := b.c.Update(t.Context(), over, settled); err != nil {
				t.Fatal(err)
			}
			stray := b.s.AddDirect(b.mallory)
			mention := "<@" + b.s.Bot() + ">"
			unseen := map[bool]string{false: textUnseen, true: textHelp}[readable]
			for _, c := range []struct {
				say  func() bool
				who  string
				want string
			}{
				{func() bool { return b.s.ReplyMentioning(b.ann, b.here, ref.Message, "what does this do?") }, b.ann, textHelp},
				{func() bool { return b.s.ReplyUnseen(b.ann, b.here, ref.Message, "hm") }, b.ann, unseen},
				{func() bool { return b.s.ReplyMentioning(b.ann, b.here, over.Message, "no, wait") }, b.ann, textOver},
				{func() bool { b.s.Type(b.ann, b.here, mention); return true }, b.ann, textHelp},
				{func() bool { b.s.Type(b.ann, b.here, mention+" are you there?"); return true }, b.ann, textHelp},
				{func() bool { b.s.Type(b.ann, b.here, mention+" no"); return true }, b.ann, textWhich},
				{func() bool { b.s.Type(b.ann, b.here, mention+" /pending"); return true }, b.ann, textInPrivate},
				{func() bool { b.s.Type(b.ann, b.direct, "hello"); return true }, b.ann, textHelp},
				{func() bool { b.s.Type(b.ann, b.direct, "no"); return true }, b.ann, textWhich},
				{func() bool { b.s.Type(b.bob, outside, "no"); return true }, b.bob, textElsewhere},
				{func() bool { b.s.Type(b.mallory, stray, "hello"); return true }, b.mallory,
					display.Texts{}.Text(sayHow, pairing.WhoText)},
			} {
				before := b.s.Told(c.who)
				if !c.say() {
					t.Fatal("Discord does not send it")
				}
				b.until("a word", func() bool { return len(b.s.Told(c.who)) > len(before) })
				if told := b.s.Told(c.who); !slices.Contains(told, discordtest.Drawn(escape(c.want))) ||
					len(told) != len(before)+1 {
					t.Errorf("told %q, want %q", told[len(before):], c.want)
				}
			}
			b.nothing("talk")

			before := len(b.s.Told(b.ann)) + len(b.s.Told(b.mallory))
			b.s.Type(b.ann, b.here, "what does this do?")
			b.s.Type(b.ann, b.here, "no")
			b.s.Type(b.ann, b.here, "/pending please")
			b.s.Type(b.mallory, stray, "and I go on") // told a moment ago
			b.s.Type(b.mallory, b.here, mention+" hello")
			b.nothing("talk between people")
			if n := len(b.s.Told(b.ann)) + len(b.s.Told(b.mallory)); n != before {
				t.Errorf("talk was answered: %q", append(b.s.Told(b.ann), b.s.Told(b.mallory)...))
			}
		})
	}
}

// A freeze in words stops everything, wherever an approver asks for it: with the bot's name, with a slash in the
// channel of the cards where Discord shows the bot what people write, and in a message that they changed.
func TestFreezeInWords(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.cfg.TextApprovals, b.s.MessageContent = true, true }).connected()
	mention := "<@" + b.s.Bot() + "> "
	edited := func(at time.Time) func(event) {
		return func(e event) { e["edited_timestamp"] = at.Format(time.RFC3339) }
	}
	for i, says := range []string{mention + "/freeze", mention + "freeze it", "/freeze it", "/freeze?! it"} {
		b.s.SendMessage(b.ann, b.here, says, 1, nil)
		if r := b.one(i); r.Want != approver.WantFreeze || r.Conversation != b.here || r.Sender != b.ann {
			t.Errorf("%q gave %+v", says, r)
		}
	}
	b.told(b.ann, "noted")
	b.s.EditMessage(b.ann, b.here, "/freeze it", edited(time.Now()))
	if r := b.one(4); r.Want != approver.WantFreeze || r.Reason != "it" || r.Sender != b.ann {
		t.Errorf("an edited message gave %+v", r)
	}
	b.s.EditMessage(b.ann, b.here, mention+"no", edited(time.Now()))
	b.told(b.ann, strings.TrimSuffix(textEdited, "."))
	b.s.EditMessage(b.ann, b.here, "/freeze it", edited(time.Now().Add(-time.Hour)))
	b.s.EditMessage(b.ann, b.here, "/freeze it", nil) // such as the preview of a link
	b.s.EditMessage(b.mallory, b.here, "/freeze it", edited(time.Now()))
	b.nothing("an edit of long ago, of none, or of a stranger")
}

// A forwarded text is somebody else's, also in a direct conversation: there its sender is told.
func TestForwardedDirectMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := high()
	b.post(b.direct, card)
	b.s.SendMessage(b.ann, b.direct, "", 1, func(e event) {
		e["message_reference"] = event{"type": 1, "message_id": b.s.Bot(), "channel_id": b.here}
		e["message_snapshots"] = []event{{"message": event{"content": "no " + card.Code.Reveal()}}}
	})
	b.told(b.ann, strings.TrimSuffix(textCopied, "."))
	b.nothing("a forwarded text")
}

// The story: a person denies by a reply, and Discord fails just then to say what message that answers. Nobody
// heard of it, and the call stayed open. Now they are told; talk between people is left alone.
func TestAReplyToAMessageThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.cfg.TextApprovals, b.s.MessageContent = true, true }).connected()
	b.post(b.here, high())
	answering := func(text string) {
		b.s.SendMessage(b.ann, b.here, text, 1, func(e event) {
			e["type"] = 19
			e["message_reference"] = event{"message_id": b.s.Bot(), "channel_id": b.here}
		})
	}
	answering("no, use a branch")
	b.told(b.ann, "cannot see the message that you reply to")
	told := len(b.s.Told(b.ann))
	answering("see you tomorrow")
	b.nothing("a reply to what cannot be read")
	if got := b.s.Told(b.ann)[told:]; len(got) > 0 {
		t.Errorf("talk was answered: %q", got)
	}
}

// The dialog for a code takes the same words beside it as the command: plain consent and one term.
func TestWordsInTheCodeDialog(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := high()
	card.OneTap = false
	ref := b.post(b.here, card)
	if err := b.s.EnterCode(b.ann, b.here, ref.Message, card.Code.Reveal()+" if Bob agrees"); err != nil {
		t.Fatal(err)
	}
	b.told(b.ann, "neither a clear yes")
	if err := b.s.EnterCode(b.ann, b.here, ref.Message, card.Code.Reveal()+" 15 min"); err != nil {
		t.Fatal(err)
	}
	if r := b.one(0); !r.Approve || !r.Code.Equal(card.Code) || r.Grant != (approver.Term{For: 15 * time.Minute}) {
		t.Errorf("got %+v", r)
	}
}
