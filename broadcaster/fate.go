package broadcaster

import (
	"slices"
)

// A Fate is what became of a call after its release, as far as anybody said. The zero
// value is that nobody said anything, and nothing is claimed. It decides nothing.
type Fate uint8

// The fates. What an agent reports is its own claim.
const (
	NoFate  Fate = iota
	Untaken      // its courier never said that it has the answer
	NotRun       // the agent has gone on, and reported no run of it
	DidRun       // the agent reported that it ran, after one of the others was noted, or unasked
)

var fateNames = [...]string{"", "untaken", "not_run", "ran"}

// MarshalText writes the word.
func (f Fate) MarshalText() ([]byte, error) {
	if int(f) < len(fateNames) {
		return []byte(fateNames[f]), nil
	}
	return nil, nil
}

// UnmarshalText reads the word; anything else is NoFate.
func (f *Fate) UnmarshalText(b []byte) error {
	*f = Fate(max(slices.Index(fateNames[:], string(b)), 0))
	return nil
}
