package agents

import (
	"encoding/json"
	"errors"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/agents/facts"
)

// A qwenAgent is the adapter of Qwen Code, whose protocol is like that of Claude Code. It follows the
// hooks page of its own documents and what version 0.24.4 was measured to do.
//
// PreToolUse comes after the agent's own rules and its question to its user. It ignores changed
// arguments there and runs the call with the old ones. Of a tool that it calls by tool_call, a hook sees
// the real tool. A document is read only with exit code 0, so after PreToolUse, where the exit code 2 alone
// blocks, it is the whole answer.
//
// Whatever the timeout of a hook is, Qwen Code waits for all hooks of a call together for qwenMost, and
// then runs the call.
type qwenAgent struct{ *hooked }

var qwen = qwenAgent{&hooked{
	name: "qwen", patience: qwenMost - 10*time.Second,
	events: []hookEvent{
		{kind: Decide, installed: true, Event: facts.Event{Name: "PreToolUse", Before: denyTool, After: "}}"}},
		{kind: Prompted, Event: facts.Event{Name: "PermissionRequest", Before: denyPrompt, After: "}}}", DocumentOnly: true}},
		{kind: Ran, installed: true, Event: facts.Event{Name: "PostToolUse", Before: `{"continue":false,"stopReason":`,
			After: "}", DocumentOnly: true}},
		{kind: Ran, installed: true, failure: "error", Event: facts.Event{Name: "PostToolUseFailure", Before: noteFailure,
			After: "}}", DocumentOnly: true}},
	},
	// The ids in PostToolBatch are those of the model, which the other events do not have as ids.
	notices: "PostToolBatch SessionStart SessionEnd SessionDelete UserPromptSubmit UserPromptExpansion " +
		"MessageDisplay Stop StopFailure SubagentStart SubagentStop Notification PreCompact PostCompact " +
		"PermissionDenied TodoCreated TodoCompleted InstructionsLoaded",
	keys: usualKeys,
	tools: vocabulary{
		{tools: "run_shell_command", as: "Bash", keys: "is_background=run_in_background", dir: "directory"},
		{tools: "monitor", as: "Monitor", dir: "directory"},
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
		{tools: "todo_write", as: "TodoWrite"},
		{tools: "enter_plan_mode", as: "EnterPlanMode"},
		{tools: "exit_plan_mode", as: "ExitPlanMode"},
		{tools: "ask_user_question", as: "AskUserQuestion"},
	},
	described: []string{"Bash", "Monitor"},
	returned:  []facts.Field{{Key: "tool_response", Short: "null"}, {Key: "error", Short: `"not read"`}},
	check:     qwenCheck,
	outcome:   partsOf,
	permit:    permitQwen,
	recipe:    canary.Qwen,
	install:   qwenInstallation,
}}

// qwenCheck refuses tool_call, the name under which a model calls a tool that it was not shown at first.
// A hook was never seen to get it, and by that name, the rules would not see the real tool.
func qwenCheck(tool string, _ json.RawMessage) error {
	if tool == "tool_call" {
		return errors.New("this is not the tool that would run")
	}
	return nil
}

// permitQwen returns the document of an answer that does not block. A warning goes to the user as well,
// because before a call the model does not read it.
func permitQwen(ev Event, v approver.Verdict, args json.RawMessage) any {
	doc := permitLikeClaude(ev, v, args)
	if out, ok := doc.(*claudeOutput); ok && out != nil && v.Decision == approver.Warn {
		out.SystemMessage = "approver: " + out.Specific.Context
	}
	return doc
}

// Reading implements [Returner]. The reason of a stop stands in the place of what a call returned. To an
// error, something can only be added.
func (q qwenAgent) Reading(ev Event) Reading {
	if ev.Kind != Ran || ev.Failure == "" && hasWord(ownTexts, ev.Call.Tool) {
		return Reading{}
	}
	return Reading{Reads: true, Replaces: ev.Failure == "" && len(ev.Response) > 0, From: origin(ev)}
}

// A qwenResult is the answer to PostToolUse. Despite its name, continue stops only this call: the model
// reads the reason as an error of it, and the turn goes on.
type qwenResult struct {
	Continue *bool           `json:"continue,omitempty"`
	Reason   string          `json:"stopReason,omitempty"`
	System   string          `json:"systemMessage,omitempty"`
	Specific *claudeSpecific `json:"hookSpecificOutput,omitempty"`
}

// EncodeResult implements [Returner].
func (q qwenAgent) EncodeResult(ev Event, r Result) Answer {
	return encodeResult(q, ev, r, func(r Result) (any, error) {
		if r.isZero() {
			return nil, nil
		}
		text, context, err := replaced(ev, r)
		out := qwenResult{Reason: text, System: r.Notice}
		if text != "" {
			out.Continue = new(bool)
		}
		if context != "" {
			out.Specific = &claudeSpecific{Event: ev.Name, Context: context}
		}
		return out, err
	})
}
