package agents

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"approver.example"
)

func TestFor(t *testing.T) {
	if a, ok := For("claude"); !ok || a.Name() != "claude" {
		t.Errorf("For(claude) = %v, %v", a, ok)
	}
	for _, name := range []string{"", "Claude", "claude ", "nobody"} {
		if a, ok := For(name); ok || a != nil {
			t.Errorf("For(%q) = %v, %v, want none", name, a, ok)
		}
	}
	for i, name := range Names() {
		if a, ok := For(name); !ok || a != adapters[i] {
			t.Errorf("For(%q) = %v, %v, want %v", name, a, ok, adapters[i])
		}
	}
	if n := len(Names()); n != len(adapters) {
		t.Errorf("%d names of %d agents", n, len(adapters))
	}
}

// The MCP permission prompt sends another shape, which is not a hook's.
func TestClaudePermissionPromptToolIsNotAHook(t *testing.T) {
	payload, err := os.ReadFile("testdata/claude/permission-prompt-tool-call.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	refused(t, payload, `"hook_event_name" is missing`)
}

// A hook may be read by an agent that it was not installed for: Copilot reads a
// repository's .claude/settings.json. Their fields only look alike.
func TestClaudeRefusesForeignPayloads(t *testing.T) {
	for agent, want := range map[string]string{
		"codex":   `the keys of one of codex`,
		"qwen":    `the keys of one of qwen`,
		"copilot": `the keys of one of copilot`,
		"cline":   `the keys of one of cline`,
		"droid":   `the keys of one of droid`,
		"gemini":  `the keys of one of gemini`,
	} {
		payload, err := os.ReadFile("testdata/foreign/" + agent + ".json")
		if err != nil {
			t.Fatal(err)
		}
		refused(t, payload, want)
	}
}

func refused(t *testing.T, payload []byte, want string) {
	t.Helper()
	ev, err := Claude{}.Decode(payload)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("payload %.200s\nerror %v\nwant %s", payload, err, want)
		return
	}
	if !reflect.DeepEqual(ev, Event{}) {
		t.Errorf("a refused payload left %+v", ev)
	}
	// What the daemon does next: it answers the zero event, with any verdict.
	for d := approver.Deny; d <= approver.Allow; d++ {
		a := Claude{}.Encode(ev, approver.Verdict{Decision: d, Reason: err.Error()})
		if a.Exit() != 2 || len(a.Stderr) == 0 || !bytes.Contains(a.Stdout, []byte(`"permissionDecision":"deny"`)) {
			t.Errorf("%v on a refused payload: %+v", d, a)
		}
	}
}

// pre builds a PreToolUse payload.
func pre(tool, input string) []byte {
	return []byte(`{"session_id":"s1","cwd":"/p","permission_mode":"default","hook_event_name":"PreToolUse",` +
		`"tool_name":"` +
		tool + `","tool_input":` + input + `,"tool_use_id":"toolu_1"}`)
}

