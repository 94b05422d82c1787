package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
)

// crush is the adapter of Crush. It was written from its page on hooks and its source
// (internal/hooks, internal/agent/hooked_tool.go), see docs/agents/crush.md, and not run.
//
// There is one event, before a call. A hook that fails in another way than exit code 2 lets the call
// run. The calls of sub-agents have no hook.
var crush = &hooked{
	name: "crush", patience: usualPatience,
	events: []hookEvent{
		{kind: Decide, installed: true,
			Event: facts.Event{Name: "PreToolUse", Before: denyWord, After: "}"}},
	},
	keys: keys{event: "event", session: "session_id", dir: "cwd", tool: "tool_name", input: "tool_input"},
	tools: vocabulary{
		{tools: "bash", as: "Bash", dir: "working_dir"},
		{tools: "write", as: "Write"},
		{tools: "edit", as: "Edit"},
		{tools: "multiedit", as: "MultiEdit"},
		{tools: "view", as: "Read"},
		{tools: "glob", as: "Glob"},
		{tools: "grep", as: "Grep"},
		{tools: "web_fetch", as: "WebFetch"},
		{tools: "web_search", as: "WebSearch"},
		{tools: "agent", as: "Agent"},
	},
	described: []string{"Bash"},
	alias:     crushAlias,
	check:     crushCheck,
	permit:    crushPermit,
	modifies:  true, merges: true,
	install: &installation{
		files: settings.Files{
			Agent: "crush", Title: "Crush", Folder: ".config/crush", File: "crush.json", Home: "CRUSH_GLOBAL_CONFIG",
			Config: "XDG_CONFIG_HOME", Project: ".", ProjectFile: "crush.json",
			Managed: "/etc/crush", ManagedFile: "crush.json",
		},
		layout: settings.Layout{Agent: "crush", Flat: true},
		unit:   time.Second, timeout: "timeout",
		hook: func(l hookLine) any {
			return struct {
				Name    string `json:"name"`
				Command string `json:"command"`
				Timeout int    `json:"timeout"`
			}{"approver", l.command, l.timeout}
		},
		advice: []settings.Finding{{Text: "the sub-agents of Crush run their calls without hooks, so approver does not see " +
			"them", Fix: "deny the tools Agent and agentic_fetch in the policy"}},
	},
}

// crushAlias marks a tool of an MCP server. Crush writes it as mcp_SERVER_TOOL, and each of both may
// have underscores.
func crushAlias(tool string, _ object) (string, error) {
	if name, ok := strings.CutPrefix(tool, "mcp_"); ok {
		return mcpName(unknownServer, name)
	}
	return tool, nil
}

// crushCheck refuses an argument that is not in small letters. Crush reads the arguments of its own
// tools in Go, where "Command" is "command" too, and the last of both counts.
func crushCheck(tool string, args json.RawMessage) error {
	if strings.HasPrefix(tool, "mcp_") {
		return nil // these go to the server as they are
	}
	var value any
	if err := json.Unmarshal(args, &value); err != nil {
		return err
	}
	return smallKeys(value)
}

func smallKeys(value any) error {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if err := smallKeys(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, item := range value {
			for _, r := range key {
				if r > '~' || r >= 'A' && r <= 'Z' {
					return fmt.Errorf("the argument %s is not in small letters, and Crush may take it for another one", quote(key))
				}
			}
			if err := smallKeys(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// crushPermit returns the document that lets a call run, or nil for Crush's own permission flow.
func crushPermit(_ Event, v approver.Verdict, args json.RawMessage) any {
	out := struct {
		Decision string          `json:"decision,omitempty"`
		Context  string          `json:"context,omitempty"`
		Input    json.RawMessage `json:"updated_input,omitempty"`
	}{Input: args}
	switch v.Decision {
	case approver.Allow, approver.Modify:
		out.Decision = "allow"
	case approver.Warn:
		out.Context = warning(v)
	default:
		return nil
	}
	return out
}
