package adminapi

import (
	"strings"
	"time"

	"approver.example/broadcaster"
	"approver.example/daemon/words"
	"approver.example/display"
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

// rootCannot is why root's commands are no way out of an installation that is not isolated.
const rootCannot = "root of this machine cannot, because the daemon runs as root"

// ModeText is what holds besides the rules, and why.
func (s Status) ModeText() string {
	text := s.Control
	if s.Freeze != nil && s.Freeze.Reason != "" && !strings.Contains(text, s.Freeze.Reason) {
		text += "; the reason given: " + s.Freeze.Reason
	}
	for _, h := range s.Held {
		text += "\n" + HeldLine(h)
	}
	return text
}

// ModeCure is what ends what holds besides the rules.
func (s Status) ModeCure() string {
	const lift = "find out why, then approver unfreeze; where nobody can approve that, as root: "
	switch {
	case s.Freeze != nil && s.Freeze.By != "approver" && s.Root && !s.Isolated,
		s.Freeze == nil && len(s.Held) > 0 && s.Root && !s.Isolated:
		return "find out why, then approver unfreeze, and approve that in a chat (approver " + words.PairExample + "): " +
			rootCannot + ". docs/nobody.md"
	case s.Freeze != nil && s.Freeze.By == "approver":
		return `find out why, then approver unfreeze; docs/operations.md: "The store is not believed", "The audit is not ` +
			`believed", "An agent went around the gate"`
	case s.Freeze != nil:
		return lift + display.AsRoot("unfreeze")
	case len(s.Held) > 0:
		return lift + `docs/operations.md, "Lifting the freeze of one agent"`
	case s.Pause != nil:
		return "approver pause --end"
	}
	return "approver enforce"
}

// WaitsLine says that a line of the configuration does not count, in the words of status.
func WaitsLine(line string) string { return "does not count until people approve it: " + line }
