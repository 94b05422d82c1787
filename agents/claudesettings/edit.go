package claudesettings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// A patch is a list of changes in the form of RFC 6902.
type patch []map[string]any

// WithHooks returns the text with these hooks instead of approver's hooks in it. Everything else
// stays the same, byte for byte. Without hooks it removes approver's hooks. It does not add hooks
// where they would not run: the error says where and why.
func WithHooks(path string, text []byte, want Settings) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		if len(want.Hooks) == 0 {
			return text, nil
		}
		text = []byte("{}\n")
	}
	if len(want.Hooks) > 0 {
		if err := accepts(path, text); err != nil {
			return nil, err
		}
	}
	have, err := Read(path, text)
	if err != nil {
		return nil, err
	}
	var p patch
	if have.Hooks == nil && len(want.Hooks) > 0 {
		p = append(p, map[string]any{"op": "add", "path": "/hooks", "value": map[string]any{}})
	}
	events := slices.AppendSeq(slices.Collect(maps.Keys(have.Hooks)), maps.Keys(want.Hooks))
	slices.Sort(events)
	for _, event := range slices.Compact(events) {
		p = append(p, eventPatch(event, have.Hooks, want.Hooks[event])...)
	}
	if len(p) == 0 {
		return text, nil
	}
	if len(want.Hooks) == 0 && emptied(have.Hooks) {
		p = patch{{"op": "remove", "path": "/hooks"}}
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	operations, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if err := v.Patch(operations); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v.Pack(), nil
}

// accepts returns an error if a hook in this file would not run.
func accepts(path string, text []byte) error {
	s, err := Read(path, text)
	kind := (*json.UnmarshalTypeError)(nil)
	if problems := Check(path, text); len(problems) > 0 && (err == nil || errors.As(err, &kind)) {
		return fmt.Errorf("%s: mend it first; nothing was changed", problems[0])
	}
	if err != nil {
		return err
	}
	if s.Off {
		return fmt.Errorf(`%s has "disableAllHooks": true, so no hook runs and nobody asks approver: remove that first`, path)
	}
	for _, sw := range switches {
		if raw, there := s.Env[sw.name]; there && sw.on(raw) {
			return fmt.Errorf(`%s sets %s in "env": %s: remove that first`, path, sw.name, sw.why)
		}
	}
	return nil
}

// emptied reports whether there are only hooks of approver.
func emptied(hooks map[string][]Matcher) bool {
	foreign := func(h json.RawMessage) bool { return !Ours(h) }
	for _, matchers := range hooks {
		for _, m := range matchers {
			if !slices.ContainsFunc(m.Hooks, Ours) || slices.ContainsFunc(m.Hooks, foreign) {
				return false
			}
		}
	}
	return true
}

// eventPatch changes the matchers of one event.
func eventPatch(event string, all map[string][]Matcher, want []Matcher) (p patch) {
	have, there := all[event]
	at := "/hooks/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(event)
	var kept int
	var installed []Matcher
	// It goes backward, so that the indices before stay valid.
	for i, m := range slices.Backward(have) {
		var foreign int
		for j, h := range slices.Backward(m.Hooks) {
			if !Ours(h) {
				foreign++
				continue
			}
			p = append(p, map[string]any{"op": "remove", "path": at + "/" + strconv.Itoa(i) + "/hooks/" + strconv.Itoa(j)})
		}
		switch {
		case foreign == len(m.Hooks):
			kept++
		case foreign == 0:
			installed = append(installed, m)
			p = append(p[:len(p)-len(m.Hooks)], map[string]any{"op": "remove", "path": at + "/" + strconv.Itoa(i)})
		default:
			kept++
		}
	}
	if len(installed) == len(want) && len(p) == len(want) && same(installed, want) {
		return nil
	}
	switch {
	case !there && len(want) > 0:
		return patch{{"op": "add", "path": at, "value": want}}
	case kept == 0 && len(want) == 0 && len(p) > 0:
		return patch{{"op": "remove", "path": at}}
	}
	for _, m := range want {
		p = append(p, map[string]any{"op": "add", "path": at + "/-", "value": m})
	}
	return p
}

func same(a, b []Matcher) bool {
	plain := func(m []Matcher) any {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
		sorted, _ := json.Marshal(v)
		return string(sorted)
	}
	return plain(a) == plain(b)
}
