package agents

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"approver.example/agents/facts"
	"approver.example/internal/lazyregexp"
)

// A Reporter is an [Adapter] of an agent that reports what ran, and whose reports can be recognized
// even if they cannot be decoded.
type Reporter interface {
	Adapter

	// Report reads what it can of a payload that Decode refused. event is the event of the hook, or
	// empty. is says that the payload reports that a call ran. ev is then the whole event without what
	// the call returned. With an error, ev has at least the name of the event, and the session, the
	// folder and the tool if they can be read. Of a session id that is too long it has the beginning
	// and a hash; a folder that is too long is left out.
	Report(payload []byte, event string) (ev Event, is bool, err error)
}

// Report implements [Reporter]. It leaves out what a call returned, because that can have any length,
// nesting and form, and nothing is compared with it.
func (h *hooked) Report(payload []byte, event string) (ev Event, is bool, err error) {
	short, fields, err := withoutResult(payload, h.returned)
	k := h.formed(fields).keys
	name, is := h.reportOf(k, payload, fields, event)
	if !is {
		return Event{}, false, err
	}
	if err == nil {
		if ev, err = h.Decode(short); err == nil && ev.Kind != Ran {
			err = errors.New("the hook of " + name + " brought another event")
		}
		if err == nil {
			ev.Response, ev.Output = nil, ""
			return ev, true, nil
		}
	}
	ev = Event{Kind: Ran, Agent: h.name, Name: name}
	ev.Call.Agent = h.name
	for key, to := range map[string]*string{k.session: &ev.Call.Session, k.dir: &ev.Call.Dir, k.tool: &ev.Call.Tool} {
		if text, ok, err := fields.text(key); ok && err == nil && !strings.ContainsRune(text, 0) {
			*to = text
		}
	}
	ev.Call.Session = shortened(ev.Call.Session)
	if !isFolder(ev.Call.Dir) {
		ev.Call.Dir = ""
	}
	if !isToolName(ev.Call.Tool) {
		ev.Call.Tool = ""
	}
	return ev, true, err
}

// shortened returns an id of at most maxID bytes. A longer id gets a hash at its end, so that
// different ids stay different.
func shortened(id string) string {
	if len(id) <= maxID {
		return id
	}
	end := fmt.Sprintf("… sha256:%x", sha256.Sum256([]byte(id)))
	return strings.ToValidUTF8(id[:maxID-len(end)], "") + end
}

// namesEvent matches the event in a text that is not JSON. In a JSON string there would be a backslash
// before each of these quotes.
var namesEvent = lazyregexp.New(`"(hook_event_name|agent_action_name|hookName|event)"\s*:\s*"([A-Za-z_.]+)"`)

// reportOf says which report a payload is. The event in the hook's flags has precedence.
func (h *hooked) reportOf(k keys, payload []byte, fields object, event string) (name string, is bool) {
	if h.kindOf(event) == Ran {
		return event, true
	}
	if name, ok, err := fields.text(k.event); ok && err == nil {
		return name, h.kindOf(name) == Ran
	}
	for _, m := range namesEvent().FindAllSubmatch(payload, -1) {
		if string(m[1]) == k.event && h.kindOf(string(m[2])) == Ran {
			return string(m[2]), true
		}
	}
	return "", false
}

// withoutResult rewrites a payload with a short text instead of what the call returned. Everything
// else stays, even if it is wrong. Of a payload in which nothing was returned, all of these keys are
// added. fields are those that were read before an error.
func withoutResult(payload []byte, returned []facts.Field) (short []byte, fields object, err error) {
	fields = object{}
	dec := json.NewDecoder(bytes.NewReader(payload))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, fields, errors.Join(errors.New("the report is not a JSON object"), err)
	}
	out := bytes.NewBufferString("{")
	put := func(key string, value []byte) {
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(key) // a string always can be
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	var there []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fields, err
		}
		name, _ := key.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fields, err
		}
		if slices.ContainsFunc(returned, func(f facts.Field) bool { return f.Key == name }) {
			there = append(there, name)
			continue
		}
		fields[name] = value
		put(name, value)
	}
	if _, err := dec.Token(); err != nil {
		return nil, fields, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fields, errors.New("there is more behind the report")
	}
	for _, f := range returned {
		if len(there) == 0 || slices.Contains(there, f.Key) {
			put(f.Key, []byte(f.Short))
		}
	}
	out.WriteByte('}')
	return out.Bytes(), fields, nil
}
