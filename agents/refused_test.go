package agents

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"approver.example"
)

// form returns the table of an agent for a payload.
func form(a Adapter, o object) *hooked {
	if f, ok := a.(interface{ formed(object) *hooked }); ok {
		return f.formed(o)
	}
	return claude
}

// swapped returns a payload with another value at a key; an empty value takes the key out.
func swapped(t *testing.T, o object, key, value string) []byte {
	t.Helper()
	other := maps.Clone(o)
	if other[key] = json.RawMessage(value); value == "" {
		delete(other, key)
	}
	text, err := json.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The story: Claude Code's payloads were held to ids that are short texts, and those of the other agents
// only by chance. A call without an id is matched to no report, and a session of 3 MB stands in the log.
// What says who makes a call, in which mode and where, is a text of a length that agents keep, or the
// call is refused.
func TestEveryAgentSaysShortlyWhoItIs(t *testing.T) {
	long := `"/` + strings.Repeat("x", maxPath) + `"`
	places := map[string]string{"cursor": "conversation_id", "windsurf": "trajectory_id"}
	for _, a := range adapters {
		eachRecorded(t, a.Name(), func(t *testing.T, _ string, payload []byte) {
			ev, err := a.Decode(payload)
			o, bad := parseObject(payload)
			h := form(a, o)
			if err != nil || bad != nil || ev.Kind != Decide && ev.Kind != Prompted && ev.Kind != Ran {
				return
			}
			needs := []string{h.keys.dir, h.keys.session, places[a.Name()]}
			may := []string{h.keys.mode, h.keys.subagent}
			in, whole := o, func(text []byte) []byte { return text }
			if h.inner {
				if in, err = parseObject(o[ev.Name]); err != nil {
					t.Fatal(err)
				}
				whole = func(text []byte) []byte { return swapped(t, o, ev.Name, string(text)) }
			}
			ids := []string{h.keys.use}
			if h.at(ev.Name).call != nil {
				ids = nil // it has none
			}
			for _, key := range append(append(ids, needs...), may...) {
				from, outer := o, true
				if len(ids) > 0 && key == h.keys.use {
					from, outer = in, !h.inner
				}
				if _, there := from[key]; !there {
					continue
				}
				for _, value := range []string{"5", "null", `["x"]`, `"\ud800"`, long, `""`, "", `"p"`, `"/p\u0000"`} {
					if strings.Contains(value, "p") && key != h.keys.dir { // it is an id
						continue
					}
					if (value == "" || value == `""`) && (key == h.keys.mode || key == h.keys.subagent || ev.Kind == Prompted) ||
						value == "" && a.Name() == "copilot" && key == h.keys.use { // the form without it is another
						continue
					}
					text := swapped(t, from, key, value)
					if !outer {
						text = whole(text)
					}
					if got, err := a.Decode(text); err == nil {
						t.Errorf("%.20s is taken for %s: a call of %q", value, key, got.Call.Session)
					}
				}
			}
		})
	}
}

// The story: a rule of the policy wrote null for the arguments of a call. For a tool whose names need no
// change, that went to the agent as it was. What is not one object with one meaning stops the call.
func TestChangedArgumentsOfEveryAgentAreAnObject(t *testing.T) {
	for _, a := range adapters {
		eachRecorded(t, a.Name(), func(t *testing.T, _ string, payload []byte) {
			ev, err := a.Decode(payload)
			if err != nil || ev.Kind != Decide && ev.Kind != Prompted && ev.Kind != Ran {
				return
			}
			for _, args := range []string{"", "null", "[]", `"x"`, "5", `{"command":"ls"`, `{"command":"ls"}{}`,
				`{"command":"ls","command":"rm"}`, `{"command":"\ud800"}`} {
				got := a.Encode(ev, approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(args)})
				if !got.Blocks {
					t.Errorf("the arguments %s: %s", args, got.Stdout)
				}
			}
			// An event that was not read from a payload has no arguments that could be changed.
			ev.Call.Raw = nil
			got := a.Encode(ev, approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(`{"command":"ls"}`)})
			if !got.Blocks && a.Name() != "claude" { // its names are the known ones
				t.Errorf("no payload: %s", got.Stdout)
			}
		})
	}
}

