package agents

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"time"

	"approver.example/agents/settings"
)

// geminiInstallation says where the Gemini CLI has its hooks. A timeout is in milliseconds.
var geminiInstallation = &installation{
	files:  geminiFiles(),
	layout: settings.Layout{Agent: "gemini"}, unit: time.Millisecond, timeout: "timeout", matcher: "*", shell: true,
	hook:     plainHook,
	switches: geminiSwitches,
	advice: []settings.Finding{
		{
			Harmless: true,
			Text: "gemini --acp, as editors start it, asks no hook at all, not even a managed one: with its mode yolo, tools " +
				"run unasked there",
			Fix: "do not start it from an editor; docs/agents/gemini.md",
		},
		{
			Harmless: true,
			Text: "in a folder that is not trusted, gemini runs no hook, not even the user's; it then asks its own user about " +
				"each call that its policies do not allow",
			Fix: "trust the folder, or leave its tools alone there; docs/agents/gemini.md",
		},
	},
	copies: "it runs equal commands once, with the timeout of the first",
}

// geminiFiles says where the settings are. Beside the managed ones are the defaults of the machine, which
// come before all others.
func geminiFiles() settings.Files {
	f := settings.Files{
		Agent: "gemini", Title: "Gemini CLI",
		Folder: ".gemini", File: "settings.json", Config: "GEMINI_CLI_HOME",
		Managed: "/etc/gemini-cli", ManagedFile: "settings.json",
	}
	if runtime.GOOS == "darwin" {
		f.Managed = "/Library/Application Support/GeminiCli"
	}
	return f
}

// plainHook is a hook that is a command with a timeout.
func plainHook(l hookLine) any {
	return struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}{"command", l.command, l.timeout}
}

// geminiSwitches finds what takes the hooks away. Measured with version 0.61.0: hooksConfig.enabled with
// anything but true, a name in hooksConfig.disabled, whichever file of those that are merged has it, and
// hooks that are no object, which replace those of the user.
func geminiSwitches(s settings.Source, all map[string]json.RawMessage) (found []settings.Finding) {
	say := func(text, fix string) {
		found = append(found, settings.Finding{Path: s.Path, Text: s.Path + " " + text, Fix: fix})
	}
	var config map[string]json.RawMessage
	_ = json.Unmarshal(all["hooksConfig"], &config) // what is no object has no effect, or the agent does not start
	if raw, ok := config["enabled"]; ok && string(raw) != "true" && string(raw) != "null" {
		say(fmt.Sprintf(`has "hooksConfig.enabled": %s, so no hook runs`, raw), `take "enabled" out of "hooksConfig" there`)
	}
	if raw := string(config["disabled"]); strings.Contains(raw, "approver-hook") ||
		strings.Contains(raw, "approver hook") {
		say(`has approver's hook in "hooksConfig.disabled", so it does not run`, "take it out there")
	}
	if raw, ok := all["hooks"]; ok && s.Place == settings.Project && !isObject(raw) {
		say(`has "hooks" that are no object, and so takes away those of the user`, `take "hooks" out there`)
	}
	return found
}

// Environment implements [Adviser].
func (g geminiAgent) Environment(env []string) (found []settings.Finding) {
	for _, variable := range env {
		key, value, _ := strings.Cut(variable, "=")
		switch {
		case value == "":
		case key == "GEMINI_CLI_SYSTEM_SETTINGS_PATH", key == "GEMINI_CLI_SYSTEM_DEFAULTS_PATH":
			found = append(found, settings.Finding{
				Text: key + " is set, so gemini reads " + value + " as settings of the machine, which can switch hooks off",
				Fix:  "unset " + key,
			})
		case key == "GEMINI_CLI_TRUST_WORKSPACE" && value == "false", key == "GEMINI_RESTRICTED_MODE" && value == "true":
			found = append(found, settings.Finding{
				Text: key + "=" + value +
					": gemini trusts no folder, and where it trusts none it runs no hook, not even the user's",
				Fix: "unset " + key,
			})
		}
	}
	return found
}
