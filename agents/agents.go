// Package agents translates between the hook protocols of coding agents and
// approver's words: a native payload becomes an [Event], a verdict becomes a
// native [Answer]. It does no I/O and runs inside the daemon.
//
// Each agent is one file and one entry in the list that [For] reads. What an
// adapter does not understand exactly, it refuses: the payload comes from a
// process that the agent controls, and a payload that two parsers read
// differently is a way around the gate. A refusal is answered by the adapter's
// Encode with the zero Event, which blocks.
package agents

import (
	"encoding/json"

	"approver.example"
	"approver.example/agents/blocking"
	"approver.example/agents/facts"
)

// MaxPayload bounds a payload in bytes.
const MaxPayload = 4 << 20

// A Kind says what an event wants of approver. The zero value is nothing that
// is understood, and is answered with a block.
type Kind uint8

// The kinds.
const (
	Unknown  Kind = iota
	Decide        // a call wants to run
	Prompted      // the agent is about to ask its own user about a call; decided like Decide
	Ran           // a call ran; recorded, and matched to its verdict
	Notice        // nothing to decide; answered with silence
	Over          // the calls of a turn are over, and what ran of them was reported before
	Settings      // the agent's own settings changed, and it asks whether to take them
)

var kindNames = [...]string{"unknown", "decide", "prompted", "ran", "notice", "over", "settings"}

// String returns the word; an unknown value is "unknown".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Unknown]
}

// An Event is one payload, understood. The zero value is blocked.
type Event struct {
	Kind Kind
	// Agent is the dialect, and Name the agent's own name of the event.
	Agent string
	Name  string
	// Call is set for Decide, Prompted and Ran, except for what only the daemon
	// knows: ID, Env, Peer and At. For Settings it names the session, the folder and
	// the changed file.
	Call approver.ToolCall
	// UseID is the agent's id of the call. It ties a Ran to its Decide. A
	// Prompted may have none.
	UseID string
	// Content is the same for a Decide and the Ran of that call unless something else
	// ran than was decided. It is set where Call is.
	Content Content
	// Mode is the permission mode that the agent claims to be in.
	Mode string
	// Subagent is the agent's id of the sub-agent that makes the call, if any.
	Subagent string
	// Response is what a call returned, as the agent reports it, for Ran.
	Response json.RawMessage
	// Output is what a call printed or returned, as text, for Ran; of one that
	// failed, its error. What only says how long it took is left out where the
	// agent gives it by itself.
	Output string
	// Failure is why a call failed. A Ran with an empty Failure succeeded.
	Failure string
	// Over are, for Over, the agent's ids of the calls of the turn.
	Over []string
	// Changed is, for Settings, the file that changed, and Home the folder of the
	// user's own settings, as far as the agent says; both are absolute paths.
	Changed, Home string
}

// An Answer is what the hook process leaves behind: its two streams and its
// exit code.
type Answer = blocking.Answer

// An Adapter speaks one agent's dialect. It is pure: no I/O, no clock, no state.
type Adapter interface {
	// Name is the word for --agent, such as "claude".
	Name() string

	// Facts are what the courier and the root have to know of the agent.
	Facts() facts.Agent

	// Decode reads a payload. An error means that it was not understood
	// exactly; its text is for the person who installed the hook. The caller
	// then answers with Encode of the zero Event.
	Decode(payload []byte) (Event, error)

	// Rewrite is Decode of a payload with other arguments of the call.
	Rewrite(payload []byte, args json.RawMessage) (Event, error)

	// Encode writes the verdict in the form that this event takes. An Ask is
	// never sent: by the time of an answer people have decided, so it becomes a
	// deny, as does everything else that cannot be said.
	Encode(ev Event, v approver.Verdict) Answer
}

// adapters is the list of all agents.
var adapters = [...]Adapter{
	Claude{},
}

// For returns the adapter of the named agent.
func For(name string) (Adapter, bool) {
	for _, a := range adapters {
		if a.Name() == name {
			return a, true
		}
	}
	return nil, false
}

// Names returns the names of all agents, in the order of the list.
func Names() []string {
	names := make([]string, 0, len(adapters))
	for _, a := range adapters {
		names = append(names, a.Name())
	}
	return names
}

// A Reading says how an agent's model reads what a call returned. The zero value is
// not at all.
type Reading struct {
	// Reads says that the model reads a text that the agent did not write itself.
	Reads bool
	// Replaces says that the protocol lets a hook put another result in its place.
	Replaces bool
	// Lines says that the agent numbers the lines, so that none may be added.
	Lines bool
	// From is where the text comes from, as far as the call says: an address or a path.
	From string
}

// A Result is what is to become of what a call returned. The zero value leaves it.
type Result struct {
	// Response is what the model is to read instead, in the same form; nil leaves it.
	Response json.RawMessage
	// Context is told the model beside the result, and Notice the agent's user; each
	// is one line.
	Context, Notice string
}

// A Returner is an [Adapter] of an agent whose protocol has a word for a hook that
// looks at what a call returned.
type Returner interface {
	Adapter

	// Reading says how the model reads what the call of a Ran returned.
	Reading(ev Event) Reading

	// EncodeResult writes the answer to a Ran. What the protocol cannot say of r is an
	// answer that blocks, see [Adapter.Encode] of the zero verdict.
	EncodeResult(ev Event, r Result) Answer
}