// A call is changed only where the agent runs the changed one, and never to what was not understood
// before.
func TestRewriting(t *testing.T) {
	const (
		inCodex   = `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","turn_id":"t","tool_use_id":"u",`
		inCopilot = `{"sessionId":"s","timestamp":1,"cwd":"/p",`
		inCursor  = `{"conversation_id":"s","cwd":"/p",`
		inGoose   = `{"event":"PreToolUse","session_id":"s","working_dir":"/p","tool_call_id":"u",`
		inPi      = `{"plugin":"pi","event":"tool_call","session":"s","call":"u","directory":"/p",`
	)
	for _, tt := range []struct {
		a             Adapter
		payload, want string
	}{
		{codex, inCodex + `"tool_name":"Bash","tool_input":{"command":"ls"}}`, ""},
		{copilot, inCopilot + `"toolName":"bash","toolArgs":{"command":"ls"}}`, ""},
		{copilot, inCopilot + `"toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`, "are a text"},
		{copilot, inCopilot + `"hookName":"permissionRequest","toolName":"bash","toolInput":{"command":"ls"}}`,
			"cannot be changed at permissionRequest"},
		{cursor, inCursor + `"hook_event_name":"preToolUse","tool_use_id":"u","tool_name":"Shell",` +
			`"tool_input":{"command":"ls"}}`, ""},
		{cursor, inCursor + `"hook_event_name":"beforeShellExecution","command":"ls"}`, "cannot be changed at before"},
		{goose, inGoose + `"tool_name":"developer__shell","tool_input":{"command":"ls"}}`, "cannot be changed"},
		{pi, inPi + `"tool":"bash","input":{"command":"ls"}}`, ""},
		{pi, inPi + `"tool":"bash","input":"ls"}`, "not an object"},
		{pi, inPi + `"tool":"bash","input":{"command":"ls"},"input":{}}`, "occurs twice"},
		{codex, inCodex + `"tool_name":"Bash","tool_input":["ls"]}`, "not an object"},
		{codex, inCodex + `"tool_name":"Bash","tool_input":{"command":5}}`, "not a string"},
	} {
		ev, err := tt.a.Rewrite([]byte(tt.payload), json.RawMessage(`{"command":"ls -l"}`))
		switch {
		case tt.want == "" && (err != nil || ev.Call.Command != "ls -l"):
			t.Errorf("%s: %q, %v", tt.payload, ev.Call.Command, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v", tt.payload, err)
		}
		read, err := tt.a.Decode([]byte(tt.payload))
		if err != nil || !strings.Contains(tt.want, "changed at") {
			continue
		}
		got := tt.a.Encode(read, approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(`{"command":"ls -l"}`)})
		if !got.Blocks {
			t.Errorf("%s: %s", tt.payload, got.Stdout)
		}
	}
}

// The story: an agent's shell took the folder of a command from an argument. A folder that was no text
// did not count, and the command was judged in the project. So a folder that is not understood exactly
// stops the call.
func TestFoldersOfCommands(t *testing.T) {
	for dir, want := range map[string]string{
		`"working_dir":"sub"`:          "/p/sub",
		`"working_dir":"/etc"`:         "/etc",
		`"working_dir":""`:             "/p",
		`"working_dir":"../q"`:         "/q",
		`"working_dir":5`:              "not a string",
		`"working_dir":null`:           "not a string",
		`"working_dir":["/etc"]`:       "not a string",
		`"working_dir":"/etc\u0000/p"`: "NUL",
		`"working_dir":"/etc "`:        "white space",
		`"working_dir":"/` + strings.Repeat("x", maxPath) + `"`:    "more than the limit",
		`"working_dir":"/` + strings.Repeat("x", maxPath-1) + `"`:  "/" + strings.Repeat("x", maxPath-1),
		`"working_dir":"/p","directory":"/etc"`:                    "/p", // not one of its names
		`"working_dir":"/p\udc00"`:                                 "surrogate",
		`"command":"ls","working_dir":"/etc","working_dir":"/p"`:   "twice",
		`"description":"a\u0000b","working_dir":"/p/no\u0020rmal"`: "/p/no rmal",
	} {
		if !strings.Contains(dir, `"command"`) {
			dir = `"command":"ls",` + dir
		}
		ev, err := crush.Decode([]byte(`{"event":"PreToolUse","session_id":"s","cwd":"/p","tool_name":"bash",` +
			`"tool_input":{` + dir + "}}"))
		if strings.HasPrefix(want, "/") && (err != nil || ev.Call.Dir != want) {
			t.Errorf("%.60s: %.60q, %v", dir, ev.Call.Dir, err)
		}
		if !strings.HasPrefix(want, "/") && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: %.60q, %v", dir, ev.Call.Dir, err)
		}
	}
	for _, folders := range []string{`"dir_path":"/p","directory":"/etc"`, `"dir_path":"","directory":"/etc"`} {
		payload := geminiCallOf("run_shell_command", `{"command":"ls",`+folders+`}`, "")
		if ev, err := gemini.Decode(payload); err == nil || !strings.Contains(err.Error(), "both say in which folder") {
			t.Errorf("%s: %q, %v", folders, ev.Call.Dir, err)
		}
	}
}

