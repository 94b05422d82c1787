package agents

import (
	"encoding/json"
	"strings"
	"testing"

	"approver.example"
)

// What a call returned is read strictly, too: of two keys, the model could read one and approver the
// other. A report without it is refused, except from an agent that does not always say it.
func TestReportsSayWhatACallReturned(t *testing.T) {
	inCodex := `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/p","turn_id":"t","tool_use_id":"u",` +
		`"tool_name":"Bash","tool_input":{"command":"ls"}`
	inDroid := `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/p","permission_mode":"auto-low",` +
		`"tool_name":"Execute","tool_input":{"command":"ls"}`
	inGemini := strings.TrimSuffix(string(geminiCallOf("run_shell_command", `{"command":"ls"}`, "")), "}")
	inGemini = strings.Replace(inGemini, "BeforeTool", "AfterTool", 1)
	inQwen := strings.TrimSuffix(string(qwenPayload("PostToolUse", "run_shell_command", `{"command":"ls"}`,
		`,"tool_use_id":"u"`)), "}")
	inCline := `{"hookName":"tool_result","taskId":"t","workspaceRoots":["/p"],"tool_result":{"id":"c",` +
		`"name":"run_commands","input":{"commands":["ls"]}`
	inPi := `{"plugin":"pi","event":"tool_result","session":"s","call":"u","directory":"/p","tool":"bash",` +
		`"input":{"command":"ls"}`
	for _, tt := range []struct {
		a             Adapter
		payload, want string
	}{
		{codex, inCodex + `,"tool_response":"x"}`, "x|"},
		{codex, inCodex + `,"error":"no"}`, "is missing"},
		{codex, inCodex + `}`, "is missing"},
		{droid, inDroid + `,"tool_response":"x"}`, "x|"},
		{droid, inDroid + `,"":"x"}`, "is missing"},
		{gemini, inGemini + `,"tool_response":{"llmContent":"x"}}`, "x|"},
		{gemini, inGemini + `,"tool_response":{"llmContent":null}}`, "|"},
		{gemini, inGemini + `,"tool_response":null}`, "|"},
		{gemini, inGemini + `,"tool_response":{"error":{}}}`, "it failed and did not say why|it failed"},
		{gemini, inGemini + `,"tool_response":"x"}`, "not a JSON object"},
		{gemini, inGemini + `}`, "is missing"},
		{qwen, inQwen + `,"tool_response":{"llmContent":["x","y"]}}`, "x\ny|"},
		{qwen, inQwen + `,"tool_response":["x"]}`, "not a JSON object"},
		{qwen, inQwen + `}`, "is missing"},
		{cline, inCline + `,"output":"x"}}`, "x|"},
		{cline, inCline + `,"output":"","error":"no"}}`, "no|no"},
		{cline, inCline + `,"output":"x","error":"no"}}`, "x|no"},
		{cline, inCline + `,"error":5}}`, "not a string"},
		{cline, inCline + `}}`, "|"},
		{pi, inPi + `,"result":[{"type":"text","text":"x"}]}`, "x\n|"},
		{pi, inPi + `,"result":"","failed":true}`, "|it failed"},
		{pi, inPi + `,"result":" ","failed":true}`, " |it failed"},
		{pi, inPi + `,"result":"x","failed":true}`, "x|x"},
		{pi, inPi + `,"result":"x","failed":null}`, "neither true nor false"},
		{pi, inPi + `,"failed":true}`, "is missing"},
	} {
		ev, err := tt.a.Decode([]byte(tt.payload))
		got := ev.Output + "|" + ev.Failure
		if err != nil {
			got = err.Error()
		} else if strings.HasSuffix(tt.want, "|") && ev.Failure != "" {
			t.Errorf("%s: failed with %q", tt.payload, ev.Failure)
		}
		if !strings.Contains(got, tt.want) || err == nil && !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.payload, got, tt.want)
		}
	}
	for _, bad := range []string{`[]`, `null`, `["p"]`, `["/p\u0000"]`, `[5]`, `["/` +
		strings.Repeat("x", maxPath) + `"]`} {
		payload := strings.Replace(string(clineCall("run_commands", `{"commands":["ls"]}`)), `["/p"]`, bad, 1)
		if ev, err := cline.Decode([]byte(payload)); err == nil {
			t.Errorf("the folders %.40s: %q", bad, ev.Call.Dir)
		}
	}
}

// Commands that nobody can tell apart are refused, also when a call is changed.
func TestClineCommandsAreNotEmpty(t *testing.T) {
	for _, input := range []string{`{"commands":["ls"," "]}`, `{"commands":["","ls"]}`, `{"commands":["ls",null]}`,
		`{"commands":null}`, `{"commands":["ls"],"x":1}`, `{"x":1}`} {
		if ev, err := cline.Decode(clineCall("run_commands", input)); err == nil {
			t.Errorf("%s is %q", input, ev.Call.Command)
		}
	}
	for _, args := range []string{`{"x":"y"}`, `{"command":null}`, `{"command":"ls","x":1}`, `{"command":["ls"]}`} {
		if ev, err := cline.Rewrite(clineCall("run_commands", `{"commands":["ls"]}`), json.RawMessage(args)); err == nil {
			t.Errorf("%s became %s", args, ev.Call.Raw)
		}
	}
	const want = "ls\n"
	for _, input := range []string{`{"data":null,"text":"ls\n"}`, `{"data":"ls\n","text":""}`} {
		ev, err := openclaw.Decode([]byte(`{"plugin":"openclaw","event":"before_tool_call","session":"s","call":"u",` +
			`"directory":"/p","tool":"process","input":` + input + `}`))
		if err != nil || ev.Call.Command != want {
			t.Errorf("%s: %q, %v", input, ev.Call.Command, err)
		}
	}
}

