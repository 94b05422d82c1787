package broadcaster

import (
	"slices"
	"time"

	"approver.example"
)

// maxCallers is how many identical calls wait beside the first.
const maxCallers = 31

// A Caller is one more call that waits for the answer of a request.
type Caller struct {
	CallID     string    `json:"call"`
	Session    string    `json:"session,omitempty"`
	Holder     string    `json:"holder"` // the connection that waits
	N          int       `json:"n"`      // in the order of joining; the first call is 0
	WithdrawAt time.Time `json:"withdraw_at,omitzero"`
	Taken      time.Time `json:"taken,omitzero"` // since when it has its yes
	Fate       Fate      `json:"fate,omitzero"`  // what became of the call after that
	// Lost reports that it took its yes and was not released: see void.
	Lost bool `json:"lost,omitempty"`
	// TakenBy is the process that gave it its yes.
	TakenBy string `json:"taken_by,omitempty"`
	// Logged reports that its release is durable in the audit.
	Logged bool `json:"logged,omitempty"`
}

// An Ending is a call that was taken off a request before its answer.
type Ending struct {
	CallID  string         `json:"call"`
	Session string         `json:"session,omitempty"`
	Why     approver.Cause `json:"why"`
	At      time.Time      `json:"at"`
}

// Callers are the calls that wait for the answer of a request beside the first.
type Callers []Caller

// at returns the index of a call, or -1.
func (c Callers) at(callID string) int {
	return slices.IndexFunc(c, func(c Caller) bool { return callID != "" && c.CallID == callID })
}

// includes reports whether a call is one of them.
func (c Callers) includes(callID string) bool { return c.at(callID) >= 0 }

// mayTake reports whether a call may take a yes of that age: the first call at once, others
// when the first one did not come.
func (c Callers) mayTake(callID string, ago time.Duration) bool {
	i := c.at(callID)
	return i == 0 || i > 0 && ago > settleGrace
}

// awaits reports that a call is among the callers and has not taken its yes.
func (c Callers) awaits(callID string) bool {
	i := c.at(callID)
	return i >= 0 && c[i].Taken.IsZero()
}

// unlogged reports that the release of a call is not known to be durable in the audit.
func (c Caller) unlogged() bool { return !c.Taken.IsZero() && !c.Lost && !c.Logged }

// Endings are the calls that were taken off a request, until the audit has them.
type Endings []Ending

// with adds calls that are taken off.
func (e Endings) with(why approver.Cause, now time.Time, gone ...Caller) Endings {
	e = slices.Clone(e)
	for _, c := range gone {
		if c.CallID != "" {
			e = append(e, Ending{c.CallID, c.Session, why, now})
		}
	}
	return e
}

// without removes those that the audit has.
func (e Endings) without(recorded Endings) Endings {
	left := slices.DeleteFunc(slices.Clone(e), func(e Ending) bool { return slices.Contains(recorded, e) })
	if len(left) == 0 {
		return nil
	}
	return left
}