func TestClaudeTools(t *testing.T) {
	type want struct {
		command, claimed, module string
		paths, urls              []string
	}
	for _, tt := range []struct {
		tool, input string
		want        want
	}{
		{"Bash", `{"command":"rm -rf \u002f","description":"tidy up","timeout":5,"run_in_background":true}`,
			want{command: "rm -rf /", claimed: "tidy up", module: "Shell"}},
		{"Write", `{"file_path":"a.txt","content":""}`, want{paths: []string{"a.txt"}, module: "FileSystem"}},
		{"Edit", `{"file_path":"/a","old_string":"","new_string":"x","replace_all":true}`,
			want{paths: []string{"/a"}, module: "FileSystem"}},
		{"MultiEdit", `{"file_path":"/a","edits":[{"old_string":"a","new_string":"b"}]}`,
			want{paths: []string{"/a"}, module: "FileSystem"}},
		{"NotebookEdit", `{"notebook_path":"/n.ipynb","new_source":"x","cell_id":"1"}`,
			want{paths: []string{"/n.ipynb"}, module: "FileSystem"}},
		{"Read", `{"file_path":"~/.ssh/id_rsa","limit":10}`, want{paths: []string{"~/.ssh/id_rsa"}, module: "FileSystem"}},
		{"LS", `{"path":"/","ignore":["x"]}`, want{paths: []string{"/"}, module: "FileSystem"}},
		{"Glob", `{"pattern":"**/*.go"}`, want{module: "Tool"}},
		{"Glob", `{"pattern":"/etc/*","path":"/p"}`, want{paths: []string{"/p", "/etc/*"}, module: "FileSystem"}},
		{"Glob", `{"pattern":"../*"}`, want{paths: []string{"../*"}, module: "FileSystem"}},
		{"Glob", `{"pattern":"../etc/*","path":"/p"}`, want{paths: []string{"/p", "/p/../etc/*"}, module: "FileSystem"}},
		{"Glob", `{"pattern":"~/.aws/*"}`, want{paths: []string{"~/.aws/*"}, module: "FileSystem"}},
		{"Grep", `{"pattern":"/etc","path":"src","-n":true}`, want{paths: []string{"src"}, module: "FileSystem"}},
		{"WebFetch", `{"url":"https://example.org/","prompt":"sum up"}`,
			want{urls: []string{"https://example.org/"}, module: "Network"}},
		{"WebSearch", `{"query":"go"}`, want{module: "Tool"}},
		{"Task", `{"description":"look","prompt":"look around","subagent_type":"x"}`, want{module: "Tool"}},
		{"mcp__probe__probe_touch", `{"path":"/m"}`, want{paths: []string{"/m"}, module: "FileSystem"}},
		{"mcp__srv__query", `{"sql":"select 1"}`, want{module: "MCP"}},
		{"mcp__sh__run", `{"cmd":"ls","command":"rm -rf /","url":3}`, want{command: "rm -rf /\nls", module: "Shell"}},
		{"mcp__fs__copy", `{"source":"/a","destination":"/b","files":["/c","/d"],"paths":[1]}`,
			want{paths: []string{"/a", "/b", "/c", "/d"}, module: "FileSystem"}},
		{"mcp__fs__mixed", `{"paths":["/a",1,{"b":"/c"}],"urls":[null,"https://x"],"uri":["https://y",[]]}`,
			want{paths: []string{"/a"}, urls: []string{"https://y", "https://x"}, module: "FileSystem"}},
		{"NewTool", `{}`, want{module: "Tool"}},
	} {
		ev, err := Claude{}.Decode(pre(tt.tool, tt.input))
		if err != nil {
			t.Errorf("%s %s: %v", tt.tool, tt.input, err)
			continue
		}
		c := ev.Call
		got := want{c.Command, c.Claimed, c.Module(), c.Paths, c.URLs}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %s:\ngot  %+v\nwant %+v", tt.tool, tt.input, got, tt.want)
		}
		if ev.Kind != Decide || c.Agent != "claude" || c.Tool != tt.tool || c.Session != "s1" || c.Dir != "/p" ||
			string(c.Args) != tt.input || ev.UseID != "toolu_1" || ev.Mode != "default" {
			t.Errorf("%s: %+v", tt.tool, ev)
		}
	}
}

func TestClaudeNotices(t *testing.T) {
	for name := range strings.FieldsSeq(claude.notices) {
		ev, err := Claude{}.Decode([]byte(`{"hook_event_name":"` + name + `"}`))
		if err != nil || ev.Kind != Notice || ev.Name != name {
			t.Errorf("%s: %+v, %v", name, ev, err)
		}
		for d := approver.Deny; d <= approver.Allow; d++ {
			if a := (Claude{}).Encode(ev, approver.Verdict{Decision: d, Reason: "x"}); a.Exit() != 0 ||
				len(a.Stdout)+len(a.Stderr) != 0 {
				t.Errorf("%s, %v: %+v, want silence", name, d, a)
			}
		}
	}
}

