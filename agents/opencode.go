package agents

import (
	"approver.example/agents/canary"
	"approver.example/agents/settings"
)

// opencode is the adapter of OpenCode, in which a plugin stands before each tool, also before those of
// its sub-agents and of MCP servers. It follows the plugins page of its documents and what version
// 1.18.33 was measured to do: it waits for a plugin without limit, and a throw stops the call.
//
// The event permission.ask of its plugins is never called, so what it would ask its own user stays
// there.
var opencode = plugin{
	agent: "opencode", title: "OpenCode", before: "tool.execute.before", after: "tool.execute.after",
	tools: vocabulary{
		{tools: "bash", as: "Bash", dir: "workdir"},
		{tools: "write", as: "Write", keys: "filePath=file_path"},
		{tools: "edit", as: "Edit",
			keys: "filePath=file_path oldString=old_string newString=new_string replaceAll=replace_all"},
		{tools: "read", as: "Read", keys: "filePath=file_path"},
		{tools: "glob", as: "Glob"},
		{tools: "grep", as: "Grep", keys: "include=glob"},
		{tools: "apply_patch patch", as: "apply_patch"},
		{tools: "webfetch", as: "WebFetch"},
		{tools: "websearch", as: "WebSearch"},
		{tools: "task", as: "Agent"},
		{tools: "skill", as: "Skill", keys: "name=skill"},
		{tools: "todowrite", as: "TodoWrite"},
		{tools: "question", as: "AskUserQuestion"},
	},
	numbered: "Read", reads: true,
	files: settings.Files{
		Agent: "opencode", Title: "OpenCode", Folder: ".config/opencode", File: "plugin/approver.js",
		Config: "XDG_CONFIG_HOME", Project: ".opencode",
	},
	recipe: canary.OpenCode, off: "OPENCODE_PURE",
	advice: "a single start of opencode with --pure, or with OPENCODE_PURE, XDG_CONFIG_HOME or another HOME, runs " +
		"without approver's plugin; so does one whose plugins cannot be loaded",
}.adapter()
