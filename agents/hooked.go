package agents

import (
	"encoding/json"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/agents/facts"
)

// A hooked is the [Adapter] of an agent that runs a program before a tool and gives it one JSON object
// whose outermost keys say what is about to run. What differs between these agents is data here, and
// a few functions; it is in the file of each agent.
type hooked struct {
	name     string // for --agent
	title    string // for errors; empty is the name
	patience time.Duration
	alone    []facts.Variable // as in facts.Agent
	// events and notices are all that the agent is known to send; another one is refused, because an
	// empty answer to it may permit something. The first event is that before a tool. The notices, separated
	// by spaces, are those for which an empty answer changes nothing.
	events  []hookEvent
	notices string
	keys    keys
	tools   vocabulary
	// form returns the keys and the tools of a payload, of an agent that writes payloads in several
	// forms; nil: they are always those above.
	form func(o object) (keys, vocabulary)

	// described are the tools, under their known names, whose description does nothing.
	described []string
	// returned are the keys of what a call returned, with a short value for each.
	returned []facts.Field

	// event returns the name of the event; nil reads keys.event.
	event func(o object) (string, error)
	// inner says that the tool, its arguments, the id and what it returned are in an object whose key is
	// the event.
	inner bool
	// call returns the agent's own name of the tool and its arguments; nil reads keys.tool and
	// keys.input.
	call func(o object) (tool string, args json.RawMessage, err error)
	// unpack returns the tool and the arguments of a call whose arguments are not an object; nil: such a
	// call is refused. It cannot be changed.
	unpack func(tool string, raw json.RawMessage) (string, json.RawMessage, error)
	// place reads more about where a call is made; nil reads keys.session and keys.dir.
	place func(call *approver.ToolCall, o object) error
	// alias returns the name under which tools has a tool, if its own name does not say all; nil is the
	// own name.
	alias func(tool string, args object) (string, error)
	// check refuses arguments that the agent itself would read otherwise; nil refuses none.
	check func(tool string, args json.RawMessage) error
	// adds adds to a call what its arguments say in a form of their own; nil adds nothing.
	adds func(ev *Event) error
	// prompt reads what the agent is about to ask its own user; nil: a Prompted is decided like a call.
	prompt func(ev Event, o object) Prompt
	// asked returns what the events that ask about one call have in common, see [Event.Asked].
	asked func(ev Event, o object) Content
	// outcome reads what a call returned, for a Ran; nil reads keys.response.
	outcome func(ev *Event, o object) error
	// moment returns [Event.Moment] of a call that wants to run; nil is always empty.
	moment func(o object) (string, error)

	// quiet is the document of an answer that says nothing; empty is no document.
	quiet string
	// permit returns the document of an answer that does not block, or nil for an empty one. args are
	// those of a Modify under the agent's own names, and nil for every other verdict.
	permit func(ev Event, v approver.Verdict, args json.RawMessage) any
	// modifies says that the agent runs a call with other arguments if the answer says so. merges says
	// that it adds them to those of the call, so that none can be taken away.
	modifies, merges bool

	install *installation // nil: approver cannot be installed for it
	// recipe says how the agent is started to test its hook; nil: that is not known.
	recipe func() canary.Recipe
}

// A hookEvent is one that an agent sends.
type hookEvent struct {
	facts.Event
	kind Kind
	// installed says that install puts a hook there.
	installed bool
	quiet     string // that of hooked, for an event with one of its own
	// call is that of hooked, for an event with keys of its own. Such a call cannot be changed.
	call func(o object) (tool string, args json.RawMessage, err error)
	// failure is the key of why the call failed, for a Ran that says so.
	failure string
	// read reads an event that is not about a call, after its place.
	read func(ev *Event, o object) error
}

// keys are the outermost keys of a payload. Where one is empty, the agent sends nothing of that.
type keys struct {
	event, session, dir, tool, input string
	use                              string // the agent's id of the call
	response                         string
	mode, subagent                   string
}

// like Claude Code's.
var usualKeys = keys{
	event: "hook_event_name", session: "session_id", dir: "cwd", tool: "tool_name", input: "tool_input",
	use: "tool_use_id", response: "tool_response", mode: "permission_mode", subagent: "agent_id",
}

// meanings are those of the kinds that are not about a call that has not run.
var meanings = [...]facts.Meaning{Ran: facts.Report, Settings: facts.Settings}

// Name implements [Adapter].
func (h *hooked) Name() string { return h.name }

// Facts implements [Adapter].
func (h *hooked) Facts() facts.Agent {
	f := facts.Agent{Name: h.name, Patience: h.patience, Shell: "Bash", Described: h.described, Returned: h.returned,
		Alone: h.alone}
	for _, e := range h.events {
		if e.kind == Over {
			continue // there is nothing to block
		}
		e.Meaning = meanings[e.kind]
		f.Events = append(f.Events, e.Event)
	}
	return f
}

// at returns the event with a name; the zero hookEvent is not known.
func (h *hooked) at(event string) hookEvent {
	for _, e := range h.events {
		if e.Name == event {
			return e
		}
	}
	if event != "" && hasWord(h.notices, event) {
		return hookEvent{Event: facts.Event{Name: event}, kind: Notice}
	}
	return hookEvent{}
}

func (h *hooked) kindOf(event string) Kind { return h.at(event).kind }

// formed returns the adapter with the keys and the tools of a payload.
func (h *hooked) formed(o object) *hooked {
	if h.form == nil {
		return h
	}
	one := *h
	one.keys, one.tools = h.form(o)
	return &one
}
