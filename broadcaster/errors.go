package broadcaster

import (
	"errors"
	"fmt"

	"approver.example"
)

// Errors of the state machine.
var (
	ErrSettled   = errors.New("the request is already answered")
	ErrTooSoon   = errors.New("it is not time for that yet")
	ErrNotHolder = errors.New("another connection holds the request")
	ErrNotBound  = errors.New("the call is not the one that was approved")
)

// ErrNotAsked means that somebody said yes who is not among those whom a request
// is for, or on a channel that does not show it.
var ErrNotAsked = errors.New("the request is for other people")

// errNobody means that of all whom a verdict names nobody can be asked.
var errNobody = errors.New("nobody who may decide this can be asked")

// errNobodyLeft means that no answer of anybody counts: all were removed, or what the
// configuration has of people waits to be approved by somebody.
var errNobodyLeft = errors.New("nobody is left whose answers count: see docs/nobody.md")

var (
	errNotRunning = errors.New("the broadcaster is not running")
	errNoTime     = errors.New("the courier's deadline is too close")
	errTooOld     = errors.New("the deadline of the courier that asked has passed, so its answer is no longer given out")
	errReused     = errors.New("the call id was used twice at once")
	errVanished   = errors.New("the store has no record of the request any more")
)

var (
	errAnswered = errors.New("its yes was given before, and a yes is given once: run the call again to ask anew")
	errBurned   = errors.New("everything was frozen since the call was approved")
	errHeld     = errors.New("every call of this agent was frozen since the call was approved")

	errTakenBack = errors.New("whoever approved the call was removed since")
)

var errNoYes = errors.New("people have not said yes to it, or took that back")

var (
	errNoChange  = errors.New("nothing has changed")
	errElsewhere = errors.New("the card is another hub's to change")
	errRefused   = fmt.Errorf("the card cannot be changed, and no other daemon has changed it: %w", approver.ErrFinal)
)

// errNoRecord is of a record that is none of a request, or of another version.
var errNoRecord = errors.New("the stored record is not readable")

// ErrNoList means that the store cannot say what is open.
var ErrNoList = errors.New("this store cannot list what is open")

// ErrIncomplete means that records of some requests cannot be read. Those that
// can are listed beside it.
var ErrIncomplete = errors.New("some requests cannot be read")

// passing reports an error that may be over in a moment, as when Redis fails
// over. The agent waits for people anyway; it can wait for the store.
func passing(err error) bool {
	var many *approver.TooManyError
	if errors.As(err, &many) {
		return false
	}
	if isVoid(err) {
		return false
	}
	for _, final := range []error{ErrNotBound, approver.ErrTampered, ErrSealed, approver.ErrNotFound,
		approver.ErrConflict, errNoTime, errTooOld, errReused, errNotRunning, errNobody, errNobodyLeft} {
		if errors.Is(err, final) {
			return false
		}
	}
	return true
}

// comesBack reports an error of the store, which may be over soon: what a record says is none.
func comesBack(err error) bool {
	for _, said := range []error{ErrSettled, ErrTooSoon, approver.ErrOverdue, ErrNotAsked, errNoChange, errNoRecord} {
		if errors.Is(err, said) {
			return false
		}
	}
	return passing(err)
}

// unreadable reports a record that stays as it is and that nobody can read: its key was
// taken away, it was changed, or another version wrote it. It answers nothing, and must
// not stand in the way of calls that could have waited with it.
func unreadable(err error) bool {
	return errors.Is(err, errNoRecord) || errors.Is(err, ErrSealed) || errors.Is(err, approver.ErrTampered)
}

// isVoid reports an error of void. Any other is of the store, which may say more later.
func isVoid(err error) bool {
	return errors.Is(err, errBurned) || errors.Is(err, errHeld) || errors.Is(err, errTakenBack) || errors.Is(err, errNoYes)
}

// causeOf is the cause of what is not given because of err.
func causeOf(err error) approver.Cause {
	switch {
	case errors.Is(err, errBurned):
		return approver.Frozen
	case errors.Is(err, errHeld):
		return approver.Held
	case errors.Is(err, errTakenBack), errors.Is(err, errNoYes):
		return approver.Revoked
	}
	return approver.StoreTrouble
}
