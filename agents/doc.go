// Package agents translates between the hook protocols of coding agents and approver's types: a
// payload of an agent becomes an [Event], and a verdict becomes the agent's [Answer]. It runs in the
// daemon, and no call makes it read or write a file.
//
// # From a payload to its answer
//
//  1. [Read] takes the adapter that the hook's flag names, or the one whose marks the payload has
//     (detect.go).
//  2. [Adapter.Decode] parses the payload (strict.go), finds its event in the agent's table, and reads
//     where the call is made and what it runs (hooked_decode.go). The agent's names of tools and arguments
//     become those that the rules know (vocabulary.go), and a digest says what the call does
//     (content.go). An MCP tool has a name of its own (mcpname.go), and a relative path needs a folder
//     (paths.go).
//  3. The daemon has the event judged, if its [Kind] asks for that.
//  4. [Adapter.Encode] writes the verdict as the agent's document (hooked_encode.go; document.go has those
//     that several agents read). What the protocol cannot express blocks, see package blocking. A call that
//     runs with other arguments gets them under the agent's own names (hooked_change.go).
//
// After the call, the agent reports it. If the report is of a form that Decode refuses, a [Reporter]
// reads what it can (report.go). A [Returner] can change what the model reads of the result
// (returned.go).
//
// An adapter refuses a payload that it does not understand exactly: the payload comes from a process
// that the agent controls, and a payload that two parsers read differently is a way around the gate.
// The answer to a refused payload is the adapter's Encode of the zero Event, which blocks.
//
// # An agent
//
// Each agent has a file of its name, with others that begin with that name, and one entry in the list
// that [For] reads (agents.go). It is a table of the type hooked (hooked.go): its events, the keys of its
// payloads, its tools, and functions where it differs from the others. Agents in which approver is a
// plugin have a smaller table (plugged.go). The answers of Claude Code have more in them, in
// claude_answer.go, claude_prompt.go and claude_result.go.
//
// # Its settings
//
// What install, doctor and the daemon need of an agent is an [Installer] (install.go). The tables have it
// in hooked_install.go: how the hooks stand in a file, how long they wait (timeouts.go), and what else
// takes them away (hooked_beside.go). Packages settings and claudesettings read and change the files.
package agents
