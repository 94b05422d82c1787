package agents

import (
	"bytes"
	"encoding/json"
	"errors"
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
	layout: settings.Layout{Agent: "copilot", Flat: true, Whole: true, New: "{\n  \"version\": 1\n}\n"},
	unit:   time.Second, timeout: "timeoutSec", shell: true, reads: copilotReads,
	hook: func(l hookLine) any {
		return struct {
			Type    string `json:"type"`
			Bash    string `json:"bash"`
			Timeout int    `json:"timeoutSec"`
		}{"command", l.command, l.timeout}
	},
	switches: copilotSwitches,
	// In a project they count if it is trusted.
	beside: beside{
		user: []string{"settings.json"},
		project: []string{".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json",
			".claude/settings.local.json"},
		finds: copilotOff,
		holds: copilotHolds,
	},
	variables: []variable{{name: "COPILOT_HOME", harmless: true,
		text: ": Copilot reads the user's hooks in %s, and in no other folder"}},
}

// copilotReads says why Copilot reads no hook of a file, or returns nil. Its reader is not JavaScript's.
func copilotReads(text []byte) error {
	if !wellFormed(text) {
		return errors.New("half of a surrogate pair is no character, and Copilot ignores the whole file")
	}
	return nil
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
func copilotOff(s settings.Source, keys map[string]json.RawMessage) (found []settings.Finding) {
	if v, ok := keys["disableAllHooks"]; ok && !isFalse(v) {
		text := "\"disableAllHooks\" switches off the hooks of Copilot"
		if s.Place == settings.Project {
			text += ", as soon as its user trusts this folder"
		}
		found = append(found, settings.Finding{Path: s.Path, Text: text, Fix: "remove \"disableAllHooks\" from " + s.Path})
	}
	if _, ok := keys["disabledHooks"]; ok && s.Place == settings.User {
		found = append(found, settings.Finding{Path: s.Path, Harmless: true,
			Text: "\"disabledHooks\" switches off single hooks, and approver's can be among them",
			Fix:  "see with /env in copilot; take approver's out of \"disabledHooks\" in " + s.Path})
	}
	return found
}

// copilotHolds reports whether the hooks stand in the machine's settings, which nothing switches off.
func copilotHolds(h *hooked, sources []settings.Source, want settings.Want) bool {
	for _, s := range sources {
		if s.Place == settings.Managed && len(h.lacking(s, want)) == 0 && len(h.switchesIn(s)) == 0 {
			return true
		}
	}
	return false
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
