package broadcaster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"approver.example"
	"approver.example/display"
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

// audience returns where the cards of a request go. If the verdict names channels
// or people and nobody among them could approve it, it is errNobody.
func (a *Approvers) audience(v approver.Verdict) ([]approver.Destination, error) {
	people := a.Counting()
	if len(people) == 0 && len(a.destinations) > 0 {
		return nil, errNobodyLeft
	}
	to := slices.DeleteFunc(slices.Clone(a.destinations), func(d approver.Destination) bool { return !shownOn(v, d.Channel) })
	if len(v.Channels) == 0 && len(v.Approvers) == 0 {
		return to, nil
	}
	for id, who := range people {
		if !a.channels.takes(id.Channel, v.Severity) {
			continue
		}
		if isFor(v, who) && slices.ContainsFunc(to, func(d approver.Destination) bool { return d.Channel == id.Channel }) {
			return to, nil
		}
	}
	who, where := "nobody", "any channel"
	if len(v.Approvers) > 0 {
		who = "none of " + a.names(v.Approvers)
	}
	if len(v.Channels) > 0 {
		where = strings.Join(v.Channels, " or ")
	}
	return nil, fmt.Errorf("%w: %s can approve it on %s", errNobody, who, where)
}

// names writes the people with these ids for people.
func (a *Approvers) names(ids []string) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id
		var known []string
		for who := range maps.Values(*a.people.Load()) {
			if who.ID == id && who.Name != "" {
				known = append(known, who.Name)
			}
		}
		if len(known) > 0 { // one person may have a name on each platform
			names[i] = slices.Min(known)
		}
	}
	return strings.Join(names, ", ")
}

// notAskedText tells a person that their yes does not count, and whose would.
func (a *Approvers) notAskedText(v approver.Verdict, who approver.Person) string {
	if isFor(v, who) {
		where := make([]string, len(v.Channels))
		for i, channel := range v.Channels {
			where[i] = display.Platform(channel)
		}
		return "This request is answered on " + strings.Join(where, " or ") + ": your yes here does not count. You may deny it here."
	}
	return "This request is for " + a.names(v.Approvers) + ": your yes does not count. You may deny it."
}
