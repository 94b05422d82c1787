package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"approver.example"
)

// cursorSays returns a payload of Cursor.
func cursorSays(event, more string) []byte {
	return fmt.Appendf(nil, `{"conversation_id":"c","generation_id":"g","hook_event_name":%q,"workspace_roots":["/p"],%s}`,
		event, more)
}

// The story: Cursor sends two events about one call. People said yes to the first, and were asked about
// the second, which shows less of the call.
func TestCursorAsksOnce(t *testing.T) {
	event := func(name, more string) Event {
		t.Helper()
		ev, err := cursor.Decode(cursorSays(name, more))
		if err != nil {
			t.Fatal(err)
		}
		return ev
	}
	shell := func(command string) Event {
		return event("preToolUse", fmt.Sprintf(`"tool_use_id":"u","tool_name":"Shell","cwd":"/p",`+
			`"tool_input":{"command":%q,"description":"x","block_until_ms":5}`, command))
	}
	for name, c := range map[string]struct {
		a, b Event
		same bool
	}{
		"a command": {shell("ls"), event("beforeShellExecution", `"command":"ls","cwd":"/p","sandbox":true`), true},
		"another":   {shell("ls"), event("beforeShellExecution", `"command":"ls -a","cwd":"/p"`), false},
		"a read": {event("preToolUse", `"tool_use_id":"u","tool_name":"Read","tool_input":{"path":"/p/a","limit":5}`),
			event("beforeReadFile", `"file_path":"/p/a","content":"x"`), true},
		"a tool of a server": {event("preToolUse", `"tool_use_id":"u","tool_name":"MCP:t","tool_input":{"a":1,"b":2}`),
			event("beforeMCPExecution", `"tool_name":"t","tool_input":"{\"b\": 2, \"a\": 1}","command":"npx s"`), true},
		"other arguments": {event("preToolUse", `"tool_use_id":"u","tool_name":"MCP:t","tool_input":{"a":1}`),
			event("beforeMCPExecution", `"tool_name":"t","tool_input":"{\"a\": 2}"`), false},
		"a sub-agent": {event("preToolUse", `"tool_use_id":"u","tool_name":"Task","tool_input":{"task":"t","x":1}`),
			event("subagentStart", `"task":"t","subagent_type":"s"`), true},
		"another sub-agent": {event("preToolUse", `"tool_use_id":"u","tool_name":"Task","tool_input":{"task":"t"}`),
			event("subagentStart", `"task":"u"`), false},
		"a command that reads": {shell("/p/a"), event("beforeReadFile", `"file_path":"/p/a"`), false},
	} {
		if (c.a.Asks() == c.b.Asks()) != c.same {
			t.Errorf("%s: asked once is %v", name, !c.same)
		}
		if c.b.Kind != Prompted || c.b.UseID != "" || c.a.Call.Dir != "/p" || c.b.Call.Dir != "/p" {
			t.Errorf("%s: %+v", name, c.b)
		}
	}
	other := shell("ls")
	later := strings.Replace(string(cursorSays("beforeShellExecution", `"command":"ls"`)), `"g"`, `"h"`, 1)
	ev, err := cursor.Decode([]byte(later))
	if err != nil || ev.Asks() == other.Asks() {
		t.Errorf("what was approved in another answer of the agent: %v", err)
	}
	// Without a name of the answer, nobody can say that both are about one call.
	for _, answer := range []string{`""`, `5`, `"` + strings.Repeat("g", maxID+1) + `"`} {
		pair := [2]Event{}
		for i, payload := range [][]byte{cursorSays("preToolUse", `"tool_use_id":"u","tool_name":"Shell","tool_input":`+
			`{"command":"ls","block_until_ms":5}`), cursorSays("beforeShellExecution", `"command":"ls"`)} {
			if pair[i], err = cursor.Decode([]byte(strings.Replace(string(payload), `"g"`, answer, 1))); err != nil {
				t.Fatal(err)
			}
		}
		if pair[0].Asks() == pair[1].Asks() {
			t.Errorf("asked once in the answer %.20s", answer)
		}
	}
}

