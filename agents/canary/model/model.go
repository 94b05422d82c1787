// Package model is a model for tests on this machine: a server with the APIs that coding agents
// use, whose answers a function decides. It speaks, each in a file of its own,
//
//   - Anthropic's Messages (anthropic.go),
//   - OpenAI's Chat Completions (chat.go) and Responses (responses.go),
//   - Google's generateContent (gemini.go),
//
// streamed and whole, as far as the agents need them. Every request has the whole conversation, so
// the server keeps no state, and a repeated request gets the same answer.
package model

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

// A Call is one tool call that the model makes. Without an ID it gets one, as the API has them: some
// agents change an ID that another API has.
type Call struct {
	ID    string `json:"id"`
	Tool  string `json:"name"`
	Input any    `json:"input"`
}

// A Result is the result of a call, as the agent told the model.
type Result struct {
	ID     string // Gemini may send none
	Tool   string // the tool's name; only Gemini sends it
	Text   string
	Failed bool // it failed, or was not permitted; OpenAI's APIs do not say it
}

// A Tool is one that the agent offers.
type Tool struct {
	Name  string
	About string          // the description
	Input json.RawMessage // the JSON schema of the arguments, or nil
	Free  bool            // its argument is one text, without a schema: OpenAI's "custom" tools
	Space string          // the namespace, which Responses may have
}

// A Conversation is the state of a conversation: the first prompt, how many answers the model gave,
// the results of the calls in its last answer, and the tools that are offered for the next one.
type Conversation struct {
	Prompt  string
	Turn    int
	Results []Result
	Tools   []Tool

	model string // the name that the agent has for the model
	ids   string // how the API's ids of calls begin
}

// answered notes an answer of the model: the results that count are those behind the last one.
func (c *Conversation) answered() {
	c.Turn++
	c.Results = nil
}

// A Server is the model, for one client that knows its address.
type Server struct {
	// Next returns the calls of the next turn; no calls end the conversation. It is not called for
	// requests without tools, such as one for a title. Several goroutines may call it, and it may
	// wait. It must not be nil.
	Next func(ctx context.Context, c Conversation) []Call
	// Seen, if set, is called with the method and path of each request.
	Seen func(request string)
}

// maxRequest limits the bytes of a request, which may have whole files in it.
const maxRequest = 64 << 20

// Name is the name of the model.
const Name = "approver-hook-test"

// Window is the size of the context in tokens that the model claims to have.
const Window = 200_000

// Room is how many tokens of output the model claims to have.
const Room = 8192

// ServeHTTP answers messages (streamed or whole), token counts, the list of models, and health
// checks.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Seen != nil {
		s.Seen(r.Method + " " + r.URL.Path)
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	path := r.URL.Path
	switch {
	case r.Method == http.MethodPost && path == "/v1/messages":
		s.serve(w, r, &anthropicRequest{})
	case r.Method == http.MethodPost && path == "/v1/messages/count_tokens":
		_, _ = io.Copy(io.Discard, r.Body)
		reply(w, http.StatusOK, map[string]any{"input_tokens": 1000})
	case r.Method == http.MethodPost && path == "/v1/chat/completions":
		s.serve(w, r, &chatRequest{})
	case r.Method == http.MethodPost && path == "/v1/responses":
		s.serve(w, r, &responsesRequest{})
	case r.Method == http.MethodPost && strings.HasPrefix(path, "/v1beta/models/"):
		s.gemini(w, r, strings.TrimPrefix(path, "/v1beta/models/"))
	case r.Method == http.MethodGet && path == "/v1/models":
		reply(w, http.StatusOK, map[string]any{
			"object": "list", "data": []any{}, "has_more": false, "first_id": nil, "last_id": nil,
		})
	case path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		w.WriteHeader(http.StatusOK)
	default:
		(&anthropicRequest{}).refuse(w, http.StatusNotFound, errors.New("this is a model for tests, which has no "+path))
	}
}

// An api is the body of a request of one of the APIs. Unknown fields do not matter.
type api interface {
	// conversation returns what the request says.
	conversation() (Conversation, error)
	// send sends the answer, as a stream if the request wants one.
	send(w http.ResponseWriter, a answer)
	// refuse says why there is no answer.
	refuse(w http.ResponseWriter, status int, err error)
}

// serve reads a request into req, and answers it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, req api) {
	var c Conversation
	err := json.NewDecoder(r.Body).Decode(req)
	if err == nil {
		c, err = req.conversation()
	}
	if err != nil {
		req.refuse(w, http.StatusBadRequest, err)
		return
	}
	req.send(w, s.answer(r.Context(), c))
}

// An answer of the model: calls, or a text.
type answer struct {
	id    string
	model string
	text  string
	calls []answerCall
}

// An answerCall has its arguments as JSON, or a text if the tool is [Tool.Free].
type answerCall struct {
	id, tool, space, input string
	free                   bool
}

// answer decides the next turn. Calls of a tool that is not offered become a text.
func (s *Server) answer(ctx context.Context, c Conversation) answer {
	a := answer{id: random(12), model: cmp.Or(c.model, Name), text: "Done."}
	if len(c.Tools) == 0 {
		return a
	}
	var calls []answerCall
	for _, call := range s.Next(ctx, c) {
		i := slices.IndexFunc(c.Tools, func(t Tool) bool { return t.Name == call.Tool })
		if i < 0 {
			a.text = fmt.Sprintf("The tool %q is not offered.", call.Tool)
			return a
		}
		tool := c.Tools[i]
		text, isText := call.Input.(string)
		free := tool.Free && isText
		if !free {
			raw, err := json.Marshal(call.Input)
			if err != nil {
				a.text = fmt.Sprintf("The arguments of the tool %q are no JSON: %v", call.Tool, err)
				return a
			}
			text = string(raw)
		}
		calls = append(calls, answerCall{cmp.Or(call.ID, c.ids+random(12)), tool.Name, tool.Space, text, free})
	}
	a.calls = calls
	return a
}

// A part is a piece of a message's content, which is a text or a list of parts in three of the APIs.
type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// parts returns the parts of a content, which may be missing.
func parts(content json.RawMessage) (list []part, err error) {
	var text string
	switch {
	case len(content) == 0:
		return nil, nil
	case json.Unmarshal(content, &text) == nil:
		return []part{{Type: "text", Text: text}}, nil
	}
	err = json.Unmarshal(content, &list)
	return list, err
}

// texts returns the text of a content.
func texts(content json.RawMessage) (string, error) {
	list, err := parts(content)
	var all strings.Builder
	for _, p := range list {
		all.WriteString(p.Text)
	}
	return all.String(), err
}

// events starts a stream of events, and returns what sends one. kind may be empty.
func events(w http.ResponseWriter) (send func(kind string, doc any)) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	return func(kind string, doc any) {
		raw, err := json.Marshal(doc)
		if err != nil {
			return
		}
		if kind != "" {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", raw)
	}
}

func reply(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc) // an error means that the client is gone, and it reports that itself
}

// random returns n random bytes as hexadecimal digits.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails: see crypto/rand
	return hex.EncodeToString(b)
}

// Listen serves the model on loopback until the context ends, and returns its address. The address
// has a random path; every other path gets a 404. wait returns when everything has ended.
func (s *Server) Listen(ctx context.Context) (url string, wait func() error, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("the model on this machine: %w", err)
	}
	path := "/" + random(16)
	server := &http.Server{
		Handler:           http.StripPrefix(path, s),
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
