package agents

import (
	"encoding/json"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
)

// qwen is the adapter of Qwen Code, whose protocol is like that of Claude Code. It follows the hooks
// page of its own documents and what version 0.24.4 was measured to do: it ignores changed arguments
// and runs the call with the old ones, and its "ask" denies without a terminal.
var qwen = &hooked{
	name: "qwen", patience: claudePatience,
	events: []hookEvent{
		{kind: Decide, installed: true, Event: facts.Event{Name: "PreToolUse", Before: denyTool, After: "}}"}},
		{kind: Prompted, Event: facts.Event{Name: "PermissionRequest", Before: denyPrompt, After: "}}}"}},
		{kind: Ran, installed: true, Event: facts.Event{Name: "PostToolUse", Before: block, After: "}"}},
		{kind: Ran, installed: true, Event: facts.Event{Name: "PostToolUseFailure", After: "}}",
			Before: `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":`}},
		{kind: Notice, Event: facts.Event{Name: "SessionStart"}},
		{kind: Notice, Event: facts.Event{Name: "SessionEnd"}},
		{kind: Notice, Event: facts.Event{Name: "UserPromptSubmit"}},
		{kind: Notice, Event: facts.Event{Name: "Stop"}},
		{kind: Notice, Event: facts.Event{Name: "StopFailure"}},
		{kind: Notice, Event: facts.Event{Name: "SubagentStart"}},
		{kind: Notice, Event: facts.Event{Name: "SubagentStop"}},
		{kind: Notice, Event: facts.Event{Name: "Notification"}},
		{kind: Notice, Event: facts.Event{Name: "PreCompact"}},
		{kind: Notice, Event: facts.Event{Name: "PostCompact"}},
	},
	keys: usualKeys,
	tools: vocabulary{
		{tools: "run_shell_command", as: "Bash", dir: "directory"},
		{tools: "write_file", as: "Write"},
		{tools: "edit replace", as: "Edit"},
		{tools: "read_file", as: "Read", keys: "absolute_path=file_path"},
		{tools: "notebook_edit", as: "NotebookEdit"},
		{tools: "glob", as: "Glob"},
		{tools: "grep_search search_file_content", as: "Grep"},
		{tools: "list_directory", as: "LS"},
		{tools: "web_fetch", as: "WebFetch"},
		{tools: "web_search google_web_search", as: "WebSearch"},
		{tools: "agent task", as: "Agent"},
		{tools: "skill", as: "Skill"},
		{tools: "exit_plan_mode", as: "ExitPlanMode"},
		{tools: "ask_user_question", as: "AskUserQuestion"},
	},
	described: []string{"Bash"},
	returned:  []facts.Field{{Key: "tool_response", Short: "null"}, {Key: "error", Short: `"not read"`}},
	permit:    permitLikeClaude,
	recipe:    canary.Qwen,
	install: &installation{
		files:  settings.Files{Agent: "qwen", Title: "Qwen Code", Folder: ".qwen", File: "settings.json"},
		layout: settings.Layout{Agent: "qwen"}, unit: time.Second, timeout: "timeout", matcher: "*", shell: true,
		hook: func(l hookLine) any {
			return struct {
				Type    string `json:"type"`
				Command string `json:"command"`
				Timeout int    `json:"timeout"`
			}{"command", l.command, l.timeout}
		},
	},
}

// permitLikeClaude returns the document for an agent that reads those of Claude Code's hooks.
func permitLikeClaude(ev Event, v approver.Verdict, args json.RawMessage) any {
	out := &claudeOutput{Specific: &claudeSpecific{Event: ev.Name}}
	switch {
	case v.Decision == approver.Modify:
		out.allow(ev.Kind, v.Reason, args)
	case v.Decision == approver.Allow && ev.Kind != Ran:
		out.allow(ev.Kind, v.Reason, nil)
	case v.Decision == approver.Warn && ev.Kind != Prompted:
		out.Specific.Context = lineOr(v.Reason, "take care with this call")
	default:
		return nil
	}
	return out
}
