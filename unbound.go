package approver

import (
	"fmt"
	"strings"
)

// Bounds of what a card says of what is not bound.
const (
	maxUnboundNames = 4
	maxUnboundName  = 120 // bytes
)

// unboundNotice is on the card of a call that executes what its fingerprint does not
// bind. The names are mostly the agent's words.
func (r Request) unboundNotice() string {
	const meaning = "it may change after your answer, which is good for one run"
	var names []string
	for _, name := range r.Unbound[:min(len(r.Unbound), maxUnboundNames)] {
		if len(name) > maxUnboundName {
			name = strings.ToValidUTF8(name[:maxUnboundName], "") + "…"
		}
		names = append(names, safe(strings.Join(strings.Fields(name), " ")))
	}
	if more := len(r.Unbound) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	if len(names) == 0 { // a record of before there were names
		names = []string{"some of what this would run"}
	}
	return "NOT BOUND: " + strings.Join(names, ", ") + "; " + meaning
}
