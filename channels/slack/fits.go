package slack

import "approver.example"

// Fits reports whether a card is shown whole, without a file beside it.
func (c *Channel) Fits(card approver.Card) bool { return !render(card, false, newRev()).partial }
