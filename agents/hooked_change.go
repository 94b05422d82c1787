package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Rewrite implements [Adapter].
func (h *hooked) Rewrite(payload []byte, args json.RawMessage) (Event, error) {
	if h.call != nil && !h.modifies {
		return Event{}, errors.New("a call of " + h.name + " cannot be changed")
	}
	ev, err := h.Decode(payload)
	switch {
	case err != nil:
		return Event{}, err
	case h.at(ev.Name).call != nil:
		return Event{}, fmt.Errorf("a call of %s cannot be changed at %s", h.name, ev.Name)
	}
	o, _, err := h.changed(ev, payload, args)
	if err != nil {
		return Event{}, err
	}
	changed, err := json.Marshal(o)
	if err != nil {
		return Event{}, err
	}
	return h.Decode(changed)
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

// changed returns a payload with other arguments of the call, and these under the agent's own names.
func (h *hooked) changed(ev Event, payload []byte, args json.RawMessage) (o object, own json.RawMessage, err error) {
	if o, err = parseObject(payload); err != nil {
		return nil, nil, err
	}
	h = h.formed(o)
	in, err := h.within(ev.Name, o)
	used := in[h.keys.input]
	switch {
	case err != nil:
		return nil, nil, err
	case h.unpack != nil && !isObject(used):
		return nil, nil, errors.New("a call whose arguments are a text cannot be changed")
	}
	if own, err = h.tools.of(ev.Native, used).own(args, used); err != nil {
		return nil, nil, err
	}
	in[h.keys.input] = own
	if h.inner {
		o[ev.Name], err = json.Marshal(in)
	}
	return o, own, err
}
