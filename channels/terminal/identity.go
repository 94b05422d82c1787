package terminal

import (
	"strconv"

	"approver.example"
)

// identify returns the approver behind a connection. It trusts only the kernel, and is the
// first thing that Watch and Answer do.
func (c *Channel) identify(peer approver.Peer) (approver.Approver, bool) {
	if !peer.Known {
		return approver.Approver{}, false
	}
	person, ok := c.people[strconv.FormatUint(uint64(peer.UID), 10)]
	return person, ok
}

// nameOf names a peer for the log.
func nameOf(peer approver.Peer) string {
	if !peer.Known {
		return "unknown"
	}
	return strconv.FormatUint(uint64(peer.UID), 10)
}

// mayShowCode reports whether a card's code may go to a screen. The code must be usable there,
// and an agent with the approver's uid must not be able to read what only a person may type.
func (c Config) mayShowCode(card approver.Card) bool {
	return c.AllowAnswers && card.State == approver.Pending && (card.Severity == approver.High || c.Isolated)
}

// mayTap reports whether a card may be approved without its code.
func (c Config) mayTap(card approver.Card) bool {
	return c.AllowAnswers && card.State == approver.Pending && card.Severity == approver.High && card.OneTap
}

// Takes reports whether a request of this severity can be approved in the
// terminal; it implements [approver.Taker].
func (c *Channel) Takes(s approver.Severity) bool {
	return c.cfg.AllowAnswers && (s == approver.High || c.cfg.Isolated)
}
