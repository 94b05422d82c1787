package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file is for people who did not ask for a call. Somebody, or something, else drives the agent.

// evidenceFor is how many times longer than others a request is kept that somebody disowned.
const evidenceFor = 7

// Disown notes that a person did not ask for the call, whatever became of the request. Its record is
// evidence, and every card says so.
func (r Request) Disown(by string) (Request, error) {
	if r.Disowned != "" {
		return r, errNoChange
	}
	r.Disowned, r.Postings = by, r.Postings.redrawn()
	return r, nil
}

// disowned is what the result of a request says that somebody disowned; empty if nobody did, or if the
// result names them already.
func disowned(r Request, res approver.Resolution) display.Message {
	if r.Disowned == "" ||
		res.Cause == approver.ByPerson && !res.Approve && strings.HasPrefix(res.Reason, disownedReason) {
		return display.Message{}
	}
	return display.Msg(" · 🚫 %s did not ask for this: its agent was frozen", r.Disowned)
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
	r, mine := a.denyDisowned(ctx, r, rep, who)
	by, agent := nameOf(who, rep), a.whoOf(r.Call)
	_, held := a.controls.held(ctx, r.Call)
	_, err := a.controls.Hold(ctx, agent, by, "a person did not ask for request "+r.ID)
	if first := a.keepEvidence(ctx, r, by, rep); first || !held {
		a.alerts.tell(r, agent, by)
	}
	if fresh, err := a.requests.loadPatiently(ctx, r.ID); err == nil {
		r = fresh
	}
	kind, fate := disownedFate(r, mine)
	if err != nil && !errors.Is(err, ErrFrozen) {
		a.Log.Error("the freeze of an agent had a problem", "request", r.ID, "error", err)
		return r, newOutcome(kind, "%s The freeze had a problem, so everything may be frozen in its place: %s", fate,
			err.Error())
	}
	return r, newOutcome(kind, "%s Every call of %s is denied until people lift that with approver unfreeze, and every "+
		"yes to it is void. All chats are told.", fate, agent.says())
}

// denyDisowned denies a request if it is still open, and reports whether this no stands.
func (a *Answers) denyDisowned(
	ctx context.Context, r Request, rep approver.Reply, who approver.Person,
) (Request, bool) {
	res := approver.Resolution{
		Cause: approver.ByPerson, Person: who, Method: rep.Method, Reason: reasonOf(rep), Conversation: rep.Conversation,
		Identity: approver.Identity{Channel: rep.Channel, ID: rep.Sender},
	}
	id := r.ID
	err := whenThere(ctx, func() (err error) {
		r, err = a.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
			next, err := r.Answer(res, now)
			if errors.Is(err, approver.ErrOverdue) {
				return r.Expire(now)
			}
			return next, err
		})
		return err
	})
	if err != nil && !errors.Is(err, ErrSettled) {
		a.Log.Warn("a no could not be stored; the freeze of the agent does it", "request", id, "error", err)
	}
	if r.State.Settled() {
		a.editor.settle(id)
	}
	return r, err == nil && r.State == approver.Denied && answeredBy(r.Resolution, rep, who)
}

// keepEvidence keeps the record of a request for longer, and records the whole call in the audit. It
// reports whether this is the first time.
func (a *Answers) keepEvidence(ctx context.Context, r Request, by string, rep approver.Reply) bool {
	next, err := a.requests.change(ctx, r.ID, func(r Request, _ time.Time) (Request, error) { return r.Disown(by) })
	if err != nil && !errors.Is(err, errNoChange) {
		a.Log.Error("a request that nobody asked for may not be kept", "request", r.ID, "error", err)
	}
	if err == nil {
		a.editor.settle(r.ID)
	}
	rec := eventRecord(next, approver.EventDisowned, by+" did not ask for this call: its agent is frozen")
	if next.ID == "" {
		rec = eventRecord(r, approver.EventDisowned, rec.Note)
	}
	rec.Reply = rep
	if _, err := a.Audit.Record(ctx, rec); err != nil {
		a.Log.Error("audit failed", "request", r.ID, "error", err)
	}
	return err == nil
}

// disownedFate says what became of the request that was disowned. mine reports that the no of the person
// who disowned it stands.
func disownedFate(r Request, mine bool) (approver.OutcomeKind, display.Message) {
	res, settled := r.Told()
	name, where := cmp.Or(res.Person.Name, res.Person.ID), display.Platform(res.Identity.Channel)
	switch {
	case mine:
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
