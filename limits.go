package approver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"approver.example/display"
)

// This file bounds how often people are asked.

// A TooManyError says that there were too many questions to people about somebody's calls,
// so that they are not asked another one yet. A question counts from its making: whether a
// card of it reaches anybody is not known then.
type TooManyError struct {
	Limit string        // the setting: "user" or "agent"; or OwnLimit
	Most  int           // questions within a minute
	Whose string        // whose calls they were about
	Again time.Time     // when there may be another one, by the store's clock
	Wait  time.Duration // until then
}

// OwnLimit is the Limit of questions about approver itself, which no setting has.
const OwnLimit = "own"

// Error is for people and the audit.
func (e *TooManyError) Error() string {
	if e.Limit == OwnLimit {
		return fmt.Sprintf("too many questions: %d were put within a minute about %s, also those that reached nobody, so nobody was asked; the next question is possible at %s",
			e.Most, display.Safe(e.Whose), e.clock())
	}
	return fmt.Sprintf("too many questions: %d were put within a minute about %s, also those that reached nobody (asks_per_minute.%s), so nobody was asked about this call; "+
		"the next question is possible at %s", e.Most, display.SafeLine(e.Whose), e.Limit, e.clock())
}

// forAgent tells the agent to slow down. It says nothing of other agents.
func (e *TooManyError) forAgent() string {
	if e.Limit == OwnLimit {
		return fmt.Sprintf("too many questions: programs of your user put %d within a minute about approver itself, which is the most, also those that reached nobody, so nobody was asked. "+
			"Ask again at %s (%s)", e.Most, e.clock(), display.Duration(e.Wait+time.Second-1))
	}
	return fmt.Sprintf("too many questions: %d were put within a minute, which is the most, also those that reached nobody, so this call was blocked and nobody was asked. "+
		"Slow down: wait until %s (%s), or do what needs no approval. Until then every call that needs a person is blocked at once",
		e.Most, e.clock(), display.Duration(e.Wait+time.Second-1))
}

// clock is when to come back, rounded up.
func (e *TooManyError) clock() string {
	return e.Again.Add(time.Second - 1).UTC().Format("15:04:05 UTC")
}

// LimitedBy is Verdict.By of a call that people were not asked about because they
// were asked too often.
const LimitedBy = "limit"

// overLimit is the verdict of a call about which people are not asked, and false
// where err has another cause.
func overLimit(why Verdict, err error) (Verdict, bool) {
	var many *TooManyError
	if !errors.As(err, &many) {
		return Verdict{}, false
	}
	v := denied(why, many.forAgent(), many.Error())
	v.By, v.Rule, v.Where = LimitedBy, "asks_per_minute."+many.Limit, Position{}
	if many.Limit == OwnLimit {
		v.Rule = "asks_about_approver"
	}
	return v, true
}

// mayAsk counts a question that is about to be put before people. What the daemon asks of
// its own accord is nobody's, and is not counted: only its own calls have no peer, see
// sameUser. What a process asks about approver itself has one, and may be an agent's.
// One call id can make many requests, so what is counted is the question: the connection
// that waits for its answer, which makes one request, however often that is tried.
func (o *opener) mayAsk(ctx context.Context, holder string, call ToolCall) error {
	if !call.Peer.Known {
		return nil
	}
	return o.limit(ctx, holder, call)
}