func TestClaudeRefuses(t *testing.T) {
	const bash = `{"command":"ls"}`
	swap := func(old, repl string) []byte {
		p := string(pre("Bash", bash))
		if strings.Count(p, old) != 1 {
			t.Fatalf("%q occurs %d times", old, strings.Count(p, old))
		}
		return []byte(strings.Replace(p, old, repl, 1))
	}
	for _, tt := range []struct {
		name    string
		payload []byte
		want    string
	}{
		{"empty", nil, "not one JSON document"},
		{"text", []byte("hello"), "not one JSON document"},
		{"cut off", pre("Bash", bash)[:50], "not one JSON document"},
		{"byte order mark", append([]byte("\xef\xbb\xbf"), pre("Bash", bash)...), "not one JSON document"},
		{"two documents", append(pre("Bash", bash), pre("Bash", bash)...), "not one JSON document"},
		{"trailing text", append(pre("Bash", bash), 'x'), "not one JSON document"},
		{"array", []byte("[]"), "not a JSON object"},
		{"null", []byte("null"), "not a JSON object"},
		{"string", []byte(`"x"`), "not a JSON object"},
		{"invalid UTF-8", pre("Bash", "{\"command\":\"l\xffs\"}"), "not valid UTF-8"},
		{"too long", pre("Bash", `{"command":"`+strings.Repeat("x", MaxPayload)+`"}`), "more than the limit"},
		{"too deep", pre("mcp__a__b", `{"a":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+`}`), "nested more than 128"},
		{"no event", swap(`"hook_event_name":"PreToolUse",`, ``), `"hook_event_name" is missing`},
		{"empty event", swap(`"hook_event_name":"PreToolUse"`, `"hook_event_name":""`), `"hook_event_name" is empty`},
		{"numeric event", swap(`"hook_event_name":"PreToolUse"`, `"hook_event_name":1`), `"hook_event_name" is not a string`},
		{"null event", swap(`"hook_event_name":"PreToolUse"`, `"hook_event_name":null`), `"hook_event_name" is not a string`},
		{"unknown event", swap(`PreToolUse`, `PreToolUs`), `the event "PreToolUs" is not known`},
		{"event in another case", swap(`PreToolUse`, `pretooluse`), `the event "pretooluse" is not known`},
		{"event key in another case", swap(`"hook_event_name"`, `"Hook_Event_Name"`), `"hook_event_name" is missing`},
		{"no tool name", swap(`"tool_name":"Bash",`, ``), `"tool_name" is missing`},
		{"tool name is a list", swap(`"tool_name":"Bash"`, `"tool_name":["Bash"]`), `"tool_name" is not a string`},
		{"tool name with a look-alike", swap(`"tool_name":"Bash"`, `"tool_name":"Baѕh"`), `letters, digits`},
		{"tool name with a space", swap(`"tool_name":"Bash"`, `"tool_name":"Bash "`), `letters, digits`},
		{"long tool name", swap(`"tool_name":"Bash"`, `"tool_name":"`+strings.Repeat("x", 257)+`"`), `at most 256`},
		{"no input", swap(`"tool_input":{"command":"ls"},`, ``), `"tool_input" is missing or not an object`},
		{"input is text", swap(`{"command":"ls"}`, `"{\"command\":\"ls\"}"`), `"tool_input" is missing or not an object`},
		{"input is null", swap(`{"command":"ls"}`, `null`), `"tool_input" is missing or not an object`},
		{"no session", swap(`"session_id":"s1",`, ``), `"session_id" is missing`},
		{"no directory", swap(`"cwd":"/p",`, ``), `"cwd" is missing`},
		{"relative directory", swap(`"cwd":"/p"`, `"cwd":"p"`), `not an absolute path`},
		{"NUL in the directory", swap(`"cwd":"/p"`, `"cwd":"/p\u0000"`), `not an absolute path`},
		{"no use id", swap(`,"tool_use_id":"toolu_1"`, ``), `"tool_use_id" is missing`},
		{"a use id of any length", swap(`"toolu_1"`, `"`+strings.Repeat("x", 1025)+`"`), `"tool_use_id" has 1025 bytes`},
		{"NUL deep in an MCP command", pre("mcp__a__b", `{"command":[1,{"x":["\u0000"]}]}`), `NUL character`},
		{"numeric use id", swap(`"toolu_1"`, `1`), `"tool_use_id" is not a string`},
		{"mode is a number", swap(`"permission_mode":"default"`, `"permission_mode":1`), `"permission_mode" is not a string`},
		{"no command", pre("Bash", `{}`), `"command" is missing`},
		{"empty command", pre("Bash", `{"command":""}`), `"command" is empty`},
		{"command is a list", pre("Bash", `{"command":["rm","-rf","/"]}`), `"command" is not a string`},
		{"NUL in the command", pre("Bash", `{"command":"ls\u0000; rm -rf /"}`), `NUL character`},
		{"half a character in the command", pre("Bash", `{"command":"ls \ud800"}`), `half of a surrogate pair`},
		{"a key that JavaScript takes for another thing", pre("Write", `{"file_path":"/p/x","content":"y","__proto__":{}}`),
			"JavaScript"},
		{"the same deeper, and escaped", pre("mcp__a__b", `{"x":[{"\u005f_proto__":{"y":1}}]}`), "JavaScript"},
		{"the second half of a character, twice", pre("Bash", `{"command":"ls \ude00\ude00"}`), `half of a surrogate pair`},
		{"half a character where no tool is known", pre("mcp__a__b", `{"sql":"\ud800"}`), `half of a surrogate pair`},
		{"half a character in the directory", swap(`"cwd":"/p"`, `"cwd":"/p\udc00"`), `half of a surrogate pair`},
		{"description is a number", pre("Bash", `{"command":"ls","description":1}`), `"description" is not a string`},
		{"no file", pre("Write", `{"content":"x"}`), `"file_path" is missing`},
		{"no content", pre("Write", `{"file_path":"/x"}`), `"content" is missing`},
		{"path is null", pre("Read", `{"file_path":null}`), `"file_path" is not a string`},
		{"NUL in a path", pre("Read", `{"file_path":"/a\u0000.txt"}`), `NUL character`},
		{"no url", pre("WebFetch", `{"prompt":"x"}`), `"url" is missing`},
		{"url is an object", pre("WebFetch", `{"url":{}}`), `"url" is not a string`},
		{"NUL in an MCP path", pre("mcp__a__b", `{"path":"/a\u0000"}`), `NUL character`},
		{"a post without a response", swap(`PreToolUse`, `PostToolUse`), `"tool_response" is missing`},
		{"a failure without an error", swap(`PreToolUse`, `PostToolUseFailure`), `"error" is missing`},
	} {
		t.Run(tt.name, func(t *testing.T) { refused(t, tt.payload, tt.want) })
	}
}

// The story: an agent's payload names "command" twice. A gate that keeps the
// first value judges "ls"; a reader that keeps the last runs "rm -rf /". Nobody
// has to guess which it will be if neither is let through, however the second
// key is spelled.
func TestClaudeRefusesRepeatedKeys(t *testing.T) {
	const want = "occurs twice"
	refused(t, pre("Bash", `{"command":"ls","command":"rm -rf /"}`), want)
	refused(t, pre("Bash", `{"command":"ls","\u0063ommand":"rm -rf /"}`), want)
	refused(t, pre("mcp__a__b", `{"x":[{"y":{"z":1,"z":2}}]}`), want)
	refused(t, bytes.Replace(pre("Bash", `{"command":"ls"}`), []byte(`{"session_id"`),
		[]byte(`{"tool_name":"Read","session_id"`), 1), want)
	refused(t, []byte(`{"hook_event_name":"Stop","hook_event_name":"PreToolUse"}`), want)
	// The same key in different objects, or as a value, is no repetition.
	for _, input := range []string{`{"command":"ls","a":{"command":1},"b":[{"command":1},{"command":2}]}`,
		`{"command":"command","description":"command"}`} {
		if _, err := (Claude{}).Decode(pre("Bash", input)); err != nil {
			t.Errorf("%s: %v", input, err)
		}
	}
}

func TestClaudeFailure(t *testing.T) {
	p := bytes.Replace(pre("Bash", `{"command":"ls"}`), []byte("PreToolUse"), []byte("PostToolUseFailure"), 1)
	p = bytes.Replace(p, []byte(`{"session_id"`), []byte(`{"error":"exit 1","agent_id":"sub1","session_id"`), 1)
	ev, err := Claude{}.Decode(p)
	if err != nil || ev.Kind != Ran || ev.Failure != "exit 1" || ev.Subagent != "sub1" || ev.Call.Command != "ls" {
		t.Errorf("%+v, %v", ev, err)
	}
}

// The story: a server of the agent's choosing runs what stands under "command"
// or "cmd" in whatever shape it likes, and calls an argument that runs
// "description". The card would show "ls" and "tidy up", and the rules would see
// no more. Every word must be before the rules, in one line as it may run and in
// lines of its own, every argument on the card, and nothing of it is a claim.
func TestClaudeShapesOfAnUnknownCommand(t *testing.T) {
	for _, tt := range []struct{ input, command string }{
		{`{"command":["rm","-v","-rf","/"]}`, "rm -v -rf /\nrm\n-v\n-rf\n/"},
		{`{"command":["kill",-9,1]}`, "kill -9 1\nkill\n-9\n1"},
		{`{"command":{"run":"rm -rf /","as":{"root":true}},"cmd":"ls"}`,
			"run rm -rf / as root true\nrun\nrm -rf /\nas\nroot\ntrue\nls"},
		{`{"cmd":[["rm"],[["-rf",null]]],"command":"ls"}`, "ls\nrm -rf\nrm\n-rf"},
		{`{"cmd":{"git status":{}}}`, "git status"},
		{`{"command":["ls"]}`, "ls"},
		{`{"command":null,"cmd":5}`, ""},
		{`{"command":{},"cmd":[[]]}`, ""},
		{`{"cmd":"ls","description":"rm -rf /"}`, "ls"},
	} {
		ev, err := Claude{}.Decode(pre("mcp__sh__run", tt.input))
		if err != nil {
			t.Errorf("%s: %v", tt.input, err)
			continue
		}
		c := ev.Call
		if c.Command != tt.command || c.Claimed != "" || string(c.Args) != tt.input {
			t.Errorf("%s: command %q, claimed %q, arguments %s, want the command %q", tt.input, c.Command, c.Claimed, c.Args,
				tt.command)
		}
		if c.Command != "" && !strings.Contains(c.Text(), tt.input) {
			t.Errorf("%s is shown as %q, without all of its arguments", tt.input, c.Text())
		}
	}
}
