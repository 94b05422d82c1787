// Package claudesettings reads the settings of Claude Code as Claude Code does, and says whether
// approver's hooks in them work. The caller reads the settings files. Only disk.go reads files,
// which are other files than the settings.
//
// Claude Code ignores a whole file, without a message, if one value in it is invalid. It merges
// several files, and has switches that turn every hook off. So a hook in one file proves nothing,
// and [Compare] looks at all files together.
package claudesettings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"approver.example/agents/settings"
	"github.com/tailscale/hujson"
)

// Settings are the part of Claude Code's settings that matters for hooks.
type Settings struct {
	Hooks map[string][]Matcher       `json:"hooks"`
	Off   bool                       `json:"disableAllHooks"`
	Env   map[string]json.RawMessage `json:"env"`
	// The following count only in managed settings.
	ManagedOnly  bool            `json:"allowManagedHooksOnly"`
	PluginOnly   json.RawMessage `json:"strictPluginOnlyCustomization"`
	NoSkillShell bool            `json:"disableSkillShellExecution"`
}

// A Matcher has the hooks of an event for some tools.
type Matcher = settings.Matcher

// An Entry is one command hook.
type Entry struct {
	Type      string           `json:"type"`
	Command   settings.Command `json:"command"`
	Timeout   float64          `json:"timeout"` // seconds
	OnFailure string           `json:"onFailure"`
	// Async says not to wait for the answer; AsyncRewake implies it.
	Async       bool   `json:"async"`
	AsyncRewake bool   `json:"asyncRewake"`
	If          string `json:"if"` // a pattern of calls
}

// Ours reports whether a hook is approver's.
func Ours(hook json.RawMessage) bool { return settings.CommandOf(hook).Ours("claude") }

// Read reads the text of a settings file. Invalid JSON, and keys that Claude Code reads
// differently, are an error with a position. [Check] checks values.
func Read(path string, text []byte) (Settings, error) { return readAs(path, text, known) }

// readAs is Read with the keys that Claude Code reads at each level.
func readAs(path string, text []byte, levels [][]string) (Settings, error) {
	var s Settings
	text = unmarked(text)
	if err := json.Unmarshal(text, &s); err != nil {
		return s, settings.InFile(path, text, err)
	}
	if at, err := checkKeys(text, levels); err != nil {
		return s, settings.RefuseText(settings.Locate(path, text, at), err)
	}
	return s, nil
}

// known are the keys that Claude Code reads at the levels down to a hook: of the settings, of
// hooks, of a matcher and of a hook.
var known = [][]string{
	{"hooks", "disableAllHooks", "allowManagedHooksOnly", "strictPluginOnlyCustomization", "disableSkillShellExecution",
		"env", "permissions"},
	{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "ConfigChange"},
	{"matcher", "hooks"},
	{"type", "command", "args", "shell", "timeout", "async", "asyncRewake", "if", "once", "onFailure"},
}

// checkKeys refuses settings that encoding/json reads differently than Claude Code: it accepts
// Hooks for hooks, and programs differ about repeated keys. at is the offset of the key in bytes,
// or negative.
func checkKeys(text []byte, levels [][]string) (at int, err error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return -1, err
	}
	return checkLevel(v, levels)
}

// checkLevel checks an object, or each object of a list, and the levels below.
func checkLevel(v hujson.Value, levels [][]string) (at int, err error) {
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
		name, at := m.Name.Value.(hujson.Literal).String(), m.Name.StartOffset+1
		same := slices.IndexFunc(levels[0], func(key string) bool { return strings.EqualFold(key, name) })
		switch {
		case same >= 0 && levels[0][same] != name:
			return at, fmt.Errorf("the key %q, which Claude Code does not take for %q", name, levels[0][same])
		case seen[name]:
			return at, fmt.Errorf("the key %q stands there twice, and only one of them counts", name)
		}
		seen[name] = true
		events := len(levels) == len(known)-1
		if len(levels) > 1 && (events || name == "hooks") {
			if at, err := checkLevel(m.Value, levels[1:]); err != nil {
				return at, err
			}
		}
	}
	return -1, nil
}
