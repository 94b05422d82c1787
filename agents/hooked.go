package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents/blocking"
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

// Decode implements [Adapter].
func (h *hooked) Decode(payload []byte) (Event, error) {
	ev, err := h.decode(payload)
	if err != nil {
		return Event{}, fmt.Errorf("the payload is not what %s sends to a hook: %w", cmp.Or(h.title, h.name), err)
	}
	return ev, nil
}

// decode reads a payload. With an error, the event is not whole.
func (h *hooked) decode(payload []byte) (ev Event, err error) {
	o, err := parseObject(payload)
	if err != nil {
		return ev, err
	}
	if err := foreign(o, h.name); err != nil {
		return ev, err
	}
	h = h.formed(o)
	ev.Agent = h.name
	if ev.Name, err = h.eventOf(o); err != nil {
		return ev, err
	}
	e := h.at(ev.Name)
	if e.kind == Notice {
		ev.Kind = Notice
		return ev, nil
	}
	if e.kind == Unknown {
		return ev, fmt.Errorf("the event %s is not known: take approver out of the hooks of that event", quote(ev.Name))
	}
	if err := h.readPlace(&ev.Call, o); err != nil {
		return ev, err
	}
	ev.Call.Raw = bytes.Clone(payload)
	if e.read != nil {
		ev.Kind, err = e.kind, e.read(&ev, o)
		return ev, err
	}
	in, err := h.within(ev.Name, o)
	if err != nil {
		return ev, err
	}
	if err := h.readCall(&ev, in, e); err != nil {
		return ev, err
	}
	if err := h.readIDs(&ev, o, in, e); err != nil {
		return ev, err
	}
	if h.adds != nil {
		if err := h.adds(&ev); err != nil {
			return ev, err
		}
	}
	if h.asked != nil {
		ev.Asked = h.asked(ev, o)
	}
	ev.Kind = e.kind
	switch {
	case e.kind == Ran:
		err = h.readOutcome(&ev, in, e)
	case e.kind == Prompted && h.prompt != nil:
		p := h.prompt(ev, o)
		ev.Prompt = &p
	case h.moment != nil:
		ev.Moment, err = h.moment(o)
	}
	return ev, err
}

// formed returns the adapter with the keys and the tools of a payload.
func (h *hooked) formed(o object) *hooked {
	if h.form == nil {
		return h
	}
	one := *h
	one.keys, one.tools = h.form(o)
	return &one
}

// within returns the object that has the call.
func (h *hooked) within(event string, o object) (object, error) {
	if !h.inner {
		return o, nil
	}
	in, err := parseObject(o[event])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", quote(event), err)
	}
	return in, nil
}

