package discord

import (
	"strings"
	"testing"

	"approver.example/channels/channeltest/fake"
)

// The story: the bot lacked Embed Links, so Discord dropped the command from a card and kept its buttons. The
// daemon was killed, or Discord failed, before it could take the card back: a tap on a headline let the call run.
func TestACardThatLostItsCommandTakesNoYes(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"the edit fails": true, "neither can be done": false} {
		b := newBench(t, nil)
		b.run(nil)
		b.s.NoEmbeds = true
		b.s.Trips.Add(fake.Trip{Call: "PATCH", Status: 502, Times: 4})
		if !fails {
			b.s.Trips.Add(fake.Trip{Call: "DELETE", Status: 502, Times: 4})
		}
		card := high()
		if !b.c.Fits(card) {
			t.Fatal("a short card does not fit")
		}
		ref, err := b.c.Post(t.Context(), to(b.here), card)
		if err == nil {
			t.Fatalf("%s: it counts as posted: %+v", name, ref)
		}
		cards := b.s.Cards(b.here)
		if fails {
			if len(cards) != 0 {
				t.Errorf("%s: it is still there: %+v", name, cards)
			}
			continue
		}
		if len(cards) != 1 {
			t.Fatalf("%s: there are %d cards", name, len(cards))
		}
		if err := b.s.Tap(b.ann, b.here, cards[0].Message, fake.ApproveButton); err != nil {
			t.Fatal(err)
		}
		b.until("word to Ann", func() bool {
			return strings.Contains(strings.Join(b.s.Told(b.ann), "\n"), "does not show its command")
		})
		if got := b.got(); len(got) != 0 {
			t.Errorf("%s: a tap counted: %+v", name, got)
		}
		if err := b.s.Tap(b.ann, b.here, cards[0].Message, fake.DenyButton); err != nil {
			t.Fatal(err)
		}
		b.until("the no", func() bool { return len(b.got()) == 1 && !b.got()[0].Approve })
	}
}
