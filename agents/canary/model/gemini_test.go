package model_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"approver.example/agents/canary/model"
)

const geminiTools = `"tools":[{"functionDeclarations":[{"name":"shell","description":"runs",` +
	`"parametersJsonSchema":{"a":1}},{"name":"read","parameters":{"b":2}}]},{"googleSearch":{}}]`

// shell makes one call in the first answer.
func shell(c model.Conversation) []model.Call {
	if c.Turn > 0 {
		return nil
	}
	return []model.Call{{ID: "call_1", Tool: "shell", Input: map[string]any{"command": "ls"}}}
}

func TestGeminiShapes(t *testing.T) {
	t.Parallel()
	const path, hi = "/v1beta/models/m:", `,"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	for method, list := range map[string][]shape{
		"countTokens":  {{"count", `{}`, 200, []string{`"totalTokens":1000`}}},
		"embedContent": {{"another method", `{}`, 404, []string{`"status":"NOT_FOUND"`}}},
		"generateContent": {
			{"no JSON", `{`, 400, []string{`"status":"INVALID_ARGUMENT"`}},
			{"contents of another type", `{"contents":7}`, 400, []string{`"INVALID_ARGUMENT"`}},
			{"a call", `{` + geminiTools + hi, 200, []string{
				`{"functionCall":{"args":{"command":"ls"},"id":"call_1","name":"shell"}}`, `"finishReason":"STOP"`,
				`"role":"model"`, `"modelVersion":"m"`, `"totalTokenCount":1010`}},
			{"no tools: a title", `{"x":1` + hi, 200, []string{`{"text":"Done."}`}},
			{"a tool that is not offered", `{"tools":[{"functionDeclarations":[{"name":"x"}]}]` + hi, 200,
				[]string{`The tool \"shell\" is not offered.`}},
			{"the end", `{` + geminiTools + `,"contents":[{"role":"user","parts":[{"text":"hi"}]},` +
				`{"role":"model","parts":[]},{"role":"user","parts":[]}]}`, 200, []string{`{"text":"Done."}`}},
		},
		"streamGenerateContent": {
			{"a stream without events", `{` + geminiTools + hi, 200, []string{`[{"candidates":`}},
		},
	} {
		shapes(t, shell, path+method, list)
	}
	_, stream := post(t, shell, path+"streamGenerateContent?alt=sse", `{`+geminiTools+hi)
	if !strings.HasPrefix(stream, `data: {"candidates":`) || !strings.HasSuffix(stream, "\n\n") {
		t.Errorf("%s", stream)
	}
}

func TestGeminiConversation(t *testing.T) {
	t.Parallel()
	var got model.Conversation
	keep := func(c model.Conversation) []model.Call { got = c; return nil }
	post(t, keep, "/v1beta/models/m:generateContent", `{`+geminiTools+`,"contents":[
		{"role":"user","parts":[{"text":"one"},{"text":"two"}]},
		{"role":"model","parts":[{"functionCall":{}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"old","name":"shell","response":{"output":"old"}}}]},
		{"role":"model","parts":[{"functionCall":{}},{"functionCall":{}}]},
		{"role":"user","parts":[
			{"functionResponse":{"id":"a","name":"shell","response":{"error":"nope"}}},
			{"functionResponse":{"name":"read","response":{"output":"yes"}}},
			{"functionResponse":{"id":"c","name":"read","response":{"lines":3}}},
			{"text":"a reminder"}]}]}`)
	if got.Prompt != "one\ntwo\n" || got.Turn != 2 || !slices.Equal(got.Results, []model.Result{
		{ID: "a", Tool: "shell", Text: "nope", Failed: true}, {Tool: "read", Text: "yes"},
		{ID: "c", Tool: "read", Text: `{"lines":3}`}}) {
		t.Errorf("%+v", got)
	}
	if len(got.Tools) != 2 || got.Tools[0].About != "runs" || string(got.Tools[0].Input) != `{"a":1}` ||
		string(got.Tools[1].Input) != `{"b":2}` {
		t.Errorf("%+v", got.Tools)
	}
}

func FuzzGemini(f *testing.F) {
	f.Add(`{`+geminiTools+`,"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, true)
	f.Add(`{`+geminiTools+`,"contents":[{"parts":[{"functionResponse":{"response":{"error":7}}}]}]}`, false)
	f.Fuzz(func(t *testing.T, body string, stream bool) {
		path := "/v1beta/models/m:generateContent"
		if stream {
			path = "/v1beta/models/m:streamGenerateContent?alt=sse"
		}
		status, got := post(t, shell, path, body)
		var doc struct{ Error, Candidates any }
		err := json.Unmarshal([]byte(strings.TrimPrefix(got, "data: ")), &doc)
		if err != nil || (doc.Error != nil) != (status != 200) || (doc.Candidates != nil) != (status == 200) {
			t.Errorf("%d %s", status, got)
		}
	})
}
