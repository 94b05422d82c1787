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
	// Commented says that the agent reads comments, and Marked that it reads a byte order mark. None of them
	// reads a trailing comma.
	Commented, Marked bool
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
	if what, at := l.unreadable(v, text, marked); what != "" {
		return v, nil, Refuse(mend, "%s: there is %s, with which the agent does not read the file",
			Locate(path, text, at+1), what)
	}
	events, err := l.events(v, path, text)
	if err != nil {
		return v, nil, err
	}
	for _, event := range slices.Sorted(maps.Keys(events)) { // the same error each time
		raw := events[event]
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
	if name := l.twiceHooks(v, path); name != nil {
		return nil, Refuse(mend, "%s: the key %q stands there twice, and only one of them counts",
			Locate(path, text, name.StartOffset+1), name.Value.(hujson.Literal).String())
	}
	plain := v.Clone()
	plain.Standardize()
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

// unreadable says what in a text, and where, keeps the agent from reading the file; empty if nothing does.
// marked says that a byte order mark was before the text.
func (l Layout) unreadable(v hujson.Value, text []byte, marked bool) (what string, at int) {
	comma, odd := trailing(v), -1
	if !l.Commented {
		plain := v.Clone()
		plain.Standardize() // blanks take the places of what is no JSON
		for i, c := range plain.Pack() {
			if c != text[i] {
				odd = i
				break
			}
		}
	}
	switch {
	case marked && !l.Marked:
		return "a byte order mark", 0
	case odd >= 0 && odd != comma:
		return "a comment", odd
	case comma >= 0:
		return "a trailing comma", comma
	}
	return "", -1
}

// trailing returns the offset of the first trailing comma at any depth; -1: there is none.
func trailing(v hujson.Value) int {
	var inside []hujson.Value
	switch v := v.Value.(type) {
	case *hujson.Array:
		inside = v.Elements
	case *hujson.Object:
		for _, m := range v.Members {
			inside = append(inside, m.Value)
		}
	}
	for i, e := range inside {
		if at := trailing(e); at >= 0 {
			return at
		}
		// Before a trailing comma, and nowhere else, the last element has what follows it, even if that is empty.
		if i == len(inside)-1 && e.AfterExtra != nil {
			return e.EndOffset + len(e.AfterExtra)
		}
	}
	return -1
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

// twiceHooks returns the second name of a key that occurs twice where hooks are; nil if there is none. What
// is repeated elsewhere is the agent's concern.
func (l Layout) twiceHooks(v hujson.Value, path string) (name *hujson.Value) {
	if l.above(path) == "" {
		return twice(v)
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	found := false
	for i, m := range object.Members {
		if m.Name.Value.(hujson.Literal).String() != hooksKey {
			continue
		}
		if found {
			return &object.Members[i].Name
		}
		found = true
		if name = twice(m.Value); name != nil {
			return name
		}
	}
	return nil
}

// twice returns the second name of a key that occurs twice in one object at any depth.
func twice(v hujson.Value) *hujson.Value {
	switch v := v.Value.(type) {
	case *hujson.Array:
		for _, e := range v.Elements {
			if name := twice(e); name != nil {
				return name
			}
		}
	case *hujson.Object:
		seen := map[string]bool{}
		for i, m := range v.Members {
			name := m.Name.Value.(hujson.Literal).String()
			if seen[name] {
				return &v.Members[i].Name
			}
			seen[name] = true
			if inside := twice(m.Value); inside != nil {
				return inside
			}
		}
	}
	return nil
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
