package broadcaster

import (
	"context"
	"errors"

	"approver.example"
)

// This file bounds how often people are asked.

// overLimit is the verdict of a call about which people are not asked, and false
// where err has another cause.
func overLimit(why approver.Verdict, err error) (approver.Verdict, bool) {
	var many *approver.TooManyError
	if !errors.As(err, &many) {
		return approver.Verdict{}, false
	}
	v := why.Blocked(many.ForAgent(), many.Error())
	v.By, v.Rule, v.Where = approver.LimitedBy, "asks_per_minute."+many.Limit, approver.Position{}
	if many.Limit == approver.OwnLimit {
		v.Rule = "asks_about_approver"
	}
	return v, true
}

// mayAsk counts a question that is about to be put before people. What the daemon asks of
// its own accord is nobody's, and is not counted: only its own calls have no peer, see
// sameUser. What a process asks about approver itself has one, and may be an agent's.
// One call id can make many requests, so what is counted is the question: the connection
// that waits for its answer, which makes one request, however often that is tried.
func (o *opener) mayAsk(ctx context.Context, holder string, call approver.ToolCall) error {
	if !call.Peer.Known {
		return nil
	}
	return o.limit(ctx, holder, call)
}
