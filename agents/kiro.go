package agents

import (
	"encoding/json"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
)

// kiroPatience is how long Kiro waits for a hook if its settings do not say it. Whether it waits longer
// if they do was not seen, and one of its programs does not.
const kiroPatience = 30 * time.Second

// kiro is the adapter of Kiro, its editor and its command line. It was written from Kiro's pages on
// hooks, see docs/agents/kiro.md, and not run.
//
// A hook blocks with exit code 2 and a text on standard error; there is no document. Calls and sessions
// have no ids. Version 2 of the command line has the names of events in small letters, and its hooks
// are in the settings of each custom agent, where approver does not put any.
var kiro = &hooked{
	name: "kiro", patience: kiroPatience - 5*time.Second,
	events: []hookEvent{
		{kind: Decide, installed: true, Event: facts.Event{Name: "PreToolUse"}},
		{kind: Ran, installed: true, Event: facts.Event{Name: "PostToolUse"}},
		{kind: Decide, Event: facts.Event{Name: "preToolUse"}},
		{kind: Ran, Event: facts.Event{Name: "postToolUse"}},
	},
	notices: "SessionStart UserPromptSubmit Stop agentSpawn userPromptSubmit stop",
	keys:    keys{event: "hook_event_name", dir: "cwd", tool: "tool_name", input: "tool_input", response: "tool_response"},
	tools: vocabulary{
		{tools: "execute_bash shell", as: "Bash", dir: "working_dir cwd"},
	},
	place:    kiroPlace,
	alias:    kiroAlias,
	outcome:  kiroOutcome,
	returned: []facts.Field{{Key: "tool_response", Short: "null"}},
	permit:   func(Event, approver.Verdict, json.RawMessage) any { return nil },
	install: &installation{
		files:  settings.Files{Agent: "kiro", Title: "Kiro", Folder: ".kiro", File: "hooks/approver.json", Home: "KIRO_HOME"},
		layout: settings.List{Agent: "kiro"},
		unit:   time.Second, timeout: "timeout", most: kiroPatience, matcher: ".*",
		hook: func(l hookLine) any {
			return struct {
				Name    string `json:"name"`
				Command string `json:"command"`
				Timeout int    `json:"timeout"`
				Enabled bool   `json:"enabled"`
			}{"approver " + l.event, l.command, l.timeout, true}
		},
		advice: []settings.Finding{{Text: "the sub-agents of Kiro run their calls without hooks, so approver does not see " +
			"them", Fix: "deny the tools that start sub-agents in the policy"}},
	},
}

// kiroPlace reads the folder, and the session if a version says it. Without a session there is no
// approval for a session.
func kiroPlace(call *approver.ToolCall, o object) (err error) {
	if call.Dir, err = o.absolute("cwd"); err != nil {
		return err
	}
	call.Session, _, err = o.short("session_id", maxID)
	return err
}

// kiroAlias returns @SERVER/TOOL as a tool of an MCP server.
func kiroAlias(tool string, _ object) (string, error) {
	if name, ok := strings.CutPrefix(tool, "@"); ok {
		server, name, _ := strings.Cut(name, "/")
		return mcpName(server, name)
	}
	return tool, nil
}

// kiroOutcome reads what a call returned: an object, which says whether it succeeded.
func kiroOutcome(ev *Event, o object) error {
	if ev.Response = o["tool_response"]; len(ev.Response) == 0 {
		return nil
	}
	ev.Output = outputOf(ev.Response)
	var r struct{ Success *bool }
	if json.Unmarshal(ev.Response, &r) == nil && r.Success != nil && !*r.Success {
		ev.Failure = ev.Output
	}
	return nil
}
