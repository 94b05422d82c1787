// Package facts has what the rest of the project must know about an agent without its adapter: its
// blocking answer when nothing else works, which of its events report what ran, how long its hook
// may wait, and which tool is its shell.
//
// It is a table with a few searches, and imports almost nothing, because the courier, which starts
// at every tool call, and the root package link it. The facts of each agent are in its file in
// package agents, from which go generate ./agents writes table.go.
package facts

import (
	"slices"
	"time"
)

// An Agent is one row of the table.
type Agent struct {
	Name string
	// Patience is how long the hook waits for an answer if its flags do not say; zero is short enough
	// for the agent with the shortest timeout.
	Patience time.Duration
	// Shell is the agent's own shell. A card that shows its command line leaves out its name.
	Shell string
	// Described are the tools whose argument "description" does nothing: it is a text by the model for
	// the agent's user.
	Described []string
	// Returned are the keys of a report whose values are what the call returned.
	Returned []Field
	// Alone are the variables, each with a value, by which the agent tells its hooks that it runs without
	// a dialog in which somebody could be asked. One of them is enough.
	Alone []Variable
	// Events are those that can be blocked. The first one stands for events that are not listed.
	Events []Event
}

// A Variable is a variable of a hook's environment, with a value.
type Variable struct{ Name, Value string }

// A Field is a key of a payload, and a short JSON value that replaces its value.
type Field struct{ Key, Short string }

// An Event is the blocking answer at one of an agent's hooks. The document is Before, the reason as
// a JSON string, and After. If both are empty there is no document.
type Event struct {
	Name, Before, After string
	// DocumentOnly makes the exit code 0: with another one, the agent does not read the document.
	DocumentOnly bool
	Meaning      Meaning
}

// A Meaning says what an event is about.
type Meaning uint8

// The meanings. Whatever is not listed is a call that has not run.
const (
	Call     Meaning = iota // a call wants to run
	Report                  // a call ran; the daemon must hear of it, whatever is wrong with the report
	Settings                // the agent asks whether to take changed settings
)

// All returns the agents with a known blocking answer. The first is the agent of examples.
func All() []Agent { return table[:] }

// Of returns the agent with a name; for an unknown one it returns the zero Agent.
func Of(name string) Agent {
	if i := slices.IndexFunc(table[:], func(a Agent) bool { return a.Name == name }); i >= 0 {
		return table[i]
	}
	return Agent{}
}

// Example is the name of an agent, for help and errors.
func Example() string { return table[0].Name }

// At returns an agent's event: for an event that is not listed, the agent's first one, and for an
// unknown agent, the first event of the table.
func At(agent, event string) Event {
	a := Of(agent)
	if a.Name == "" {
		a = table[0]
		event = ""
	}
	for _, e := range a.Events {
		if e.Name == event {
			return e
		}
	}
	return a.Events[0]
}

// IsAlone reports whether an agent whose hooks have this environment runs without a dialog in which
// somebody could be asked.
func IsAlone(agent string, getenv func(string) string) bool {
	return slices.ContainsFunc(Of(agent).Alone, func(v Variable) bool { return getenv(v.Name) == v.Value })
}

// IsReport reports whether an event of an agent says that a call ran.
func IsReport(agent, event string) bool {
	for _, e := range Of(agent).Events {
		if e.Name == event {
			return e.Meaning == Report
		}
	}
	return false
}

// Describes reports whether a tool's argument "description" does nothing.
func Describes(agent, tool string) bool { return slices.Contains(Of(agent).Described, tool) }

// OwnShell reports whether a tool is the agent's own shell.
func OwnShell(agent, tool string) bool { return tool != "" && Of(agent).Shell == tool }
