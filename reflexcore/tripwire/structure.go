package tripwire

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// StructureDetectors are the detectors of [Structure] and [Characters].
var StructureDetectors = detectors("structure")

// detectorsText lists the detectors.
//
//go:embed detectors.txt
var detectorsText string

func detectors(kind string) (list []Detector) {
	for row, sees := range wordset.Table(detectorsText) {
		if words := strings.Fields(row); words[0] == kind {
			weight, _ := strconv.ParseFloat(words[2], 64)
			list = append(list, Detector{words[1], weight, sees})
		}
	}
	return list
}

// weights are the weights by name.
var weights = func() map[string]float64 {
	m := map[string]float64{}
	for _, list := range [][]Detector{StructureDetectors, InjectionDetectors} {
		for _, d := range list {
			m[d.Name] = d.Weight
		}
	}
	return m
}()

// add appends a part, unless the detector has already found a stronger one.
func add(parts []Part, name string, strength float64, what string) []Part {
	score := min(weights[name]*strength, 0.99)
	for i := range parts {
		if parts[i].Detector == name {
			if parts[i].Score < score {
				parts[i].Score, parts[i].What = score, what
			}
			return parts
		}
	}
	return append(parts, Part{name, score, what})
}

// A Form is how a call is written.
type Form struct {
	// Odd, OddName and Layers are from the walk of the shell.
	Odd     shell.Oddity
	OddName string
	Layers  int
	// Encoded is how many nested encodings the decoded and executed text had; 0 if there was none.
	Encoded int
	// Acts says that the call does more than read: it uses the network, deletes, or runs code.
	Acts bool
	// Programs are the names of programs that no table has. Places are paths and hosts.
	Programs, Places []string
}

// oddities are the detectors of the oddities, in order.
var oddities = [...]struct{ name, what string }{
	{"split-name", "the name of the command %q is broken up by quotes or backslashes"},
	{"glued-name", "the name of the command %q is put together from letters of variables"},
	{"cut-name", "%q is cut out of the value of a variable"},
	{"computed-name", "the name of the command %q is what another command prints"},
	{"escaped-name", "%q is written in numbers instead of letters"},
	{"braced-name", "the command %q and its arguments are one word in braces"},
	{"guessed-name", "the program %q is given as a pattern of file names"},
	{"empty-quotes", "the word %q is broken up by quotes around nothing"},
	{"separator", "words such as %q are separated by a variable instead of spaces"},
	{"eval", "%s runs a text that is not known"},
	{"source-process", "%s runs what a process prints"},
	{"input-as-code", "each line of the input of %s becomes shell code"},
	{"unknown-name", "the command %s is the value of a variable that is not known"},
}

// hidingOddities is the number of oddities, at the beginning of the list, that hide the
// name of a command.
const hidingOddities = 7

// Structure appends parts for what is unusual in the form of a call.
func Structure(parts []Part, f Form) []Part {
	for i, odd := range oddities {
		if f.Odd&(1<<i) != 0 {
			parts = add(parts, odd.name, 1, fmt.Sprintf(odd.what, f.OddName))
			if i < hidingOddities && f.Acts {
				parts = add(parts, "into-danger", 1, fmt.Sprintf("what %q hides does more than look", f.OddName))
			}
		}
	}
	if f.Layers >= 3 {
		strength := [...]float64{0.45, 0.7, 0.85, 1}[min(f.Layers-3, 3)]
		parts = add(parts, "nesting", strength, fmt.Sprintf("there are %d layers of shells in one another", f.Layers))
	}
	if f.Encoded > 0 {
		strength := [...]float64{0.6, 0.9, 1}[min(f.Encoded-1, 2)]
		parts = add(parts, "encoding", strength, fmt.Sprintf("what runs was hidden below %s of encoding", layers(f.Encoded)))
	}
	for _, name := range f.Programs {
		parts = program(parts, name)
	}
	for _, name := range f.Places {
		parts = place(parts, name)
	}
	return parts
}

func layers(n int) string {
	if n == 1 {
		return "one layer"
	}
	return fmt.Sprintf("%d layers", n)
}
