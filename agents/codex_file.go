package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// This file reads a file of hooks as strictly as Codex does, whose reader is serde's: one wrong value, and
// it runs none of the hooks in the file, and shows one line. encoding/json is milder: it takes a key in any
// case, null for everything, and half of a character. What was measured is in the tests.

// codexDepth is how deep a file may be nested.
const codexDepth = 127

// A codexGroup is a matcher with its hooks, as Codex reads them.
type codexGroup struct {
	Matcher *string
	Hooks   []codexHook
}

// A codexHook is a hook, as Codex reads it. Only a command has these fields.
type codexHook struct {
	Type    string
	Command *string
	Timeout *uint64
	Async   bool
	Status  *string
}

// codexFile reads a file of hooks. With an error, Codex skips all hooks in the file.
func codexFile(text []byte) (map[string][]codexGroup, error) {
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return nil, errors.New("it begins with a byte order mark")
	}
	file, err := parseObject(text)
	switch {
	case err != nil:
		return nil, err
	case !wellFormed(text):
		return nil, errors.New("it has half of a surrogate pair, which is no character")
	case depth(text) > codexDepth:
		return nil, fmt.Errorf("it is nested more than %d levels deep", codexDepth)
	}
	for _, key := range slices.Sorted(maps.Keys(file)) { // the same error each time
		if key != "hooks" && key != "description" {
			return nil, fmt.Errorf("%q is not known, only \"description\" and \"hooks\"", key)
		}
	}
	if file.read("description", new(*string)) != nil {
		return nil, errors.New(`"description" is no text`)
	}
	var events object
	if raw, ok := file["hooks"]; ok {
		if err := json.Unmarshal(raw, &events); err != nil || events == nil {
			return nil, errors.New(`"hooks" is no object`)
		}
	}
	all := map[string][]codexGroup{}
	for _, event := range slices.Sorted(maps.Keys(codexEvents)) {
		if _, ok := events[event]; !ok {
			continue
		}
		if all[event], err = codexGroups(events, event); err != nil {
			return nil, fmt.Errorf("the hooks of %s are no list of matchers with hooks: %w", event, err)
		}
	}
	return all, nil
}

// codexGroups reads the value of an event.
func codexGroups(events object, event string) (groups []codexGroup, err error) {
	list, err := events.objects(event)
	for _, keys := range list {
		var g codexGroup
		if err := keys.read("matcher", &g.Matcher); err != nil {
			return nil, err
		}
		hooks, err := keys.objects("hooks")
		if err != nil {
			return nil, err
		}
		for _, h := range hooks {
			hook, err := codexReadHook(h)
			if err != nil {
				return nil, err
			}
			g.Hooks = append(g.Hooks, hook)
		}
		groups = append(groups, g)
	}
	return groups, err
}

// codexReadHook reads one hook. What Codex does not know in it does not matter to it.
func codexReadHook(keys object) (h codexHook, err error) {
	h.Type, _, err = keys.text("type")
	switch {
	case err != nil:
		return h, err
	case hasWord("prompt agent", h.Type):
		return h, nil // it reads nothing else of them
	case h.Type == "mcp_tool":
		return h, codexReadTool(keys)
	case h.Type != "command":
		return h, fmt.Errorf("a hook is of the unknown type %q", h.Type)
	case keys.hasAll("commandWindows command_windows"):
		return h, errors.New(`"commandWindows" and "command_windows" are one key`)
	}
	if err := keys.readAll(object.read, map[string]any{
		"command": &h.Command, "timeout": &h.Timeout, "statusMessage": &h.Status,
		"commandWindows": new(*string), "command_windows": new(*string),
	}); err != nil {
		return h, err
	}
	if h.Command == nil {
		return h, errors.New("a hook has no command")
	}
	return h, keys.filled("async", &h.Async)
}

// codexReadTool reads a hook that is a tool of an MCP server.
func codexReadTool(keys object) error {
	if !keys.hasAll("server tool") {
		return errors.New("a hook has no server or no tool")
	}
	if err := keys.readAll(object.filled, map[string]any{
		"server": new(string), "tool": new(string), "input": new(object), "async": new(bool),
	}); err != nil {
		return err
	}
	return keys.readAll(object.read, map[string]any{"timeout": new(*uint64), "statusMessage": new(*string)})
}

// readAll reads the values at several keys, in the order of the keys.
func (o object) readAll(read func(o object, key string, into any) error, all map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if err := read(o, key, all[key]); err != nil {
			return err
		}
	}
	return nil
}

// read reads the value at a key, if it is there, into a variable of its type.
func (o object) read(key string, into any) error {
	raw, ok := o[key]
	if ok && json.Unmarshal(raw, into) != nil {
		return fmt.Errorf("%s cannot be %s", quote(key), quote(string(raw)))
	}
	return nil
}

// filled is read for a value that cannot be null.
func (o object) filled(key string, into any) error {
	if string(o[key]) == "null" {
		return fmt.Errorf("%s cannot be null", quote(key))
	}
	return o.read(key, into)
}

// objects returns the objects in the list at a key; nothing if the key is not there.
func (o object) objects(key string) (list []object, err error) {
	if err := o.filled(key, &list); err != nil {
		return nil, err
	}
	for _, one := range list {
		if one == nil {
			return nil, fmt.Errorf("%s has null in its list", quote(key))
		}
	}
	return list, nil
}

// codexReads says why Codex skips all hooks in a file, or returns nil.
func codexReads(text []byte) error {
	_, err := codexFile(text)
	if err != nil {
		return fmt.Errorf("the Codex CLI cannot read the file, and skips all hooks in it: %w", err)
	}
	return nil
}
