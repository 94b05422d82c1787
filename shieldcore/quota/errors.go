package quota

import (
	"errors"
	"time"
)

// Why something was refused: what errors.Is finds in a [RefusedError].
var (
	ErrRate    = errors.New("the rate limit is reached")
	ErrBudget  = errors.New("the daily budget is spent")
	ErrUnknown = errors.New("what is left cannot be known")
)

// A RefusedError says that a call must not be evaluated. It wraps ErrRate, ErrBudget
// or ErrUnknown.
type RefusedError struct {
	Kind  error     // ErrRate, ErrBudget or ErrUnknown
	Again time.Time // by the store's clock; zero if nobody knows
	Text  string    // one sentence with the cure; it may be shown to the agent
	Cause error     // for logs and people, of ErrUnknown only
}

// Error returns the text, without the cause.
func (e *RefusedError) Error() string { return e.Text }

// Unwrap returns the kind, and the cause if there is one.
func (e *RefusedError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

func unknown(cause error) *RefusedError {
	return &RefusedError{
		Kind: ErrUnknown, Cause: cause,
		Text: "what is left of the evaluations cannot be known, so nothing is evaluated: run the call again when the " +
			"store of approver answers, which `approver doctor` checks",
	}
}

// clockText writes when something will be possible again, rounded up.
func clockText(t time.Time) string {
	return t.Add(100*time.Millisecond - 1).Truncate(100 * time.Millisecond).UTC().Format("2006-01-02 15:04:05.0 UTC")
}
