package model_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"approver.example/agents/canary/model"
)

const responsesTools = `"tools":[{"type":"function","name":"shell","description":"runs","parameters":{"a":1}},` +
	`{"type":"web_search"},{"type":"namespace","name":"more","tools":[{"type":"custom","name":"apply_patch"}]}]`

func TestResponsesShapes(t *testing.T) {
	t.Parallel()
	shapes(t, patch, "/v1/responses", []shape{
		{"no JSON", `{`, 400, []string{`"invalid_request_error"`}},
		{"input of another type", `{"input":7}`, 400, []string{"input: "}},
		{"content of another type", `{"input":[{"role":"user","content":7}]}`, 400, []string{"item 0"}},
		{"a result of another type", `{"input":[{"type":"function_call_output","call_id":"a","output":7}]}`, 400,
			[]string{"the result of a"}},
		{"calls", `{"model":"m",` + responsesTools + `,"input":"hi"}`, 200,
			[]string{`"status":"completed"`, `"object":"response"`, `"model":"m"`, `"total_tokens":`,
				`"arguments":"{\"cmd\":\"ls\"}","call_id":"call_1"`, `"name":"shell","status":"completed","type":"function_call"`,
				`"call_id":"call_2"`, `"input":"*** Begin Patch","name":"apply_patch","namespace":"more"`,
				`"type":"custom_tool_call"`}},
		{"no tools: a title", `{"input":"hi"}`, 200, []string{`"type":"output_text"`, `"text":"Done."`}},
		{"a tool that is not offered", `{"tools":[{"type":"function","name":"x"}],"input":"hi"}`, 200,
			[]string{`The tool \"shell\" is not offered.`}},
		{"the end", `{` + responsesTools + `,"input":[{"role":"user","content":"hi"},{"type":"function_call"}]}`, 200,
			[]string{`"text":"Done."`}},
	})
}

// A stream has the events in their order, numbered, and the arguments of a call in one piece.
func TestResponsesStream(t *testing.T) {
	t.Parallel()
	_, calls := post(t, patch, "/v1/responses", `{"stream":true,`+responsesTools+`,"input":"hi"}`)
	_, text := post(t, none, "/v1/responses", `{"stream":true,`+responsesTools+`,"input":"hi"}`)
	for _, tt := range []struct {
		body string
		want []string
	}{
		{calls, []string{"created", "in_progress",
			"output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
			"output_item.added", "custom_tool_call_input.delta", "custom_tool_call_input.done", "output_item.done",
			"completed"}},
		{text, []string{"created", "in_progress", "output_item.added", "content_part.added", "output_text.delta",
			"output_text.done", "content_part.done", "output_item.done", "completed"}},
	} {
		var kinds []string
		for line := range strings.Lines(tt.body) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			var event struct {
				Type   string
				Number int `json:"sequence_number"`
			}
			if err := json.Unmarshal([]byte(data), &event); err != nil || event.Number != len(kinds) {
				t.Fatal(err, data)
			}
			kinds = append(kinds, strings.TrimPrefix(event.Type, "response."))
		}
		if !slices.Equal(kinds, tt.want) {
			t.Errorf("%q", kinds)
		}
	}
	has(t, "calls", calls, `"delta":"{\"cmd\":\"ls\"}"`, `"delta":"*** Begin Patch"`, "event: response.completed\n")
	has(t, "text", text, `"delta":"Done."`)
}

// Several items of the model are one answer, and tools may come among the items.
func TestResponsesConversation(t *testing.T) {
	t.Parallel()
	var got model.Conversation
	keep := func(c model.Conversation) []model.Call { got = c; return nil }
	post(t, keep, "/v1/responses", `{`+responsesTools+`,"input":[
		{"type":"additional_tools","role":"developer","tools":[{"type":"custom","name":"exec"}]},
		{"type":"message","role":"developer","content":[{"type":"input_text","text":"be good"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]},
		{"role":"user","content":"two"},
		{"type":"reasoning"},
		{"type":"function_call","call_id":"old"},
		{"type":"function_call_output","call_id":"old","output":"old"},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]},
		{"type":"custom_tool_call","call_id":"a"},
		{"type":"function_call","call_id":"b"},
		{"type":"custom_tool_call_output","call_id":"a","output":[
			{"type":"input_text","text":"no"},{"type":"input_text","text":"pe"}]},
		{"type":"function_call_output","call_id":"b"}]}`)
	if got.Prompt != "one\ntwo\n" || got.Turn != 2 ||
		!slices.Equal(got.Results, []model.Result{{ID: "a", Text: "nope"}, {ID: "b"}}) {
		t.Errorf("%+v", got)
	}
	var names []string
	for _, tool := range got.Tools {
		names = append(names, tool.Name)
		if tool.Free != (tool.Name != "shell") {
			t.Errorf("%+v", tool)
		}
	}
	if !slices.Equal(names, []string{"shell", "apply_patch", "exec"}) || string(got.Tools[0].Input) != `{"a":1}` {
		t.Errorf("%+v", got.Tools)
	}
}

func FuzzResponses(f *testing.F) {
	f.Add(`{` + responsesTools + `,"input":"hi"}`)
	f.Add(`{"stream":true,` + responsesTools + `,"input":[{"type":"custom_tool_call_output","output":[{"text":"x"}]}]}`)
	f.Add(`{"input":[{"type":"additional_tools","tools":[{"tools":[{"type":"function","name":"shell"}]}]}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		status, got := post(t, patch, "/v1/responses", body)
		if strings.HasPrefix(got, "event: ") {
			if !strings.Contains(got, "event: response.completed\n") {
				t.Errorf("%s", got)
			}
			return
		}
		var doc struct{ Error, Output any }
		if err := json.Unmarshal([]byte(got), &doc); err != nil || (doc.Error != nil) != (status != 200) ||
			(doc.Output != nil) != (status == 200) {
			t.Errorf("%d %s", status, got)
		}
	})
}
