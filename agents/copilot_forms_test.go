package agents

import (
	"fmt"
	"strings"
	"testing"

	"approver.example"
)

// copilotSays is a payload in Copilot's own form.
func copilotSays(more string) []byte {
	return []byte(`{"sessionId":"s","timestamp":1795226518401,"cwd":"/p",` + more + `}`)
}

// Copilot's own form does not say of which event it is. One that is about a tool is a call or a report,
// or it is refused: an empty answer could permit something.
func TestCopilotEvents(t *testing.T) {
	const call = `"toolName":"bash","toolArgs":{"command":"ls"}`
	for more, want := range map[string]Kind{
		call:                             Decide,
		call + `,"toolResult":{}`:        Ran,
		call + `,"error":"no"`:           Ran,
		call + `,"reason":"x"`:           Decide,
		`"toolName":"bash"`:              Unknown,
		`"toolName":"bash","reason":"x"`: Unknown,
		`"toolName":"bash","prompt":"x"`: Unknown,
		`"serverName":"s","source":"x"`:  Unknown,
		`"prompt":"x"`:                   Notice,
		`"source":"new"`:                 Notice,
		`"reason":"x"`:                   Notice,
		`"stopReason":"x"`:               Notice,
		`"x":1`:                          Unknown,
		`"hookName":"permissionRequest","toolName":"bash","toolInput":{"command":"ls"}`: Prompted,
		`"hookName":"preToolUseNew",` + call:                                            Unknown,
		`"hookName":5,` + call:                                                          Unknown,
		call + `,"error":""`:                                                            Unknown, // no reason
		call + `,"error":5`:                                                             Unknown,
		call + `,"toolResult":{"textResultForLlm":"x"},"error":"no"`:                    Ran,
	} {
		ev, err := copilot.Decode(copilotSays(more))
		if ev.Kind != want || (err != nil) != (want == Unknown) {
			t.Errorf("%s: %v, %v", more, ev.Kind, err)
		}
	}
}

// Of arguments that are a text, only the JSON of one object is taken, or a patch.
func TestCopilotArgumentsThatAreAText(t *testing.T) {
	for call, want := range map[string]string{
		`"bash","toolArgs":"{\"command\":\"ls\"}"`:                       `Bash {"command":"ls"}`,
		`"bash","toolArgs":" {\"command\":\"ls\"}\n"`:                    `Bash {"command":"ls"}`,
		`"bash","toolArgs":"{\"command\":\"ls\",\"command\":\"rm -r\"}"`: "occurs twice",
		`"bash","toolArgs":"{\"command\":\"ls\"}{}"`:                     "not one JSON document",
		`"bash","toolArgs":"ls"`:                                         "not one JSON document",
		`"bash","toolArgs":"[]"`:                                         "not a JSON object",
		`"bash","toolArgs":""`:                                           "not one JSON document",
		`"bash","toolArgs":["ls"]`:                                       "neither an object nor a text",
		`"bash","toolArgs":null`:                                         "neither an object nor a text",
		`"apply_patch","toolArgs":"*** Begin"`:                           `apply_patch {"input":"*** Begin"}`,
		`"apply_patch","toolArgs":5`:                                     "neither an object nor a text",
		`"apply_patch","toolArgs":"\ud800"`:                              "neither an object nor a text",
		`"-x","toolArgs":{}`:                                             "-x {}",
		`"x-","toolArgs":{}`:                                             "x- {}",
		`"a-b-c","toolArgs":{}`:                                          "mcp__a__b-c {}",
		`"a/b","toolArgs":{}`:                                            "mcp__a__b {}",
		`"a__b-c","toolArgs":{}`:                                         "told apart",
	} {
		ev, err := copilot.Decode(copilotSays(`"toolName":` + call))
		got := fmt.Sprintf("%s %s", ev.Call.Tool, ev.Call.Args)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
}

// The calls of a sub-agent are of its own session, which a question of its names beside its parent's. All
// hooks of a call have one time.
func TestCopilotSessionsAndTimes(t *testing.T) {
	const call, question = `"toolName":"bash","toolArgs":{"command":"ls"}`,
		`"hookName":"permissionRequest","toolName":"bash","toolInput":{"command":"ls"}`
	for more, want := range map[string]string{
		call:                         "s /",
		call + `,"agentId":"a"`:      "s a/",
		question:                     "s /",
		question + `,"agentId":"a"`:  "a a/",
		question + `,"agent_id":"b"`: "b /",
		question + `,"agentId":5`:    "not a string",
		question + `,"agent_id":[]`:  "not a string",
		question + `,"agent_id":"` + strings.Repeat("x", maxID+1) + `"`: "more than the limit",
	} {
		ev, err := copilot.Decode(copilotSays(more))
		got := ev.Call.Session + " " + ev.Subagent + "/"
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: %s, want %s", more, got, want)
		}
	}
	for at, want := range map[string]string{
		`1795226518401`: "1795226518401", `"2026-11-21T02:08:07.043Z"`: "1795226887043", `0`: "0",
		`1.5`: "", `{}`: "", `[]`: "", `true`: "", `""`: "", `"now"`: "", `"2026-11-21"`: "",
		`"` + strings.Repeat("2", maxID+1) + `"`: "",
	} {
		payload := strings.Replace(string(copilotSays(call)), "1795226518401", at, 1)
		if ev, err := copilot.Decode([]byte(payload)); (err == nil) != (want != "") || ev.Moment != want {
			t.Errorf("the time %s is %q, %v", at, ev.Moment, err)
		}
	}
	if _, err := copilot.Decode([]byte(`{"sessionId":"s","cwd":"/p",` + call + `}`)); err == nil {
		t.Error("a call without a time")
	}
}

