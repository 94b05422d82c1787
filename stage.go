package approver

import (
	"context"
	"errors"
)

// The tiers, lowest first.
const (
	TierPolicy     uint8 = iota // rules and the reflex engine: no model
	TierScreen                  // heuristics and classifiers: no network
	TierEvaluation              // an isolated model
	TierPeople                  // the last word
)

// RuleMinTier asks people about a call that a higher tier would have to look at, and
// there is none but people.
const RuleMinTier = "min_tier"

// An UnavailableError is a stage's error if the stage could not look at the call at
// all: its model is gone, its provider cannot be reached, its budget is spent. Every
// other error says that something is wrong, and blocks in every fail mode.
type UnavailableError struct {
	Err error
	// MinTier is the tier that has to look at the call instead, if the fail mode is
	// open: the stage's row of the fail-closed table. Zero is none.
	MinTier uint8
}

// Error is that of Err.
func (e *UnavailableError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *UnavailableError) Unwrap() error { return e.Err }

// ErrTold is what the error of a stage is that tells of its trouble in the log itself, once
// for each cause and once when it is over. The gate denies the call as ever, and does not
// tell of it again.
var ErrTold = errors.New("the stage has told of it")

// A Stage judges calls: reflexcore and each tier of shieldcore. An error means
// that the stage is configured but could not judge.
type Stage interface {
	Judge(ctx context.Context, call ToolCall) (Verdict, error)
}
