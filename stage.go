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

// RuleMinTier is the rule of an Ask for a call that needs a higher tier, where people are the
// only higher tier.
const RuleMinTier = "min_tier"

// An UnavailableError means that a stage could not look at the call at all: its model is gone,
// its provider cannot be reached, its budget is spent. Any other error of a stage means that
// something is wrong, and blocks in every fail mode.
type UnavailableError struct {
	Err error
	// MinTier is the tier that has to look at the call instead if the fail mode is open, as in
	// the stage's row of the fail-closed table. Zero means none.
	MinTier uint8
}

// Error returns the text of Err.
func (e *UnavailableError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *UnavailableError) Unwrap() error { return e.Err }

// ErrTold marks the error of a stage that logs its trouble itself, once for each cause and once
// when it is over; test for it with [errors.Is]. The gate still denies the call, but does not
// log it again.
var ErrTold = errors.New("the stage has told of it")

// A RuleFound says what became of what one rule found in a call.
type RuleFound struct {
	Rule   string
	Counts bool // at least a part of what it found is enforced
	Warned bool // the policy makes warnings of all that it found
	// Allowed names the exception that dropped a part of it; empty if there is none.
	Allowed string
}

// A Same says that two findings of different stages are one: a rule of this stage says the
// same as one of an earlier stage.
type Same struct {
	Rule string // of this stage
	As   string // of the earlier stage
	// Decides says that the rule of this stage is stricter than all that the earlier stage
	// says. Otherwise that stage speaks for both.
	Decides bool
}

// An Informed is a Stage that also looks at what the stages before it said of the call.
type Informed interface {
	Stage
	JudgeAfter(ctx context.Context, call ToolCall, before []Verdict) (Verdict, error)
}

// A Stage judges calls: reflexcore and each tier of shieldcore. An error means
// that the stage is configured but could not judge.
type Stage interface {
	Judge(ctx context.Context, call ToolCall) (Verdict, error)
}
