package model_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"approver.example/agents/canary/model"
)

// talk sends one request to a model and returns status and body.
func talk(t *testing.T, m *model.Server, method, path, body string) (int, string) {
	t.Helper()
	rec := httptest.NewRecorder()
	m.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
	return rec.Code, rec.Body.String()
}

// twoCalls makes two calls in its first answer, and then ends.
func twoCalls(_ context.Context, c model.Conversation) []model.Call {
	if c.Turn > 0 {
		return nil
	}
	return []model.Call{{ID: "toolu_1", Tool: "Bash", Input: map[string]any{"command": "ls"}},
		{Tool: "Read", Input: map[string]any{"file_path": "/x"}}}
}

const tools = `"tools":[{"name":"Bash"},{"name":"Read"}]`

// What the client asks at its start and in between has the shapes of the API.
func TestShapes(t *testing.T) {
	t.Parallel()
	m := &model.Server{Next: twoCalls}
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		has                      []string
	}{
		{"is somebody there", "HEAD", "/", "", 200, nil},
		{"count", "POST", "/v1/messages/count_tokens", `{"messages":[]}`, 200, []string{`"input_tokens":1000`}},
		{"models", "GET", "/v1/models", "", 200, []string{`"data":[]`, `"has_more":false`}},
		{"something else", "GET", "/api/hello", "", 404, []string{`"type":"error"`, `"not_found_error"`}},
		{"messages by GET", "GET", "/v1/messages", "", 404, []string{`"type":"error"`}},
		{"no JSON", "POST", "/v1/messages", `{`, 400, []string{`"invalid_request_error"`}},
		{"content of another type", "POST", "/v1/messages", `{"messages":[{"role":"user","content":7}]}`, 400,
			[]string{"message 0"}},
		{"a result of another type", "POST", "/v1/messages",
			`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":7}]}]}`, 400,
			[]string{"the result of a"}},
		{"whole", "POST", "/v1/messages", `{"model":"m",` + tools + `,"messages":[{"role":"user","content":"hi"}]}`, 200,
			[]string{`"stop_reason":"tool_use"`, `"type":"tool_use"`, `"id":"toolu_1"`, `"model":"m"`, `"usage":{`}},
		{"no tools: a title", "POST", "/v1/messages", `{"messages":[{"role":"user","content":"hi"}]}`, 200,
			[]string{`"stop_reason":"end_turn"`, `"text":"Done."`}},
		{"a tool that is not offered", "POST", "/v1/messages",
			`{"tools":[{"name":"Read"}],"messages":[{"role":"user","content":"hi"}]}`, 200,
			[]string{`"stop_reason":"end_turn"`, `The tool \"Bash\" is not offered.`}},
		{"the end", "POST", "/v1/messages",
			`{` + tools + `,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[]},{"role":"user",` +
				`"content":[]}]}`, 200,
			[]string{`"stop_reason":"end_turn"`}},
	} {
		status, body := talk(t, m, tt.method, tt.path, tt.body)
		if status != tt.status {
			t.Errorf("%s: %d %s", tt.name, status, body)
		}
		has(t, tt.name, body, tt.has...)
	}
}

// A stream has the events in their order, and the arguments of a call in one piece.
func TestStream(t *testing.T) {
	t.Parallel()
	_, body := talk(t, &model.Server{Next: twoCalls}, "POST", "/v1/messages",
		`{"stream":true,`+tools+`,"messages":[{"role":"user","content":"hi"}]}`)
	var kinds, inputs []string
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var event struct {
			Type  string
			Delta struct {
				PartialJSON string `json:"partial_json"`
				StopReason  string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, event.Type)
		if event.Delta.PartialJSON != "" {
			inputs = append(inputs, event.Delta.PartialJSON)
		}
		if event.Type == "message_delta" && event.Delta.StopReason != "tool_use" {
			t.Errorf("it ends with %q", event.Delta.StopReason)
		}
	}
	want := []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}
	if !slices.Equal(kinds, want) {
		t.Errorf("%q", kinds)
	}
	if !slices.Equal(inputs, []string{`{"command":"ls"}`, `{"file_path":"/x"}`}) {
		t.Errorf("%q", inputs)
	}
}

// The results that count are those of the last answer; a subagent's conversation is
// told from another by what it was first told.
func TestConversation(t *testing.T) {
	t.Parallel()
	var got model.Conversation
	m := &model.Server{Next: func(_ context.Context, c model.Conversation) []model.Call { got = c; return nil }}
	talk(t, m, "POST", "/v1/messages", `{`+tools+`,"messages":[
		{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},
		{"role":"assistant","content":[{"type":"tool_use"}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"old","content":"old"}]},
		{"role":"assistant","content":[{"type":"tool_use"}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,
			"content":[{"type":"text","text":"no"},{"type":"text","text":"pe"}]},
			{"type":"tool_result","tool_use_id":"b"},{"type":"text","text":"a reminder"}]}]}`)
	if got.Prompt != "one\ntwo\n" || got.Turn != 2 ||
		!slices.Equal(got.Results, []model.Result{{ID: "a", Text: "nope", Failed: true}, {ID: "b"}}) {
		t.Errorf("%+v", got)
	}
}

// A request without end fills no memory: every API refuses it.
func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	m := &model.Server{Next: twoCalls}
	for _, path := range []string{
		"/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1beta/models/m:generateContent",
	} {
		rec := httptest.NewRecorder()
		m.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "POST", path, blanks{}))
		if rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), "too large") {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
}

// blanks is a reader of blanks without end.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// The model listens on loopback only, and who does not know its path gets nothing.
func TestListen(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := 0
	m := model.Server{Next: func(context.Context, model.Conversation) []model.Call { asked++; return nil }}
	url, wait, err := m.Listen(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("it listens on %s", url)
	}
	const body = `{` + tools + `,"messages":[{"role":"user","content":"hi"}]}`
	root := url[:strings.LastIndexByte(url, '/')]
	for address, want := range map[string]int{root: 404, root + "/0123": 404, url: 200} {
		res, err := http.Post(address+"/v1/messages", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		if err := res.Body.Close(); err != nil || res.StatusCode != want {
			t.Errorf("%s: %d %v", address, res.StatusCode, err)
		}
	}
	if asked != 1 {
		t.Errorf("the model was asked %d times", asked)
	}
	cancel()
	if err := wait(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("it still listens")
	}
}

// Whatever is sent, the answer is JSON of the API.
func FuzzModel(f *testing.F) {
	f.Add(`{` + tools + `,"messages":[{"role":"user","content":"hi"}]}`)
	f.Add(`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"x"}]}]}]}`)
	f.Add(`{"messages":[{"content":null}]}`)
	m := &model.Server{Next: twoCalls}
	f.Fuzz(func(t *testing.T, body string) {
		status, got := talk(t, m, "POST", "/v1/messages", body)
		if strings.HasPrefix(got, "event: ") {
			if !strings.HasSuffix(got, "\"type\":\"message_stop\"}\n\n") {
				t.Errorf("%s", got)
			}
			return
		}
		var doc struct{ Type string }
		if err := json.Unmarshal([]byte(got), &doc); err != nil || (doc.Type == "error") != (status != 200) {
			t.Errorf("%d %s", status, got)
		}
	})
}
