package canary

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Call is one tool call that a [Model] makes. Without an ID it gets one.
type Call struct {
	ID    string `json:"id"`
	Tool  string `json:"name"`
	Input any    `json:"input"`
}

// A Result is the result of a call, as the agent told the model.
type Result struct {
	ID     string
	Text   string
	Failed bool // it failed, or was not permitted
}

// A Conversation is the state of a conversation: the first prompt, how many answers the model gave,
// and the results of the calls in its last answer.
type Conversation struct {
	Prompt  string
	Turn    int
	Results []Result
}

// A Model is a server with the Messages API of Anthropic, for one client that knows its address.
// Next returns the calls of each turn; no calls end the conversation. It has no state between
// requests, so a repeated request gets the same answer.
type Model struct {
	// Next returns the calls to make. It is not called for requests without tools, such as one for a
	// title. Several goroutines may call it, and it may wait. It must not be nil.
	Next func(ctx context.Context, c Conversation) []Call
	// Seen, if set, is called with the method and path of each request.
	Seen func(request string)
}

// maxRequest limits the bytes of a request, which may have whole files in it.
const maxRequest = 64 << 20

// modelName is the name of the model if the client gives none.
const modelName = "approver-hook-test"

// A message of the conversation. Content is a string or a list of blocks.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// A block of a message, with the fields of all types that matter here.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	UseID   string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// A request is what the client sends to /v1/messages.
type request struct {
	Model    string    `json:"model"`
	Stream   bool      `json:"stream"`
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools"`
}

// A tool is one that the client offers.
type tool struct {
	Name string `json:"name"`
}

// ServeHTTP answers the requests of Claude Code: messages (streamed or whole), token counts, the
// list of models, and health checks.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if m.Seen != nil {
		m.Seen(r.Method + " " + r.URL.Path)
	}
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		m.messages(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxRequest))
		reply(w, http.StatusOK, map[string]any{"input_tokens": 1000})
	case r.Method == http.MethodGet && r.URL.Path == "/v1/models":
		reply(w, http.StatusOK, map[string]any{"data": []any{}, "has_more": false, "first_id": nil, "last_id": nil})
	case r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		w.WriteHeader(http.StatusOK)
	default:
		refuse(w, http.StatusNotFound, "not_found_error", "this is a model for tests, which has no "+r.URL.Path)
	}
}

func (m *Model) messages(w http.ResponseWriter, r *http.Request) {
	var req request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&req); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	c, err := conversation(req.Messages)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	var calls []Call
	if len(req.Tools) > 0 {
		calls = m.Next(r.Context(), c)
	}
	a := answer{model: cmp.Or(req.Model, modelName), calls: calls, text: "Done."}
	for _, call := range calls {
		if !slices.ContainsFunc(req.Tools, func(t tool) bool { return t.Name == call.Tool }) {
			a.calls, a.text = nil, fmt.Sprintf("The tool %q is not offered.", call.Tool)
			break
		}
	}
	if req.Stream {
		a.stream(w)
		return
	}
	reply(w, http.StatusOK, a.head(a.content(), a.reason()))
}

// conversation returns the state of a conversation.
func conversation(messages []message) (c Conversation, err error) {
	for i, m := range messages {
		blocks, err := m.blocks()
		if err != nil {
			return c, fmt.Errorf("message %d: %w", i, err)
		}
		if m.Role == "assistant" {
			c.Turn++
			c.Results = nil
			continue
		}
		for _, b := range blocks {
			switch {
			case b.Type == "tool_result":
				text, err := texts(b.Content)
				if err != nil {
					return c, fmt.Errorf("message %d: the result of %s: %w", i, b.UseID, err)
				}
				c.Results = append(c.Results, Result{ID: b.UseID, Text: text, Failed: b.IsError})
			case b.Type == "text" && c.Turn == 0:
				c.Prompt += b.Text + "\n"
			}
		}
	}
	return c, nil
}

func (m message) blocks() (blocks []block, err error) {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []block{{Type: "text", Text: text}}, nil
	}
	err = json.Unmarshal(m.Content, &blocks)
	return blocks, err
}

// texts returns the text of a result, which may be missing.
func texts(content json.RawMessage) (string, error) {
	if len(content) == 0 {
		return "", nil
	}
	blocks, err := message{Content: content}.blocks()
	var all strings.Builder
	for _, b := range blocks {
		all.WriteString(b.Text)
	}
	return all.String(), err
}

// An answer of the model.
type answer struct {
	model string
	text  string
	calls []Call
}

// content returns the answer as blocks.
func (a answer) content() []map[string]any {
	if len(a.calls) == 0 {
		return []map[string]any{{"type": "text", "text": a.text}}
	}
	var blocks []map[string]any
	for _, c := range a.calls {
		if c.ID == "" {
			c.ID = "toolu_" + random(12)
		}
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": c.Input})
	}
	return blocks
}

func (a answer) reason() string {
	if len(a.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// usage is the cost of an answer, which is made up.
var usage = map[string]any{
	"input_tokens": 1000, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
}

func (a answer) head(content []map[string]any, reason any) map[string]any {
	return map[string]any{
		"id": "msg_" + random(12), "type": "message", "role": "assistant", "model": a.model,
		"content": content, "stop_reason": reason, "stop_sequence": nil, "usage": usage,
	}
}

// stream sends the answer as events. Each block begins empty and gets its content in one piece.
func (a answer) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	send := func(kind string, doc map[string]any) {
		doc["type"] = kind
		if raw, err := json.Marshal(doc); err == nil {
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, raw)
		}
	}
	send("message_start", map[string]any{"message": a.head([]map[string]any{}, nil)})
	for i, b := range a.content() {
		delta := map[string]any{"type": "text_delta", "text": b["text"]}
		if b["type"] == "tool_use" {
			input, err := json.Marshal(b["input"])
			if err != nil {
				input = []byte("{}")
			}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
			b["input"] = map[string]any{}
		} else {
			b["text"] = ""
		}
		send("content_block_start", map[string]any{"index": i, "content_block": b})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	end := map[string]any{"stop_reason": a.reason(), "stop_sequence": nil}
	send("message_delta", map[string]any{"delta": end, "usage": usage})
	send("message_stop", map[string]any{})
}

func reply(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc) // an error means that the client is gone, and it reports that itself
}

func refuse(w http.ResponseWriter, status int, kind, text string) {
	reply(w, status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}})
}

// random returns n random bytes as hexadecimal digits.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails: see crypto/rand
	return hex.EncodeToString(b)
}

// Listen serves the model on loopback until the context ends, and returns its address. The address
// has a random path; every other path gets a 404. wait returns when everything has ended.
func (m *Model) Listen(ctx context.Context) (url string, wait func() error, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("the model on this machine: %w", err)
	}
	path := "/" + random(16)
	server := &http.Server{
		Handler:           http.StripPrefix(path, m),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	var running sync.WaitGroup
	var served error
	running.Go(func() { served = server.Serve(l) })
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	return "http://" + l.Addr().String() + path, func() error {
		defer stop()
		running.Wait()
		if errors.Is(served, http.ErrServerClosed) {
			return nil
		}
		return served
	}, nil
}