// The agents merge changed arguments, so a change that keeps all of them goes to the agent.
func TestDroidChangesACall(t *testing.T) {
	ev, err := droid.Decode([]byte(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p",` +
		`"permission_mode":"auto-low","tool_name":"Execute","tool_input":{"command":"ls","summary":"x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"command":"ls -l","description":"x"}`: `"permissionDecision":"allow","permissionDecisionReason":"allowed by ` +
			`approver","updatedInput":{"command":"ls -l","summary":"x"}`,
		`{"command":"ls -l"}`: "",
	} {
		got := droid.Encode(ev, approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(args)})
		if want == "" && !got.Blocks || want != "" && !strings.Contains(string(got.Stdout), want) {
			t.Errorf("%s: %s", args, got.Stdout)
		}
	}
}

// The story: OpenClaw puts changed arguments over those of the call, so one that a rule took away stayed.
func TestOpenClawKeepsWhatAChangeTakesAway(t *testing.T) {
	ev, err := openclaw.Decode([]byte(`{"plugin":"openclaw","event":"before_tool_call","session":"s","call":"u",` +
		`"directory":"/p","tool":"exec","input":{"command":"ls","background":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	for args, blocks := range map[string]bool{
		`{"command":"ls -l"}`: true, `{"command":"ls -l","background":false}`: false,
	} {
		v := approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(args)}
		if got := openclaw.Encode(ev, v); got.Blocks != blocks {
			t.Errorf("%s: %s", args, got.Stdout)
		}
	}
}

// A variable that makes an agent start without plugins is found where it is set.
func TestPluginsSwitchedOff(t *testing.T) {
	for env, found := range map[string]bool{"OPENCODE_PURE=1": true, "OPENCODE_PURE=true": true, "OPENCODE_PURE=": false,
		"OPENCODE_PURE=0": false, "OPENCODE_PURE=False": false, "OPENCODE_PURE": false, "OTHER=1": false, "=1": false} {
		if got := opencode.Environment([]string{"A=b", env}); len(got) > 0 != found {
			t.Errorf("%s: %+v", env, got)
		}
		if got := pi.Environment([]string{env}); len(got) > 0 {
			t.Errorf("%s of an agent without such a variable: %+v", env, got)
		}
	}
}

// A report that cannot be decoded is one by the name of its event and by nothing else, and of it only what
// can be said in a record is kept.
func TestReportsThatCannotBeDecoded(t *testing.T) {
	const odd = `"session_id":"s","cwd":"/p","tool_name":"Bash","tool_input":5,"tool_use_id":"u","tool_response":{}`
	const snake = `{"hook_event_name":"PostToolUse","timestamp":"2026-11-21T02:08:07Z",`
	for _, tt := range []struct {
		a                   Reporter
		payload, flag, want string
	}{
		{Claude{}, `{"hook_event_name":"PostToolUse",` + odd + `}`, "", "s /p Bash"},
		{Claude{}, `{"hook_event_name":"PreToolUse",` + odd + `}`, "", "none"},
		{Claude{}, `{"hook_event_name":"PreToolUse",` + odd + `}`, "PostToolUse", "s /p Bash"},
		{Claude{}, `{"hook_event_name":5,"x":"\"hook_event_name\":\"PostToolUse\"",` + odd + `}`, "", "none"},
		{Claude{}, `{"hook_event_name":"PostToolUse","session_id":"s\u0000","cwd":"/p\u0000","tool_name":"B\u0000"}`, "",
			"  "},
		{Claude{}, `{"hook_event_name":"PostToolUse","session_id":["s"],"cwd":"p","tool_name":"a b"}`, "", "  "},
		{Claude{}, `x "hook_event_name":"PostToolUse"`, "", "  "},
		{Claude{}, `x "hook_event_name":"PreToolUse"`, "", "none"},
		{Claude{}, `x "event":"PostToolUse"`, "", "none"},
		{Claude{}, `[{"hook_event_name":"PostToolUse",` + odd + `}]`, "", "  "},
		{Claude{}, `["hook_event_name","PostToolUse"]`, "", "none"},
		{copilot, snake + `"session_id":"s","cwd":"/p","tool_name":"Bash","tool_input":{`, "PostToolUse", "s /p Bash"},
		{copilot, `{"sessionId":"s","timestamp":1,"cwd":"/p","toolName":"bash","toolArgs":5,"toolResult":{}}`, "postToolUse",
			"s /p bash"},
		{copilot, snake + `"session_id":"s","cwd":"/p","tool_name":"Bash","tool_input":5,"tool_result":{}}`, "", "s /p Bash"},
	} {
		ev, is, err := tt.a.Report([]byte(tt.payload), tt.flag)
		got := ev.Call.Session + " " + ev.Call.Dir + " " + ev.Call.Tool
		if !is {
			got = "none"
		}
		if got != tt.want || is && (err == nil || ev.Kind != Ran) {
			t.Errorf("%s: %q, %v, want %q", tt.payload, got, err, tt.want)
		}
	}
	called := `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_name":"Bash",` +
		`"tool_input":{"command":"ls"},"tool_use_id":"u"}`
	if ev, is, err := (Claude{}).Report([]byte(called), "PostToolUse"); !is || err == nil || ev.Kind != Ran {
		t.Errorf("the hook of a report brought a call: %+v, %v, %v", ev, is, err)
	}
}
