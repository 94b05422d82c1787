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
	// the call is, the calls that may still run, and deniedIn the folders where one was denied.
	by       string
	permits  []permit
	deniedIn []string
}

// A permit lets one call run of those that are the same.
type permit struct {
	By    string `json:"by,omitempty"`    // the courier's id of the call; a courier can come back
	Asked string `json:"asked,omitempty"` // as in use
	Dir   string `json:"dir,omitempty"`   // the folder that the agent worked in
}

// maxPermits bounds the permissions of an agent that reports nothing, and the folders. Only the newest are
// kept.
const maxPermits = 64

// after merges a newer answer for the id of an event with an older one.
func (u use) after(ev agents.Event, old use) use {
	if !ev.Derived {
		return u.over(old)
	}
	// The same call comes again with the same id, so a new answer replaces an older one, and each
	// permission counts by itself.
	to := permit{u.by, u.asked, ev.Call.Dir}
	known := slices.ContainsFunc(old.permits, func(p permit) bool { return p.By != "" && p.By == to.By })
	u.permits, u.deniedIn = old.permits, old.deniedIn
	if u.outcome == permitted && !known {
		u.permits = append(newest(old.permits), to)
	}
	if u.outcome == denied && !slices.Contains(old.deniedIn, to.Dir) {
		u.deniedIn = append(newest(old.deniedIn), to.Dir)
	}
	if u.asked == "" {
		u.asked = old.asked
	}
	u.lasting = u.lasting || old.lasting
	return u
}

// newest returns a copy of a list with room for one more.
func newest[T any](all []T) []T { return slices.Clone(all[max(0, len(all)-maxPermits+1):]) }

// ran returns what was told about a call that ran, and what is left of it for the next call with the
// same id. The newest permission in the folder of the report counts, or else the newest at all, because the
// call may have changed the folder. But one that was denied in that folder is not let go by a permission in
// another.
func (u use) ran(ev agents.Event) (was, left use) {
	if !ev.Derived || len(u.permits) == 0 {
		return u, use{}
	}
	was, left = u, u
	at := len(u.permits) - 1
	for at >= 0 && u.permits[at].Dir != ev.Call.Dir {
		at--
	}
	if at < 0 && slices.Contains(u.deniedIn, ev.Call.Dir) {
		was.outcome = denied
		return was, left
	}
	if at < 0 {
		at = len(u.permits) - 1
	}
	was.outcome, was.asked = permitted, u.permits[at].Asked
	if len(u.permits) == 1 {
		return was, use{}
	}
	left.permits = slices.Delete(slices.Clone(u.permits), at, at+1)
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
