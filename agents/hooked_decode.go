package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"approver.example"
)

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
	for _, id := range [...]struct {
		from object
		key  string
		to   *string
	}{{o, h.keys.mode, &ev.Mode}, {o, h.keys.subagent, &ev.Subagent}, {in, h.keys.use, &ev.UseID}} {
		if id.key == "" {
			continue
		}
		value, _, err := id.from.short(id.key, maxID)
		if err != nil {
			return err
		}
		*id.to = value
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
