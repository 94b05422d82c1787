package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"approver.example"
)

// Windsurf and Kiro read the exit code and standard error, and no document.
func TestAgentsWithoutDocuments(t *testing.T) {
	for _, a := range []*hooked{windsurf, kiro} {
		events := a.events
		for event := range strings.FieldsSeq(a.notices) {
			events = append(events, a.at(event))
		}
		for _, e := range events {
			for d := approver.Deny; d <= approver.Allow; d++ {
				v := approver.Verdict{Decision: d, Reason: "r"}
				if d == approver.Modify {
					v.Args = json.RawMessage(`{"command":"ls"}`)
				}
				got := a.Encode(Event{Kind: e.kind, Name: e.Name}, v)
				blocks := e.kind == Decide && d <= approver.Modify || e.kind == Ran && d <= approver.Modify
				if len(got.Stdout) != 0 || got.Exit() == 2 != blocks || blocks && len(got.Stderr) < 2 {
					t.Errorf("%s %s %v: %+v", a.name, e.Name, d, got)
				}
			}
		}
	}
}

// Windsurf does not say the folder of a call but for a command. It is then one without any project, so
// that a file is not taken for one of the project. What a relative name stands for cannot be known then:
// settings.json was judged as one in the root folder, and may be the agent's own.
func TestWindsurfFolder(t *testing.T) {
	for body, want := range map[string]string{
		`"agent_action_name":"pre_run_command","tool_info":{"command_line":"ls","cwd":"/p"}`: "/p",
		`"agent_action_name":"pre_run_command","tool_info":{"command_line":"ls","cwd":""}`:   "an error",
		`"agent_action_name":"pre_run_command","tool_info":{"command_line":"ls"}`:            "an error",
		`"agent_action_name":"pre_read_code","tool_info":{"file_path":"settings.json"}`:      "an error",
		`"agent_action_name":"pre_write_code","tool_info":{"file_path":"~/a","edits":[]}`:    "an error",
		`"agent_action_name":"post_write_code","tool_info":{"file_path":"a","edits":[]}`:     "/",
		`"agent_action_name":"post_run_command","tool_info":{"command_line":"ls"}`:           "/",
		`"agent_action_name":"pre_run_command","tool_info":{"command_line":"ls","cwd":"p"}`:  "an error",
		`"agent_action_name":"pre_run_command","tool_info":{"command_line":"ls","cwd":1}`:    "an error",
		`"agent_action_name":"pre_run_command","tool_info":{"cwd":"/p"}`:                     "an error",
		`"agent_action_name":"pre_read_code","tool_info":{"file_path":"/p/a"}`:               "/",
		`"agent_action_name":"pre_read_code","tool_info":{}`:                                 "an error",
		`"agent_action_name":"pre_write_code","tool_info":{"file_path":"/p/a","edits":[]}`:   "/",
		`"agent_action_name":"pre_mcp_tool_use","tool_info":{"mcp_server_name":"s","mcp_tool_name":"t",` +
			`"mcp_tool_arguments":{"path":"a"}}`: "/",
		`"agent_action_name":"pre_mcp_tool_use","tool_info":{"mcp_server_name":"s__t","mcp_tool_name":"t"}`:   "an error",
		`"agent_action_name":"pre_mcp_tool_use","tool_info":{"mcp_tool_name":"t"}`:                            "an error",
		`"agent_action_name":"pre_new_thing","tool_info":{}`:                                                  "an error",
		`"agent_action_name":"pre_read_code","tool_info":{"file_path":"/p/a"},"hook_event_name":"PreToolUse"`: "/",
	} {
		ev, err := windsurf.Decode([]byte(`{"trajectory_id":"t",` + body + "}"))
		if (err != nil) != (want == "an error") || err == nil && ev.Call.Dir != want {
			t.Errorf("%s: %q, %v", body, ev.Call.Dir, err)
		}
	}
	alone := `{"agent_action_name":"pre_read_code","tool_info":{"file_path":"/p/a"}}`
	if _, err := windsurf.Decode([]byte(alone)); err == nil {
		t.Error("a call without a session")
	}
}

