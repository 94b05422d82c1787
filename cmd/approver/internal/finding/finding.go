// Package finding has the result of one check of doctor or of the hook test, and prints it.
package finding

import (
	"fmt"
	"slices"
	"strings"

	"approver.example/cmd/approver/internal/term"
)

// A Finding is the result of one check. The zero value is a failed one.
type Finding struct {
	Check  string `json:"check"`
	Result Result `json:"result"`
	Text   string `json:"text,omitempty"`
	Fix    string `json:"fix,omitempty"`
}

// A Result is one of fail, warn and ok.
type Result uint8

// The results, the worst first.
const (
	Fail Result = iota
	Warn
	OK
)

// MarshalText returns the result as a word.
func (r Result) MarshalText() ([]byte, error) { return []byte(r.Word()), nil }

// Word returns the result as a word for people.
func (r Result) Word() string {
	switch r {
	case OK:
		return "ok"
	case Warn:
		return "warn"
	default:
		return "fail"
	}
}

// Print prints the finding for people. A cure that is a single command is not folded, so it can
// be copied.
func (f Finding) Print() {
	const under = 18
	term.Print(under, "%-4s %-12s %s\n", f.Result.Word(), f.Check,
		strings.ReplaceAll(term.Visibly(f.Text), "\n", "\n"+strings.Repeat(" ", under)))
	switch fix := term.Visibly(f.Fix); {
	case fix == "":
	case isCommand(fix):
		fmt.Printf("%*sfix: %s\n", under, "", fix)
	default:
		term.Print(under+5, "%*sfix: %s\n", under, "", fix)
	}
}

// isCommand reports whether a text is a command and nothing else.
func isCommand(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	return slices.Contains([]string{"approver", "sudo", "chmod", "chown", "rm"}, first) &&
		!strings.ContainsAny(text, ",;:\n")
}
