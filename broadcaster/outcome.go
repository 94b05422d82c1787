package broadcaster

import (
	"context"
	"time"

	"approver.example"
)

// carryOutIn is how long a person waits to hear that what they approved is done.
const carryOutIn = 3 * time.Second

// carriedOut says to the person whose yes it was what became of it.
func (a *Answers) carriedOut(ctx context.Context, call approver.ToolCall) approver.Outcome {
	var done func(Controls, time.Time) bool
	var text string
	switch call.Control {
	case "unfreeze":
		text = "Approved: the freeze is lifted. What was denied or burned stays so."
		done = func(c Controls, _ time.Time) bool { return c.FrozenText() == "" }
	case "pause":
		text, done = "Approved: the pause has begun.", func(c Controls, now time.Time) bool {
			return c.Paused(approver.High, now)
		}
	case "observe":
		text, done = "Approved: observe mode has begun.", Controls.Observing
	default:
		return approver.Outcome{Kind: approver.OutcomeApproved, Text: call.Display().ApprovedText()}
	}
	for until := time.Now().Add(carryOutIn); ctx.Err() == nil && time.Now().Before(until); {
		if c, now, err := a.controls.Load(ctx); err == nil && done(c, now) {
			return approver.Outcome{Kind: approver.OutcomeApproved, Text: text}
		}
		_ = sleep(ctx, retryEvery)
	}
	return approver.Outcome{Kind: approver.OutcomeRecorded,
		Text: "Your yes is recorded, and it is not seen to have taken effect: look at approver status and approver's log."}
}

// proposed is what is told to somebody who said always: the rule to put into the
// policy. Nothing is loosened by it.
func (a *Answers) proposed(r Request) string {
	text := " approver never makes a yes last for ever by itself; "
	if a.rule == nil {
		return text + "write a rule of the policy for that."
	}
	rule, err := a.rule(r.Call)
	switch {
	case err != nil:
		return text + "no rule of the policy can be written of this call, because " + err.Error() + "."
	case len(rule) > maxProposed:
		return text + "approver grants propose " + r.ID + " shows the rule for the policy."
	}
	return text + "put this rule into the policy, first in rules, " +
		"and people are asked once more whether that is meant:\n" + rule
}

// maxProposed bounds, in bytes, a rule that fits a message on every platform.
const maxProposed = 1000