// What Windsurf reports has the id of what it asked about.
func TestWindsurfReports(t *testing.T) {
	for _, tool := range []string{"run_command", "write_code", "read_code", "mcp_tool_use"} {
		id := func(when string) string {
			ev, err := windsurf.Decode(fmt.Appendf(nil, `{"agent_action_name":"%s_%s","trajectory_id":"t","execution_id":%q,`+
				`"tool_info":{"command_line":"ls","cwd":"/p","file_path":"/p/a","edits":[],"mcp_server_name":"s",`+
				`"mcp_tool_name":"t","mcp_tool_arguments":{"a":1}}}`, when, tool, when))
			if err != nil || !ev.Derived {
				t.Fatalf("%+v, %v", ev, err)
			}
			return ev.UseID
		}
		if id("pre") != id("post") {
			t.Errorf("%s: %s and %s", tool, id("pre"), id("post"))
		}
	}
}

// The story: Crush reads the arguments of its tools in Go, which takes "Command" for "command", and of
// both the last. The hook read ls, and Crush ran rm.
func TestCrushReadsArgumentsInAnyCase(t *testing.T) {
	for input, ok := range map[string]bool{
		`{"command":"ls"}`:                                 true,
		`{"command":"ls","Command":"rm -rf ~"}`:            false,
		`{"command":"ls","COMMAND":"rm -rf ~"}`:            false,
		`{"command":"ls","wor\u212aing_dir":"/"}`:          false, // the sign for kelvin is a k in any case
		`{"command":"ls","working_dir":"/","x":[{"A":1}]}`: false,
		`{"command":"ls","x":{"y":{"Z":1}}}`:               false,
		`{"command":"ls","run_in_background":true}`:        true,
		`{"command":"ls","x1":1}`:                          true,
	} {
		_, err := crush.Decode([]byte(`{"event":"PreToolUse","session_id":"s","cwd":"/p","tool_name":"bash","tool_input":` +
			input + "}"))
		if (err == nil) != ok {
			t.Errorf("%s: %v", input, err)
		}
	}
	if _, err := crush.Decode([]byte(`{"event":"PreToolUse","session_id":"s","cwd":"/p","tool_name":"mcp_a_b",` +
		`"tool_input":{"dueDate":1}}`)); err != nil {
		t.Errorf("a tool of a server: %v", err)
	}
}

// Crush merges changed arguments into those of the call, by paths.
func TestCrushChangesACall(t *testing.T) {
	ev, err := crush.Decode([]byte(`{"event":"PreToolUse","session_id":"s","cwd":"/p","tool_name":"bash",` +
		`"tool_input":{"command":"rm x","working_dir":"/etc"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"command":"ls","working_dir":"/p"}`: `{"decision":"allow","updated_input":{"command":"ls",` +
			`"working_dir":"/p"}}` + "\n",
		`{"command":"ls"}`: "",
		`{"command":"ls","working_dir":"/p","a.b":1}`: "",
		`{"command":"ls","working_dir":"/p","a|b":1}`: "",
	} {
		got := crush.Encode(ev, approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(args)})
		if want == "" && !got.Blocks || want != "" && string(got.Stdout) != want {
			t.Errorf("%s: %s %s", args, got.Stdout, got.Stderr)
		}
	}
}

