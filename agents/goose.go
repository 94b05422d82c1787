package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"approver.example"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
)

// goose is the adapter of goose. It was written from its page on hooks and its source
// (crates/goose/src/hooks/mod.rs), see docs/agents/goose.md, and not run.
//
// Only PreToolUse can stop a call. With on_failure "block" everything but an empty answer and an allow
// with exit code 0 does. goose asks its own user before the hook, so an allow skips nothing.
var goose = gooseAgent{&hooked{
	name: "goose", patience: usualPatience,
	events: []hookEvent{
		{kind: Decide, installed: true, Event: facts.Event{Name: "PreToolUse", Before: block, After: "}"}},
		{kind: Ran, installed: true, Event: facts.Event{Name: "PostToolUse"}},
		{kind: Ran, installed: true, Event: facts.Event{Name: "PostToolUseFailure"}},
	},
	// The Before* and After* are about the same calls as PreToolUse and PostToolUse, and cannot stop them.
	notices: "PreToolUseResult BeforeReadFile AfterFileEdit BeforeShellExecution AfterShellExecution " +
		"SessionStart SessionEnd UserPromptSubmit Stop",
	keys: keys{event: "event", session: "session_id", dir: "working_dir", tool: "tool_name", input: "tool_input",
		use: "tool_call_id"},
	call: gooseCall,
	tools: vocabulary{
		{tools: "developer__shell shell", as: "Bash"},
		{tools: "developer__write write", as: "Write", keys: "path=file_path"},
		{tools: "developer__edit edit", as: "Edit", keys: "path=file_path before=old_string after=new_string"},
	},
	alias:    gooseAlias,
	outcome:  gooseOutcome,
	returned: []facts.Field{{Key: "tool_output", Short: "null"}},
	permit: func(ev Event, _ approver.Verdict, _ json.RawMessage) any {
		if ev.Kind == Ran {
			return nil
		}
		return struct {
			Decision string `json:"decision"`
		}{"allow"}
	},
	install: &installation{
		files:  settings.Files{Agent: "goose", Title: "goose", Folder: ".agents/plugins/approver", File: "hooks/hooks.json"},
		layout: settings.Layout{Agent: "goose"},
		reads:  gooseReads,
		unit:   time.Second, timeout: "timeout", matcher: ".*",
		hook: func(l hookLine) any {
			out := struct {
				Type    string `json:"type"`
				Command string `json:"command"`
				Timeout int    `json:"timeout"`
				Failure string `json:"on_failure,omitempty"`
			}{Type: "command", Command: l.command, Timeout: l.timeout}
			if l.guards {
				out.Failure = "block"
			}
			return out
		},
		switches: gooseSwitches,
		beside: beside{
			user: []string{"../../../.config/goose/settings.json"}, // from the folder of the plugin
			project: []string{".config/goose/settings.json", ".config/goose/settings.local.json",
				".agents/plugins/approver/" + gooseFile},
			finds: gooseBeside,
		},
		advice: []settings.Finding{{Harmless: true, Text: "goose before the version that knows on_failure runs a call " +
			"whose hook crashes or times out"}},
	},
}}

// A gooseAgent also has the manifest of the plugin, in a file of its own.
type gooseAgent struct{ *hooked }

// gooseFile has the manifest, beside the folder of the hooks.
const gooseFile = "plugin.json"

const gooseManifest = `{
  "name": "approver",
  "version": "1.0.0",
  "description": "Asks approver before each tool call"
}
`

// Companions implements [Accompanied]: a plugin with approver's hooks has a manifest beside them.
func (g gooseAgent) Companions(path string, _, becomes []byte) []Companion {
	file, ok := strings.CutSuffix(path, "hooks/hooks.json")
	if !ok {
		return nil
	}
	hooks, err := g.ReadHooks(path, becomes)
	ours := func(h json.RawMessage) bool { return settings.CommandOf(h).Ours(g.name) }
	wanted := slices.ContainsFunc(hooks[g.events[0].Name], func(m settings.Matcher) bool {
		return slices.ContainsFunc(m.Hooks, ours)
	})
	return []Companion{fixedFile(file+gooseFile, gooseManifest,
		"the plugin has no manifest, or another one than install writes", wanted, err)}
}

// gooseReads says why goose reads no hook of a file, or returns nil. Like Codex, it reads with serde.
func gooseReads(text []byte) error {
	if !utf8.Valid(text) || !wellFormed(text) {
		return errors.New("it has a character that is none, and goose drops the whole file")
	}
	return nil
}

// gooseCall reads a call. goose leaves out arguments that are empty.
func gooseCall(o object) (tool string, args json.RawMessage, err error) {
	tool, err = o.need("tool_name", maxTool)
	if args = o["tool_input"]; len(args) == 0 || bytes.Equal(args, []byte("null")) {
		args = json.RawMessage("{}")
	}
	return tool, args, err
}

// gooseAlias returns a tool of an extension as one of an MCP server, which extensions are. goose writes
// it as EXTENSION__TOOL; only its own developer tools are known by other names.
func gooseAlias(tool string, _ object) (string, error) {
	server, name, ok := strings.Cut(tool, "__")
	if !ok || server == "developer" || server == "platform" {
		return tool, nil
	}
	return mcpName(server, name)
}

// gooseOutcome reads what a call returned, if goose says it.
func gooseOutcome(ev *Event, o object) error {
	if ev.Response = o["tool_output"]; len(ev.Response) > 0 {
		ev.Output = outputOf(ev.Response)
	}
	if ev.Name == "PostToolUseFailure" {
		if ev.Failure = ev.Output; ev.Failure == "" {
			ev.Failure = "it failed"
		}
	}
	return nil
}

// gooseSwitches finds a plugin of a project that has the name of approver's. goose takes that one and
// not the user's.
func gooseSwitches(s settings.Source, keys map[string]json.RawMessage) []settings.Finding {
	if s.Place != settings.Project || strings.Contains(string(keys["hooks"]), " --agent goose") {
		return nil
	}
	return []settings.Finding{{Path: s.Path, Text: fmt.Sprintf("%s: this plugin of the project has the name of "+
		"approver's, and goose runs it in the place of the user's", s.Path), Fix: "take the plugin out of the project"}}
}

// gooseBeside finds settings that switch the plugin off, and a plugin of a project that has no hooks.
func gooseBeside(s settings.Source, keys map[string]json.RawMessage) []settings.Finding {
	var off []string
	switch err := json.Unmarshal(keys["disabledPlugins"], &off); {
	case filepath.Base(s.Path) == gooseFile:
		if hooks := settings.ReadSource(s.Place, filepath.Join(filepath.Dir(s.Path), "hooks/hooks.json")); hooks.Missing {
			return gooseSwitches(s, nil)
		}
	case len(keys["disabledPlugins"]) > 0 && err != nil:
		return []settings.Finding{unreadable(s, errors.New(`"disabledPlugins" is no list of names`))}
	case slices.Contains(off, "approver"):
		return []settings.Finding{{Path: s.Path, Fix: `take approver out of "disabledPlugins" in ` + s.Path,
			Text: s.Path + " switches the plugin of approver off"}}
	}
	return nil
}
