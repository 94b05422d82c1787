package agents

import (
	"approver.example/agents/canary"
	"approver.example/agents/settings"
)

// pi is the adapter of the Pi coding agent, in which an extension stands before each tool. It follows
// the extensions page of its documents and what version 0.73.1 was measured to do: a throw stops the
// call, and the agent waits for an extension without limit. It has no MCP servers, no sub-agents and no
// permissions of its own.
var pi = newPi()

func newPi() plugged {
	a := plugin{
		agent: "pi", title: "Pi", before: "tool_call", after: "tool_result",
		tools: vocabulary{
			{tools: "bash", as: "Bash"},
			{tools: "write", as: "Write", keys: "path=file_path"},
			{tools: "edit", as: "MultiEdit", keys: "path=file_path"},
			{tools: "read", as: "Read", keys: "path=file_path"},
			{tools: "find", as: "Glob"},
			{tools: "grep", as: "Grep"},
			{tools: "ls", as: "LS"},
		},
		reads: true,
		files: settings.Files{
			Agent: "pi", Title: "Pi", Folder: ".pi/agent", File: "extensions/approver.js", Home: "PI_CODING_AGENT_DIR",
			Project: ".pi",
		},
		recipe: canary.Pi,
		advice: "a single start of pi with --no-extensions, or with PI_CODING_AGENT_DIR or another HOME, runs without " +
			"approver's extension",
	}.adapter()
	a.check = plainPaths // it cuts off an @ and makes blanks of other white space
	return a
}
