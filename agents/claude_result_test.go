package agents

import (
	"encoding/json"
	"os"
	"testing"

	"approver.example"
)

// recorded is an event of Claude Code as it was sent.
func recorded(t *testing.T, name string) Event {
	t.Helper()
	payload, err := os.ReadFile("testdata/claude/" + name)
	if err != nil {
		t.Fatal(err)
	}
	ev, err := Claude{}.Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func TestClaudeReading(t *testing.T) {
	for name, want := range map[string]Reading{
		"shell-post.json": {Reads: true, Replaces: true},
		"mcp-post.json":   {Reads: true, Replaces: true, From: "/home/dev/project/marker"},
		"write-post.json": {},
		"shell-pre.json":  {},
	} {
		if got := (Claude{}).Reading(recorded(t, name)); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	failed := Event{Kind: Ran, Name: "PostToolUseFailure", Failure: "no", Call: approver.ToolCall{Tool: "Write"}}
	if got := (Claude{}).Reading(failed); got != (Reading{Reads: true}) {
		t.Errorf("a failure: %+v", got)
	}
	failed.Response = json.RawMessage(`{}`)
	if got := (Claude{}).Reading(failed); got.Replaces {
		t.Errorf("a failure with a result: %+v", got)
	}
	bare := Event{Kind: Ran, Name: "PostToolUse", Call: approver.ToolCall{Tool: "Bash", Command: "cat /a",
		Paths: []string{"/a"}}}
	if got := (Claude{}).Reading(bare); got != (Reading{Reads: true}) {
		t.Errorf("no result, of a command: %+v", got)
	}
	page := Event{Kind: Ran, Response: json.RawMessage(`{}`),
		Call: approver.ToolCall{Tool: "WebFetch", URLs: []string{"https://ada:secret@example.org:8443/x?y=z"}}}
	if got := (Claude{}).Reading(page); got.From != "example.org:8443" || got.Lines {
		t.Errorf("a page: %+v", got)
	}
	page.Call.Tool = "Read"
	if got := (Claude{}).Reading(page); !got.Lines {
		t.Errorf("a file: %+v", got)
	}
}
