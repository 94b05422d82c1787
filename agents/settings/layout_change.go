package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// This file changes the text of a settings file; layout.go reads it.

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
	p, err := l.changes(v, path, have, want)
	if err != nil {
		return nil, err
	}
	if len(p) == 0 {
		return text, nil
	}
	var operations bytes.Buffer
	enc := json.NewEncoder(&operations)
	enc.SetEscapeHTML(false) // people read it
	if err := enc.Encode(p); err != nil {
		return nil, err
	}
	if err := v.Patch(operations.Bytes()); err != nil {
		return nil, Refuse("write them there yourself", "%s: there is no plain place for the hooks (%s)", path,
			strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if out := v.Pack(); marked {
		return append([]byte("\ufeff"), out...), nil
	}
	return v.Pack(), nil
}

// WithoutOff returns the text without the switch that With puts beside the events; one that is on stays.
func (l Layout) WithoutOff(path string, text []byte) ([]byte, error) {
	v, _, err := l.read(path, text)
	if err != nil || l.Off == "" || l.above(path) == "" {
		return text, err
	}
	at := l.above(path) + pointer(l.Off)
	off := v.Find(at)
	if off == nil {
		return text, nil
	}
	if value, ok := off.Value.(hujson.Literal); !ok || value.Kind() != 'f' {
		return text, nil
	}
	operations, err := json.Marshal(patch{{"op": "remove", "path": at}})
	if err == nil {
		err = v.Patch(operations)
	}
	return v.Pack(), err
}

// changes returns the patch that puts the wanted hooks in.
func (l Layout) changes(v hujson.Value, path string, have, want Hooks) (p patch, err error) {
	above := l.above(path)
	there := above != "" && v.Find(above) != nil
	if len(want) > 0 {
		p = l.around(v, above)
	}
	events := slices.AppendSeq(slices.Collect(maps.Keys(have)), maps.Keys(want))
	slices.Sort(events)
	for _, event := range slices.Compact(events) {
		at := v.Find(above + pointer(event))
		if _, read := have[event]; at != nil && !read && len(want[event]) > 0 && !isNull(at) {
			place := Locate(path, v.Pack(), at.StartOffset+1)
			return nil, Refuse(mend, "%s: what stands at %q is no list of hooks", place, event)
		}
		p = append(p, l.eventPatch(above+pointer(event), event, have, want[event])...)
	}
	if len(want) == 0 && there && len(p) > 0 && l.emptied(v, have) {
		return patch{{"op": "remove", "path": "/" + hooksKey}}, nil
	}
	return p, nil
}

// around returns the changes beside the hooks, so that the agent reads them.
func (l Layout) around(v hujson.Value, above string) (p patch) {
	add := func(at string, value any) { p = append(p, map[string]any{"op": "add", "path": at, "value": value}) }
	var fresh map[string]any
	_ = json.Unmarshal([]byte(l.fresh()), &fresh) // it is part of this program
	for _, key := range slices.Sorted(maps.Keys(fresh)) {
		if at := pointer(key); at != above && v.Find(at) == nil {
			add(at, fresh[key])
		}
	}
	if object := v.Find(above); object == nil || !isObject(object) {
		add(above, map[string]any{})
	}
	if at := above + pointer(l.Off); l.Off != "" && above != "" && v.Find(at) == nil {
		add(at, false)
	}
	return p
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
	members := len(hooks)
	if l.Off != "" && v.Find("/"+hooksKey+pointer(l.Off)) != nil {
		members++
	}
	if !ok || len(object.Members) != members || strings.Contains(l.New, `"`+hooksKey+`"`) {
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
	var in []int // where they are
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
			installed, in = append(installed, m), append(in, i)
			p = append(p, map[string]any{"op": "remove", "path": at + "/" + strconv.Itoa(i)})
		default:
			kept++
			p = append(p, inside...)
		}
	}
	slices.Reverse(installed)
	slices.Reverse(in)
	if len(installed) == len(want) && len(p) == len(want) {
		if same(installed, want) {
			return nil
		}
		return l.replaced(at, in, want)
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

// replaced puts other hooks where hooks of approver are. The others keep their places, by which some
// agents know them.
func (l Layout) replaced(at string, in []int, want []Matcher) (p patch) {
	for k, value := range l.values(want) {
		p = append(p, map[string]any{"op": "replace", "path": at + "/" + strconv.Itoa(in[k]), "value": value})
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
