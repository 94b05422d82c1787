package approver

import (
	"encoding/json"
	"testing"
)

// The story: an agent calls a tool whose arguments say more than its command.
// The server of an MCP tool runs what it likes of them: a "command" that is not
// the one that was read, a "description" that is a script. People who see "ls"
// approve "ls". An argument may be missing from the card only where the same
// text stands elsewhere on it.
func TestTextLeavesNoArgumentOut(t *testing.T) {
	for name, test := range map[string]struct {
		tool, command, claimed, args, want string
	}{
		"a plain shell call":                {"Bash", "ls", "list", `{"command":"ls","description":"list"}`, "ls"},
		"no arguments at all":               {"Bash", "ls", "", ``, "ls"},
		"empty arguments":                   {"mcp__a__b", "ls", "", `{}`, "ls"},
		"options of a shell":                {"Bash", "a && b", "", `{"timeout":5,"command":"a && b","env":"<&>"}`, "a && b\n\nBash options: {\"env\":\"<&>\",\"timeout\":5}"},
		"a command in other spelling":       {"Bash", "rm", "", `{"command":"\u0072m"}`, "rm"},
		"a command that is another":         {"mcp__a__b", "ls", "", `{"cmd":"ls","command":"rm"}`, "ls\n\nmcp__a__b options: {\"cmd\":\"ls\",\"command\":\"rm\"}"},
		"a command that is an object":       {"mcp__a__b", "ls", "", `{"cmd":"ls","command":{"run":"rm"}}`, "ls\n\nmcp__a__b options: {\"cmd\":\"ls\",\"command\":{\"run\":\"rm\"}}"},
		"a command that is a mixed list":    {"mcp__a__b", "rm\n1", "", `{"command":["rm",1]}`, "rm\n1\n\nmcp__a__b options: {\"command\":[\"rm\",1]}"},
		"a null that reads as an empty":     {"Bash", "ls", "", `{"command":"ls","description":null}`, "ls\n\nBash options: {\"description\":null}"},
		"a server's description":            {"mcp__a__b", "ls", "rm", `{"command":"ls","description":"rm"}`, "ls\n\nmcp__a__b options: {\"description\":\"rm\"}"},
		"a description that is not shown":   {"Bash", "ls", "", `{"command":"ls","description":"rm"}`, "ls\n\nBash options: {\"description\":\"rm\"}"},
		"arguments that are a list":         {"mcp__a__b", "ls", "", `["rm"]`, "ls\n\nmcp__a__b options: [\"rm\"]"},
		"arguments that are no JSON":        {"mcp__a__b", "ls", "", `{rm`, "ls\n\nmcp__a__b options: {rm"},
		"no command":                        {"mcp__a__b", "", "", `{"x":"<"}`, "mcp__a__b {\n  \"x\": \"<\"\n}"},
		"no command, arguments no JSON":     {"mcp__a__b", "", "", `{rm`, "mcp__a__b {rm"},
		"nothing but the tool":              {"Stop", "", "", ``, "Stop"},
		"no command, but a description":     {"Task", "", "look", `{"description":"look"}`, "Task {\n  \"description\": \"look\"\n}"},
		"another shell of the same dialect": {"Monitor", "ls", "list", `{"command":"ls","description":"list"}`, "ls"},
	} {
		c := ToolCall{Agent: "claude", Tool: test.tool, Command: test.command, Claimed: test.claimed, Args: json.RawMessage(test.args)}
		if got := c.Text(); got != test.want {
			t.Errorf("%s: shown as\n%q, want\n%q", name, got, test.want)
		}
	}
	other := ToolCall{Agent: "other", Tool: "Bash", Command: "ls", Claimed: "rm", Args: json.RawMessage(`{"command":"ls","description":"rm"}`)}
	if got, want := other.Text(), "ls\n\nBash options: {\"description\":\"rm\"}"; got != want {
		t.Errorf("the same name in another dialect is shown as %q, want %q", got, want)
	}
}
