package reflexcore

import (
	"fmt"
	"time"

	"approver.example"
	"approver.example/display"
)

// An Allowance is an exception from a rule: within its scope, and up to its end,
// what the rule finds is dropped. The zero value allows nothing.
type Allowance struct {
	Scope `json:"scope"`
	// Expires is when it ends, by the time of the call.
	Expires time.Time `json:"expires"`
	// Reason says why, for people.
	Reason string `json:"reason"`
	// Where it stands.
	Where approver.Position `json:"where,omitzero"`
}

// A Scope says for which calls an exception is made: for those that are all that it
// names. The zero Scope is no call's.
type Scope struct {
	// Command is the whole command, word by word: * is any text without a slash, **
	// any text, and ** as the last word any more words. A command that does more
	// than run one program with plain words is never meant.
	Command string `json:"command,omitempty"`
	// Path is an absolute folder or file: what the rule found is there or below.
	Path string `json:"path,omitempty"`
	// Agent is the agent's name.
	Agent string `json:"agent,omitempty"`
	// Project is an absolute folder: the call works there or below.
	Project string `json:"project,omitempty"`
}

// String says why up to which day, and where that stands.
func (a *Allowance) String() string {
	return fmt.Sprintf("%s (%s, until %s)", a.Where, display.OneLine(a.Reason),
		a.Expires.Add(-time.Nanosecond).UTC().Format(time.DateOnly))
}
