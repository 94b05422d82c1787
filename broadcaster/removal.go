package broadcaster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// Owner is root as an approver. Root is on no approver list: a list that names uid 0 for the
// terminal means the same account.
func Owner() (approver.Identity, approver.Person) {
	const terminal, root = "terminal", "0"
	return approver.Identity{Channel: terminal, ID: root}, approver.Person{
		ID: approver.SelfPerson(terminal, root), Name: "root of this machine",
	}
}

// A Removal is one person who was removed. It is part of the controls, so it takes effect at
// once everywhere, survives restarts, and cannot vanish unnoticed. It does not depend on the
// approver lists of the configuration.
type Removal struct {
	// Person is the id of the person. Identities are their accounts that were known: such an
	// account does not count again when another list gives it to somebody else.
	Person     string              `json:"person"`
	Identities []approver.Identity `json:"identities,omitempty"`
	At         time.Time           `json:"at"`
	By         string              `json:"by"`
	Reason     string              `json:"reason,omitempty"`
	// Last is when LastBy removed them again while they were removed; zero if never.
	Last       time.Time `json:"last,omitzero"`
	LastBy     string    `json:"last_by,omitempty"`
	LastReason string    `json:"last_reason,omitempty"`
	// Back is when they were brought back; zero while they are removed. What they
	// approved before stays void.
	Back time.Time `json:"back,omitzero"`
	// Ended is the pause or observe mode that their removal ended: they may have begun it.
	Ended string `json:"ended,omitempty"`
	// Unlisted says that no known approver list has them, and that nobody trusted removed
	// them. The number of such removals is bounded: see maxUnlisted.
	Unlisted bool `json:"unlisted,omitempty"`
	// ByRoot says that the kernel named root as the one who asks for it. Only root removes
	// root.
	ByRoot bool `json:"-"`
}

// Stands reports that the person is removed now.
func (r Removal) Stands() bool { return !r.At.IsZero() && r.Back.IsZero() }

// is reports whether an account, or the person it belongs to, is the one who was removed.
func (r Removal) is(id approver.Identity, who approver.Person) bool {
	return who.ID != "" && shortName(who.ID) == shortName(r.Person) ||
		slices.ContainsFunc(r.Identities, func(gone approver.Identity) bool {
			return boundedIdentity(gone) == boundedIdentity(id)
		})
}

// same reports that nobody was removed again, or brought back, between two reads.
func (r Removal) same(seen Removal) bool {
	return r.Person == seen.Person && r.At.Equal(seen.At) && r.Last.Equal(seen.Last) && r.Back.Equal(seen.Back) &&
		slices.Equal(r.Identities, seen.Identities)
}

// RemovedPeople are the removals in the controls: those in force, and those that are over but
// still void what was approved before.
type RemovedPeople []Removal

// Of returns the removal of the person who has this account, if they are removed.
func (all RemovedPeople) Of(id approver.Identity, who approver.Person) (Removal, bool) {
	for _, r := range all {
		if r.Stands() && r.is(id, who) {
			return r, true
		}
	}
	return Removal{}, false
}

// InForce returns the removals in force.
func (all RemovedPeople) InForce() []Removal {
	return slices.DeleteFunc(slices.Clone(all), func(r Removal) bool { return !r.Stands() })
}

// takesBack reports whether a yes is void because the person who gave it was removed after it,
// even if they were brought back.
func (all RemovedPeople) takesBack(res approver.Resolution) bool {
	return res.Cause == approver.ByPerson && res.Approve && slices.ContainsFunc(all, func(r Removal) bool {
		return r.is(res.Identity, res.Person) && (r.Stands() || !res.At.After(r.Back))
	})
}

// Line describes the removal for people.
func (r Removal) Line() string {
	text := fmt.Sprintf("%s was removed by %s at %s", display.SafeLine(r.Person), display.SafeLine(r.By),
		r.At.UTC().Format("2006-01-02 15:04 UTC"))
	if r.Reason != "" {
		text += " (" + display.SafeLine(r.Reason) + ")"
	}
	if r.Ended != "" {
		text += ", which ended: " + display.SafeLine(r.Ended)
	}
	if r.Last.IsZero() {
		return text
	}
	text += fmt.Sprintf(", and anew by %s at %s", display.SafeLine(r.LastBy), r.Last.UTC().Format("2006-01-02 15:04 UTC"))
	if r.LastReason != "" {
		text += " (" + display.SafeLine(r.LastReason) + ")"
	}
	return text
}

// check refuses names and accounts that cannot be on an approver list.
func (r Removal) check() error {
	if len(r.Person) > MaxName {
		return fmt.Errorf("the name of whom to remove has %d bytes; no approver list has one of more than %d", len(r.Person),
			MaxName)
	}
	for _, id := range r.Identities {
		if n := len(id.Channel) + len(id.ID); n > MaxName {
			return fmt.Errorf("an account of whom to remove has %d bytes; no approver list has one of more than %d", n, MaxName)
		}
	}
	if n := len(r.Identities); n > MaxAccounts {
		return fmt.Errorf("whom to remove has %d accounts, more than the %d that a person may have: take some out of the "+
			"approver lists", n, MaxAccounts)
	}
	return nil
}

// bounded shortens the texts of a removal. It is still of the same people.
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

// ErrOnlyRoot means that a user other than root tried to remove root of this machine. Root is
// the last resort if an agent has the daemon's own uid, so that uid must not remove root.
var ErrOnlyRoot = errors.New("uid 0 is root of this machine, whom root alone removes: " +
	display.AsRoot("people remove terminal:0"))

// namesRoot reports whether a removal removes root.
func (r Removal) namesRoot() bool {
	id, who := Owner()
	return r.Person == who.ID || slices.Contains(r.Identities, id)
}

// sparesRoot is the removal as a user other than root may make it: root's account is left out,
// and no longer counts as one of the person.
func (r Removal) sparesRoot() (Removal, error) {
	id, who := Owner()
	if r.Person == who.ID {
		return r, ErrOnlyRoot
	}
	r.Identities = slices.DeleteFunc(slices.Clone(r.Identities), func(of approver.Identity) bool { return of == id })
	return r, nil
}

// placeOf is the index of the removal that a new one replaces: the one of the same person in
// force, else one that is over, or -1. Only root reopens a removal of its own account that is
// over.
func placeOf(gone Removal, all []Removal) int {
	same := func(r Removal) bool { return r.Person == gone.Person }
	if at := slices.IndexFunc(all, func(r Removal) bool { return same(r) && r.Stands() }); at >= 0 {
		return at
	}
	return slices.IndexFunc(all, func(r Removal) bool { return same(r) && (gone.ByRoot || !r.namesRoot()) })
}

// accounts names identities for people.
func accounts(ids []approver.Identity) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = approver.SelfPerson(id.Channel, id.ID)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