// What a call returned is what the model reads of it.
func TestCopilotOutput(t *testing.T) {
	const call = `"toolName":"bash","toolArgs":{"command":"ls"},`
	for more, want := range map[string]string{
		`"toolResult":{"resultType":"success","textResultForLlm":"x"}`:    "x|",
		`"toolResult":{"text_result_for_llm":"x"}`:                        "x|",
		`"toolResult":{"textResultForLlm":"a","text_result_for_llm":"b"}`: "a|",
		`"toolResult":{"textResultForLlm":null}`:                          `{"textResultForLlm":null}|`,
		`"toolResult":{"textResultForLlm":5}`:                             `{"textResultForLlm":5}|`,
		`"toolResult":"x"`:                                                "x|",
		`"error":"no"`:                                                    "no|no",
		`"toolResult":{},"error":"no"`:                                    "{}|",
	} {
		ev, err := copilot.Decode(copilotSays(call + more))
		if got := ev.Output + "|" + ev.Failure; err != nil || ev.Kind != Ran || got != want {
			t.Errorf("%s: %s, %v, want %s", more, got, err, want)
		}
	}
	snake := `{"hook_event_name":"PostToolUse","session_id":"s","timestamp":"2026-11-21T02:08:07.043Z","cwd":"/p",` +
		`"tool_name":"Bash","tool_input":{"command":"ls"}}`
	if _, err := copilot.Decode([]byte(snake)); err == nil || !strings.Contains(err.Error(), `"tool_result" is missing`) {
		t.Errorf("a report without a result: %v", err)
	}
}

// Copilot answers its own event with its own keys, and both programs where both may read the answer.
func TestCopilotReadsItsOwnKeys(t *testing.T) {
	for name, both := range map[string]bool{"preToolUse": false, "PreToolUse": true} {
		got := copilot.Encode(Event{Kind: Decide, Name: name}, approver.Verdict{Decision: approver.Allow})
		if !strings.Contains(string(got.Stdout), `{"permissionDecision":"allow"`) || !got.ExitZero ||
			strings.Contains(string(got.Stdout), "hookSpecificOutput") != both {
			t.Errorf("%s: %s", name, got.Stdout)
		}
	}
}
