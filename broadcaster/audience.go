package broadcaster

import (
	"errors"
	"slices"

	"approver.example"
)

// This file holds to whom a request is put: a verdict may name the channels that
// show it and the people whose yes counts. Whoever is on the approver list may
// say no.

// ErrNotAsked means that somebody said yes who is not among those whom a request
// is for, or on a channel that does not show it.
var ErrNotAsked = errors.New("the request is for other people")

// errNobody means that of all whom a verdict names nobody can be asked.
var errNobody = errors.New("nobody who may decide this can be asked")

// errNobodyLeft means that no answer of anybody counts: all were removed, or what the
// configuration has of people waits to be approved by somebody.
var errNobodyLeft = errors.New("nobody is left whose answers count: see docs/nobody.md")

// shownOn reports whether a channel may show the request.
func shownOn(v approver.Verdict, channel string) bool {
	return len(v.Channels) == 0 || slices.Contains(v.Channels, channel)
}

// isFor reports whether a person's yes counts.
func isFor(v approver.Verdict, who approver.Person) bool {
	return who.ID != "" && (len(v.Approvers) == 0 || slices.Contains(v.Approvers, who.ID))
}

// admits returns ErrNotAsked for a yes that does not count.
func admits(v approver.Verdict, res approver.Resolution) error {
	if res.Approve && (!isFor(v, res.Person) || !shownOn(v, res.Identity.Channel)) {
		return ErrNotAsked
	}
	return nil
}
