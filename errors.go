package approver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"approver.example/display"
)

// A TooManyError means that people were asked too many questions about somebody's calls, so
// that they are not asked another one yet. A question counts from when it is made: it is not
// known then whether any of its cards reaches anybody.
type TooManyError struct {
	Limit string        // the setting: "user" or "agent"; or OwnLimit
	Most  int           // questions within a minute
	Whose string        // whose calls they were about
	Again time.Time     // when there may be another one, by the store's clock
	Wait  time.Duration // until then
}

// OwnLimit is the Limit for questions about approver itself, which no setting changes.
const OwnLimit = "own"

// Error returns the text for people and the audit.
func (e *TooManyError) Error() string {
	if e.Limit == OwnLimit {
		return fmt.Sprintf("too many questions: %d were put within a minute about %s, also those that reached nobody, so "+
			"nobody was asked; the next question is possible at %s",
			e.Most, display.Safe(e.Whose), e.clock())
	}
	return fmt.Sprintf("too many questions: %d were put within a minute about %s, also those that reached nobody "+
		"(asks_per_minute.%s), so nobody was asked about this call; "+
		"the next question is possible at %s", e.Most, display.SafeLine(e.Whose), e.Limit, e.clock())
}

// ForAgent tells the agent to slow down. It says nothing of other agents.
func (e *TooManyError) ForAgent() string {
	if e.Limit == OwnLimit {
		return fmt.Sprintf("too many questions: programs of your user put %d within a minute about approver itself, which "+
			"is the most, also those that reached nobody, so nobody was asked. "+
			"Ask again at %s (%s)", e.Most, e.clock(), display.Duration(e.Wait+time.Second-1))
	}
	return fmt.Sprintf("too many questions: %d were put within a minute, which is the most, also those that reached "+
		"nobody, so this call was blocked and nobody was asked. "+
		"Slow down: wait until %s (%s), or do what needs no approval. Until then every call that needs a person is "+
		"blocked at once",
		e.Most, e.clock(), display.Duration(e.Wait+time.Second-1))
}

// clock is when to come back, rounded up to the second.
func (e *TooManyError) clock() string {
	return e.Again.Add(time.Second - 1).UTC().Format("15:04:05 UTC")
}

// ErrShuttingDown is the cause of a context that ends because this process
// stops in order; requests then stay open for their couriers to resume.
var ErrShuttingDown = errors.New("approver is shutting down")

// ErrOutdated is the cause of a context that ends because the file that people were asked
// about was changed again: their question is over at once, and says so.
var ErrOutdated = errors.New("the file was changed again")

// ErrAtDesk is the cause of a context that ends because the agent's own user answered the question in
// the agent's own dialog.
var ErrAtDesk = fmt.Errorf("the agent's own user answered it: %w", context.Canceled)

// ErrGone is the cause of a context that ends because the asker is gone for good, such as a
// command that was stopped. Its request is withdrawn at once.
var ErrGone = fmt.Errorf("whoever asked has gone: %w", context.Canceled)

// ErrOverdue is returned by a write, or a step of a request, that comes at its deadline or
// later.
var ErrOverdue = errors.New("the deadline has passed")

// ErrAppealed means that people have been asked about a denial before.
var ErrAppealed = errors.New("this denial was appealed already: a call is put before people once")
