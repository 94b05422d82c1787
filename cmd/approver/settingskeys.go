package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// settingsKeys are the keys that Claude Code reads on the way to a hook and in
// it: of the settings, of hooks, of a matcher and of a hook.
var settingsKeys = [][]string{
	{"hooks", "disableAllHooks"},
	{"PreToolUse", "PostToolUse", "PostToolUseFailure"},
	{"matcher", "hooks"},
	{"type", "command", "timeout", "async", "asyncRewake", "if", "onFailure"},
}

// checkKeys refuses settings that encoding/json reads unlike Claude Code: it
// takes Hooks for hooks, and of a repeated key each program takes what it likes.
// The place is a count of bytes up to the key, or negative.
func checkKeys(text []byte) (at int64, err error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return -1, err
	}
	return checkLevel(v, settingsKeys)
}

// checkLevel checks an object, or each of a list, and what is below.
func checkLevel(v hujson.Value, levels [][]string) (at int64, err error) {
	if list, ok := v.Value.(*hujson.Array); ok {
		for _, e := range list.Elements {
			if at, err := checkLevel(e, levels); err != nil {
				return at, err
			}
		}
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return -1, nil
	}
	seen := map[string]bool{}
	for _, m := range object.Members {
		name, at := m.Name.Value.(hujson.Literal).String(), int64(m.Name.StartOffset)+1
		same := slices.IndexFunc(levels[0], func(key string) bool { return strings.EqualFold(key, name) })
		switch {
		case same >= 0 && levels[0][same] != name:
			return at, fmt.Errorf("the key %q, which Claude Code does not take for %q", name, levels[0][same])
		case seen[name]:
			return at, fmt.Errorf("the key %q stands there twice, and only one of them counts", name)
		}
		seen[name] = true
		events := len(levels) == len(settingsKeys)-1
		if len(levels) > 1 && (events || name == "hooks") {
			if at, err := checkLevel(m.Value, levels[1:]); err != nil {
				return at, err
			}
		}
	}
	return -1, nil
}
