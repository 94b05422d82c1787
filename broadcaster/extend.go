package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file gives a request more time.

// maxMore is how often a request may get approver.MoreTime, and leastMore is the least that is worth it
// where an agent does not wait as long as that.
const (
	maxMore   = 2
	leastMore = time.Minute
)

// parkMargin is what is left before the deadline of a courier to tell its agent to come back.
const parkMargin = 2 * time.Second

// returns reports that the agent can be told to come back with the same call. A courier that
// acknowledges is the hook of an agent, which hears it. Nobody comes back with a question of the agent's
// own.
func (r Request) returns() bool {
	return r.Parked || !r.ParkAt.IsZero() || r.Call.Acks && !r.Verdict.Prompt && !r.Call.AboutApprover()
}

// longer is until when the request can be made to wait, or why it cannot wait longer.
func (r Request) longer() (due time.Time, why display.Message) {
	due = r.Due.Add(approver.MoreTime)
	hears := r.Deadline.Add(-AnswerMargin)
	switch {
	case r.State != approver.Pending:
		return due, display.Msg("This request has been answered, so it cannot wait longer.")
	case r.More >= maxMore:
		return due, display.Msg("This request has got more time %d times, which is as often as it can. Nothing was changed.",
			maxMore)
	case r.returns() || !due.After(hears):
		return due, display.Message{}
	case hears.Sub(r.Due) < leastMore:
		return due, display.Msg("Whoever asked waits no longer than until %s, so this request cannot. Nothing was changed.",
			hears.UTC().Format("15:04:05 UTC"))
	}
	return hears, display.Message{}
}

// sameTap is how long a second wish for more time by the same person counts as the first: a thumb may press
// twice.
const sameTap = 15 * time.Second

// Errors of Extend.
var errNotLonger = errors.New("the request cannot wait longer")

// Extend makes the request wait longer, because somebody wants more time. Where its courier does not
// wait as long as that, the agent is told to come back: see Park. An event counts once.
func (r Request) Extend(by, event string, now time.Time) (Request, error) {
	due, why := r.longer()
	leave := r.Deadline.Add(-parkMargin)
	switch {
	case r.State != approver.Pending:
		return r, ErrSettled
	case !now.Before(r.Due):
		return r, approver.ErrOverdue
	case r.Events.has(event), r.MoreLast == by && now.Sub(r.MoreAt) < sameTap:
		return r, errNoChange
	case why.Format != "":
		return r, errNotLonger
	case r.Parked:
		r.TakeBy = due.Add(GrantMargin)
	case r.ParkAt.IsZero() && due.After(r.Deadline.Add(-AnswerMargin)):
		if !now.Before(leave) { // it may be gone before it hears of this
			return r, errNotLonger
		}
		r.ParkAt = leave
	}
	if r.MoreBy = strings.TrimPrefix(r.MoreBy+", "+by, ", "); r.MoreLast == by {
		r.MoreBy = by
	}
	r.Due, r.More, r.MoreLast, r.MoreAt, r.Events = due, r.More+1, by, now, r.Events.with(event)
	return r, nil
}

// parkAt is when the courier of a call is to tell its agent to come back, by the clock of this process;
// zero is never. A request that got more time, or has a wait of its own, may wait longer than its courier.
func parkAt(ctx context.Context, r Request, call approver.ToolCall) time.Time {
	if deadline, ok := ctx.Deadline(); ok && call.ParkAt.IsZero() && (r.More > 0 || r.Renews) && r.returns() {
		return deadline.Add(-parkMargin)
	}
	return call.ParkAt
}

// moreTime makes a request wait longer.
func (a *Answers) moreTime(ctx context.Context, rep approver.Reply, who approver.Person) (Request, told) {
	r, none := a.shownHere(ctx, rep, who)
	if none != nil {
		return r, *none
	}
	if admits(r.Verdict, approver.Resolution{
		Approve: true, Person: who, Identity: approver.Identity{Channel: rep.Channel, ID: rep.Sender},
	}) != nil {
		return r, newOutcome(approver.OutcomeRefused, "This request is for others: only they can have more time for it.")
	}
	by, id := nameOf(who, rep), r.ID
	err := whenThere(ctx, func() (err error) {
		r, err = a.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
			next, err := r.Extend(by, eventOf(rep), now)
			if err != nil {
				return next, err
			}
			deed := deedOf(approver.EventExtended, rep, who, now, fmt.Sprintf("%s has more time, from %s to %s: time %d of %d",
				by, r.Due.UTC().Format(time.RFC3339), next.Due.UTC().Format(time.RFC3339), next.More, maxMore))
			deed.N = next.More
			return next.with(deed), nil
		})
		return err
	})
	if err != nil && !errors.Is(err, errNoChange) {
		return r, a.notLonger(r, rep, who, err)
	}
	a.editor.updateCounts(r)
	says := display.Msg("This request waits until %s now.", r.Due.UTC().Format("15:04:05 UTC"))
	if r.More >= maxMore {
		says = display.Msg("%s It can get no more time.", says)
	}
	if a.deeds.finish(context.WithoutCancel(ctx), r) != nil {
		says = display.Msg("%s The audit has a problem: look at approver's log.", says)
	}
	return r, outcomeOfMessage(approver.OutcomeShown, says)
}

// notLonger says why a request does not wait longer.
func (a *Answers) notLonger(r Request, rep approver.Reply, who approver.Person, err error) told {
	_, why := r.longer()
	switch {
	case errors.Is(err, errNotLonger) && why.Format != "":
		return outcomeOfMessage(approver.OutcomeRefused, why)
	case errors.Is(err, errNotLonger):
		return newOutcome(approver.OutcomeRefused, "Its agent stops waiting in a moment, so it cannot wait longer.")
	case errors.Is(err, ErrSettled) && r.State.Settled() && r.Resolution.Cause != approver.ByPerson:
		return outcomeOf(r, rep, who)
	case errors.Is(err, ErrSettled):
		return outcomeOfMessage(approver.OutcomeTooLate, why)
	case errors.Is(err, approver.ErrOverdue):
		return newOutcome(approver.OutcomeExpired, "Too late: the time of this request is over.")
	}
	return *a.trouble(err)
}

// moreLine says on a card who has more time for it; empty if nobody has.
func moreLine(r Request) display.Message {
	if r.More == 0 || r.MoreBy == "" {
		return display.Message{}
	}
	return display.Msg("⏱ %d more minutes by %s.", int(approver.MoreTime.Minutes())*r.More, r.MoreBy)
}
