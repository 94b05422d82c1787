package model_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"approver.example/agents/canary/model"
)

// post sends a request to a model and returns status and body.
func post(t *testing.T, next func(model.Conversation) []model.Call, path, body string) (int, string) {
	t.Helper()
	m := &model.Server{Next: func(_ context.Context, c model.Conversation) []model.Call { return next(c) }}
	return talk(t, m, "POST", path, body)
}

// patch calls a tool whose argument is one text, after a call of a shell.
func patch(c model.Conversation) []model.Call {
	if c.Turn > 0 {
		return nil
	}
	return []model.Call{{ID: "call_1", Tool: "shell", Input: map[string]any{"cmd": "ls"}},
		{ID: "call_2", Tool: "apply_patch", Input: "*** Begin Patch"}}
}

// none makes no call.
func none(model.Conversation) []model.Call { return nil }

const chatTools = `"tools":[` +
	`{"type":"function","function":{"name":"shell","description":"runs","parameters":{"a":1}}},` +
	`{"type":"custom","custom":{"name":"apply_patch","description":"patches"}}]`

// has asserts that a text has others in it.
func has(t *testing.T, name, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %s in %s", name, want, text)
		}
	}
}

// A shape is what a request is answered with.
type shape struct {
	name, body string
	status     int
	has        []string
}

func shapes(t *testing.T, next func(model.Conversation) []model.Call, path string, all []shape) {
	t.Helper()
	for _, tt := range all {
		status, body := post(t, next, path, tt.body)
		if status != tt.status {
			t.Errorf("%s: %d %s", tt.name, status, body)
		}
		has(t, tt.name, body, tt.has...)
	}
}

func TestChatShapes(t *testing.T) {
	t.Parallel()
	shapes(t, patch, "/v1/chat/completions", []shape{
		{"no JSON", `{`, 400, []string{`"invalid_request_error"`}},
		{"content of another type", `{"messages":[{"role":"user","content":7}]}`, 400, []string{"message 0"}},
		{"calls", `{"model":"m",` + chatTools + `,"messages":[{"role":"user","content":"hi"}]}`, 200,
			[]string{`"finish_reason":"tool_calls"`, `"object":"chat.completion"`, `"model":"m"`, `"total_tokens":`,
				`{"function":{"arguments":"{\"cmd\":\"ls\"}","name":"shell"},"id":"call_1","index":0,"type":"function"}`,
				`{"custom":{"input":"*** Begin Patch","name":"apply_patch"},"id":"call_2","index":1,"type":"custom"}`}},
		{"no tools: a title", `{"messages":[{"role":"user","content":"hi"}]}`, 200,
			[]string{`"finish_reason":"stop"`, `"content":"Done."`}},
		{"a tool that is not offered",
			`{"tools":[{"type":"function","function":{"name":"x"}}],"messages":[{"role":"user","content":"hi"}]}`, 200,
			[]string{`"finish_reason":"stop"`, `The tool \"shell\" is not offered.`}},
		{"the end", `{` + chatTools + `,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,` +
			`"tool_calls":[]},{"role":"tool","tool_call_id":"call_1","content":"x"}]}`, 200, []string{`"finish_reason":"stop"`}},
	})
}

// A stream has the answer, the reason of its end and, if it was asked for, the usage.
func TestChatStream(t *testing.T) {
	t.Parallel()
	const messages = `"messages":[{"role":"user","content":"hi"}]}`
	_, plain := post(t, patch, "/v1/chat/completions", `{"stream":true,`+chatTools+`,`+messages)
	_, usage := post(t, patch, "/v1/chat/completions",
		`{"stream":true,"stream_options":{"include_usage":true},`+chatTools+`,`+messages)
	if n := strings.Count(plain, "data: "); n != 3 {
		t.Errorf("%d events: %s", n, plain)
	}
	if n := strings.Count(usage, "data: "); n != 4 {
		t.Errorf("%d events: %s", n, usage)
	}
	has(t, "plain", plain, `"arguments":"{\"cmd\":\"ls\"}"`, `"finish_reason":"tool_calls"`)
	has(t, "usage", usage, `"choices":[],`, `"total_tokens":1010`)
	if !strings.HasSuffix(plain, "data: [DONE]\n\n") {
		t.Errorf("the end is missing: %s", plain)
	}
}

func TestChatConversation(t *testing.T) {
	t.Parallel()
	var got model.Conversation
	keep := func(c model.Conversation) []model.Call { got = c; return nil }
	post(t, keep, "/v1/chat/completions", `{`+chatTools+`,"messages":[
		{"role":"system","content":"be good"},
		{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},
		{"role":"assistant","tool_calls":[]},
		{"role":"tool","tool_call_id":"old","content":"old"},
		{"role":"assistant","content":null},
		{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"no"},{"type":"text","text":"pe"}]},
		{"role":"tool","tool_call_id":"b"},
		{"role":"user","content":"a reminder"}]}`)
	if got.Prompt != "onetwo\n" || got.Turn != 2 ||
		!slices.Equal(got.Results, []model.Result{{ID: "a", Text: "nope"}, {ID: "b"}}) {
		t.Errorf("%+v", got)
	}
	if len(got.Tools) != 2 || got.Tools[0].Name != "shell" || got.Tools[0].About != "runs" ||
		string(got.Tools[0].Input) != `{"a":1}` || got.Tools[0].Free ||
		got.Tools[1].Name != "apply_patch" || !got.Tools[1].Free {
		t.Errorf("%+v", got.Tools)
	}
}

func FuzzChat(f *testing.F) {
	f.Add(`{` + chatTools + `,"messages":[{"role":"user","content":"hi"}]}`)
	f.Add(`{"stream":true,` + chatTools + `,"messages":[{"role":"tool","content":[{"type":"text","text":"x"}]}]}`)
	f.Add(`{"messages":[{"content":null}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		status, got := post(t, patch, "/v1/chat/completions", body)
		if strings.HasPrefix(got, "data: ") {
			if !strings.HasSuffix(got, "data: [DONE]\n\n") {
				t.Errorf("%s", got)
			}
			return
		}
		var doc struct{ Error, Choices any }
		if err := json.Unmarshal([]byte(got), &doc); err != nil || (doc.Error != nil) != (status != 200) ||
			(doc.Choices != nil) != (status == 200) {
			t.Errorf("%d %s", status, got)
		}
	})
}