// A hook of Cursor with failClosed blocks on an empty answer, and what is beside a document is shown.
// So each answer is one document with exit code 0.
func TestCursorAlwaysSaysSomething(t *testing.T) {
	for event := range strings.FieldsSeq(cursorEvents) {
		e := cursor.at(event)
		for d := approver.Deny; d <= approver.Allow; d++ {
			a := cursor.Encode(Event{Kind: e.kind, Name: e.Name}, approver.Verdict{Decision: d, Reason: "r"})
			if !a.ExitZero || !json.Valid(a.Stdout) || len(a.Stdout) < 3 {
				t.Errorf("%s %v: %+v", e.Name, d, a)
			}
			allows := strings.Contains(string(a.Stdout), `"allow"`)
			if e.kind == Decide || e.kind == Prompted {
				if allows != (d > approver.Modify) {
					t.Errorf("%s %v: %s", e.Name, d, a.Stdout)
				}
			}
		}
	}
	var names []string
	for _, e := range cursor.events {
		names = append(names, e.Name)
	}
	if !slices.Equal(names, strings.Fields(strings.TrimSuffix(cursorEvents, cursorNotices))) {
		t.Error("cursorEvents are not the events")
	}
}

// What Cursor runs with other arguments has all arguments of the call: whether it takes away one that
// is missing is not known.
func TestCursorChangesACall(t *testing.T) {
	payload := cursorSays("preToolUse",
		`"tool_use_id":"u","tool_name":"Shell","tool_input":{"command":"rm x","required_permissions":["all"]}`)
	ev, err := cursor.Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"command":"ls","required_permissions":["all"]}`: `{"permission":"allow","updated_input":` +
			`{"command":"ls","required_permissions":["all"]}}` + "\n",
		`{"command":"ls"}`:                          "",
		`{"command":"ls","required.permissions":1}`: "",
	} {
		got := cursor.Encode(ev, approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(args)})
		if want == "" && (!got.Blocks || !strings.HasPrefix(string(got.Stdout), denyFlat)) ||
			want != "" && string(got.Stdout) != want {
			t.Errorf("%s: %+v", args, got)
		}
	}
	granular, err := cursor.Decode(cursorSays("beforeShellExecution", `"command":"rm x"`))
	if err != nil {
		t.Fatal(err)
	}
	got := cursor.Encode(granular, approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(`{"command":"ls"}`)})
	if !got.Blocks {
		t.Errorf("beforeShellExecution: %+v", got)
	}
	shell := cursorSays("beforeShellExecution", `"command":"rm x"`)
	if _, err := cursor.Rewrite(shell, []byte(`{"command":"ls"}`)); err == nil {
		t.Error("a call of beforeShellExecution was changed")
	}
}

func TestCursorFolder(t *testing.T) {
	for more, want := range map[string]string{
		`"cwd":"/q"`:                             "/q",
		`"cwd":""`:                               "/p",
		`"x":1`:                                  "/p",
		`"cwd":"q"`:                              "an error",
		`"cwd":"/q\u0000"`:                       "an error",
		`"cwd":7`:                                "an error",
		`"workspace_roots":[]`:                   "/",
		`"workspace_roots":["q"]`:                "an error",
		`"cwd":"/q","workspace_roots":["/r"]`:    "/q",
		`"workspace_roots":["/r","/s"]`:          "/r",
		`"cwd":"/q","working_directory":"/else"`: "/q",
	} {
		payload := strings.Replace(string(cursorSays("preToolUse", `"tool_use_id":"u","tool_name":"Grep",`+
			`"tool_input":{"pattern":"x"},`+more)), `"workspace_roots":["/p"],`, "", strings.Count(more, "roots"))
		ev, err := cursor.Decode([]byte(payload))
		if (err != nil) != (want == "an error") || err == nil && ev.Call.Dir != want {
			t.Errorf("%s: %q, %v", more, ev.Call.Dir, err)
		}
	}
	for tool, want := range map[string]string{
		`"Shell","tool_input":{"command":"ls"}`: "an error", `"Read","tool_input":{"path":"a"}`: "an error",
		`"Shell","tool_input":{"command":"ls","cwd":"sub"}`: "an error", `"Read","tool_input":{"path":"/p/a"}`: "/",
		`"Shell","tool_input":{"command":"ls","cwd":"/w"}`: "/w",
	} {
		payload := strings.Replace(string(cursorSays("preToolUse", `"tool_use_id":"u","tool_name":`+tool)),
			`"workspace_roots":["/p"],`, "", 1)
		ev, err := cursor.Decode([]byte(payload))
		if (err != nil) != (want == "an error") || err == nil && ev.Call.Dir != want {
			t.Errorf("no folder, %s: %q, %v", tool, ev.Call.Dir, err)
		}
	}
	for input, want := range map[string]string{
		`{"command":"ls","working_directory":"/w"}`:            "/w",
		`{"command":"ls","cwd":"sub"}`:                         "/p/sub",
		`{"command":"ls","cwd":"/w","working_directory":"/v"}`: "an error",
	} {
		ev, err := cursor.Decode(cursorSays("preToolUse", `"tool_use_id":"u","tool_name":"Shell","tool_input":`+input))
		if (err != nil) != (want == "an error") || err == nil && ev.Call.Dir != want {
			t.Errorf("%s: %q, %v", input, ev.Call.Dir, err)
		}
	}
}

// The arguments of an MCP tool are a text in one event, and must be read as strictly as a payload.
func TestCursorServerArguments(t *testing.T) {
	for text, ok := range map[string]bool{
		`"{\"a\":1}"`: true, `{"a":1}`: true, `""`: false, `"[1]"`: false, `"{\"a\":1,\"a\":2}"`: false,
		`"{\"a\":1} x"`: false, `5`: false, `null`: false, `"{"`: false, `[]`: false,
	} {
		ev, err := cursor.Decode(cursorSays("beforeMCPExecution", `"tool_name":"t","tool_input":`+text))
		if (err == nil) != ok || ok && string(ev.Call.Args) != `{"a":1}` {
			t.Errorf("%s: %s, %v", text, ev.Call.Args, err)
		}
	}
}

// The story: a tool of any server may be called github__delete_repo, and a policy lets the tools of
// the server github go. Cursor does not say whose tool it is.
func TestToolsOfAnUnknownServer(t *testing.T) {
	for name, payload := range map[string][]byte{
		"cursor": cursorSays("preToolUse", `"tool_use_id":"u","tool_name":"MCP:github__delete","tool_input":{}`),
		"crush": []byte(`{"event":"PreToolUse","session_id":"s","cwd":"/p","tool_name":"mcp_github__delete",` +
			`"tool_input":{}}`),
		"gemini": geminiCallOf("mcp_github__delete", `{}`, ""),
	} {
		a, _ := For(name)
		ev, err := a.Decode(payload)
		if err != nil || ev.Call.Tool != "mcp__unknown__github__delete" {
			t.Errorf("%s: %q, %v", name, ev.Call.Tool, err)
		}
	}
	for _, server := range []string{"a__b", ""} {
		if name, err := mcpName(server, "t"); err == nil {
			t.Errorf("the server %q and a tool are %s", server, name)
		}
	}
}

// A file is written as a whole or changed, and both have one name. What has neither is refused.
func TestCursorWrites(t *testing.T) {
	for input, want := range map[string]string{
		`{"path":"/a","contents":"x"}`:                                "Write",
		`{"path":"/a","content":"x"}`:                                 "Write",
		`{"path":"/a","content":"x","old_string":"","new_string":""}`: "Write",
		`{"path":"/a","old_string":"x","new_string":"y"}`:             "Edit",
		`{"path":"/a","edits":[]}`:                                    "MultiEdit",
		`{"path":"/a","contents":"x","edits":[]}`:                     "Write",
		`{"path":"/a"}`:                                               "an error",
		`{"path":"/a","old_string":"x"}`:                              "an error",
		`{"path":"/a","content":"x","contents":"y"}`:                  "an error",
	} {
		ev, err := cursor.Decode(cursorSays("preToolUse", `"tool_use_id":"u","tool_name":"Write","tool_input":`+input))
		if (err != nil) != (want == "an error") || err == nil && ev.Call.Tool != want {
			t.Errorf("%s: %q, %v", input, ev.Call.Tool, err)
		}
	}
}

func TestCursorOutput(t *testing.T) {
	for more, want := range map[string][2]string{
		`"tool_output":"{\"output\":\"hi\\n\",\"exitCode\":0}"`: {"hi\n", ""},
		`"tool_output":"plain"`:                                 {"plain", ""},
		`"x":1`:                                                 {"", ""},
	} {
		ev, err := cursor.Decode(cursorSays("postToolUse",
			`"tool_use_id":"u","tool_name":"Shell","tool_input":{"command":"ls"},`+more))
		if err != nil || ev.Kind != Ran || ev.Output != want[0] || ev.Failure != want[1] {
			t.Errorf("%s: %q %q, %v", more, ev.Output, ev.Failure, err)
		}
	}
	ev, err := cursor.Decode(cursorSays("postToolUseFailure",
		`"tool_use_id":"u","tool_name":"Shell","tool_input":{"command":"ls"},"failure_type":"timeout"`))
	if err != nil || ev.Failure == "" {
		t.Errorf("a failure without a text: %+v, %v", ev, err)
	}
	if _, err := cursor.Decode(cursorSays("postToolUseFailure",
		`"tool_use_id":"u","tool_name":"Shell","tool_input":{"command":"ls"},"error_message":["x"]`)); err == nil {
		t.Error("a failure that is no text")
	}
}

// Only the result of an MCP tool can be replaced, and only texts. What was found in another one is told
// beside it; it was lost.
func TestCursorResult(t *testing.T) {
	const shell, server = `"tool_name":"Shell","tool_input":{"command":"ls"}`, `"tool_name":"MCP:t","tool_input":{}`
	const list = `{"content":[{"type":"text","text":"x"}]}`
	y := Result{Response: json.RawMessage(`"y"`)}
	note := Result{Context: "c"}
	const told = `{"additional_context":"c"}`
	for name, c := range map[string]struct {
		event, more, output string
		result              Result
		replaces            bool
		want                string
	}{
		"texts": {"postToolUse", server, list, Result{Response: json.RawMessage(`{"content":[{"text":"y"}]}`), Context: "c"},
			true, `{"updated_mcp_tool_output":{"content":[{"text":"y"}]},"additional_context":"c"}`},
		"a text":           {"postToolUse", server, "x", y, true, `{"updated_mcp_tool_output":"y"}`},
		"another form":     {"postToolUse", server, list, y, true, "an error"},
		"no JSON":          {"postToolUse", server, list, Result{Response: json.RawMessage(`{"`)}, true, "an error"},
		"nothing found":    {"postToolUse", server, list, Result{}, true, `{}`},
		"a picture":        {"postToolUse", server, `{"content":[{"type":"image","data":"x"}]}`, y, false, "an error"},
		"no content":       {"postToolUse", server, `{"a":1}`, note, false, told},
		"a key twice":      {"postToolUse", server, `{"content":"a","content":"b"}`, note, false, told},
		"a shell":          {"postToolUse", shell, `{"output":"x","exitCode":0}`, note, false, told},
		"a shell replaced": {"postToolUse", shell, `{"output":"x","exitCode":0}`, y, false, "an error"},
		"a failure":        {"postToolUseFailure", server, "x", note, false, told},
		"not run":          {"preToolUse", server, "x", note, false, "an error"},
	} {
		ev, err := cursor.Decode(cursorSays(c.event,
			fmt.Sprintf(`"tool_use_id":"u","tool_output":%q,"error_message":%q,%s`, c.output, c.output, c.more)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := cursor.Reading(ev); got.Replaces != c.replaces || got.Reads != (ev.Kind == Ran) {
			t.Errorf("%s: it is read as %+v", name, got)
		}
		a := cursor.EncodeResult(ev, c.result)
		got := strings.TrimSpace(string(a.Stdout))
		refused := a.Blocks && !strings.Contains(got, `"updated_mcp`)
		if !a.ExitZero || (c.want == "an error") != refused || !refused && got != c.want {
			t.Errorf("%s: %+v %s", name, a, got)
		}
	}
	own, err := cursor.Decode(cursorSays("postToolUse",
		`"tool_use_id":"u","tool_name":"Write","tool_input":{"path":"/p/a","contents":"x"},"tool_output":"x"`))
	if err != nil || cursor.Reading(own).Reads {
		t.Errorf("what the agent wrote is looked at: %v", err)
	}
}
