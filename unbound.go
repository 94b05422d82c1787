package approver

import (
	"fmt"
	"slices"
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

// namesWithoutSecrets hides in the names of what is not bound what the card hides of the
// call: the names are mostly its words, and show no place by which a secret is known.
func namesWithoutSecrets(call ToolCall, names []string) []string {
	if len(names) == 0 {
		return names
	}
	s := prepared(call.Text())
	parts := hiddenParts(s)
	if call.Command == "" {
		parts = memberParts(s, parts)
	}
	out := slices.Clone(names)
	for _, p := range parts {
		if secret := s[p.from:p.to]; len(secret) >= minSecretInName {
			for i := range out {
				out[i] = strings.ReplaceAll(out[i], secret, hiddenNote(secret, p.silent))
			}
		}
	}
	return out
}

// minSecretInName is the length in bytes from which a hidden value is looked for in names:
// a shorter one would be found in other words.
const minSecretInName = 6
