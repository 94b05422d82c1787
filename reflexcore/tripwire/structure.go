package tripwire

import (
	"fmt"

	"approver.example/reflexcore/shell"
)

// StructureDetectors are the detectors of [Structure] and [Characters].
var StructureDetectors = []Detector{
	{"nesting", 0.9, "shells in shells: 3 layers of payloads and more, at full strength from 6"},
	{"encoding", 0.95, "encoded text that ends in an execution: at full strength from 3 layers, at 0.9 with 2, at 0.6 with 1"},
	{"split-name", 0.7, "a command's name with quotes or backslashes inside it (r\"\"m)"},
	{"glued-name", 0.7, "a program's name put together from letters of variables ($a$b)"},
	{"cut-name", 0.75, "a name or a flag that is a part of a value, or a value changed (${x:0:1})"},
	{"computed-name", 0.6, "a name that another command prints ($(echo rm))"},
	{"escaped-name", 0.75, "a name or a flag with its letters as numbers ($'\\x72m')"},
	{"braced-name", 0.7, "one word in braces that is a command with its arguments ({rm,-rf,/})"},
	{"guessed-name", 0.85, "a program given as a pattern of paths (/bin/r?)"},
	{"empty-quotes", 0.7, "quotes around nothing between the letters of a word (/et''c)"},
	{"separator", 0.6, "spaces written as the variable IFS inside a word"},
	{"eval", 0.25, "eval of a text that is not known"},
	{"source-process", 0.2, "source of what a process prints"},
	{"input-as-code", 0.4, "an input whose lines become shell code (xargs sh -c)"},
	{"unknown-name", 0.15, "a variable whose value is not known as a command"},
	{"into-danger", 0.5, "one of the seven kinds of hidden names above, in a call that reaches out, deletes, runs code or takes rights"},
	{"control", 0.85, "control characters in a command, or a lone carriage return"},
	{"terminal-escape", 0.7, "a terminal's escape sequence in a command"},
	{"bidi", 0.9, "characters that turn the direction of a text round; at 0.5 in a line with letters that run from right to left"},
	{"zero-width", 0.85, "characters without width inside a word, or eight and more in a row"},
	{"tag-characters", 0.95, "the invisible alphabet of tags outside of a flag"},
	{"selectors", 0.9, "several variation selectors in a row"},
	{"space", 0.6, "an unusual space in a command's name, a path or a host"},
	{"look-alike", 0.95, "a program whose name only looks like ASCII letters"},
	{"mixed-script", 0.8, "letters that look like ASCII ones among ASCII letters, in a path, a host or a name"},
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

// add appends what a detector saw, unless it saw it stronger before.
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
	// Odd, OddName and Layers are what the walk of the shell found.
	Odd     shell.Oddity
	OddName string
	Layers  int
	// Encoded is how many encodings lie in one another in what was decoded and
	// then executed; 0: nothing was.
	Encoded int
	// Acts says that the call does more than look: it reaches out, deletes, runs code.
	Acts bool
	// Programs are names of programs that no table has; Places are paths and hosts.
	Programs, Places []string
}

// odds are the detectors of the oddities, in their order.
var odds = [...]struct{ name, what string }{
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

// hiding is how many of the oddities, the first of them, hide the name of a command.
const hiding = 7

// Structure appends what is odd about the form of a call to parts.
func Structure(parts []Part, f Form) []Part {
	for i, odd := range odds {
		if f.Odd&(1<<i) != 0 {
			parts = add(parts, odd.name, 1, fmt.Sprintf(odd.what, f.OddName))
			if i < hiding && f.Acts {
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
