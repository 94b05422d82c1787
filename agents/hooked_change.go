package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Rewrite implements [Adapter].
func (h *hooked) Rewrite(payload []byte, args json.RawMessage) (Event, error) {
	changed, err := h.rewritten(payload, args)
	if err != nil {
		return Event{}, err
	}
	return h.Decode(changed)
}

// rewritten returns a payload with other arguments of the call.
func (h *hooked) rewritten(payload []byte, args json.RawMessage) ([]byte, error) {
	if h.call != nil && !h.modifies {
		return nil, errors.New("a call of " + h.name + " cannot be changed")
	}
	ev, err := h.Decode(payload)
	switch {
	case err != nil:
		return nil, err
	case h.at(ev.Name).call != nil:
		return nil, fmt.Errorf("a call of %s cannot be changed at %s", h.name, ev.Name)
	}
	o, err := parseObject(payload)
	if err != nil {
		return nil, err
	}
	h = h.formed(o)
	in, err := h.within(ev.Name, o)
	switch {
	case err != nil:
		return nil, err
	case h.unpack != nil && !isObject(in[h.keys.input]):
		return nil, errors.New("a call whose arguments are a text cannot be changed")
	}
	if in[h.keys.input], err = h.tools.of(ev.Native, in[h.keys.input]).own(args, in[h.keys.input]); err != nil {
		return nil, err
	}
	if h.inner {
		if o[ev.Name], err = json.Marshal(in); err != nil {
			return nil, err
		}
	}
	return json.Marshal(o)
}

// keeps reports whether changed arguments still have every argument of the call, which is at a key of
// its payload, and only names that are no paths. Only then an agent that merges both runs the changed
// ones.
func keeps(changed json.RawMessage, payload []byte, key string) bool {
	var body, had, has map[string]json.RawMessage
	if json.Unmarshal(payload, &body) != nil || json.Unmarshal(body[key], &had) != nil ||
		json.Unmarshal(changed, &has) != nil {
		return false
	}
	for name := range had {
		if _, ok := has[name]; !ok {
			return false
		}
	}
	for name := range has {
		if !isToolName(name) || strings.ContainsAny(name, ".:/@") {
			return false
		}
	}
	return true
}

// ownArguments returns arguments under the agent's own names.
func (h *hooked) ownArguments(ev Event, args json.RawMessage) (json.RawMessage, error) {
	o, err := parseObject(ev.Call.Raw)
	if err != nil {
		return nil, err
	}
	h = h.formed(o)
	in, err := h.within(ev.Name, o)
	switch {
	case err != nil:
		return nil, err
	case h.unpack != nil && !isObject(in[h.keys.input]):
		return nil, errors.New("the arguments are a text")
	}
	return h.tools.of(ev.Native, in[h.keys.input]).own(args, in[h.keys.input])
}
