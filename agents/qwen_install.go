package agents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"approver.example/agents/settings"
	"approver.example/internal/lazyregexp"
)

// qwenMost is the longest time that Qwen Code waits for the hooks of a call. No setting changes it.
const qwenMost = time.Minute

// qwenInstallation says where Qwen Code has its hooks. A timeout is in seconds, and one of 1000 or more
// is in milliseconds.
var qwenInstallation = &installation{
	files: settings.Files{
		Agent: "qwen", Title: "Qwen Code", Folder: ".qwen", File: "settings.json", Home: "QWEN_HOME",
		Managed: machineFolder("/etc/qwen-code", "/Library/Application Support/QwenCode"), ManagedFile: "settings.json",
	},
	layout: settings.Layout{Agent: "qwen", Commented: true, Marked: true},
	unit:   time.Second, milliseconds: 1000, timeout: "timeout", matcher: "*", shell: true,
	most:     qwenMost,
	hook:     plainHook,
	switches: qwenSwitches,
	variables: []variable{
		{name: qwenOff[0], is: qwenTrue, text: ", so qwen runs no hook"},
		{name: qwenOff[1], is: qwenTrue, text: ", so qwen runs no hook"},
		{name: "QWEN_CODE_SYSTEM_SETTINGS_PATH", text: otherMachine},
		{name: "QWEN_CODE_SYSTEM_DEFAULTS_PATH", text: otherMachine},
	},
	bound: true,
	advice: []settings.Finding{{
		Harmless: true,
		Text: "a single start of qwen with --bare or --safe-mode, in a workspace over ssh, or in its own sandbox for tools " +
			"runs without any hook, also a managed one",
		Fix: "docs/agents/qwen.md",
	}},
	copies: "it runs equal commands once, with the options of the project's",
}

// qwenOff are the variables with which Qwen Code runs no hook if they are true.
var qwenOff = [...]string{"QWEN_CODE_SIMPLE", "QWEN_CODE_SAFE_MODE"}

// qwenTrue reports whether Qwen Code takes the value of a variable as true.
func qwenTrue(value string) bool {
	return hasWord("1 true yes on", strings.ToLower(strings.TrimSpace(value)))
}

// qwenSwitches finds what takes the hooks away. Measured with version 0.24.4: disableAllHooks with
// anything but false, and a variable of qwenOff. By its source, its own sandbox for tools does the same, and
// so do the calls that it makes for a prompt that it only suggests.
func qwenSwitches(s settings.Source, all map[string]json.RawMessage) (found []settings.Finding) {
	say := func(text, fix string) {
		found = append(found, settings.Finding{Path: s.Path, Text: s.Path + " " + text, Fix: fix + " " + s.Path})
	}
	if raw, ok := all["disableAllHooks"]; ok && string(raw) != "false" && string(raw) != "null" {
		say(fmt.Sprintf(`has "disableAllHooks": %s, so no hook runs`, raw), `take "disableAllHooks" out of`)
	}
	var tools, env, ui map[string]json.RawMessage
	_ = json.Unmarshal(all["ui"], &ui)
	if raw, ok := ui["enableSpeculation"]; ok && !hasWord(`false null 0 ""`, string(raw)) {
		say(fmt.Sprintf(`has "ui.enableSpeculation": %s, with which calls run ahead of a prompt without a hook`, raw),
			`take "enableSpeculation" out of "ui" in`)
	}
	_ = json.Unmarshal(all["tools"], &tools) // what is no object has no effect
	if raw, ok := tools["executionSandbox"]; ok && string(raw) != "null" {
		say(`has "tools.executionSandbox", with which no hook runs`, `take "executionSandbox" out of "tools" in`)
	}
	_ = json.Unmarshal(all["env"], &env)
	for _, key := range qwenOff {
		if qwenTrue(strings.Trim(string(env[key]), `"`)) {
			say(fmt.Sprintf(`has "env": {%q: %s}, with which no hook runs`, key, env[key]), "take "+key+` out of "env" in`)
		}
	}
	return found
}

// qwenSet matches a variable of qwenOff in a file .env.
var qwenSet = lazyregexp.New(`(?m)^[\s\x{feff}]*(?:export\s+)?(` + strings.Join(qwenOff[:], "|") +
	`)\s*[=:]\s*["'` + "`" + `]?([^"'` + "`" + `#\r\n]*)`)

// Beside implements [Searcher]. Qwen Code reads variables from the first file .env that it finds: in
// the folder .qwen of the project, in the project, in each folder above, and in the user's home.
func (q qwenAgent) Beside(
	p settings.Places, _ []settings.Source, _ settings.Want,
) (found []settings.Finding, err error) {
	var paths []string
	add := func(folder string) {
		paths = append(paths, filepath.Join(folder, q.install.files.Folder, ".env"), filepath.Join(folder, ".env"))
	}
	for _, project := range p.Projects {
		for at := filepath.Clean(project); ; at = filepath.Dir(at) {
			add(at)
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	if home := cmp.Or(p.Home, p.Config); home != "" {
		paths = append(paths, filepath.Join(home, ".env"), filepath.Join(filepath.Dir(home), ".env"))
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		s := settings.ReadSource(settings.Global, path)
		if settings.Unseen(s.Err) {
			return found, s.Err
		}
		for _, m := range qwenSet().FindAllStringSubmatch(string(s.Text), -1) {
			if qwenTrue(m[2]) {
				found = append(found, settings.Finding{Path: path,
					Text: path + " sets " + m[1] + ", with which no hook runs", Fix: "take " + m[1] + " out of " + path})
			}
		}
	}
	return found, nil
}