// goose allows in words: an empty answer would do, but not beside a line of another program.
func TestGooseTools(t *testing.T) {
	for tool, want := range map[string]string{
		"developer__shell": "Bash", "shell": "Bash", "developer__tree": "developer__tree", "evil__shell": "mcp__evil__shell",
		"platform__manage_schedule": "platform__manage_schedule", "a__b__c": "mcp__a__b__c", "__x": "an error",
	} {
		ev, err := goose.Decode(fmt.Appendf(nil, `{"event":"PreToolUse","session_id":"s","working_dir":"/p",`+
			`"tool_call_id":"u","tool_name":%q,"tool_input":{"command":"ls"}}`, tool))
		if (err != nil) != (want == "an error") || err == nil && ev.Call.Tool != want {
			t.Errorf("%s: %q, %v", tool, ev.Call.Tool, err)
		}
	}
	if _, err := goose.Decode([]byte(`{"event":"SubagentStart","session_id":"s"}`)); err == nil {
		t.Error("an event that is not known")
	}
}

// Kiro says no session, so no approval is for one; the same call in two folders has two ids.
func TestKiroSessions(t *testing.T) {
	decode := func(more string) Event {
		t.Helper()
		ev, err := kiro.Decode([]byte(`{"hook_event_name":"preToolUse","tool_name":"shell",` +
			`"tool_input":{"command":"ls"},` + more + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return ev
	}
	p, q := decode(`"cwd":"/p"`), decode(`"cwd":"/q"`)
	if p.Call.Session != "" || p.UseID == q.UseID || !p.Derived {
		t.Errorf("%+v, %+v", p, q)
	}
	if s := decode(`"cwd":"/p","session_id":"s"`); s.Call.Session != "s" || s.UseID == p.UseID {
		t.Errorf("%+v", s)
	}
	for tool, want := range map[string]string{"@git/status": "mcp__git__status", "@git": "an error", "@a__b/c": "an error",
		"@/x": "an error", "fs_write": "fs_write"} {
		ev, err := kiro.Decode(fmt.Appendf(nil, `{"hook_event_name":"PreToolUse","cwd":"/p","tool_name":%q,`+
			`"tool_input":{}}`, tool))
		if (err != nil) != (want == "an error") || err == nil && ev.Call.Tool != want {
			t.Errorf("%s: %q, %v", tool, ev.Call.Tool, err)
		}
	}
	if !strings.HasPrefix(p.UseID, fmt.Sprintf("%x", p.Content[:16])) {
		t.Error(p.UseID)
	}
}

// What goose and Kiro report: whether a call failed, and what it returned, if they say it.
func TestDocumentedReports(t *testing.T) {
	inGoose := func(event, more string) string {
		return `{"event":"` + event + `","session_id":"s","working_dir":"/p","tool_call_id":"u",` +
			`"tool_name":"developer__tree"` + more + `}`
	}
	inKiro := func(more string) string {
		return `{"hook_event_name":"PostToolUse","cwd":"/p","tool_name":"fs_read","tool_input":{}` + more + `}`
	}
	for _, tt := range []struct {
		a             Adapter
		payload, want string
	}{
		{goose, inGoose("PostToolUse", `,"tool_input":null,"tool_output":"x"`), "x|"},
		{goose, inGoose("PostToolUse", `,"tool_output":7`), "7|"},
		{goose, inGoose("PostToolUse", ``), "|"},
		{goose, inGoose("PostToolUse", `,"tool_input":"x"`), "an error"},
		{goose, inGoose("PostToolUseFailure", `,"tool_output":"no"`), "no|no"},
		{goose, inGoose("PostToolUseFailure", ``), "|it failed"},
		{kiro, inKiro(``), "|"},
		{kiro, inKiro(`,"tool_response":{"success":true}`), `{"success":true}|`},
		{kiro, inKiro(`,"tool_response":{"success":null}`), `{"success":null}|`},
		{kiro, inKiro(`,"tool_response":{"success":false}`), `{"success":false}|{"success":false}`},
		{kiro, inKiro(`,"tool_response":"x"`), "x|"},
	} {
		ev, err := tt.a.Decode([]byte(tt.payload))
		got := ev.Output + "|" + ev.Failure
		if err != nil {
			got = "an error"
		}
		if got != tt.want {
			t.Errorf("%s: %s, %v", tt.payload, got, err)
		}
	}
}
