package broadcaster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"approver.example"
	"approver.example/display"
)

// This file bounds what goes into the controls. They are one record: every call reads the
// whole of it, the store takes it up to a size, and much of it is what somebody said whom
// nobody had to approve. Without a bound they could say so much that no freeze fits.

// Bounds of people, as an approver list and a removal name them.
const (
	// MaxName is how many bytes the id of a person may have, and that of an account.
	MaxName = 256
	// MaxAccounts is how many accounts one person may have on the lists of one daemon.
	MaxAccounts = 64
)

// Bounds of the record, in bytes. JSON writes one byte of a text as six at most.
const (
	maxBy = 256
	// maxControls is what every store takes of one record.
	maxControls = 16 << 20
	// freezeRoom is kept free for a freeze of everything.
	freezeRoom = 64 << 10
	// holdRoom is more than the freeze of one agent takes.
	holdRoom = 6*(maxProject+maxSession+maxReason+maxBy) + 4<<10
	// mostHolds is how many there are at most: as many stand as were lifted.
	mostHolds = 2 * maxHolds
	// backRoom is what a removal grows by when it is ended.
	backRoom = 64
	// maxGoneAccounts is how many accounts a removal keeps. One more counts no longer
	// either, under the name of that person.
	maxGoneAccounts = 2 * MaxAccounts
	// maxUnlisted is how many people may be away that no list here has, and that nobody
	// who is trusted has removed.
	maxUnlisted = 16
)

// Errors of bounds.
var (
	errFullControls = errors.New("the record of freezes and removals is full, and what is left of it is kept for freezes: " +
		"take people out of the approver lists of every daemon and restart them, or freeze")
	errManyGone = fmt.Errorf("%d people are removed already whom no approver list here has: remove this one on the daemon "+
		"that lists them, or as root (%s), or bring some back: approver people list", maxUnlisted, display.AsRoot("people remove"))
)

// cutText is a text of at most this many bytes, with a mark where something is missing.
func cutText(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	const mark = "…"
	return strings.ToValidUTF8(s[:most-len(mark)], "") + mark
}

// shortName is the id of a person or an account, or of one that is longer than any list
// may have, its hash.
func shortName(s string) string {
	if len(s) <= MaxName {
		return s
	}
	return shortSession(s)
}

func boundedIdentity(id approver.Identity) approver.Identity {
	return approver.Identity{Channel: shortName(id.Channel), ID: shortName(id.ID)}
}

// bounded is the same freeze in a few words.
func (f Freeze) bounded() Freeze {
	f.By, f.Reason = cutText(f.By, maxBy), cutText(f.Reason, maxReason)
	return f
}

// check refuses what cannot stand on an approver list.
func (r Removal) check() error {
	if len(r.Person) > MaxName {
		return fmt.Errorf("the name of whom to remove has %d bytes; no approver list has one of more than %d", len(r.Person), MaxName)
	}
	for _, id := range r.Identities {
		if n := len(id.Channel) + len(id.ID); n > MaxName {
			return fmt.Errorf("an account of whom to remove has %d bytes; no approver list has one of more than %d", n, MaxName)
		}
	}
	if n := len(r.Identities); n > MaxAccounts {
		return fmt.Errorf("whom to remove has %d accounts, more than the %d that a person may have: take some out of the approver lists", n, MaxAccounts)
	}
	return nil
}

// bounded is the same removal in a few words: it is of the same people.
func (r Removal) bounded() Removal {
	r.Person, r.Ended = shortName(r.Person), cutText(r.Ended, maxReason)
	r.By, r.Reason = cutText(r.By, maxBy), cutText(r.Reason, maxReason)
	r.LastBy, r.LastReason = cutText(r.LastBy, maxBy), cutText(r.LastReason, maxReason)
	r.Identities = slices.Clone(r.Identities)
	for i, id := range r.Identities {
		r.Identities[i] = boundedIdentity(id)
	}
	r.Identities = r.Identities[:min(len(r.Identities), maxGoneAccounts)]
	return r
}

// bound makes every text short. What the controls say of calls and answers stays.
func (c *Controls) bound() {
	c.Freeze = c.Freeze.bounded()
	c.Pause.By, c.Observe.By = cutText(c.Pause.By, maxBy), cutText(c.Observe.By, maxBy)
	c.Holds, c.Removed = slices.Clone(c.Holds), slices.Clone(c.Removed)
	for i, h := range c.Holds {
		c.Holds[i].Freeze, c.Holds[i].Who = h.bounded(), h.Who.bounded()
	}
	for i, r := range c.Removed {
		c.Removed[i] = r.bounded()
	}
}

// fits fails for a change that leaves no room for every freeze to come, unless it is one
// that has to be taken: for those the room is.
func (c *Controls) fits(value []byte) error {
	room := freezeRoom + max(0, mostHolds-len(c.Holds))*holdRoom + len(c.Removed)*backRoom
	if !c.must && len(value) > maxControls-room {
		return errFullControls
	}
	return nil
}
