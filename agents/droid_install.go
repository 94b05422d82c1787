package agents

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/agents/settings"
)

// droidOff is the switch for all hooks.
const droidOff = "hooksDisabled"

// droidAlias returns the known name of an MCP tool: Droid joins its server's name and its own by three
// underscores.
func droidAlias(tool string, _ object) (string, error) {
	if server, name, ok := strings.Cut(tool, "___"); ok && server != "" && name != "" {
		return "mcp__" + server + "__" + name, nil
	}
	return tool, nil
}

// droidSwitches finds the switch for all hooks. It stands beside the events, and works in the user's
// files and, without being asked, in a project's.
func droidSwitches(s settings.Source, keys map[string]json.RawMessage) (found []settings.Finding) {
	var sandbox map[string]json.RawMessage
	_ = json.Unmarshal(keys["sandbox"], &sandbox) // what is no object has no effect
	if v, ok := sandbox["enabled"]; ok && !isFalse(v) && string(v) != "null" {
		found = append(found, settings.Finding{Path: s.Path, Text: s.Path + ` has "sandbox.enabled", and where its ` +
			"sandbox cannot be started, Droid runs no hook", Fix: `take "enabled" out of "sandbox" in ` + s.Path})
	}
	if filepath.Base(s.Path) != "hooks.json" {
		var hooks map[string]json.RawMessage
		if json.Unmarshal(keys["hooks"], &hooks) != nil {
			return found
		}
		keys = hooks
	}
	if v, ok := keys[droidOff]; !ok || isFalse(v) {
		return found
	}
	return append(found, settings.Finding{Path: s.Path, Text: "\"hooksDisabled\" switches off all hooks of Droid",
		Fix: "remove \"hooksDisabled\" from " + s.Path})
}

// WithoutSwitch implements [Switched].
func (d droidAdapter) WithoutSwitch(path string, text []byte) ([]byte, error) {
	layout, _ := d.install.layout.(settings.Layout)
	return layout.WithoutOff(path, text)
}

// droidHolds reports whether the machine's settings say that hooks are not switched off. Nothing
// overrides them.
func droidHolds(_ *hooked, sources []settings.Source, _ settings.Want) bool {
	return slices.ContainsFunc(sources, func(s settings.Source) bool {
		if s.Place != settings.Managed {
			return false
		}
		keys, err := s.Keys()
		var hooks map[string]json.RawMessage
		return err == nil && json.Unmarshal(keys["hooks"], &hooks) == nil && isFalse(hooks[droidOff])
	})
}

// Advice implements [Adviser].
func (d droidAdapter) Advice(sources []settings.Source) []settings.Finding {
	advice := d.hooked.Advice(sources)
	if d.held(sources, settings.Want{}) {
		return advice
	}
	return append(advice, settings.Finding{Harmless: true, Fix: "sudo approver install droid --system",
		Text: "a project can switch off the hooks of Droid (\"hooksDisabled\" in its .factory/hooks.json), also those of " +
			"the machine, unless \"hooks\" of " + filepath.Join(d.install.files.Managed, d.install.files.ManagedFile) +
			" has \"hooksDisabled\": false, as install writes it there"})
}
