package broadcaster

import (
	"context"
	"slices"
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
		text, done = "Approved: the pause has begun.", func(c Controls, now time.Time) bool { return c.Paused(approver.High, now) }
	case "observe":
		text, done = "Approved: observe mode has begun.", Controls.Observing
	default:
		return approver.Outcome{Kind: approver.OutcomeApproved, Text: call.Display().ApprovedText()}
	}
	for until := time.Now().Add(carryOutIn); ctx.Err() == nil && time.Now().Before(until); {
		if c, now, err := a.controls.Load(ctx); err == nil && done(c, now) {
			return approver.Outcome{Kind: approver.OutcomeApproved, Text: text}
		}
		timer := time.NewTimer(retryEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return approver.Outcome{Kind: approver.OutcomeRecorded, Text: "Your yes is recorded, and it is not seen to have taken effect: look at approver status and approver's log."}
}

// aboutFreezes reports a question that was asked because of what was, or was not, frozen.
func aboutFreezes(c approver.ToolCall) bool {
	switch c.Control {
	case "unfreeze", "pause", "observe":
		return true
	}
	return false
}

// changedSince reports whether a freeze, of everything or of an agent, began or ended
// after a request was made.
func (c Controls) changedSince(made Request) bool {
	return c.Burned.After(made.Created) || slices.ContainsFunc(c.Holds, func(h Hold) bool {
		return h.At.After(made.Created) || h.Burned.After(made.Created)
	})
}
