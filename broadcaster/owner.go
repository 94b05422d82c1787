package broadcaster

import (
	"context"
	"errors"
	"time"

	"approver.example"
)

// This file is the way out where nobody on an approver list can approve: root of this
// machine may, by the word of the kernel, where neither daemon nor agent is root.

// OwnerApproves enters root's yes to a request, of which root has typed the code that
// the daemon made for it. shown is what [Cards.Shown] said of what root has read. It
// goes the way of every other answer.
func (a *Answers) OwnerApproves(ctx context.Context, id string, shown int) approver.Outcome {
	as, who := Owner()
	rep := approver.Reply{
		Channel: as.Channel, Sender: as.ID, Name: who.Name, Approve: true, Method: approver.ByCode, Request: id, Shown: shown,
	}
	r, out := a.ownerApproves(ctx, rep, as, who)
	if out.Kind != approver.OutcomeApproved && out.Kind != approver.OutcomeRecorded {
		a.noteRefusal(ctx, rep, r, out)
	}
	return out
}

func (a *Answers) ownerApproves(
	ctx context.Context, rep approver.Reply, as approver.Identity, who approver.Person,
) (Request, approver.Outcome) {
	r, err := a.requests.loadPatiently(ctx, rep.Request)
	switch {
	case errors.Is(err, approver.ErrNotFound):
		return r, approver.Outcome{
			Kind: approver.OutcomeUnknown, Text: "There is no such request: approver pending lists those that are open.",
		}
	case err != nil:
		return r, *a.finder.trouble(err)
	case r.State.Settled():
		return r, outcomeOf(r, rep, who)
	}
	if why := a.approvers.OwnerMay(ctx, r); why != "" {
		return r, approver.Outcome{Kind: approver.OutcomeRefused, Text: "Root cannot approve it: " + why}
	}
	a.log.Warn("root of this machine approves, because nobody else can", "request", r.ID, "why",
		a.approvers.Nobody(r.Verdict.Severity))
	res := approver.Resolution{Approve: true, Cause: approver.ByPerson, Person: who, Method: rep.Method, Identity: as}
	return a.enter(ctx, r, Posting{}, rep, res, time.Now())
}
