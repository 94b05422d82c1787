package agents

import (
	"encoding/json"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
)

// codexAgent is the adapter of the Codex CLI, which calls a hook almost as Claude Code does. It follows
// codex-rs/hooks of its source and the schemas in its program, and what version 0.171 was measured to
// do:
//
//   - An answer that is not exactly as expected lets the call run: an "ask", a bare "allow", a deny
//     without a reason, one unknown key.
//   - Its shell tools, and a patch typed into a shell, come as Bash with only the command line; the tool
//     apply_patch comes with the patch under "command". Calls that a script of its code mode makes come
//     one by one.
//   - write_stdin, which types into a program that runs, comes to no hook at all; see codexNoTTY.
type codexAgent struct{ *hooked }

var codex = codexAgent{&hooked{
	name: "codex", patience: usualPatience,
	events: []hookEvent{
		{kind: Decide, installed: true, Event: facts.Event{Name: "PreToolUse", Before: denyTool, After: "}}"}},
		{kind: Prompted, Event: facts.Event{Name: "PermissionRequest", Before: denyPrompt, After: "}}}"}},
		{kind: Ran, installed: true, Event: facts.Event{Name: "PostToolUse", Before: block, After: "}"}},
	},
	notices: "SessionStart SessionEnd UserPromptSubmit Stop SubagentStart SubagentStop PreCompact PostCompact " +
		"Interrupt",
	keys: usualKeys,
	tools: vocabulary{
		{tools: "apply_patch", as: "apply_patch", keys: "command=input"},
		{tools: "view_image", as: "Read", keys: "path=file_path"},
		{tools: "request_user_input", as: "AskUserQuestion"},
		{tools: "update_plan", as: "TodoWrite"},
	},
	described: []string{"Bash"},
	returned:  []facts.Field{{Key: "tool_response", Short: "null"}},
	permit:    permitCodex,
	recipe:    canary.Codex,
	install: &installation{
		bound: true,
		files: settings.Files{
			Agent: "codex", Title: "Codex CLI", Folder: ".codex", File: "hooks.json", Home: "CODEX_HOME",
			Unread:  "each user has to trust the folder, and then the hooks, before they run",
			Managed: codexManaged, ManagedFile: "hooks.json", ManagedMore: "hooks.d",
		},
		layout: settings.Layout{Agent: "codex"}, unit: time.Second, timeout: "timeout", matcher: "*",
		shell: true, reads: codexReads,
		hook: plainHook,
	},
}}

// permitCodex returns the document of an answer that does not block. To allow is to say nothing: Codex
// takes a bare "allow" for a mistake. Changed arguments are an "allow".
func permitCodex(ev Event, v approver.Verdict, args json.RawMessage) any {
	out := &claudeOutput{Specific: &claudeSpecific{Event: ev.Name}}
	switch {
	case v.Decision == approver.Modify:
		out.Specific.Decision, out.Specific.Input = "allow", args
	case v.Decision == approver.Allow && ev.Kind == Prompted:
		out.Specific.Prompt = &claudePrompt{Behavior: "allow"}
	case v.Decision == approver.Warn && ev.Kind != Prompted:
		out.Specific.Context = warning(v)
	default:
		return nil
	}
	return out
}

// Encode implements [Adapter]. Codex runs a call with other arguments only if it is of the shell, a
// patch or a call of an MCP server, and not after its own question.
func (c codexAgent) Encode(ev Event, v approver.Verdict) Answer {
	h := *c.hooked
	tool := ev.Call.Tool
	h.modifies = ev.Kind == Decide && (tool == "Bash" || tool == "apply_patch" || isServerTool(tool))
	return h.Encode(ev, v)
}

// Reading implements [Returner]. The model reads the reason of a block after a call instead of what the
// call returned. There is no event for a call that could not be made.
func (codexAgent) Reading(ev Event) Reading {
	if ev.Kind != Ran || hasWord("apply_patch update_plan", ev.Native) {
		return Reading{}
	}
	return Reading{Reads: true, Replaces: len(ev.Response) > 0, From: origin(ev)}
}

// A codexResult is the answer to PostToolUse. Its reason replaces what the call returned.
type codexResult struct {
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Specific      *claudeSpecific `json:"hookSpecificOutput,omitempty"`
}

// EncodeResult implements [Returner].
func (c codexAgent) EncodeResult(ev Event, r Result) Answer {
	return encodeResult(c, ev, r, func(r Result) (any, error) {
		if r.isZero() {
			return nil, nil
		}
		out := codexResult{SystemMessage: r.Notice}
		if len(r.Response) > 0 {
			out.Decision, out.Reason = "block", codexText(r.Response)
			if strings.TrimSpace(out.Reason) == "" {
				out.Reason = "(the call returned nothing)"
			}
		}
		if r.Context != "" {
			out.Specific = &claudeSpecific{Event: ev.Name, Context: r.Context}
		}
		return out, nil
	})
}

// codexText returns what the model reads of a result: a string, or the texts of an MCP server.
func codexText(response json.RawMessage) string {
	var mcp struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(response, &mcp) == nil && len(mcp.Content) > 0 {
		return outputOf(mcp.Content)
	}
	return outputOf(response)
}
