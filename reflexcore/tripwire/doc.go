// Package tripwire looks at how a call is made, and at what it says to whoever
// reads it, instead of at what it does.
//
// There are two questions. [Structure] asks whether a command is written so that
// nobody sees what it is: layers of shells, encodings that end in an execution,
// names that are only there after expansion, characters that are not seen or are
// taken for others. [Injection] asks whether a text speaks to a model rather than
// to people: it hijacks instructions, gives a role without rules, asks for a
// prompt, conceals directives.
//
// Each detector has a weight, and says of a call how strong what it sees is, from
// 0 to 1; weight times strength is the score of its [Part]. Parts are combined as
// independent signs: 1 minus the product of 1 minus each ([Combine]). Below [Warn]
// a call is left alone, from there the agent is warned, from [Ask] people are
// asked. Nothing here ever denies: being odd is not being wrong.
//
// Everything is pure, deterministic, and linear in the text.
package tripwire

import "approver.example"

// The thresholds of a combined score.
const (
	Warn = 0.5
	Ask  = 0.8
)

// A Detector is one thing that is looked for.
type Detector struct {
	Name   string
	Weight float64 // of its strongest finding, 0 to 1
	Sees   string  // in a few words, for the documentation
}

// A Part is what one detector saw.
type Part struct {
	Detector string  `json:"detector"`
	Score    float64 `json:"score"` // weight times strength
	What     string  `json:"what"`  // one sentence
}

// Combine returns the score of all parts: 1 minus the product of 1 minus each. Of
// several parts by one detector the strongest counts.
func Combine(parts []Part) float64 {
	rest := 1.0
	for i, p := range parts {
		if best(parts, i) {
			rest *= 1 - p.Score
		}
	}
	return 1 - rest
}

// best reports whether no other part of the same detector goes before part i.
func best(parts []Part, i int) bool {
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

// Decide says what a combined score means: Pass, Warn or Ask.
func Decide(score float64) approver.Decision {
	switch {
	case score >= Ask:
		return approver.Ask
	case score >= Warn:
		return approver.Warn
	}
	return approver.Pass
}
