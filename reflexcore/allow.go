package reflexcore

import (
	"fmt"
	"time"

	"approver.example"
	"approver.example/display"
)

// An Allowance is an exception from a rule. Findings of the rule within its scope are dropped until
// it expires. The zero value allows nothing.
type Allowance struct {
	Scope `json:"scope"`
	// Expires is when the exception ends. It is compared with the time of the call.
	Expires time.Time `json:"expires"`
	// Reason says why, for people.
	Reason string `json:"reason"`
	// Where is the position in the file of rules.
	Where approver.Position `json:"where,omitzero"`
}

// A Scope says for which calls an exception is made. A call must match every field that is not
// empty. The zero Scope matches no call.
type Scope struct {
	// Command is the whole command, word by word. In a word, * matches text without a slash and **
	// matches any text; as the last word, ** matches any further words. Only a command that runs one
	// program with plain words can match.
	Command string `json:"command,omitempty"`
	// Path is an absolute folder or file. The target of the effect must be it or lie below it.
	Path string `json:"path,omitempty"`
	// Agent is the agent's name.
	Agent string `json:"agent,omitempty"`
	// Project is an absolute folder. The call must work in it or below it.
	Project string `json:"project,omitempty"`
}

// String returns the position, the reason and the last day of the exception.
func (a *Allowance) String() string {
	return fmt.Sprintf("%s (%s, until %s)", a.Where, display.OneLine(a.Reason),
		a.Expires.Add(-time.Nanosecond).UTC().Format(time.DateOnly))
}
