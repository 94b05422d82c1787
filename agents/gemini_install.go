package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"approver.example/agents/settings"
)

// geminiInstallation says where the Gemini CLI has its hooks. A timeout is in milliseconds. Beside the
// machine's settings are its defaults, which come before all others.
var geminiInstallation = &installation{
	files: settings.Files{
		Agent: "gemini", Title: "Gemini CLI", Folder: ".gemini", File: "settings.json", Config: "GEMINI_CLI_HOME",
		Managed: machineFolder("/etc/gemini-cli", "/Library/Application Support/GeminiCli"), ManagedFile: "settings.json",
	},
	layout: settings.Layout{Agent: "gemini", Commented: true},
	unit:   time.Millisecond, timeout: "timeout", matcher: "*", shell: true,
	hook:     plainHook,
	switches: geminiSwitches,
	variables: []variable{
		{name: "GEMINI_CLI_SYSTEM_SETTINGS_PATH", text: otherMachine},
		{name: "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", text: otherMachine},
		{name: "GEMINI_CLI_TRUST_WORKSPACE", is: func(v string) bool { return v == "false" }, text: geminiTrustsNone},
		{name: "GEMINI_RESTRICTED_MODE", is: func(v string) bool { return v == "true" }, text: geminiTrustsNone},
	},
	bound: true,
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

// What variables of the Gemini CLI and of Qwen Code, which was made out of it, do.
const (
	otherMachine     = ", so %s is read as settings of the machine, which can switch hooks off"
	geminiTrustsNone = ", so gemini trusts no folder, and where it trusts none it runs no hook, not even the user's"
)

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
// hooks that are no object, which replace those of the user. By its source: a call that Gemini corrects is
// another one than was judged.
func geminiSwitches(s settings.Source, all map[string]json.RawMessage) (found []settings.Finding) {
	say := func(text, fix string) {
		found = append(found, settings.Finding{Path: s.Path, Text: s.Path + " " + text, Fix: fix + " " + s.Path})
	}
	var config map[string]json.RawMessage
	_ = json.Unmarshal(all["hooksConfig"], &config) // what is no object has no effect, or the agent does not start
	if raw, ok := config["enabled"]; ok && string(raw) != "true" && string(raw) != "null" {
		say(fmt.Sprintf(`has "hooksConfig.enabled": %s, so no hook runs`, raw), `take "enabled" out of "hooksConfig" in`)
	}
	if raw := string(config["disabled"]); strings.Contains(raw, "approver-hook") ||
		strings.Contains(raw, "approver hook") {
		say(`has approver's hook in "hooksConfig.disabled", so it does not run`, `take it out of "hooksConfig.disabled" in`)
	}
	var tools map[string]json.RawMessage
	_ = json.Unmarshal(all["tools"], &tools)
	if raw, ok := tools["disableLLMCorrection"]; ok && string(raw) != "true" && string(raw) != "null" {
		say(fmt.Sprintf(`has "tools.disableLLMCorrection": %s, so a model may change what write_file and replace write `+
			"after approver has decided", raw), `take "disableLLMCorrection" out of "tools" in`)
	}
	if raw, ok := all["hooks"]; ok && s.Place == settings.Project && !isObject(raw) {
		say(`has "hooks" that are no object, and so takes away those of the user`, `take "hooks" out of`)
	}
	return found
}
