package display

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

// UnboundNotice is on the card of a call that executes what its fingerprint does not
// bind. The names are mostly the agent's words, of which [Call.MaskNames] has hidden
// the secrets: to hide them once more would take its notes for imitations.
func UnboundNotice(unbound []string) string {
	const meaning = "it may change after your answer, which is good for one run"
	var names []string
	for _, name := range unbound[:min(len(unbound), maxUnboundNames)] {
		if len(name) > maxUnboundName {
			name = strings.ToValidUTF8(name[:maxUnboundName], "") + "…"
		}
		names = append(names, Visible(strings.Join(strings.Fields(name), " ")))
	}
	if more := len(unbound) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	if len(names) == 0 { // a record of before there were names
		names = []string{"some of what this would run"}
	}
	return "NOT BOUND: " + strings.Join(names, ", ") + "; " + meaning
}

// MaskNames hides in the names of what is not bound what the card hides of the
// call: the names are mostly its words, and show no place by which a secret is known.
func (call Call) MaskNames(names []string) []string {
	if len(names) == 0 {
		return names
	}
	_, s, parts := call.parts()
	out := slices.Clone(names)
	for i, name := range out {
		name = prepared(name)
		var hide []part
		for _, p := range parts {
			hide = hideAll(name, s[p.from:p.to], p.silent, hide)
		}
		for _, p := range hiddenParts(name) {
			if !overlaps(hide, p) {
				hide = append(hide, p)
			}
		}
		slices.SortFunc(hide, func(a, b part) int { return a.from - b.from })
		out[i] = masked(name, hide)
	}
	return out
}

// hideAll adds each place of a secret in a name.
func hideAll(name, secret string, silent bool, hide []part) []part {
	for at := 0; len(secret) >= minSecretInName; {
		n := strings.Index(name[at:], secret)
		if n < 0 {
			break
		}
		p := part{from: at + n, to: at + n + len(secret), silent: silent}
		if at = p.to; !overlaps(hide, p) {
			hide = append(hide, p)
		}
	}
	return hide
}
