package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
	if v, err = hujson.Parse(text); err != nil {
		return v, nil, fmt.Errorf("%s: %w: mend it first; nothing was changed", path, err)
	}
	if why := l.unreadable(v, marked); why != "" {
		return v, nil, fmt.Errorf("%s has %s, with which the agent does not read the file: mend it first; nothing was "+
			"changed", path, why)
	}
	plain := v.Clone()
	plain.Standardize()
	text = plain.Pack()
	if key := l.twiceHooks(plain, path); key != "" {
		return v, nil, fmt.Errorf("%s: the key %q stands there twice, and only one of them counts: mend it first; "+
			"nothing was changed", path, key)
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(text, &file); err != nil {
		return v, nil, fmt.Errorf("%s: %w: mend it first; nothing was changed", path, err)
	}
	var events map[string]json.RawMessage
	if l.above(path) == "" {
		events = file
	} else if raw, ok := file[hooksKey]; ok {
		if err := json.Unmarshal(raw, &events); err != nil {
			return v, nil, fmt.Errorf("%s: %q: %w: mend it first; nothing was changed", path, hooksKey, err)
		}
	}
	for event, raw := range events {
		matchers, err := l.matchers(raw)
		if why := l.wrong(raw, matchers, err); why != "" {
			return v, nil, fmt.Errorf("%s: at %q %s, and the agent then ignores the whole file: mend it first; nothing was "+
				"changed", path, event, why)
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

// A patch is a list of changes in the form of RFC 6902.
type patch []map[string]any

// With returns the text with these hooks instead of approver's hooks in it. Without hooks it removes
// approver's hooks, and what only they needed.
func (l Layout) With(path string, text []byte, want Hooks) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		if len(want) == 0 {
			return text, nil
		}
		if l.New != "" {
			return l.Text(want)
		}
		text = []byte(l.fresh())
	}
	marked := bytes.HasPrefix(text, []byte("\ufeff"))
	v, have, err := l.read(path, text)
	if err != nil {
		return nil, err
	}
	p, err := l.changes(v, l.above(path), have, want)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(p) == 0 {
		return text, nil
	}
	operations, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if err := v.Patch(operations); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if out := v.Pack(); marked {
		return append([]byte("\ufeff"), out...), nil
	}
	return v.Pack(), nil
}

// changes returns the patch that puts the wanted hooks in.
func (l Layout) changes(v hujson.Value, above string, have, want Hooks) (p patch, err error) {
	there := above != "" && v.Find(above) != nil
	if object := v.Find(above); len(want) > 0 && (object == nil || !isObject(object)) {
		p = append(p, map[string]any{"op": "add", "path": above, "value": map[string]any{}})
	}
	events := slices.AppendSeq(slices.Collect(maps.Keys(have)), maps.Keys(want))
	slices.Sort(events)
	for _, event := range slices.Compact(events) {
		at := v.Find(above + pointer(event))
		if _, read := have[event]; at != nil && !read && len(want[event]) > 0 && !isNull(at) {
			return nil, fmt.Errorf("the hooks of %s are no list of hooks: mend them first; nothing was changed", event)
		}
		p = append(p, l.eventPatch(above+pointer(event), event, have, want[event])...)
	}
	if len(want) == 0 && there && len(p) > 0 && l.emptied(v, have) {
		return patch{{"op": "remove", "path": "/" + hooksKey}}, nil
	}
	return p, nil
}

func isObject(v *hujson.Value) bool { _, ok := v.Value.(*hujson.Object); return ok }

func isNull(v *hujson.Value) bool {
	l, ok := v.Value.(hujson.Literal)
	return ok && l.Kind() == 'n'
}

func pointer(event string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(event)
}

// ours reports whether a hook is approver's.
func (l Layout) ours(hook json.RawMessage) bool { return CommandOf(hook).Ours(l.Agent) }

// emptied reports whether only hooks of approver are there, so that their key can go too.
func (l Layout) emptied(v hujson.Value, hooks Hooks) bool {
	object, ok := v.Find("/" + hooksKey).Value.(*hujson.Object)
	if !ok || len(object.Members) != len(hooks) || strings.Contains(l.New, `"`+hooksKey+`"`) {
		return false
	}
	for _, matchers := range hooks {
		for _, m := range matchers {
			foreign := func(h json.RawMessage) bool { return !l.ours(h) }
			if len(m.Hooks) == 0 || slices.ContainsFunc(m.Hooks, foreign) {
				return false
			}
		}
	}
	return true
}

// eventPatch changes the hooks of one event.
func (l Layout) eventPatch(at, event string, all Hooks, want []Matcher) (p patch) {
	have, there := all[event]
	var kept int
	var installed []Matcher
	// It goes backward, so that the indices before stay valid.
	for i, m := range slices.Backward(have) {
		var foreign int
		var inside patch
		for j, h := range slices.Backward(m.Hooks) {
			if !l.ours(h) {
				foreign++
				continue
			}
			inside = append(inside,
				map[string]any{"op": "remove", "path": at + "/" + strconv.Itoa(i) + "/hooks/" + strconv.Itoa(j)})
		}
		switch {
		case foreign == len(m.Hooks):
			kept++
		case foreign == 0:
			installed = append(installed, m)
			p = append(p, map[string]any{"op": "remove", "path": at + "/" + strconv.Itoa(i)})
		default:
			kept++
			p = append(p, inside...)
		}
	}
	slices.Reverse(installed)
	if len(installed) == len(want) && len(p) == len(want) && same(installed, want) {
		return nil
	}
	switch {
	case !there && len(want) > 0:
		return patch{{"op": "add", "path": at, "value": l.values(want)}}
	case kept == 0 && len(want) == 0 && len(p) > 0:
		return patch{{"op": "remove", "path": at}}
	}
	for _, value := range l.values(want) {
		p = append(p, map[string]any{"op": "add", "path": at + "/-", "value": value})
	}
	return p
}

// values returns what stands in the list of an event.
func (l Layout) values(want []Matcher) (all []any) {
	for _, m := range want {
		if !l.Flat {
			all = append(all, m)
			continue
		}
		for _, h := range m.Hooks {
			all = append(all, h)
		}
	}
	return all
}

// same reports whether two lists of matchers mean the same, whatever the order of their keys.
func same(a, b []Matcher) bool {
	return slices.EqualFunc(a, b, func(x, y Matcher) bool {
		return x.Matcher == y.Matcher && slices.EqualFunc(x.Hooks, y.Hooks, SameHook)
	})
}

// SameHook reports whether two hooks, each a JSON object, have the same keys and values.
func SameHook(a, b json.RawMessage) bool {
	x, errX := canonical(a)
	y, errY := canonical(b)
	return errors.Join(errX, errY) == nil && bytes.Equal(x, y)
}

func canonical(raw json.RawMessage) ([]byte, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// Text returns the text of a new file with these hooks, indented.
func (l Layout) Text(hooks Hooks) ([]byte, error) { return l.TextAt("", hooks) }

// TextAt is Text for a file at a path.
func (l Layout) TextAt(path string, hooks Hooks) ([]byte, error) {
	values := map[string]any{}
	for event, matchers := range hooks {
		values[event] = l.values(matchers)
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
