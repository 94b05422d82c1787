package agents

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"approver.example"
	"approver.example/agents/blocking"
	"approver.example/agents/facts"
)

// MaxPayload bounds a payload in bytes.
const MaxPayload = 4 << 20

// A Kind says what an event asks of approver. The zero value is an event that is not understood;
// its answer blocks.
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

// An Event is a decoded payload. The zero value is blocked.
type Event struct {
	Kind Kind
	// Agent is the agent's name, and Name is the agent's name for the event.
	Agent string
	Name  string
	// Call is set for Decide, Prompted and Ran, without the fields that only the daemon knows: ID,
	// Env, Peer and At. For Settings it has the session, the folder and the changed file.
	Call approver.ToolCall
	// Native is the agent's own name of the tool. Call.Tool is the name that the rules know.
	Native string
	// UseID is the agent's id of the call. It matches a Ran to its Decide. A Prompted may have none.
	UseID string
	// Derived says that the agent gives its calls no ids, and UseID is derived from what the call is.
	// The same call has the same UseID each time.
	Derived bool
	// Content is the same for a Decide and the Ran of its call, unless something else ran than what
	// was decided. It is set where Call is.
	Content Content
	// Asked is the same for all events that ask about one call, although some show less of it than others.
	// The zero value is Content.
	Asked Content
	// Moment is when the agent started the hooks before the call, as it says; empty if it does not. Two
	// hooks of one call have the same, and calls that are made side by side can have it, too.
	Moment string
	// Mode is the permission mode that the agent claims to be in.
	Mode string
	// Subagent is the agent's id of the sub-agent that makes the call, if any.
	Subagent string
	// Response is what a call returned, as the agent reports it, for Ran.
	Response json.RawMessage
	// Output is, for Ran, the text that a call printed or returned, or the error of a call that
	// failed. It does not have the duration if the agent reports that separately.
	Output string
	// Failure is why a call failed. It is empty if the call succeeded.
	Failure string
	// Prompt is, for Prompted, what the agent asks its own user. Nil: it is decided like a call.
	Prompt *Prompt
	// Over are, for Over, the agent's ids of the calls of the turn.
	Over []string
	// Changed is, for Settings, the file that changed. Home is the folder of the user's own settings,
	// if the agent says it. Both are absolute paths.
	Changed, Home string
}

// Asks returns Asked, or Content if that is the same.
func (ev Event) Asks() Content {
	if ev.Asked == (Content{}) {
		return ev.Content
	}
	return ev.Asked
}

// ExitCode is the exit code of a call that failed, as the agent writes it in the first or the last
// line of Failure: "Exit code 2". It is from 1 to 255, and zero if the agent does not say it.
func (ev Event) ExitCode() int {
	text := strings.TrimSpace(ev.Failure)
	first, _, _ := strings.Cut(text, "\n")
	said := regexp.MustCompile(`(?i)\bexit(?:ed)?(?: with)? (?:code|status):? ([0-9]{1,3})\b`)
	for _, line := range []string{first, text[strings.LastIndex(text, "\n")+1:]} {
		if found := said.FindStringSubmatch(line); found != nil {
			if code, err := strconv.Atoi(found[1]); err == nil && code <= 255 {
				return code
			}
		}
	}
	return 0
}

// An Answer is the output of the hook process: its two streams and its exit code.
type Answer = blocking.Answer

// An Adapter translates the protocol of one agent. It is pure: no I/O, no clock, no state.
type Adapter interface {
	// Name is the word for --agent, such as "claude".
	Name() string

	// Facts returns what the courier and the root package need to know about the agent.
	Facts() facts.Agent

	// Decode reads a payload. An error means that it was not understood exactly; the text is for the
	// person who installed the hook. The caller then answers with Encode of the zero Event.
	Decode(payload []byte) (Event, error)

	// Rewrite is Decode of a payload with other arguments of the call.
	Rewrite(payload []byte, args json.RawMessage) (Event, error)

	// Encode writes the verdict as the answer to this event. An Ask is never sent, because people have
	// decided by the time of an answer. It becomes a deny, like everything else that the protocol
	// cannot express. An Allow with arguments is people's yes to the call with these, like a Modify.
	Encode(ev Event, v approver.Verdict) Answer
}

// adapters is the list of all agents.
var adapters = [...]Adapter{
	Claude{},
	qwen,
	gemini,
	cursor,
	windsurf,
	kiro,
	goose,
	crush,
	codex,
	opencode,
	pi,
	cline,
	openclaw,
	copilot,
	droid,
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

// A Reading says how an agent's model reads what a call returned. The zero value means that it does
// not read it.
type Reading struct {
	// Reads says that the model reads a text that the agent did not write itself.
	Reads bool
	// Replaces says that a hook can replace the result.
	Replaces bool
	// Lines says that the agent numbers the lines, so that no line may be added.
	Lines bool
	// From is where the text comes from, if the call says it: an address or a path.
	From string
}

// A Result says how to change what a call returned. The zero value changes nothing.
type Result struct {
	// Response is what the model reads instead, in the same form; nil changes nothing.
	Response json.RawMessage
	// Context is told to the model together with the result, and Notice to the agent's user; each is
	// one line.
	Context, Notice string
}

// A Returner is an [Adapter] of an agent whose hooks can change what a call returned.
type Returner interface {
	Adapter

	// Reading says how the model reads what the call of a Ran returned.
	Reading(ev Event) Reading

	// EncodeResult writes the answer to a Ran. If the protocol cannot express r, the answer blocks,
	// like [Adapter.Encode] of the zero verdict.
	EncodeResult(ev Event, r Result) Answer
}
