package discord

import "approver.example"

// Fits reports whether a card is shown whole, without a file beside it.
func (c *Channel) Fits(card approver.Card) bool {
	v, err := render(card, false)
	return err == nil && !v.partial
}
