package channeltest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/display"
)

// This file checks the edits of a card that waits. A tap and a plain yes count on a card that was posted
// whole, so no edit may take a part of it out of sight.

var editChecks = []check{
	{"an edit of a whole card that has no room for it is not made", checkEditHides},
}

func checkEditHides(t *testing.T, m maker) {
	b := start(t, m)
	for name, add := range map[string]func(c *approver.Card, text string){
		"warning": func(c *approver.Card, text string) { c.Warnings = append(slices.Clone(c.Warnings), text) },
		"why":     func(c *approver.Card, text string) { c.Why = append(slices.Clone(c.Why), text) },
		"body": func(c *approver.Card, text string) {
			c.Body = append(slices.Clone(c.Body), display.Block{Kind: display.Code, Label: "more", Text: text})
		},
	} {
		card := high(t)
		card.Body = Command("make deploy # " + strings.Repeat("x", 1500) + " end-" + card.Request[24:])
		ref, before := b.post(b.Here, card)
		if ref.Partial {
			t.Fatalf("a command of %d bytes does not fit on the card", len(command(card)))
		}
		refused := false
		for _, n := range []int{100, 1000, 2000, 4000, 2 << 20} {
			next := card
			add(&next, strings.Repeat("another line ", n/13))
			err := b.tryUpdate(ref, next, b.patience)
			now := b.shown(ref)
			switch {
			case errors.Is(err, approver.ErrShowsLess):
				refused = true
				if errors.Is(err, approver.ErrFinal) {
					t.Errorf("a %s of %d bytes: the error is final, so the card is given up: %v", name, n, err)
				}
				if timeless(now.Text) != timeless(before.Text) || !slices.Equal(now.Buttons, before.Buttons) {
					t.Errorf("a %s of %d bytes had no room, and the card was changed all the same:\n%.3000s", name, n, now.Text)
				}
			case err != nil:
				t.Fatalf("a %s of %d bytes: %v", name, n, err)
			case !strings.Contains(plain(now.Text), command(card)) || !slices.Contains(now.Buttons, fake.ApproveButton):
				t.Fatalf("a %s of %d bytes hides a part of the card, and a plain yes still counts:\n%.3000s", name, n, now.Text)
			default:
				before = now
			}
		}
		if !refused {
			t.Errorf("no %s was too long for the card, so this check has checked nothing", name)
		}
		b.update(ref, card)
	}
}
