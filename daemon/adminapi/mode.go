package adminapi

import (
	"strings"

	"approver.example/daemon/words"
	"approver.example/display"
)

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
	case s.Freeze != nil && s.Freeze.By != "approver" && s.Root && !s.Isolated, s.Freeze == nil && len(s.Held) > 0 && s.Root && !s.Isolated:
		return "find out why, then approver unfreeze, and approve that in a chat (approver " + words.PairExample + "): " + rootCannot + ". docs/nobody.md"
	case s.Freeze != nil && s.Freeze.By == "approver":
		return `find out why, then approver unfreeze; docs/operations.md: "The store is not believed", "The audit is not believed", "An agent went around the gate"`
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
