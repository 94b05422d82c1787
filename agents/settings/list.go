package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A List says how hooks stand in a file in which they are one list, each with its event. The file is
// approver's own: a file with other hooks is refused.
type List struct {
	Agent string // whose hooks of approver are meant, as for --agent
}

// A listFile is such a file.
type listFile struct {
	Version string      `json:"version"`
	Hooks   []listEntry `json:"hooks"`
}

type listEntry struct {
	Name    string     `json:"name"`
	Trigger string     `json:"trigger"`
	Matcher string     `json:"matcher,omitempty"`
	Action  listAction `json:"action"`
	Timeout int        `json:"timeout"`
	Enabled *bool      `json:"enabled,omitempty"`
}

type listAction struct {
	Type    string `json:"type"`
	Command string `json:"command"`
}

// A listHook is a hook of such a file in the form of [Matcher.Hooks].
type listHook struct {
	Name    string `json:"name"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
	Enabled bool   `json:"enabled"`
}

// HasMatchers says that an event has matchers, each with its hooks.
func (l List) HasMatchers() bool { return true }

// parse reads the text of a file with approver's hooks and no others.
func (l List) parse(path string, text []byte) (file listFile, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return file, nil
	}
	if _, err := parse(path, text); err != nil {
		return file, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := errors.Join(dec.Decode(&file), listKeys(text)); err != nil {
		return file, Refuse("remove the file", "%s is not as install writes it", path)
	}
	for _, e := range file.Hooks {
		if !Command(e.Action.Command).Ours(l.Agent) {
			return file, Refuse("move it to another file", "%s has the hook %q of another program", path, e.Name)
		}
	}
	return file, nil
}

// listKeys refuses keys that install does not write. Package json takes "Command" for "command", and the
// agent does not.
func listKeys(text []byte) error {
	var file map[string]json.RawMessage
	var hooks []map[string]json.RawMessage
	if err := json.Unmarshal(text, &file); err != nil {
		return err
	}
	if list, ok := file["hooks"]; ok {
		if err := json.Unmarshal(list, &hooks); err != nil {
			return err
		}
	}
	err := onlyKeys(file, "version hooks")
	for _, h := range hooks {
		var action map[string]json.RawMessage
		if raw, ok := h["action"]; ok {
			err = errors.Join(err, json.Unmarshal(raw, &action))
		}
		err = errors.Join(err, onlyKeys(h, "name trigger matcher action timeout enabled"), onlyKeys(action, "type command"))
	}
	return err
}

// onlyKeys refuses keys that are not among these words.
func onlyKeys(o map[string]json.RawMessage, known string) error {
	for key := range o {
		if !slices.Contains(strings.Fields(known), key) {
			return fmt.Errorf("the key %q is not known", key)
		}
	}
	return nil
}

// Read returns the hooks in a file. One that is not of the kind that runs a command has no command.
func (l List) Read(path string, text []byte) (Hooks, error) {
	file, err := l.parse(path, text)
	if err != nil {
		return nil, err
	}
	hooks := Hooks{}
	for _, e := range file.Hooks {
		h := listHook{e.Name, e.Action.Command, e.Timeout, e.Enabled == nil || *e.Enabled}
		if e.Action.Type != "command" || file.Version != "v1" {
			h.Enabled = false
		}
		raw, err := json.Marshal(h)
		if err != nil {
			return nil, err
		}
		hooks[e.Trigger] = append(hooks[e.Trigger], Matcher{Matcher: e.Matcher, Hooks: []json.RawMessage{raw}})
	}
	return hooks, nil
}

// With returns the text with these hooks. Without hooks it is a file with none.
func (l List) With(path string, text []byte, want Hooks) ([]byte, error) {
	have, err := l.Read(path, text)
	if err != nil {
		return nil, err
	}
	equal := len(have) == len(want)
	for event := range want {
		equal = equal && same(have[event], want[event])
	}
	if equal {
		return text, nil
	}
	return l.Text(want)
}

// Text returns the text of a new file with these hooks, indented.
func (l List) Text(hooks Hooks) ([]byte, error) {
	file := listFile{Version: "v1", Hooks: []listEntry{}}
	for event, matchers := range hooks {
		for _, m := range matchers {
			for _, raw := range m.Hooks {
				var h listHook
				if err := json.Unmarshal(raw, &h); err != nil {
					return nil, err
				}
				file.Hooks = append(file.Hooks, listEntry{h.Name, event, m.Matcher, listAction{"command", h.Command}, h.Timeout,
					&h.Enabled})
			}
		}
	}
	slices.SortFunc(file.Hooks, func(a, b listEntry) int { return bytes.Compare([]byte(b.Trigger), []byte(a.Trigger)) })
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(file)
	return out.Bytes(), err
}
