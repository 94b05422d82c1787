package quota

import (
	"context"
	"errors"

	"approver.example"
)

// By is what verdicts of [Limited] are signed with.
const By = "quota"

// Limited is a stage that is asked within the limits only: a call beyond a rate is
// blocked and not queued, and one that the day's budget has nothing left for is not
// evaluated. The zero value refuses everything.
type Limited struct {
	Quota *Quota
	Stage approver.Stage
}

// Judge takes a token and an evaluation of the day's budget, and asks the stage. Its
// error is a [RefusedError]. A spent budget is an [approver.UnavailableError] too, so that
// the fail mode counts; a rate and a store that does not answer block in every mode.
func (l Limited) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	err := l.Quota.Evaluate(ctx, Who{Peer: call.Peer, Agent: call.Agent})
	if err == nil {
		err = l.Quota.Spend(ctx, 1)
	}
	if err != nil || l.Stage == nil {
		return refused(errors.Join(err, nilStage(l.Stage)))
	}
	return l.Stage.Judge(ctx, call)
}

func nilStage(s approver.Stage) error {
	if s == nil {
		return errors.New("there is no stage to ask")
	}
	return nil
}

// refused says what becomes of a call that the limits refuse.
func refused(err error) (approver.Verdict, error) {
	v := approver.Verdict{By: By, Tier: approver.TierEvaluation, Reason: reason(err)}
	if errors.Is(err, ErrBudget) && !errors.Is(err, ErrRate) && !errors.Is(err, ErrUnknown) {
		err = &approver.UnavailableError{Err: err}
	}
	return v, err
}

// reason is what the agent is told.
func reason(err error) string {
	var r *RefusedError
	if errors.As(err, &r) {
		return r.Text
	}
	return "the security evaluation that this call needs is not available, so it was blocked"
}
