// Package tripwire looks at how a call is written and at what its texts say to a model, not at what
// the call does.
//
// There are two questions. [Structure] asks whether a command is written to hide what it does:
// nested shells, encodings that end in an execution, names that exist only after expansion,
// invisible or look-alike characters. [Injection] asks whether a text speaks to a model instead of
// to people: it overrides instructions, assigns a role without rules, asks for the prompt, hides
// directives.
//
// Each detector has a weight and reports a strength from 0 to 1; the product is the score of its
// [Part]. [Combine] treats parts as independent signs: 1 minus the product of 1 minus each score.
// Below [Warn] nothing happens, from there the agent is warned, and from [Ask] people are asked.
// Nothing here ever denies, because unusual is not the same as wrong.
//
// Everything is pure, deterministic, and linear in the length of the text. Read doc.go, structure.go
// and characters.go for the first question, and words.go, reader.go and injection.go for the second.
package tripwire

import "approver.example"

// The thresholds of a combined score.
const (
	Warn = 0.5
	Ask  = 0.8
)

// A Detector is one kind of sign.
type Detector struct {
	Name   string
	Weight float64 // of its strongest finding, 0 to 1
	Sees   string  // what it looks for, for the documentation
}

// A Part is what one detector found.
type Part struct {
	Detector string  `json:"detector"`
	Score    float64 `json:"score"` // weight times strength
	What     string  `json:"what"`  // one sentence
}

// Combine returns the combined score of parts. Of several parts by one detector only the strongest
// counts.
func Combine(parts []Part) float64 {
	rest := 1.0
	for i, p := range parts {
		if isStrongest(parts, i) {
			rest *= 1 - p.Score
		}
	}
	return 1 - rest
}

// isStrongest reports whether part i is the first of the strongest parts of its detector.
func isStrongest(parts []Part, i int) bool {
	for j, q := range parts {
		if q.Detector == parts[i].Detector && (q.Score > parts[i].Score || q.Score == parts[i].Score && j < i) {
			return false
		}
	}
	return true
}

// Strongest returns the part with the highest score; the zero Part if there is none.
func Strongest(parts []Part) Part {
	var out Part
	for _, p := range parts {
		if p.Score > out.Score {
			out = p
		}
	}
	return out
}

// Decide returns what a combined score means: Pass, Warn or Ask.
func Decide(score float64) approver.Decision {
	switch {
	case score >= Ask:
		return approver.Ask
	case score >= Warn:
		return approver.Warn
	}
	return approver.Pass
}
