package summary

import (
	"approver.example/display"
	"approver.example/reflexcore/effect"
)

// secretHost returns the host to which a command sends a secret that stands in the command itself; empty if
// that may be several, or none.
func (c *Call) secretHost() string {
	only := ""
	for i := range min(len(c.Effects), maxMarked) {
		e := &c.Effects[i]
		if e.Kind != effect.NetOut && e.Kind != effect.NetIn || e.Bits&effect.Later != 0 {
			continue
		}
		text := c.matter(i).piece()
		if display.Mask(text) == text {
			continue
		}
		to := host(e.Target)
		if to == "" || only != "" && only != to {
			return ""
		}
		only = to
	}
	return only
}
