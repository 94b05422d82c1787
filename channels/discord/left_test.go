package discord

import (
	"errors"
	"log/slog"
	"testing"

	"approver.example"
)

// The story: a channel was taken out of the configuration while a card there was open, or
// another daemon with other channels was the one that settled its request. Discord would
// have changed the card, but approver refused that by itself, for good: the buttons, the
// code and the time stayed for ever. Now a card is changed wherever it is.
func TestACardInAChannelThatLeftTheConfiguration(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]func(b *bench) []string{
		"one channel was replaced by another": func(b *bench) []string { return []string{b.there} },
		"one of several was taken out":        func(b *bench) []string { return []string{b.there, b.direct} },
		"only the direct messages are left":   func(b *bench) []string { return []string{b.direct} },
		"it is listed still":                  func(b *bench) []string { return []string{b.here} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			card := high()
			ref := b.post(b.here, card)
			b.cfg.Channels = left(b)
			other, err := New(b.cfg, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.Post(t.Context(), to(b.here), high()); errors.Is(err,
				approver.ErrFinal) == (len(b.cfg.Channels) == 1 && b.cfg.Channels[0] == b.here) {
				t.Errorf("Post: %v", err)
			}
			card.State, card.OneTap, card.Result = approver.Denied, false, "❌ Denied by Ann"
			if err := other.Update(t.Context(), ref, card); err != nil {
				t.Fatal(err)
			}
			shown := b.s.Cards(b.here)[0]
			if len(shown.Buttons) != 0 {
				t.Errorf("it keeps its buttons: %+v", shown)
			}
		})
	}
}
