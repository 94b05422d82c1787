package agents

import (
	"encoding/json"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
)

// A droidAdapter is the adapter of Factory's Droid, whose protocol is like that of Claude Code. It follows the
// hooks page of its own documents, its program, and what version 0.225.2 was measured to do.
//
// It gives its calls no ids, and says nothing about a call that failed. Of several hooks of a call, the
// first one that decides counts, except that exit code 2 of any stops the call. It runs a call that a hook
// asks about, so it is never asked to. It merges changed arguments into the old ones, and gives the
// model no warning before a call.
type droidAdapter struct{ *hooked }

// droid has everything but what to do with other files.
var droid = droidAdapter{&hooked{
	name: "droid",
	events: []hookEvent{
		{kind: Decide, installed: true, Event: facts.Event{Name: "PreToolUse", Before: denyTool, After: "}}"}},
		{kind: Ran, installed: true, Event: facts.Event{Name: "PostToolUse", Before: block, After: "}"}},
	},
	notices: "SessionStart SessionEnd UserPromptSubmit Stop SubagentStop Notification PreCompact",
	keys: keys{event: "hook_event_name", session: "session_id", dir: "cwd", tool: "tool_name", input: "tool_input",
		response: "tool_response", mode: "permission_mode"},
	tools: vocabulary{
		{tools: "Execute", as: "Bash", keys: "summary=description"},
		{tools: "Create", as: "Write"},
		{tools: "Edit", as: "Edit", keys: "old_str=old_string new_str=new_string change_all=replace_all"},
		{tools: "LS", as: "LS", keys: "directory_path=path"},
		{tools: "Glob", as: "glob", keys: "folder=path"}, // its patterns may be a list
		{tools: "FetchUrl", as: "WebFetch"},
		{tools: "ApplyPatch", as: "apply_patch"},
		{tools: "ExitSpecMode", as: "ExitPlanMode"},
	},
	alias:     droidAlias,
	described: []string{"Bash"},
	returned:  []facts.Field{{Key: "tool_response", Short: "null"}},
	permit: func(ev Event, v approver.Verdict, args json.RawMessage) any {
		if ev.Kind == Decide && v.Decision == approver.Warn {
			return nil
		}
		return permitLikeClaude(ev, v, args)
	},
	modifies: true, merges: true, recipe: canary.Droid,
	install: &installation{
		bound: true,
		files: settings.Files{
			Agent: "droid", Title: "Factory Droid", Folder: ".factory", File: "hooks.json",
			Config: "FACTORY_HOME_OVERRIDE", ManagedFile: "settings.json",
			Managed: machineFolder("/etc/factory", "/Library/Application Support/Factory"),
		},
		layout: settings.Layout{Agent: "droid", Commented: true, Whole: true, Top: "hooks.json", Off: droidOff},
		unit:   time.Second, timeout: "timeout", matcher: "*", shell: true,
		hook:     plainHook,
		switches: droidSwitches,
		beside: beside{user: []string{"settings.json"}, project: []string{".factory/settings.json"}, finds: droidSwitches,
			holds: droidHolds},
		variables: []variable{{name: "FACTORY_HOME_OVERRIDE", harmless: true,
			text: ": Droid reads the user's hooks in %s/.factory, and in no other folder"}},
	},
}}
