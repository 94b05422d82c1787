// Package shelltools says which tools of an agent run a command line for it: what is
// shown of a call, and what it is bound to, depends on that wherever a call is read again.
package shelltools

import "slices"

// agents are the shell tools by agent. A tool that is the agent's own shell needs no name
// on a card. Of one that describes, the argument "description" is for people to read and
// changes nothing that runs.
var agents = map[string]struct {
	own       string
	describes []string
}{
	"claude": {own: "Bash", describes: []string{"Bash", "PowerShell", "Monitor"}},
}

// Own reports the agent's own shell.
func Own(agent, tool string) bool { return tool != "" && agents[agent].own == tool }

// Describes reports a tool whose argument "description" changes nothing that runs.
func Describes(agent, tool string) bool { return slices.Contains(agents[agent].describes, tool) }

// Describing are the tools of an agent that [Describes] reports.
func Describing(agent string) []string { return slices.Clone(agents[agent].describes) }
