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

// A ControlRequest is the body of these operations.
type ControlRequest struct {
	Reason string        `json:"reason,omitempty"`
	For    time.Duration `json:"for,omitempty"` // for OpPause, where zero ends the pause, and OpObserve
	All    bool          `json:"all,omitempty"` // for OpPause: also CATASTROPHIC calls
}

// A ControlAnswer is the answer of these operations.
type ControlAnswer struct {
	Done   bool      `json:"done"`
	Text   string    `json:"text"`
	Denied int       `json:"denied,omitempty"` // open requests that a freeze denied
	Until  time.Time `json:"until,omitzero"`   // when the pause or observe mode ends
	Since  time.Time `json:"since,omitzero"`   // for OpEnforce: when the last observe mode began
	Ended  bool      `json:"ended,omitempty"`  // for OpEnforce: it ended observe mode, which was not over before
	Seen   string    `json:"seen,omitempty"`   // the digest of what is shown, which the approval repeats
	// Lifted is what an unfreeze ended.
	Lifted *Lifted `json:"lifted,omitempty"`
}

// A Lifted is the freezes that were lifted, in the form that status uses.
type Lifted struct {
	Freeze *broadcaster.Freeze `json:"freeze,omitempty"`        // of everything
	Held   []broadcaster.Hold  `json:"frozen_agents,omitempty"` // of single agents
}

// Args returns what the card shows of a request, and what an approval is bound to. which names
// the calls that it lets go on.
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

// rootCannot says why root's commands do not help if the daemon runs as root.
const rootCannot = "root of this machine cannot, because the daemon runs as root"

// ModeText describes the freezes, the pause or the observe mode in force, with the reasons.
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

// ModeCure says how to end what ModeText describes.
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

// WaitsLine says, in the words of status, that a line of the configuration does not count yet.
func WaitsLine(line string) string { return "does not count until people approve it: " + line }
