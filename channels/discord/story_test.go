package discord

import (
	"log/slog"
	"testing"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
)

// The story: elsewhere an empty approver list let everybody approve. Here a channel without approvers is
// refused, and the one that only pairs, which has none, takes no answer of anybody.
func TestNoApproversMeansNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	cfg := b.cfg
	cfg.Approvers = nil
	if _, err := New(cfg, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a channel without approvers starts")
	}
	card := everything()
	ref := b.post(b.here, card)
	pairer, err := b.cfg.ForPairing(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b.c = pairer.(*Channel)
	b.connected()
	for _, user := range []string{b.ann, b.mallory} {
		for _, button := range []fake.Button{fake.ApproveButton, fake.SessionButton, fake.DenyButton, fake.WhyButton} {
			told := len(b.s.Told(user))
			if err := b.s.Tap(user, b.here, ref.Message, button); err != nil {
				t.Fatal(err)
			}
			b.until("a refusal", func() bool { return len(b.s.Told(user)) > told })
		}
		b.s.Command(user, b.here, "approve", card.Code.Reveal())
		b.s.Type(user, b.direct, "no "+card.Code.Reveal())
	}
	b.told(b.ann, "I am the bot of approver")
	if got := b.got(); len(got) != 0 {
		t.Errorf("while pairing, the core was sent %+v", got)
	}
}

// The story: a person was found by what they can choose: a display name, an address, a name within the
// server. Only the id counts, and whoever takes an approver's name is a stranger.
func TestOnlyTheIDSaysWhoItIs(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	card := high()
	ref := b.post(b.here, card)
	alike := event{"id": b.mallory, "username": "ann", "global_name": "Ann", "email": "ann@example.com",
		"discriminator": "0", "verified": true}
	b.s.SendPress(b.mallory, b.here, ref.Message, discordtest.CustomID(card.Request, "o"), 1, func(e event) {
		e["member"] = event{"user": alike, "nick": b.ann, "roles": []string{b.ann}, "permissions": "8"}
	})
	b.told(b.mallory, "not on the approver list")
	b.s.SendMessage(b.mallory, b.here, "no "+card.Code.Reveal(), 1, func(e event) { e["author"] = alike })
	b.nothing("an approver's name")
	// The approver under another name is still the approver.
	b.s.SetUser(b.ann, "Mallory")
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	if r := b.one(1); r.Sender != b.ann || r.Name != "Mallory" {
		t.Errorf("got %+v", r)
	}
}

// The story: a system lost every answer beyond the 32nd, after it had told people that they counted. Here
// the words come from the core, and all of forty answers reach it.
func TestManyAnswersAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	ref := b.post(b.here, high())
	for i := range 40 {
		user := []string{b.ann, b.bob}[i%2]
		if err := b.s.Tap(user, b.here, ref.Message, fake.DenyButton); err != nil {
			t.Fatal(err)
		}
	}
	b.until("forty answers", func() bool { return len(b.got()) == 40 })
	b.until("forty words", func() bool { return len(b.s.Told(b.ann))+len(b.s.Told(b.bob)) == 40 })
	if n := b.s.Unanswered(); n != 0 {
		t.Errorf("%d presses failed before the person's eyes", n)
	}
}
