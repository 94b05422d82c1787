package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"approver.example/agents/settings"
)

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
func droidSwitches(s settings.Source, keys map[string]json.RawMessage) []settings.Finding {
	if filepath.Base(s.Path) != "hooks.json" {
		var hooks map[string]json.RawMessage
		if json.Unmarshal(keys["hooks"], &hooks) != nil {
			return nil
		}
		keys = hooks
	}
	if v, ok := keys["hooksDisabled"]; !ok || string(bytes.TrimSpace(v)) == "false" {
		return nil
	}
	return []settings.Finding{{Path: s.Path, Text: "\"hooksDisabled\" switches off all hooks of Droid",
		Fix: "remove \"hooksDisabled\" from " + s.Path}}
}

// Beside implements [Searcher]: the user's and the projects' settings have hooks and the switch, too.
func (d droidAdapter) Beside(
	p settings.Places, sources []settings.Source, _ settings.Want,
) ([]settings.Finding, error) {
	var others []settings.Source
	if p.Home != "" {
		others = append(others, settings.ReadSource(settings.User, filepath.Join(p.Home, "settings.json")))
	}
	for _, project := range p.Projects {
		others = append(others, settings.ReadSource(settings.Project, filepath.Join(project, ".factory", "settings.json")))
	}
	if err := settings.FirstUnseen(others); err != nil {
		return nil, err
	}
	var found []settings.Finding
	for _, s := range others {
		if s.Missing {
			continue
		}
		keys, err := settings.Keys(s.Text)
		if s.Err != nil || err != nil {
			found = append(found, settings.Finding{Path: s.Path, Harmless: s.Err == nil,
				Text: fmt.Sprintf("it cannot be read, so nobody can say what it does to the hooks: %v", firstError(s.Err, err))})
			continue
		}
		for _, f := range droidSwitches(s, keys) {
			f.Harmless = droidHolds(sources)
			found = append(found, f)
		}
	}
	return found, nil
}

// droidHolds reports whether the machine's settings say that hooks are not switched off. Nothing
// overrides them.
func droidHolds(sources []settings.Source) bool {
	for _, s := range sources {
		if s.Place != settings.Managed || s.Missing || s.Err != nil {
			continue
		}
		keys, err := settings.Keys(s.Text)
		var hooks map[string]json.RawMessage
		if err == nil && json.Unmarshal(keys["hooks"], &hooks) == nil &&
			string(bytes.TrimSpace(hooks["hooksDisabled"])) == "false" {
			return true
		}
	}
	return false
}

// Environment implements [Adviser].
func (d droidAdapter) Environment(env []string) (found []settings.Finding) {
	for _, pair := range env {
		if key, value, _ := strings.Cut(pair, "="); key == "FACTORY_HOME_OVERRIDE" && value != "" {
			found = append(found, settings.Finding{Harmless: true,
				Text: "FACTORY_HOME_OVERRIDE is set: Droid reads the user's hooks in " + value +
					"/.factory, and in no other folder"})
		}
	}
	return found
}

// Advice implements [Adviser].
func (d droidAdapter) Advice(sources []settings.Source) []settings.Finding {
	if droidHolds(sources) {
		return nil
	}
	return []settings.Finding{{Harmless: true,
		Text: "a project can switch off the hooks of Droid (\"hooksDisabled\" in its .factory/hooks.json), also those of " +
			"the machine: only \"hooksDisabled\": false in \"hooks\" of /etc/factory/settings.json keeps them on",
		Fix: "sudo approver install droid --system, and add \"hooksDisabled\": false there"}}
}
