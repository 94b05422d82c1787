package agents

import (
	"encoding/json"
	"os"
	"strings"
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

func TestClaudeEncodeResult(t *testing.T) {
	ran := recorded(t, "shell-post.json")
	changed := json.RawMessage(`{"stdout":"<x>","stderr":""}`)
	failed := Event{Kind: Ran, Name: "PostToolUseFailure", Failure: "no"}
	for name, c := range map[string]struct {
		ev   Event
		r    Result
		want string
		exit int
	}{
		"nothing": {ran, Result{}, "", 0},
		"a result": {ran, Result{Response: changed},
			`{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"<x>","stderr":""}}}` + "\n", 0},
		"all of it": {ran, Result{changed, "a\nb", "c\nd"},
			`{"systemMessage":"approver: c d","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"a ` +
				`b","updatedToolOutput":{"stdout":"<x>","stderr":""}}}` + "\n", 0},
		"only a word": {failed, Result{Context: "a"},
			`{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"a"}}` + "\n", 0},
		"an error cannot be replaced": {failed, Result{Response: changed},
			`"hookEventName":"PostToolUseFailure","additionalContext":"what this call returned cannot be replaced`, 2},
		"an error cannot be one digit": {failed, Result{Response: json.RawMessage(`7`)}, "cannot be replaced", 2},
		"only a notice": {ran, Result{Notice: "a"},
			`{"systemMessage":"approver: a","hookSpecificOutput":{"hookEventName":"PostToolUse"}}` + "\n", 0},
		"a digit": {ran, Result{Response: json.RawMessage(`7`)}, "has another form", 2},
		"another form": {ran, Result{Response: json.RawMessage(`"text"`)},
			`{"decision":"block","reason":"what was to replace the result has another form`, 2},
		"no JSON": {ran, Result{Response: json.RawMessage(`{"a":`)}, `{"decision":"block"`, 2},
		"nothing ran": {recorded(t, "shell-pre.json"), Result{Context: "a"}, `"permissionDecision":"deny"`,
			2},
		"the zero event": {Event{}, Result{}, `"permissionDecision":"deny"`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			got := Claude{}.EncodeResult(c.ev, c.r)
			if got.Exit() != c.exit || !strings.Contains(string(got.Stdout), c.want) ||
				c.exit == 0 && string(got.Stdout) != c.want {
				t.Errorf("exit %d\n%s", got.Exit(), got.Stdout)
			}
			if (len(got.Stderr) > 0) != (c.exit == 2) {
				t.Errorf("exit %d with stderr %q", got.Exit(), got.Stderr)
			}
		})
	}
}