// A plugin of approver's says whose it is, and nothing else is believed of its payload. A name that no
// agent has is refused.
func TestThePluginSaysWhoseItIs(t *testing.T) {
	const call = `"event":"tool_call","session":"s","call":"u","directory":"/p","tool":"bash","input":{"command":"ls"}}`
	for _, tt := range []struct{ flag, payload, agent string }{
		{"pi", `{"plugin":"pi",` + call, "pi"},
		{"claude", `{"plugin":"pi",` + call, "pi"},
		{"opencode", `{"plugin":"pi",` + call, "pi"},
		{"claude", `{"plugin":"pi","hook_event_name":"PreToolUse","tool_use_id":"x",` + call, "pi"},
		{"pi", `{"plugin":"nobody",` + call, ""},
		{"pi", `{"plugin":"opencode",` + call, ""}, // it knows no such event
		{"pi", `{"plugin":5,"agent_action_name":"pre_read_code","trajectory_id":"t","tool_info":{"file_path":"/x"}}`,
			"windsurf"},
		{"windsurf", `{"plugin":null,"hook_event_name":"PreToolUse","turn_id":"t","session_id":"s","cwd":"/p",` +
			`"tool_use_id":"u","tool_name":"Bash","tool_input":{"command":"ls"}}`, "codex"},
	} {
		by, ev, err := Read(tt.flag, []byte(tt.payload))
		switch {
		case tt.agent == "" && (err == nil || by == nil || ev.Kind != Unknown):
			t.Errorf("--agent %s %s: %+v, %v", tt.flag, tt.payload, ev, err)
		case tt.agent != "" && (err != nil || by.Name() != tt.agent || ev.Call.Agent != tt.agent || ev.Kind != Decide):
			t.Errorf("--agent %s %s: %+v, %v", tt.flag, tt.payload, ev, err)
		}
	}
}

// What one parser reads in another way than the next stops a call: half of a character in each form, and
// a key that is repeated behind an escaped quote.
func TestPayloadsWithTwoMeanings(t *testing.T) {
	for input, ok := range map[string]bool{
		`"\ud83d\ude00"`:                  true,
		`"\uD83D\uDE00 x"`:                true,
		`"\ue000 \uffff \u0041"`:          true,
		`"\\ud800"`:                       true,
		`"\ud83d"`:                        false,
		`"\ud83d \ude00"`:                 false,
		`"\ud83d\nde00"`:                  false,
		`"\ud83d\n\ude00"`:                false,
		`"\ud83d\\ude00"`:                 false,
		`"\ud83d\u0041"`:                  false,
		`"\ud83d\udbff"`:                  false,
		`"\ud83d\ue000"`:                  false,
		`"\ud83dxude00"`:                  false,
		`"\ude00"`:                        false,
		`"x","a\"":1,"b":2`:               true,
		`"x","a\"":1,"a\"":2`:             false,
		`"x","a\\":1,"a\\":2`:             false,
		`"x","b":["{\"c\":1","c"],"c":1`:  true,
		`"x","b":{"a":1,"c":[1,2],"a":2}`: false,
		`"x","b":` + strings.Repeat("[", maxDepth-2) + strings.Repeat("]", maxDepth-2): true,
		`"x","b":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1): false,
	} {
		if ev, err := (Claude{}).Decode(pre("mcp__a__b", `{"text":`+input+`}`)); (err == nil) != ok {
			t.Errorf("%.60s: %q, %v", input, ev.Call.Args, err)
		}
	}
	full := pre("mcp__a__b", `{"text":""}`)
	for n, ok := range map[int]bool{MaxPayload: true, MaxPayload + 1: false} {
		payload := pre("mcp__a__b", `{"text":"`+strings.Repeat("x", n-len(full))+`"}`)
		if _, err := (Claude{}).Decode(payload); (err == nil) != ok || len(payload) != n {
			t.Errorf("a payload of %d bytes: %v", len(payload), err)
		}
	}
}

// Arguments that are lists of paths are read one by one, and what is only a text may have any character.
func TestPathsAndTexts(t *testing.T) {
	for tool, inputs := range map[string]map[string]string{
		"Grep": {
			`{"pattern":"x","paths":["/a","b"]}`:         "[/a b]",
			`{"pattern":"x","paths":"/a"}`:               "[/a]",
			`{"pattern":"x","paths":["/a","b\u0000"]}`:   "NUL",
			`{"pattern":"a\u0000b","path":"/a"}`:         "[/a]",
			`{"pattern":"x","path":"/a","paths":["/b"]}`: "[/a /b]",
		},
		"Glob": {
			`{"pattern":"../*","path":"/a"}`: "[/a /a/../*]",
			`{"pattern":"..\u0000"}`:         "NUL",
		},
		"Write": {
			`{"file_path":"/a","content":"a\u0000b"}`: "[/a]",
			`{"file_path":"/a","content":""}`:         "[/a]",
			`{"file_path":"/a\u0000","content":""}`:   "NUL",
		},
		"Bash": {
			`{"command":"ls","description":"a\u0000b"}`: "[]",
		},
		"mcp__a__b": {
			`{"paths":["/a",5,{"x":"/b"}],"file":"/c"}`: "[/c /a]",
			`{"path":{"a":"/b"}}`:                       "[]",
			`{"files":"\ud83d\ude00"}`:                  "[😀]",
		},
	} {
		for input, want := range inputs {
			ev, err := Claude{}.Decode(pre(tool, input))
			got := fmt.Sprint(ev.Call.Paths)
			if err != nil {
				got = err.Error()
			}
			if got != want && (err == nil || !strings.Contains(got, want)) {
				t.Errorf("%s %s: %s, want %s", tool, input, got, want)
			}
		}
	}
}
