package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"approver.example/agents/settings"
)

// copilotInstall writes a file of its own in the folder of hooks. Copilot ignores such a file in silence
// if it has a comment, a version other than 1 or an event without a list. A hook of preToolUse must
// not have the matcher "*", which is no regular expression: it would never run.
var copilotInstall = &installation{
	files: settings.Files{
		Agent: "copilot", Title: "GitHub Copilot", Folder: ".copilot", File: "hooks/approver.json", Home: "COPILOT_HOME",
		Project: ".github", ProjectFile: "hooks/approver.json",
		Unread: "it does not run those of a folder that its user has not said to trust, and without a terminal it does " +
			"not ask",
		Managed: "/etc/github-copilot", ManagedFile: "policy.d/approver.json", ManagedMore: "policy.d",
	},
	layout: settings.Layout{Agent: "copilot", Flat: true, Plain: true, Whole: true, New: "{\n  \"version\": 1\n}\n"},
	unit:   time.Second, timeout: "timeoutSec", shell: true,
	hook: func(l hookLine) any {
		return struct {
			Type    string `json:"type"`
			Bash    string `json:"bash"`
			Timeout int    `json:"timeoutSec"`
		}{"command", l.command, l.timeout}
	},
	switches: copilotSwitches,
}

// copilotSwitches finds what else in a file of hooks takes them away.
func copilotSwitches(s settings.Source, keys map[string]json.RawMessage) (found []settings.Finding) {
	if v, ok := keys["version"]; ok && string(bytes.TrimSpace(v)) != "1" {
		found = append(found, settings.Finding{Path: s.Path,
			Text: "its \"version\" is not 1, and Copilot ignores the whole file", Fix: "set \"version\": 1 in " + s.Path})
	}
	return append(found, copilotOff(s, keys)...)
}

// copilotOff finds the switch for all hooks. It works in a file of hooks for those in the file, in
// the user's settings if they are there, and in a repository's settings, also in those of Claude Code,
// for all but the machine's hooks.
func copilotOff(s settings.Source, keys map[string]json.RawMessage) []settings.Finding {
	if v, ok := keys["disableAllHooks"]; !ok || string(bytes.TrimSpace(v)) == "false" {
		return nil
	}
	return []settings.Finding{{Path: s.Path, Text: "\"disableAllHooks\" switches off the hooks of Copilot",
		Fix: "remove \"disableAllHooks\" from " + s.Path}}
}

// copilotOthers are the files of a project in which hooks can be switched off, if the project is trusted.
var copilotOthers = [...]string{
	".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json",
	".claude/settings.local.json",
}

// Beside implements [Searcher].
func (c copilotAdapter) Beside(
	p settings.Places, sources []settings.Source, want settings.Want,
) ([]settings.Finding, error) {
	var others []settings.Source
	if p.Home != "" {
		others = append(others, settings.ReadSource(settings.User, filepath.Join(p.Home, "settings.json")))
	}
	for _, project := range p.Projects {
		for _, file := range copilotOthers {
			others = append(others, settings.ReadSource(settings.Project, filepath.Join(project, file)))
		}
	}
	if err := settings.FirstUnseen(others); err != nil {
		return nil, err
	}
	managed := c.inMachine(sources, want)
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
		for _, f := range copilotOff(s, keys) {
			f.Harmless = managed // the machine's hooks stay
			found = append(found, f)
		}
		if _, ok := keys["disabledHooks"]; ok && s.Place == settings.User && !managed {
			found = append(found, settings.Finding{Path: s.Path, Harmless: true,
				Text: "\"disabledHooks\" switches off single hooks: see with /env whether approver's are among them"})
		}
	}
	return found, nil
}

// inMachine reports whether the hooks stand in the machine's settings, which nothing switches off.
func (c copilotAdapter) inMachine(sources []settings.Source, want settings.Want) bool {
	for _, s := range sources {
		if s.Place == settings.Managed && len(c.lacking(s, want)) == 0 && len(c.switchesIn(s)) == 0 {
			return true
		}
	}
	return false
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Environment implements [Adviser].
func (c copilotAdapter) Environment(env []string) (found []settings.Finding) {
	for _, pair := range env {
		if key, value, _ := strings.Cut(pair, "="); key == "COPILOT_HOME" && value != "" {
			found = append(found, settings.Finding{Harmless: true,
				Text: "COPILOT_HOME is set: Copilot reads the user's hooks in " + value + ", and in no other folder"})
		}
	}
	return found
}

// Advice implements [Adviser].
func (c copilotAdapter) Advice(sources []settings.Source) []settings.Finding {
	for _, s := range sources {
		if s.Place == settings.Managed && !s.Missing {
			if hooks, err := c.ReadHooks(s.Path, s.Text); err == nil && len(hooks["preToolUse"]) > 0 {
				return nil
			}
		}
	}
	return []settings.Finding{{Harmless: true, Fix: "sudo approver install copilot --system",
		Text: "a repository that its user trusts can switch off the user's hooks of Copilot (\"disableAllHooks\" in its " +
			"settings), and so can COPILOT_HOME and --config-dir; the machine's hooks cannot be switched off"}}
}
