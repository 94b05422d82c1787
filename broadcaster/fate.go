package broadcaster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Fate is what became of a call after its release, as far as anybody reported. The zero
// value means that there was no report. It decides nothing. Those from DidFail on say with which
// exit code: see FailedWith.
type Fate uint16

// The fates. What an agent reports is its own claim.
const (
	NoFate  Fate = iota
	Untaken      // its courier never said that it has the answer
	NotRun       // the agent has gone on, and reported no run of it
	DidRun       // the agent reported that it ran
	DidFail      // the agent reported that it ran and failed
)

// maxExit is the largest exit code of a program.
const maxExit = 255

// FailedWith is DidFail with the exit code that the agent reported. It is DidFail alone if that is
// not from 1 to 255.
func FailedWith(exit int) Fate {
	if exit < 1 || exit > maxExit {
		return DidFail
	}
	return DidFail + Fate(exit)
}

// Ran reports whether the call ran.
func (f Fate) Ran() bool { return f >= DidRun }

// exit is the exit code of a call that failed; zero if it is not known.
func (f Fate) exit() int { return max(int(f)-int(DidFail), 0) }

var fateNames = [...]string{"", "untaken", "not_run", "ran", "failed"}

// MarshalText writes the word, and behind "failed" the exit code.
func (f Fate) MarshalText() ([]byte, error) {
	switch {
	case int(f) < len(fateNames):
		return []byte(fateNames[f]), nil
	case f.exit() <= maxExit:
		return fmt.Appendf(nil, "%s %d", fateNames[DidFail], f.exit()), nil
	}
	return nil, nil
}

// UnmarshalText reads the word; anything else is NoFate.
func (f *Fate) UnmarshalText(b []byte) error {
	word, exit, coded := strings.Cut(string(b), " ")
	*f = Fate(max(slices.Index(fateNames[:], word), 0))
	switch code, err := strconv.Atoi(exit); {
	case !coded:
	case *f == DidFail && err == nil && FailedWith(code) != DidFail:
		*f = FailedWith(code)
	default:
		*f = NoFate
	}
	return nil
}
