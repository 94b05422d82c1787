package hooks

import (
	"cmp"
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
	// by is the courier's id of the call that was answered. permits are the reports that may still come: one for
	// each hook of the call or, for an id that is derived from what the call is, for each call. deniedIn are,
	// for such an id, the folders where one was denied.
	by       string
	permits  []permit
	deniedIn []string
}

// A permit lets one report pass of those that are the same.
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
		out := u.over(old)
		switch {
		case u.outcome != permitted || u.by == "":
			out.permits = old.permits
		case u.content == old.content:
			out.permits = u.permitted(ev, old.permits)
		default:
			out.permits = u.permitted(ev, nil)
		}
		return out
	}
	// The same call comes again with the same id, so a new answer replaces an older one, and each
	// permission counts by itself.
	u.permits, u.deniedIn = u.permitted(ev, old.permits), old.deniedIn
	if u.outcome == denied && !slices.Contains(old.deniedIn, ev.Call.Dir) {
		u.deniedIn = append(newest(old.deniedIn), ev.Call.Dir)
	}
	if u.asked == "" {
		u.asked = old.asked
	}
	u.lasting = u.lasting || old.lasting
	return u
}

// permitted returns the permissions with that of a newer answer, if it is one and of another courier.
func (u use) permitted(ev agents.Event, old []permit) []permit {
	known := slices.ContainsFunc(old, func(p permit) bool { return p.By != "" && p.By == u.by })
	if u.outcome != permitted || known {
		return old
	}
	return append(newest(old), permit{u.by, u.asked, ev.Call.Dir})
}

// newest returns a copy of a list with room for one more.
func newest[T any](all []T) []T {
	all = all[max(0, len(all)-maxPermits+1):]
	return append(make([]T, 0, len(all)+1), all...)
}

// ran returns what was told about a call that ran, and what is left of it for the next report with the
// same id: an agent that has two hooks of approver's asks with both about a call, and reports it with both.
//
// Of derived ids, the newest permission in the folder of the report counts, or else the newest at all, because
// the call may have changed the folder. But one that was denied in that folder is not let go by a permission
// in another.
func (u use) ran(ev agents.Event) (was, left use) {
	was, left = u, u
	switch last := len(u.permits) - 1; {
	case !ev.Derived && u.outcome == permitted && last > 0:
		was.asked, left.asked, left.permits = u.permits[last].Asked, "", u.permits[:last] // it has run: see over
		return was, left
	case !ev.Derived && last == 0:
		was.asked = cmp.Or(u.asked, u.permits[0].Asked)
		return was, use{}
	case !ev.Derived || last < 0:
		return was, use{}
	}
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
