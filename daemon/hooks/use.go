package hooks

import (
	"context"
	"errors"
	"slices"

	"approver.example"
	"approver.example/agents"
)

// An outcome is what the agent was told about a call. The zero value is an unknown call.
type outcome uint8

// The outcomes. If there are several for the same id, the greatest counts, so that a second,
// harmless call under the id of a denied one does not hide the denial.
const (
	unanswered outcome = iota + 1 // being judged, or the courier went away before the answer
	permitted
	denied
	taken // it was permitted and ran; occurs only in the store
)

// outcomeOf returns how an agent understands an answer. A courier that hung up was told
// nothing, and may come back with the same call.
func outcomeOf(ctx context.Context, v approver.Verdict, told agents.Answer) outcome {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return unanswered
	case told.Exit() == 0 && !told.Blocks && v.Decision > approver.Ask:
		return permitted
	}
	return denied
}

// A use is one call of an agent: what the agent was told, and about which content.
type use struct {
	outcome outcome
	content agents.Content // what was permitted, or else the content of the one call that was not
	lasting bool           // it is in the store too
	report  string         // if taken: the courier's id of the report
	asked   string         // if people approved it, or a question about it: the courier's id of the call or question
	// about is what a question of the agent about this call has, too; see promptKey. It is zero once the
	// turn is over, and not stored.
	about useKey
	// by is the courier's id of the call that was answered. permits are, for an id that is derived from what
	// the call is, the calls that may still run.
	by      string
	permits []permit
}

// A permit lets one call run of those that are the same.
type permit struct {
	By    string `json:"by,omitempty"`    // the courier's id of the call; a courier can come back
	Asked string `json:"asked,omitempty"` // as in use
}

// maxPermits bounds the permissions of an agent that reports nothing. Only the newest are kept.
const maxPermits = 64

// after merges a newer answer for the id of an event with an older one.
func (u use) after(ev agents.Event, old use) use {
	if !ev.Derived {
		return u.over(old)
	}
	// The same call comes again with the same id, so a new answer replaces an older one, and each
	// permission counts by itself.
	to := permit{u.by, u.asked}
	known := slices.ContainsFunc(old.permits, func(p permit) bool { return p.By != "" && p.By == to.By })
	u.permits = old.permits
	if u.outcome == permitted && !known {
		u.permits = append(slices.Clone(old.permits[max(0, len(old.permits)-maxPermits+1):]), to)
	}
	if u.asked == "" {
		u.asked = old.asked
	}
	u.lasting = u.lasting || old.lasting
	return u
}

// ran returns what was told about a call that ran, and what is left of it for the next call with the
// same id.
func (u use) ran(ev agents.Event) (was, left use) {
	last := len(u.permits) - 1
	if !ev.Derived || last < 0 {
		return u, use{}
	}
	was = u
	was.outcome, was.asked = permitted, u.permits[last].Asked
	if last == 0 {
		return was, use{}
	}
	left = u
	left.permits = u.permits[:last]
	return was, left
}

// over merges a newer answer for an id with an older one. If a call was permitted, the newest
// permitted content counts. Otherwise the content is kept only if both answers are about the
// same.
func (u use) over(old use) use {
	out := use{outcome: max(u.outcome, old.outcome), content: old.content, lasting: u.lasting || old.lasting,
		asked: old.asked, about: u.about}
	if u.asked != "" {
		out.asked = u.asked
	}
	switch {
	case u.outcome == 0:
	case u.outcome == permitted || old.outcome == 0:
		out.content = u.content
	case old.outcome != permitted && old.content != u.content:
		out.content = agents.Content{}
	}
	return out
}