func (h *hooked) eventOf(o object) (string, error) {
	if h.event != nil {
		return h.event(o)
	}
	return o.need(h.keys.event, maxID)
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

// readPlace reads the session, and the folder that the agent works in. It is empty if the agent does
// not say it.
func (h *hooked) readPlace(call *approver.ToolCall, o object) (err error) {
	call.Agent = h.name
	if h.place != nil {
		return h.place(call, o)
	}
	if call.Session, err = o.need(h.keys.session, maxID); err != nil {
		return err
	}
	call.Dir, err = o.absolute(h.keys.dir)
	return err
}

// readCall reads what the agent is about to run.
func (h *hooked) readCall(ev *Event, o object, e hookEvent) (err error) {
	var raw json.RawMessage
	switch {
	case e.call != nil:
		ev.Native, raw, err = e.call(o)
	case h.call != nil:
		ev.Native, raw, err = h.call(o)
	default:
		ev.Native, err = o.need(h.keys.tool, maxTool)
		raw = o[h.keys.input]
	}
	name := ev.Native
	if err == nil && h.unpack != nil && !isObject(raw) {
		name, raw, err = h.unpack(name, raw)
	}
	switch {
	case err != nil:
		return err
	case !isObject(raw):
		return fmt.Errorf("%s is missing or not an object", quote(cmp.Or(h.keys.input, "the tool's arguments")))
	}
	if h.alias != nil {
		var args object
		if err := json.Unmarshal(raw, &args); err != nil {
			return err
		}
		if name, err = h.alias(name, args); err != nil {
			return err
		}
	}
	if h.check != nil {
		if err := h.check(ev.Native, raw); err != nil {
			return err
		}
	}
	if ev.Content, err = h.tools.read(&ev.Call, name, raw); err != nil {
		return err
	}
	if e.kind != Ran { // what ran was judged before
		err = knowsPlace(ev.Call)
	}
	if !filepath.IsAbs(ev.Call.Dir) {
		ev.Call.Dir = nowhere
	}
	return err
}

// readIDs reads the mode and the ids of the call and of the sub-agent. An agent that gives its calls
// no ids gets one that is derived from what the call is. An event with keys of its own has no id of
// the call: the reports are those of the agent's main event.
func (h *hooked) readIDs(ev *Event, o, in object, e hookEvent) error {
	into := map[string]*string{}
	for key, to := range map[string]*string{h.keys.mode: &ev.Mode, h.keys.subagent: &ev.Subagent} {
		if key != "" {
			into[key] = to
		}
	}
	if err := o.optional(maxID, into); err != nil {
		return err
	}
	if h.keys.use != "" {
		if err := in.optional(maxID, map[string]*string{h.keys.use: &ev.UseID}); err != nil {
			return err
		}
	}
	switch {
	case e.call != nil && e.kind == Prompted:
		ev.UseID = ""
	case h.keys.use == "":
		ev.UseID, ev.Derived = fmt.Sprintf("%x of %s", ev.Content[:16],
			cmp.Or(ev.Call.Session, ev.Call.Dir)), true
	case ev.UseID == "" && e.kind != Prompted:
		return fmt.Errorf("%s is missing or empty", quote(h.keys.use))
	}
	return nil
}

// readOutcome reads the result of a call that ran.
func (h *hooked) readOutcome(ev *Event, o object, e hookEvent) (err error) {
	switch {
	case e.failure != "":
		ev.Failure, err = o.need(e.failure, MaxPayload)
		ev.Output = ev.Failure
		return err
	case h.outcome != nil:
		return h.outcome(ev, o)
	}
	response, ok := o[h.keys.response]
	if !ok {
		return fmt.Errorf("%s is missing", quote(h.keys.response))
	}
	ev.Response, ev.Output = response, outputOf(response)
	return nil
}

// Encode writes the verdict for the agent. Deny, Ask, an event that is not understood and everything
// that the agent's protocol cannot express block. The answer to a Notice is empty.
func (h *hooked) Encode(ev Event, v approver.Verdict) Answer {
	var doc any
	var err error
	if ev.Kind != Notice {
		if doc, err = h.document(ev, v); err != nil {
			return blocking.For(h.name, ev.Name, err.Error())
		}
	}
	if quiet := cmp.Or(h.at(ev.Name).quiet, h.quiet); doc == nil && quiet != "" {
		return Answer{Stdout: []byte(quiet + "\n"), ExitZero: true}
	}
	if doc == nil {
		return Answer{ExitZero: true}
	}
	out, err := encoded(doc, "")
	if err != nil {
		return blocking.For(h.name, ev.Name, "the answer could not be written: "+err.Error())
	}
	return Answer{Stdout: out, ExitZero: true}
}

// document returns the document for exit 0, nil for an empty answer, or an error with the reason for a
// block.
func (h *hooked) document(ev Event, v approver.Verdict) (any, error) {
	switch {
	case ev.Kind != Decide && ev.Kind != Prompted && ev.Kind != Ran:
		return nil, errors.New(v.Reason)
	case v.Decision == approver.Pass, v.Decision == approver.Warn,
		v.Decision == approver.Allow && (v.Args == nil || ev.Kind == Ran):
		return h.permit(ev, v, nil), nil
	case v.Decision != approver.Modify && v.Decision != approver.Allow || ev.Kind == Ran:
		return nil, errors.New(v.Reason)
	}
	v.Decision = approver.Modify // people may have said yes to the changed call
	if _, err := parseObject(v.Args); err != nil || !wellFormed(v.Args) {
		return nil, errors.New("the changed arguments are not a JSON object, so the call was stopped")
	}
	_, args, err := h.changed(ev, ev.Call.Raw, v.Args)
	switch {
	case err != nil:
		return nil, errors.New("the changed arguments could not be written, so the call was stopped")
	case !h.modifies || h.at(ev.Name).call != nil || h.merges && !keeps(args, ev.Call.Raw, h.keys.input):
		return nil, fmt.Errorf("this call must run with other arguments, so it was stopped: run it with these instead: %s",
			args)
	}
	return h.permit(ev, v, args), nil
}

// outputOf returns the text of a tool's response: both streams of a shell, the texts of a list of
// contents, or a string. Of another response it returns the JSON without the duration.
func outputOf(response json.RawMessage) string {
	var text string
	if json.Unmarshal(response, &text) == nil {
		return text
	}
	var contents []struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(response, &contents) == nil {
		for _, c := range contents {
			if c.Text == nil {
				return string(response)
			}
			text += *c.Text + "\n"
		}
		return text
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(response, &fields) != nil {
		return string(response)
	}
	var stdout, stderr string
	if raw, ok := fields["stdout"]; ok && json.Unmarshal(raw, &stdout) == nil {
		if raw, ok := fields["stderr"]; !ok || json.Unmarshal(raw, &stderr) == nil {
			return strings.TrimSuffix(stdout+"\n"+stderr, "\n")
		}
	}
	delete(fields, "durationMs")
	delete(fields, "durationSeconds")
	out, err := json.Marshal(fields) // keys in their order
	if err != nil {
		return string(response)
	}
	return string(out)
}
