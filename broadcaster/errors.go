package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"approver.example"
	"approver.example/broadcaster/sealing"
)

// Why nobody is asked about a call, or its courier gets no answer.
var (
	// errNobody means that the verdict names people or channels, and none of them can be
	// asked. errNobodyLeft means that nobody's answer counts: all people were removed, or the
	// approver list of the configuration still waits for somebody's approval.
	errNobody     = errors.New("nobody who may decide this can be asked")
	errNobodyLeft = errors.New("nobody is left whose answers count: see docs/nobody.md")
	errNotRunning = errors.New("the broadcaster is not running")
	errNoTime     = errors.New("the courier's deadline is too close")
	errTooOld     = errors.New("the deadline of the courier that asked has passed, so its answer is no longer given out")
	errReused     = errors.New("the call id was used twice at once")
	errVanished   = errors.New("the store has no record of the request any more")
	errAnswered   = errors.New("its yes was given before, and a yes is given once: run the call again to ask anew")
	// errNotShared means that a call cannot wait for the answer to a request.
	errNotShared = errors.New("the request is not for this call")
)

// Why a yes is void: see Controls.void.
var (
	errBurned    = errors.New("everything was frozen since the call was approved")
	errHeld      = errors.New("every call of this agent was frozen since the call was approved")
	errTakenBack = errors.New("whoever approved the call was removed since")
	errNoYes     = errors.New("people have not said yes to it, or took that back")
)

// Errors of updating a card.
var (
	errElsewhere = errors.New("the card is another hub's to change")
	errRefused   = fmt.Errorf("the card cannot be changed, and no other daemon has changed it: %w", approver.ErrFinal)
)

// errNoRecord means that a record is not a request, or that another version wrote it.
var errNoRecord = errors.New("the stored record is not readable")

// ErrNoList means that the store cannot say what is open.
var ErrNoList = errors.New("this store cannot list what is open")

// ErrIncomplete means that some records cannot be read. The list that comes with it has all
// others.
var ErrIncomplete = errors.New("some requests cannot be read")

// passing reports an error that may be over in a moment, such as a fail-over of Redis. The
// agent waits for people anyway, so it can wait for the store.
func passing(err error) bool {
	var many *approver.TooManyError
	return !errors.As(err, &many) && !isVoid(err) && !isQuiet(err) && !isAny(err, ErrNotBound, approver.ErrTampered,
		sealing.ErrUnknownKey, approver.ErrNotFound, approver.ErrConflict, errNoTime, errTooOld, errReused, errNotRunning,
		errNobody, errNobodyLeft)
}

// comesBack reports an error of the store that may be over soon. An error that the record
// itself gives is not one.
func comesBack(err error) bool {
	return passing(err) &&
		!isAny(err, ErrSettled, ErrTooSoon, approver.ErrOverdue, ErrNotAsked, errNoChange, errNoRecord)
}

// unreadable reports a record that nobody can read any more: its key was taken away, it was
// changed, or another version wrote it. It answers no call, and must not block calls that
// could have waited with it.
func unreadable(err error) bool {
	return isAny(err, errNoRecord, sealing.ErrUnknownKey, approver.ErrTampered)
}

// isVoid reports an error of Controls.void. Every other error is one of the store, which may
// say more later.
func isVoid(err error) bool {
	return isAny(err, errBurned, errHeld, errTakenBack, errNoYes)
}

// isAny reports whether err is one of several.
func isAny(err error, several ...error) bool {
	return slices.ContainsFunc(several, func(one error) bool { return errors.Is(err, one) })
}

// causeOf is the cause that the audit and the cards give when err withholds a yes.
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

// overLimit returns the verdict if err says that people were asked too often; ok is false for
// every other error.
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

// publicCause says what the agent may know of an internal error.
func publicCause(err error) string {
	for _, plain := range []error{errAnswered, errBurned, errHeld, errTakenBack, errNoYes, approver.ErrOutdated} {
		if errors.Is(err, plain) {
			return plain.Error()
		}
	}
	switch {
	case isQuiet(err):
		return err.Error() + quietCure
	case errors.Is(err, ErrNotBound):
		return "the call is not the one that was put before people"
	case errors.Is(err, errNobodyLeft):
		return "nobody is left who could approve it. Only the owner of the installation can mend that: " +
			"approver status says how"
	case errors.Is(err, errNobody):
		return "the policy says who must decide it, and none of them can be reached here"
	case errors.Is(err, errNotRunning):
		return "approver is shutting down"
	case errors.Is(err, errTooOld):
		return "its request has ended"
	case errors.Is(err, errNoTime):
		return "the hook's own deadline leaves no time to ask anyone: raise --deadline and the agent's hook timeout"
	case errors.Is(err, approver.ErrAway): // also if that was found out by waiting in vain
		return "approver's store does not answer; the user can see why with approver status"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "the hook stopped waiting"
	}
	if why := approver.UnbindableError(""); errors.As(err, &why) {
		return why.Error()
	}
	return "approver's store or configuration has a problem (see its log)"
}
