package broadcaster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file is the way out where nobody on an approver list can approve: root of this
// machine may, by the word of the kernel, where neither daemon nor agent is root.

// Owner is root as an approver. Root is on no list: a list that names uid 0 for the
// terminal means the same account.
func Owner() (approver.Identity, approver.Person) {
	const terminal, root = "terminal", "0"
	return approver.Identity{Channel: terminal, ID: root}, approver.Person{ID: approver.SelfPerson(terminal, root), Name: "root of this machine"}
}

// ErrOnlyRoot means that somebody else was to remove root of this machine. Root's word is
// the way out where an agent has the daemon's own uid, so that uid must not take it away.
var ErrOnlyRoot = errors.New("uid 0 is root of this machine, whom root alone removes: " + display.AsRoot("people remove terminal:0"))

// namesRoot reports whether a removal takes away what root does by the word of the kernel.
func (r Removal) namesRoot() bool {
	id, who := Owner()
	return r.Person == who.ID || slices.Contains(r.Identities, id)
}

// sparesRoot is the removal as one who is not root may have it: root's account stays, and
// counts no more as that of the person.
func (r Removal) sparesRoot() (Removal, error) {
	id, who := Owner()
	if r.Person == who.ID {
		return r, ErrOnlyRoot
	}
	r.Identities = slices.DeleteFunc(slices.Clone(r.Identities), func(of approver.Identity) bool { return of == id })
	return r, nil
}

// shellWord is a name as a command takes it.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// placeOf is where a removal goes among those that there are: to the one of the same
// person that stands, else to one that is over, or -1. One that is over and that root
// made of its own account is not begun anew by anybody else.
func placeOf(gone Removal, all []Removal) int {
	same := func(r Removal) bool { return r.Person == gone.Person }
	if at := slices.IndexFunc(all, func(r Removal) bool { return same(r) && r.Stands() }); at >= 0 {
		return at
	}
	return slices.IndexFunc(all, func(r Removal) bool { return same(r) && (gone.ByRoot || !r.namesRoot()) })
}

// OwnerApproves enters root's yes to a request, of which root has typed the code that
// the daemon made for it. shown is what [Cards.Shown] said of what root has read. It
// goes the way of every other answer.
func (a *Answers) OwnerApproves(ctx context.Context, id string, shown int) approver.Outcome {
	as, who := Owner()
	rep := approver.Reply{Channel: as.Channel, Sender: as.ID, Name: who.Name, Approve: true, Method: approver.ByCode, Request: id, Shown: shown}
	r, out := a.ownerApproves(ctx, rep, as, who)
	if out.Kind != approver.OutcomeApproved && out.Kind != approver.OutcomeRecorded {
		a.noteRefusal(ctx, rep, r, out)
	}
	return out
}

func (a *Answers) ownerApproves(ctx context.Context, rep approver.Reply, as approver.Identity, who approver.Person) (Request, approver.Outcome) {
	r, err := a.requests.loadPatiently(ctx, rep.Request)
	switch {
	case errors.Is(err, approver.ErrNotFound):
		return r, approver.Outcome{Kind: approver.OutcomeUnknown, Text: "There is no such request: approver pending lists those that are open."}
	case err != nil:
		return r, *a.finder.trouble(err)
	case r.State.Settled():
		return r, outcomeOf(r, rep, who)
	}
	if why := a.approvers.OwnerMay(ctx, r); why != "" {
		return r, approver.Outcome{Kind: approver.OutcomeRefused, Text: "Root cannot approve it: " + why}
	}
	a.log.Warn("root of this machine approves, because nobody else can", "request", r.ID, "why", a.approvers.Nobody(r.Verdict.Severity))
	res := approver.Resolution{Approve: true, Cause: approver.ByPerson, Person: who, Method: rep.Method, Identity: as}
	return a.enter(ctx, r, Posting{}, rep, res, time.Now())
}
