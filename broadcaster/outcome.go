package broadcaster

import (
	"cmp"
	"context"
	"time"

	"approver.example"
	"approver.example/display"
)

// told is what a person is told of their reply: in English for the audit, and what it is in their
// language.
type told struct {
	approver.Outcome

	says display.Message
	away bool // the store does not answer: it would be another outcome once it does
}

func newOutcome(kind approver.OutcomeKind, format string, args ...any) told {
	return outcomeOfMessage(kind, display.Msg(format, args...))
}

func outcomeOfMessage(kind approver.OutcomeKind, says display.Message) told {
	return told{Outcome: approver.Outcome{Kind: kind, Text: display.Texts{}.Message(says)}, says: says}
}

// in is the outcome in a language.
func (o told) in(t display.Texts) approver.Outcome {
	return approver.Outcome{Kind: o.Kind, Text: t.Message(o.says), Details: o.Details}
}

// outcome waits until a person may be told what became of their answer, and tells it: that it
// counts, or who was first.
func (a *Answers) outcome(ctx context.Context, r Request, rep approver.Reply, who approver.Person) (Request, told) {
	wait := ReplyWait
	if r.Parked {
		wait = parkedWait // most likely nobody is there to take it
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	r, settled := a.requests.untilSettled(ctx, r)
	if settled {
		r, settled = a.releases.awaitHandover(ctx, r)
	}
	mine := answeredBy(r.Resolution, rep, who) && rep.Approve == r.Resolution.Approve
	pending := newOutcome(approver.OutcomeRecorded, "Your yes is recorded. The card says in a moment what became of it.")
	second := newOutcome(approver.OutcomeTooLate, "Somebody else has already answered this request.")
	if r.Resolution.Approve && who.ID != "" && who.ID == r.Resolution.Person.ID { // from whichever account
		second = newOutcome(approver.OutcomeTooLate,
			"Too late: your own yes came first. approver freeze stops what has not run yet.")
	}
	if !settled {
		switch {
		case mine && r.Granted():
			return r, outcomeOfMessage(approver.OutcomeRecorded, granted(r))
		case mine && (r.State == approver.Approved || r.State == approver.Consumed):
			return r, newOutcome(approver.OutcomeRecorded, "Your yes is recorded. The agent has not taken it yet; "+
				"if it does not before the deadline, nothing runs.")
		}
		return r, second
	}
	if r.EndedBy == a.process {
		if err := a.history.follow(ctx, r); err != nil && r.State == approver.Consumed {
			slow := ctx.Err() != nil // the record may be made in a moment
			if !slow {
				a.Log.Error("audit failed", "request", r.ID, "error", err)
			}
			switch {
			case !mine:
				return r, second
			case slow:
				return r, pending
			}
			return r, newOutcome(approver.OutcomeRecorded,
				"Your answer is stored, but the audit has a problem. Look at approver's log.")
		}
		a.editor.settle(r.ID)
	}
	if mine && r.Withheld != approver.NoCause && r.hasUntaken(r.Also) { // most likely the others do not get it either
		return r, pending
	}
	out := outcomeOf(r, rep, who)
	if out.Kind == approver.OutcomeApproved && r.Call.AboutApprover() {
		return r, a.carriedOut(ctx, r.Call)
	}
	if out.Kind == approver.OutcomeApproved && r.Resolution.Grant.Lasts() {
		out = a.keptOutcome(ctx, r)
	}
	return r, out
}

// keptOutcome tells of a yes for longer than once whether it is kept.
func (a *Answers) keptOutcome(ctx context.Context, r Request) told {
	if until, ok := a.grants.awaitLasting(ctx, r); ok {
		return newOutcome(approver.OutcomeApproved, "Approved: released to the agent. The very same call runs without "+
			"asking until %s; approver grants lists and revokes that.", until.UTC().Format("15:04:05 UTC"))
	}
	return newOutcome(approver.OutcomeApproved,
		"Approved: %s. It could not be kept for longer: the same call is asked again.", released(r))
}

// outcomeOf is what a person is told of their reply to a settled request.
func outcomeOf(r Request, rep approver.Reply, who approver.Person) told {
	res, settled := r.Told()
	name, where := cmp.Or(res.Person.Name, res.Person.ID), display.Platform(res.Identity.Channel)
	mine := answeredBy(res, rep, who)
	late := approver.OutcomeTooLate
	if !rep.Code.IsZero() {
		late = approver.OutcomeUsed
	}
	switch {
	case !settled:
		return newOutcome(approver.OutcomeRefused, "The request is still open; this answer does not count.")
	// The agent left, maybe during the release.
	case unusedYes(r, rep, who) && res.Cause == approver.AgentGone && !r.Parked:
		return newOutcome(approver.OutcomeExpired, "Your yes released nothing: %s.", sentence(res.Cause))
	case unusedYes(r, rep, who):
		return newOutcome(approver.OutcomeExpired, "Your yes came in time, but approver released nothing: %s.",
			sentence(res.Cause))
	case res.Cause != approver.ByPerson:
		return newOutcome(approver.OutcomeExpired, "Too late: %s, so approver released nothing.", sentence(res.Cause))
	case mine && res.Approve && rep.Approve && rep.Grant.Lasts() && !res.Grant.Lasts():
		return newOutcome(approver.OutcomeApproved, "Approved: %s, by your first answer. "+
			"Your %q came after it and counts for nothing: the same call is asked again.", released(r), rep.Grant.String())
	case mine && res.Approve && rep.Approve && r.Call.AboutApprover():
		return outcomeOfMessage(approver.OutcomeApproved, r.Call.Display().Approved())
	case mine && res.Approve && rep.Approve:
		return outcomeOfMessage(approver.OutcomeApproved, outcomeText(r))
	case mine && !res.Approve && !rep.Approve:
		return denied(res, rep)
	case res.Approve:
		return newOutcome(late, "Too late: %s approved it via %s, %s.", name, where,
			display.Msg(fateTextsOf(r).late))
	}
	return newOutcome(late, "Too late: %s denied it via %s.", name, where)
}

// answeredBy reports that an answer is the person's own, from the account that replies now.
func answeredBy(res approver.Resolution, rep approver.Reply, who approver.Person) bool {
	return res.Person.ID == who.ID && res.Identity == (approver.Identity{Channel: rep.Channel, ID: rep.Sender})
}

// unusedYes reports that an answer is the yes that ended r, and that nothing was released.
func unusedYes(r Request, rep approver.Reply, who approver.Person) bool {
	res, settled := r.Told()
	return settled && rep.Approve && !res.Approve && res.Cause != approver.ByPerson && who.ID != "" &&
		answeredBy(res, rep, who)
}

// wasInTime reports that an answer arrived before the deadline, although it was stored after
// it: the store was away, or the note of its card was late.
func (a *Answers) wasInTime(ctx context.Context, r Request, began time.Time) bool {
	now, err := a.Store.Now(ctx)
	return err == nil && now.Add(-time.Since(began)).Before(r.Due)
}

// carryOutIn is how long a person waits to hear that what they approved has taken effect.
const carryOutIn = 3 * time.Second

// carriedOut tells the person who said yes to a question about approver what became of it.
func (a *Answers) carriedOut(ctx context.Context, call approver.ToolCall) told {
	var done func(Controls, time.Time) bool
	var well told
	switch call.Control {
	case "unfreeze":
		well = newOutcome(approver.OutcomeApproved,
			"Approved: the freeze is lifted. What was denied or burned stays so.")
		done = func(c Controls, _ time.Time) bool { return c.FrozenText() == "" }
	case "pause":
		well = newOutcome(approver.OutcomeApproved, "Approved: the pause has begun.")
		done = func(c Controls, now time.Time) bool { return c.Paused(approver.High, now) }
	case "observe":
		well, done = newOutcome(approver.OutcomeApproved, "Approved: observe mode has begun."), Controls.Observing
	default:
		return outcomeOfMessage(approver.OutcomeApproved, call.Display().Approved())
	}
	for until := time.Now().Add(carryOutIn); ctx.Err() == nil && time.Now().Before(until); {
		if c, now, err := a.controls.Load(ctx); err == nil && done(c, now) {
			return well
		}
		_ = sleep(ctx, retryEvery)
	}
	return newOutcome(approver.OutcomeRecorded,
		"Your yes is recorded, and it is not seen to have taken effect: look at approver status and approver's log.")
}

// proposed is what somebody is told who approved for always: the rule to add to the policy. It
// loosens nothing.
func (a *Answers) proposed(r Request) display.Message {
	if a.Rule == nil {
		return display.Msg("approver never makes a yes last for ever by itself; write a rule of the policy for that.")
	}
	rule, err := a.Rule(r.Call)
	switch {
	case err != nil:
		return display.Msg("approver never makes a yes last for ever by itself; no rule of the policy can be written of "+
			"this call, because %s.", err)
	case len(rule) > maxProposed:
		return display.Msg("approver never makes a yes last for ever by itself; approver grants propose %s shows the "+
			"rule for the policy.", r.ID)
	}
	return display.Msg("approver never makes a yes last for ever by itself; put this rule into the policy, first in "+
		"rules, and people are asked once more whether that is meant:\n%s", display.Shown(rule))
}

// maxProposed bounds a rule that fits into a message on every platform, in bytes.
const maxProposed = 1000
