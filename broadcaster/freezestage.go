package broadcaster

import (
	"cmp"
	"context"

	"approver.example"
	"approver.example/display"
)

// FreezeStage is the first stage of a Gate. It denies every call during a freeze, and those of
// an agent that is frozen. It fails if the store does not answer within StorePatience.
type FreezeStage struct {
	Store approver.KV
	Mark  *ControlMark // of the Broadcaster; nil notices no record that is older
}

// Judge implements Stage.
func (s FreezeStage) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	var c Controls
	err := patiently(ctx, func() (err error) {
		c, err = readControls(ctx, s.Store, s.Mark) // every call waits for this: no clock is read
		return err
	})
	if err != nil {
		return approver.Verdict{}, err
	}
	f, frozen := c.freezeOf(call)
	if !frozen {
		return approver.Verdict{By: approver.FreezeBy, Decision: approver.Pass, Severity: approver.High}, nil
	}
	return approver.Verdict{
		By: approver.FreezeBy, Rule: "frozen", Reason: frozenReason(f), Detail: cmp.Or(f.Who, "everything") + " frozen by " +
			f.By,
	}, nil
}

// frozenReason is what an agent is told.
func frozenReason(f Freeze) string {
	what := "approver is frozen: no call runs"
	if f.Who != "" {
		what = "approver has frozen this agent: no call of it runs"
	}
	text := what + " until people lift it. Do not try again or work around it; ask the user how to go on"
	if f.Reason != "" {
		text += ". The reason given: " + display.OneLine(f.Reason)
	}
	return text
}
