package adminapi

import (
	"time"

	"approver.example/broadcaster"
	"approver.example/daemon/words"
)

// The operations that change what calls may run.
const (
	OpFreeze   = "freeze"
	OpUnfreeze = "unfreeze"
	OpPause    = "pause"
	OpObserve  = "observe"
	OpEnforce  = "enforce"
)

// A ControlRequest is the body of them.
type ControlRequest struct {
	Reason string        `json:"reason,omitempty"`
	For    time.Duration `json:"for,omitempty"` // of a pause, where zero ends it, and of observing
	All    bool          `json:"all,omitempty"` // of a pause: also CATASTROPHIC calls
}

// A ControlAnswer is their answer.
type ControlAnswer struct {
	Done   bool      `json:"done"`
	Text   string    `json:"text"`
	Denied int       `json:"denied,omitempty"` // open requests that a freeze denied
	Until  time.Time `json:"until,omitzero"`   // of a pause, and of observing
	Since  time.Time `json:"since,omitzero"`   // of the observing that enforce ended, or of the last
	Ended  bool      `json:"ended,omitempty"`  // enforce ended it, and it was not over before
	Seen   string    `json:"seen,omitempty"`   // the digest of what is shown, for the yes to it
	// Lifted is what an unfreeze ended.
	Lifted *Lifted `json:"lifted,omitempty"`
}

// A Lifted is the freezes that were lifted, as status has them.
type Lifted struct {
	Freeze *broadcaster.Freeze `json:"freeze,omitempty"`        // of everything
	Held   []broadcaster.Hold  `json:"frozen_agents,omitempty"` // of single agents
}

// Args is what the card shows of a request, and what a yes to it is bound to. which are
// the calls that go on by it.
func (r ControlRequest) Args(which string) map[string]any {
	args := map[string]any{}
	for name, value := range map[string]string{"reason_as_claimed": r.Reason, "lets_go_on": which} {
		if value != "" {
			args[name] = value
		}
	}
	if r.For > 0 {
		args["for"] = words.Days(r.For)
	}
	return args
}
