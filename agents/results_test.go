package agents

import (
	"encoding/json"
	"strings"
	"testing"

	"approver.example"
)

// ranAs is the event of a call that ran.
func ranAs(name, tool, response string) Event {
	return Event{Kind: Ran, Name: name, Native: tool, Call: approver.ToolCall{Tool: tool},
		Response: json.RawMessage(response)}
}

// failedAs is the event of a call that failed.
func failedAs(name, tool, response string) Event {
	ev := ranAs(name, tool, response)
	ev.Failure = "no"
	return ev
}

// derived is an event of an agent that gives its calls no ids.
func derived(ev Event) Event {
	ev.Derived = true
	return ev
}

// What only repeats the model's own words is not read as data from outside, and a failure always is. A
// result can be replaced only where the agent takes another one: otherwise it is said that it was not.
func TestReadings(t *testing.T) {
	const text = `{"resultType":"success","textResultForLlm":"x"}`
	read, replaced := Reading{Reads: true}, Reading{Reads: true, Replaces: true}
	for name, tt := range map[string]struct {
		a    Returner
		ev   Event
		want Reading
	}{
		"copilot":                      {copilot, derived(ranAs("postToolUse", "Bash", text)), replaced},
		"copilot, its own words":       {copilot, derived(ranAs("postToolUse", "Write", text)), Reading{}},
		"copilot, own words that fail": {copilot, derived(failedAs("postToolUseFailure", "Write", text)), read},
		"copilot, a call to run":       {copilot, Event{Kind: Decide, Call: approver.ToolCall{Tool: "Bash"}}, Reading{}},
		"copilot, a call with an id":   {copilot, ranAs("PostToolUse", "Bash", text), read}, // Visual Studio Code
		"copilot, no text":             {copilot, derived(ranAs("postToolUse", "Bash", `{}`)), read},
		"copilot, a list":              {copilot, derived(ranAs("postToolUse", "Bash", `[]`)), read},
		"copilot, two forms": {copilot, derived(ranAs("postToolUse", "Bash",
			`{"textResultForLlm":"a","result_type":5}`)), read},
		"codex":                   {codex, ranAs("PostToolUse", "Bash", `"x"`), replaced},
		"codex, its own words":    {codex, ranAs("PostToolUse", "apply_patch", `"x"`), Reading{}},
		"codex, a call to run":    {codex, Event{Kind: Decide, Native: "Bash"}, Reading{}},
		"codex, no result":        {codex, ranAs("PostToolUse", "Bash", ""), read},
		"codex, a digit":          {codex, ranAs("PostToolUse", "Bash", "7"), replaced},
		"pi":                      {pi, ranAs("tool_result", "Bash", `[]`), replaced},
		"pi, a digit":             {pi, ranAs("tool_result", "Bash", `7`), replaced},
		"pi, its own words":       {pi, ranAs("tool_result", "Write", `[]`), Reading{}},
		"pi, own words that fail": {pi, failedAs("tool_result", "Write", `[]`), replaced},
		"pi, a call to run":       {pi, Event{Kind: Decide, Response: json.RawMessage(`[]`)}, Reading{}},
		"pi, nothing":             {pi, ranAs("tool_result", "Bash", "null"), read},
		"openclaw only records":   {openclaw, ranAs("after_tool_call", "Bash", `"x"`), read},
		"opencode, a file": {opencode, ranAs("tool.execute.after", "Read", `"x"`),
			Reading{Reads: true, Replaces: true, Lines: true}},
		"gemini":                  {gemini, ranAs("AfterTool", "Bash", `"x"`), replaced},
		"gemini, its own words":   {gemini, ranAs("AfterTool", "TodoWrite", `"x"`), Reading{}},
		"gemini, a call to run":   {gemini, Event{Kind: Decide, Call: approver.ToolCall{Tool: "Bash"}}, Reading{}},
		"gemini, no result":       {gemini, ranAs("AfterTool", "Bash", ""), read},
		"gemini, a digit":         {gemini, ranAs("AfterTool", "Bash", "7"), replaced},
		"qwen":                    {qwen, ranAs("PostToolUse", "Bash", `"x"`), replaced},
		"qwen, its own words":     {qwen, ranAs("PostToolUse", "TodoWrite", `"x"`), Reading{}},
		"qwen, a call to run":     {qwen, Event{Kind: Decide, Call: approver.ToolCall{Tool: "Bash"}}, Reading{}},
		"qwen, a failure":         {qwen, failedAs("PostToolUseFailure", "Bash", `"x"`), read},
		"qwen, words that failed": {qwen, failedAs("PostToolUseFailure", "TodoWrite", ""), read},
		"qwen, no result":         {qwen, ranAs("PostToolUse", "Bash", ""), read},
		"qwen, a digit":           {qwen, ranAs("PostToolUse", "Bash", "7"), replaced},
	} {
		if got := tt.a.Reading(tt.ev); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// An answer to a result either says all that it has to, in the agent's words, or blocks: a result that
// could not be replaced is never passed on in silence.
func TestResults(t *testing.T) {
	const text, snake = `{"resultType":"success","textResultForLlm":"x"}`, `{"result_type":"ok","text_result_for_llm":"x"}`
	patch := derived(ranAs("postToolUse", "Bash", text))
	code := ranAs("PostToolUse", "Bash", `"x"`)
	shell := ranAs("PostToolUse", "Bash", `"x"`)
	claudes := ranAs("PostToolUse", "Bash", `{"stdout":"x"}`)
	image := ranAs("AfterTool", "Bash", `[{"inlineData":{}}]`)
	for name, tt := range map[string]struct {
		a    Returner
		ev   Event
		r    Result
		want string // "blocks" with a text that the reason has, or the document
	}{
		"claude, nothing": {Claude{}, claudes, Result{}, ""},
		"claude, a result": {Claude{}, claudes, Result{Response: []byte(`{"stdout":"<y>"}`)},
			`{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"<y>"}}}`},
		"claude, all of it": {Claude{}, claudes, Result{[]byte(`{"stdout":"<y>"}`), "a\nb", "c\nd"},
			`{"systemMessage":"approver: c d","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"a b",` +
				`"updatedToolOutput":{"stdout":"<y>"}}}`},
		"claude, a notice": {Claude{}, claudes, Result{Notice: "n"},
			`{"systemMessage":"approver: n","hookSpecificOutput":{"hookEventName":"PostToolUse"}}`},
		"claude, an error gets a note": {Claude{}, failedAs("PostToolUseFailure", "Bash", ""), Result{Context: "c"},
			`{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"c"}}`},
		"claude, an error cannot be replaced": {Claude{}, failedAs("PostToolUseFailure", "Bash", ""),
			Result{Response: []byte(`{}`)}, "blocks cannot be replaced"},
		"claude, an error cannot be one digit": {Claude{}, failedAs("PostToolUseFailure", "Bash", ""),
			Result{Response: []byte(`7`)}, "blocks cannot be replaced"},
		"claude, a digit":      {Claude{}, claudes, Result{Response: []byte(`7`)}, "blocks another form"},
		"claude, another form": {Claude{}, claudes, Result{Response: []byte(`"y"`)}, "blocks another form"},
		"claude, no JSON":      {Claude{}, claudes, Result{Response: []byte(`{"a":`)}, "blocks another form"},
		"claude, a call to run": {Claude{}, Event{Kind: Decide, Name: "PreToolUse"}, Result{Context: "c"},
			"blocks has not run"},
		"claude, no event": {Claude{}, Event{}, Result{}, "blocks has not run"},

		"copilot, nothing":  {copilot, patch, Result{}, ""},
		"copilot, a notice": {copilot, patch, Result{Notice: "n"}, ""}, // there is no place for it
		"copilot, another": {copilot, patch, Result{Response: []byte(`{"textResultForLlm":"y"}`)},
			`{"modifiedResult":{"resultType":"success","textResultForLlm":"y"}}`},
		"copilot, another in the second form": {copilot, derived(ranAs("PostToolUse", "Bash", snake)),
			Result{Response: []byte(`{"text_result_for_llm":"y"}`)},
			`{"modifiedResult":{"resultType":"ok","textResultForLlm":"y"}}`},
		"copilot, both": {copilot, patch, Result{Response: []byte(text), Context: "a\nb"},
			`{"additionalContext":"a b","modifiedResult":{"resultType":"success","textResultForLlm":"x"}}`},
		"copilot, a note": {copilot, patch, Result{Context: "c"}, `{"additionalContext":"c"}`},
		"copilot, a note that both programs read": {copilot, code, Result{Context: "c"},
			`{"additionalContext":"c","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c"}}`},
		"copilot, no text": {copilot, patch, Result{Response: []byte(`{}`)}, "blocks another form"},
		"copilot, no JSON": {copilot, patch, Result{Response: []byte(`{"textResultForLlm":"y"`)}, "blocks another form"},
		"copilot, a list":  {copilot, patch, Result{Response: []byte(`[]`)}, "blocks another form"},
		"copilot, a digit": {copilot, code, Result{Response: []byte(`7`)}, "blocks cannot be replaced"},
		"copilot, a call with an id": {copilot, code, Result{Response: []byte(text)},
			"blocks cannot be replaced"},
		"copilot, a call to run": {copilot, Event{Kind: Decide, Name: "preToolUse"}, Result{Context: "c"},
			"blocks has not run"},

		"codex, nothing":  {codex, shell, Result{}, ""},
		"codex, another":  {codex, shell, Result{Response: []byte(`"y"`)}, `{"decision":"block","reason":"y"}`},
		"codex, a notice": {codex, shell, Result{Notice: "n"}, `{"systemMessage":"approver: n"}`},
		"codex, a note": {codex, shell, Result{Context: "c"},
			`{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c"}}`},
		"codex, nothing left": {codex, shell, Result{Response: []byte(`" "`)}, `{"decision":"block","reason":"(the call`},
		"codex, another form": {codex, shell, Result{Response: []byte(`{}`)}, "blocks another form"},
		"codex, no JSON":      {codex, shell, Result{Response: []byte(`"y`)}, "blocks another form"},
		"codex, no result": {codex, ranAs("PostToolUse", "Bash", ""), Result{Response: []byte(`"y"`)},
			"blocks cannot be replaced"},
		"codex, a call to run": {codex, Event{Kind: Decide, Name: "PreToolUse"}, Result{Context: "c"}, "blocks has not run"},
		"codex, a server": {codex, ranAs("PostToolUse", "mcp__a__b", `{"content":[{"type":"text","text":"x"}]}`),
			Result{Response: []byte(`{"content":[{"type":"text","text":"y"}]}`)}, `{"decision":"block","reason":"y\n"}`},
		"codex, an object": {codex, ranAs("PostToolUse", "mcp__a__b", `{"a":1}`), Result{Response: []byte(`{"a":2}`)},
			`{"decision":"block","reason":"{\"a\":2}"}`},

		"codex, all of it": {codex, shell, Result{[]byte(`"y\nz"`), "c", "n"}, `{"decision":"block","reason":"y\nz",` +
			`"systemMessage":"approver: n","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c"}}`},

		"openclaw cannot": {openclaw, ranAs("after_tool_call", "Bash", `"x"`), Result{Response: []byte(`"y"`)},
			"blocks cannot be replaced"},
		"pi, nothing returned": {pi, ranAs("tool_result", "Bash", "null"), Result{Response: []byte(`[]`)},
			"blocks cannot be replaced"},

		"gemini, nothing": {gemini, image, Result{}, ""},
		"gemini, no text": {gemini, image, Result{Response: []byte(`[{"inlineData":{"a":1}}]`)},
			`{"decision":"deny","reason":"\n(what is no text`},
		"gemini, texts in a list": {gemini, ranAs("AfterTool", "Bash", `["a","b"]`), Result{Response: []byte(`["c","d"]`)},
			`{"decision":"deny","reason":"c\nd"}`},
		"gemini, marks": {gemini, ranAs("AfterTool", "Bash", `["a"]`), Result{Response: []byte(`["[a]"]`)},
			`{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"` + dataNote},
		"gemini, marks and a notice": {gemini, ranAs("AfterTool", "Bash", `["a"]`),
			Result{Response: []byte(`["[a]"]`), Notice: "n"},
			`{"decision":"deny","reason":"[a]","systemMessage":"approver: n"}`},
		"gemini, a notice": {gemini, image, Result{Notice: "n"}, `{"systemMessage":"approver: n"}`},

		"qwen, nothing":  {qwen, shell, Result{}, ""},
		"qwen, a notice": {qwen, shell, Result{Notice: "n"}, `{"systemMessage":"approver: n"}`},
		"qwen, marks": {qwen, shell, Result{Response: []byte(`"[x]"`)},
			`{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"` + dataNote},
		"qwen, another": {qwen, shell, Result{Response: []byte(`"y"`)}, `{"continue":false,"stopReason":"y"}`},
		"qwen, another with a note": {qwen, shell, Result{Response: []byte(`"y"`), Context: "c"},
			`{"continue":false,"stopReason":"c\n\ny"}`},
		"qwen, a note": {qwen, shell, Result{Context: "c"},
			`{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c"}}`},
		"qwen, another form": {qwen, shell, Result{Response: []byte(`[]`)}, "blocks another form"},
		"qwen, a failure, a note": {qwen, failedAs("PostToolUseFailure", "Bash", ""), Result{Context: "c"},
			`{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"c"}}`},
		"qwen, a failure, one digit": {qwen, failedAs("PostToolUse", "Bash", `"x"`), Result{Response: []byte(`7`)},
			"blocks cannot be replaced"},
	} {
		answer := tt.a.EncodeResult(tt.ev, tt.r)
		got := strings.TrimSpace(string(answer.Stdout))
		why, blocks := strings.CutPrefix(tt.want, "blocks ")
		switch {
		case blocks != answer.Blocks || blocks && !strings.Contains(string(answer.Stderr), why):
			t.Errorf("%s: exit %d, %s %s", name, answer.Exit(), got, answer.Stderr)
		case !blocks && (!answer.ExitZero || got != tt.want && (tt.want == "" || !strings.HasPrefix(got, tt.want))):
			t.Errorf("%s: exit %d, %s\nwant %s", name, answer.Exit(), got, tt.want)
		}
	}
}
