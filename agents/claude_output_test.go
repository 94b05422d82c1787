package agents_test

import (
	"fmt"
	"os"
	"testing"

	"approver.example/agents"
)

// What a tool returned, as text: what it says, without what is only about the call.
func TestClaudeOutput(t *testing.T) {
	for name, c := range map[string]struct{ response, want string }{
		"a shell":                {`{"stdout":"a\nb","stderr":"","interrupted":false}`, "a\nb"},
		"both streams":           {`{"stdout":"a","stderr":"no such file"}`, "a\nno such file"},
		"a list of contents":     {`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "a\nb\n"},
		"a list with an image":   {`[{"type":"image","data":"x"}]`, `[{"type":"image","data":"x"}]`},
		"a text":                 {`"done"`, "done"},
		"how long it took":       {`{"numFiles":2,"durationMs":17}`, `{"numFiles":2}`},
		"the order of keys":      {`{"b":1,"a":2}`, `{"a":2,"b":1}`},
		"streams that are none":  {`{"stdout":["a"],"stderr":1}`, `{"stderr":1,"stdout":["a"]}`},
		"nothing":                {`null`, ""},
		"a number":               {`7`, `7`},
		"a list of other things": {`[1,2]`, `[1,2]`},
	} {
		ev, err := agents.Claude{}.Decode(fmt.Appendf(nil,
			`{"session_id":"s","cwd":"/p","hook_event_name":"PostToolUse","tool_name":"X","tool_input":{},"tool_use_id":"u",`+
				`"tool_response":%s}`, c.response))
		if err != nil || ev.Output != c.want || ev.Failure != "" {
			t.Errorf("%s: %q, %v, want %q", name, ev.Output, err, c.want)
		}
	}
	ev, err := agents.Claude{}.Decode([]byte(`{"session_id":"s","cwd":"/p","hook_event_name":"PostToolUseFailure",` +
		`"tool_name":"X","tool_input":{},"tool_use_id":"u","error":"Exit code 1\nno"}`))
	if err != nil || ev.Output != "Exit code 1\nno" || ev.Failure != ev.Output {
		t.Errorf("a failure: %q, %v", ev.Output, err)
	}
	for file, want := range map[string]string{"shell-post.json": "hello-out\nhello-err", "mcp-post.json": "touched\n"} {
		b, err := os.ReadFile("testdata/claude/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if ev, err := (agents.Claude{}).Decode(b); err != nil || ev.Output != want {
			t.Errorf("%s: %q, %v, want %q", file, ev.Output, err, want)
		}
	}
}
