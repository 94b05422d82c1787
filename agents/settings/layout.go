package settings

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tailscale/hujson"
)

// A Layout says how hooks stand in an agent's settings file: under a key, by event, as JSON that may
// have comments. It reads and changes the text of such a file. Everything else in the file stays the
// same, byte for byte.
type Layout struct {
	Agent string // whose hooks of approver are meant, as for --agent
	// Flat says that an event has a list of hooks. Otherwise it has a list of matchers with hooks.
	Flat bool
	// New is the text of a file without hooks; empty is "{}".
	New string
	// Plain says that the agent reads JSON without comments, trailing commas and a byte order mark.
	// Commented is the same with comments.
	Plain, Commented bool
	// Whole says that the agent ignores a file if one of its events is not as it should be.
	Whole bool
	// Off is a switch beside the events with which no hook runs. Where the events are below a key, it is
	// written as false, which settings that come later do not override; empty: there is none.
	Off string
	// Top is the name of files whose outermost keys are the events; empty: there are none.
	Top string
}

// hooksKey is the key of the hooks, at the outermost level.
const hooksKey = "hooks"

// HasMatchers says that an event has matchers, each with its hooks.
func (l Layout) HasMatchers() bool { return !l.Flat }

// Read returns the hooks in a settings file. A hook of a flat layout gets a matcher of its own, with
// the value of its key "matcher". Text that is not JSON, or that two readers may read differently, is
// an error with its position.
func (l Layout) Read(path string, text []byte) (Hooks, error) {
	_, hooks, err := l.read(path, text)
	return hooks, err
}

// read also returns the parsed text.
func (l Layout) read(path string, text []byte) (v hujson.Value, hooks Hooks, err error) {
	marked := bytes.HasPrefix(text, []byte("\ufeff"))
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte(l.fresh())
	}
	if v, err = parse(path, text); err != nil {
		return v, nil, err
	}
	if why := l.unreadable(v, marked); why != "" {
		return v, nil, Refuse(mend, "%s has %s, with which the agent does not read the file", path, why)
	}
	events, err := l.events(v, path, text)
	if err != nil {
		return v, nil, err
	}
	for event, raw := range events {
		matchers, err := l.matchers(raw)
		if why := l.wrong(raw, matchers, err); why != "" {
			at := v.Find(l.above(path)+pointer(event)).StartOffset + 1
			return v, nil, Refuse(mend, "%s: at %q %s, and the agent then ignores the whole file",
				Locate(path, text, at), event, why)
		}
		if err != nil {
			continue // another program's, in a form of its own; approver's hooks are not in it
		}
		if hooks == nil {
			hooks = Hooks{}
		}
		hooks[event] = matchers
	}
	return v, hooks, nil
}

// events returns what stands at each event in the text of a file, which was parsed.
func (l Layout) events(v hujson.Value, path string, text []byte) (events map[string]json.RawMessage, err error) {
	if !isObject(&v) {
		return nil, noObject(path, text, v, "the whole of it")
	}
	at := v.Find(l.above(path))
	if at != nil && !isObject(at) && !isNull(at) {
		return nil, noObject(path, text, *at, strconv.Quote(hooksKey))
	}
	plain := v.Clone()
	plain.Standardize()
	if key := l.twiceHooks(plain, path); key != "" {
		return nil, Refuse(mend, "%s: the key %q stands there twice, and only one of them counts", path, key)
	}
	if at = plain.Find(l.above(path)); at != nil {
		err = json.Unmarshal(at.Pack(), &events)
	}
	return events, err
}

// above is the pointer to the object with the events: empty if that is the outermost.
func (l Layout) above(path string) string {
	if l.Top != "" && filepath.Base(path) == l.Top {
		return ""
	}
	return "/" + hooksKey
}

// unreadable says what in a file keeps the agent from reading it; empty if nothing does. marked says
// that it begins with a byte order mark.
func (l Layout) unreadable(v hujson.Value, marked bool) string {
	switch {
	case marked && (l.Plain || l.Commented):
		return "a byte order mark"
	case l.Plain && !v.IsStandard():
		return "a comment or a trailing comma"
	case l.Commented && trails(v):
		return "a trailing comma"
	}
	return ""
}

