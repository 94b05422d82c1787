package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file is for people who did not ask for a call. Somebody, or something, else drives the agent.

// evidenceFor is how many times longer than others a request is kept that somebody disowned.
const evidenceFor = 7

// A Disowned says who did not ask for a call, and whether they denied it with that.
type Disowned struct {
	By string `json:"by"`
	No bool   `json:"no,omitempty"`
}

// Disown notes that a person did not ask for the call, whatever became of the request, and denies it if it
// is open. Its record is evidence, and every card says so.
func (r Request) Disown(res approver.Resolution, deed Deed, now time.Time) (Request, error) {
	if r.Disowned.By != "" {
		return r, errNoChange
	}
	next, err := r.Answer(res, now)
	no := err == nil
	if errors.Is(err, approver.ErrOverdue) {
		next, err = r.Expire(now)
	}
	if err != nil {
		next = r
	}
	next.Disowned = Disowned{By: deed.By, No: no && next.State == approver.Denied}
	next.Postings = next.Postings.redrawn()
	deed.At = now
	return next.with(deed), nil
}

// disowned is what the result of a request says of who disowned it; empty if nobody did, or if the result
// says so already.
func disowned(r Request) display.Message {
	if r.Disowned.By == "" || r.Disowned.No {
		return display.Message{}
	}
	return display.Msg(" · 🚫 %s did not ask for this: its agent was frozen", r.Disowned.By)
}

// whoOf names the agent of a call in its project.
func (o *Options) whoOf(call approver.ToolCall) Who {
	who := Who{Peer: call.Peer, Agent: call.Agent, Project: cmp.Or(call.Dir, "/"), Session: call.Session}
	if call.Dir != "" && o.Project != nil {
		who.Project = o.Project(call.Dir)
	}
	return who
}

// disown denies a request that nobody asked for, freezes its agent, and tells everybody. It only
// tightens, so it works for every approver and in every state of the request.
func (a *Answers) disown(ctx context.Context, rep approver.Reply, who approver.Person) (Request, told) {
	r, none := a.shownHere(ctx, rep, who)
	if none != nil {
		return r, *none
	}
	if !disownable(r.Call) {
		return r, newOutcome(approver.OutcomeRefused, "This is a question of approver's own, which no agent asked. Deny it "+
			"instead: nothing was changed.")
	}
	ctx = context.WithoutCancel(ctx) // from here on it is done whole
	res := approver.Resolution{
		Cause: approver.ByPerson, Person: who, Method: rep.Method, Reason: reasonOf(rep), Conversation: rep.Conversation,
		Identity: approver.Identity{Channel: rep.Channel, ID: rep.Sender},
	}
	deed := deedOf(approver.EventDisowned, rep, who, time.Now(),
		nameOf(who, rep)+" did not ask for this call: its agent is frozen")
	id := r.ID
	err := whenThere(ctx, func() (err error) {
		r, err = a.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
			return r.Disown(res, deed, now)
		})
		return err
	})
	switch {
	case errors.Is(err, errNoChange) && len(r.Deeds) == 0:
		return r, a.disownedBefore(ctx, r)
	case err != nil && !errors.Is(err, errNoChange):
		a.Log.Error("a no could not be stored; the freeze of the agent does it", "request", id, "error", err)
		if err = a.deeds.carryOut(ctx, r, deed); a.deeds.hasHeld(id) {
			a.deeds.alerts.now(r, deed.By)
		}
	default:
		err = a.deeds.finish(ctx, r)
	}
	a.editor.settle(id)
	if fresh, err := a.requests.loadPatiently(ctx, id); err == nil {
		r = fresh
	}
	kind, fate := disownedFate(r, answeredBy(r.Resolution, rep, who))
	if err != nil {
		return r, newOutcome(kind, "%s Not all that follows is done yet; approver goes on trying: %s", fate, err.Error())
	}
	return r, newOutcome(kind, "%s Every call of %s is denied until people lift that with approver unfreeze, and every "+
		"yes to it is void. All chats are being told.", fate, a.whoOf(r.Call).says())
}

// disownedBefore tells of a request that somebody disowned before. People may have lifted the freeze since,
// so it is not made anew.
func (a *Answers) disownedBefore(ctx context.Context, r Request) told {
	kind, fate := disownedFate(r, false)
	if _, frozen := a.controls.held(ctx, r.Call); frozen {
		return newOutcome(kind, "%s %s has said so before: its agent is frozen.", fate, r.Disowned.By)
	}
	return newOutcome(kind, "%s %s has said so before. People have lifted the freeze of its agent since: /freeze stops "+
		"everything.", fate, r.Disowned.By)
}

// disownedFate says what became of the request that was disowned. mine reports that the no of the person
// who disowned it stands.
func disownedFate(r Request, mine bool) (approver.OutcomeKind, display.Message) {
	res, settled := r.Told()
	name, where := cmp.Or(res.Person.Name, res.Person.ID), display.Platform(res.Identity.Channel)
	switch {
	case r.Disowned.No && mine:
		return approver.OutcomeDenied, display.Msg("Denied: the agent has been told that you did not ask for this.")
	case settled && res.Approve:
		return approver.OutcomeTooLate,
			display.Msg("Too late for this call: %s approved it via %s, and it has been released.", name, where)
	case settled && res.Cause == approver.ByPerson:
		return approver.OutcomeShown, display.Msg("%s had denied this call already, via %s.", name, where)
	case settled:
		return approver.OutcomeShown, display.Msg("This call did not run: %s.", sentence(res.Cause))
	}
	return approver.OutcomeRefused, display.Msg("This call could not be denied by itself.")
}
