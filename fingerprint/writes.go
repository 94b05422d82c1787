package fingerprint

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/wordset"
)

// A textWrite describes what a walked text may write: a shell script, a package script, or a step
// of the call.
type textWrite struct {
	read  bool     // all of it was walked
	makes bool     // one of its commands may write any file
	files []string // files that its commands write
	trees []string // folders into which they copy
	texts []string // names of the texts that it runs
}

// textWrites are the known texts by their names.
type textWrites map[string]*textWrite

// entry is the entry of a text.
func (t textWrites) entry(unit string) *textWrite {
	w := t[unit]
	if w == nil {
		w = &textWrite{}
		t[unit] = w
	}
	return w
}

// stepUnit is the name of the text that a step of the call runs.
func stepUnit(step int) string { return "step " + strconv.Itoa(step) }

// mayWrite reports whether a text, or one that it runs, writes a file. With anything, a command that may
// write any file counts too.
func (t textWrites) mayWrite(unit, file string, anything bool) bool {
	units, file := []string{unit}, filepath.Clean(file)
	for n := 0; n < len(units); n++ { // grows
		w := t[units[n]]
		if w == nil {
			continue
		}
		if anything && w.makes || slices.Contains(w.files, file) ||
			slices.ContainsFunc(w.trees, func(dir string) bool { return strings.HasPrefix(file, dir+"/") }) {
			return true
		}
		for _, next := range w.texts {
			if !slices.Contains(units, next) {
				units = append(units, next)
			}
		}
	}
	return false
}

// isChecker reports whether a program is one of the checkers, in a usual place.
func isChecker(program string) bool {
	dir := filepath.Base(filepath.Dir(program))
	return checkers[filepath.Base(program)] && (!strings.Contains(program, "/") || wordset.Has("bin .bin", dir))
}