// trails reports whether there is a trailing comma at any depth.
func trails(v hujson.Value) bool {
	// Before a trailing comma, and nowhere else, the last element has what follows it, even if that is empty.
	switch v := v.Value.(type) {
	case *hujson.Array:
		n := len(v.Elements)
		return n > 0 && v.Elements[n-1].AfterExtra != nil || slices.ContainsFunc(v.Elements, trails)
	case *hujson.Object:
		n := len(v.Members)
		return n > 0 && v.Members[n-1].Value.AfterExtra != nil ||
			slices.ContainsFunc(v.Members, func(m hujson.ObjectMember) bool { return trails(m.Value) })
	}
	return false
}

// wrong says why the agent ignores a file with this value at an event, or at another key beside the
// events; empty if it does not.
func (l Layout) wrong(raw json.RawMessage, matchers []Matcher, err error) string {
	switch {
	case !l.Whole, len(raw) > 0 && (raw[0] == 't' || raw[0] == 'f'): // a switch
		return ""
	case err != nil, len(raw) == 0, raw[0] != '[':
		return "there is no list of hooks"
	case l.Flat:
		return ""
	}
	for _, m := range matchers {
		for _, hook := range m.Hooks {
			var h struct{ Type, Command *string }
			if json.Unmarshal(hook, &h) != nil || h.Type == nil || *h.Type != "command" || h.Command == nil {
				return "a hook has no command or another type"
			}
		}
	}
	return ""
}

func (l Layout) fresh() string {
	if l.New == "" {
		return "{}\n"
	}
	return l.New
}

// matchers reads the value of one event.
func (l Layout) matchers(raw json.RawMessage) (all []Matcher, err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for _, one := range list {
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(one, &keys); err != nil {
			return nil, err
		}
		var m Matcher
		if raw, ok := keys["matcher"]; ok {
			if err := json.Unmarshal(raw, &m.Matcher); err != nil {
				return nil, err
			}
		}
		if m.Hooks = []json.RawMessage{one}; !l.Flat {
			m.Hooks = nil
			if raw, ok := keys[hooksKey]; ok {
				if err := json.Unmarshal(raw, &m.Hooks); err != nil {
					return nil, err
				}
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// twiceHooks returns a key that occurs twice where hooks are; empty if there is none. What is repeated
// elsewhere is the agent's concern.
func (l Layout) twiceHooks(v hujson.Value, path string) (key string) {
	if l.above(path) == "" {
		return twice(v)
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return ""
	}
	found := false
	for _, m := range object.Members {
		if m.Name.Value.(hujson.Literal).String() != hooksKey {
			continue
		}
		if found {
			return hooksKey
		}
		found = true
		if key = twice(m.Value); key != "" {
			return key
		}
	}
	return ""
}

// twice returns a key that occurs twice in one object at any depth.
func twice(v hujson.Value) string {
	switch v := v.Value.(type) {
	case *hujson.Array:
		for _, e := range v.Elements {
			if key := twice(e); key != "" {
				return key
			}
		}
	case *hujson.Object:
		seen := map[string]bool{}
		for _, m := range v.Members {
			name := m.Name.Value.(hujson.Literal).String()
			if seen[name] {
				return name
			}
			seen[name] = true
			if key := twice(m.Value); key != "" {
				return key
			}
		}
	}
	return ""
}

// Text returns the text of a new file with these hooks, indented.
func (l Layout) Text(hooks Hooks) ([]byte, error) { return l.TextAt("", hooks) }

// TextAt is Text for a file at a path.
func (l Layout) TextAt(path string, hooks Hooks) ([]byte, error) {
	values := map[string]any{}
	for event, matchers := range hooks {
		values[event] = l.values(matchers)
	}
	if l.Off != "" && l.above(path) != "" {
		values[l.Off] = false
	}
	var file map[string]any
	if err := json.Unmarshal([]byte(l.fresh()), &file); err != nil {
		return nil, err
	}
	if l.above(path) == "" {
		maps.Copy(file, values)
	} else {
		file[hooksKey] = values
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(file)
	return out.Bytes(), err
}
