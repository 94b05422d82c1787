// Package evaluatortest is a model provider of our own for tests and the demo:
// Anthropic's Messages and OpenAI's chat completions over HTTP on loopback, with
// a model behind them that is as honest, compromised or broken as one wants.
//
// It keeps the rules of the real services that a client meets: path, method,
// content type, version header, key. And it keeps account of what an isolated
// evaluator must not do: [Server.Flaws] lists every request that had a history,
// tools, a stream, a canary in the user's message, a canary that was used before,
// or a text that [Server.Forbid] named.
//
// [Server.Behave] sets what it does from the next request on. [Broken] are the
// ways in which it can be hostile or broken; none of them is an answer that lets
// a call go.
package evaluatortest

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// The protocols, by the names of the providers.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
)

// Model is the name of the one model.
const Model = "evaluatortest-1"

// maxBody bounds a request in bytes.
const maxBody = 16 << 20

// A Server is the fake service. All methods are safe for concurrent use.
type Server struct {
	key    string
	addr   string
	http   *http.Server
	served chan struct{}
	closed chan struct{}

	mu        sync.Mutex
	behavior  Behavior
	requests  []Request
	flaws     []string
	forbidden map[string]string // by text, what it is
	canaries  map[string]bool
	last      string // the canary of the request before
}

// A Request is what the server understood of one request.
type Request struct {
	Protocol    string
	System      string // the whole system prompt
	User        string // the user's one message
	Action      string // the line of data in it
	Canary      string // in the system prompt; empty if there is none
	Model       string
	MaxTokens   int
	Temperature *float64
	Header      http.Header
	Body        string
	// Before is the canary of the request before this one.
	Before string
}

// New starts a server on a free port of 127.0.0.1. It panics if there is none. It
// is [Honest] until told otherwise.
func New() *Server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("evaluatortest: " + err.Error())
	}
	s := &Server{
		// Of no form that is masked anywhere, so that a test sees where it gets to.
		key: "evaluatortest" + rand.Text() + rand.Text(), addr: l.Addr().String(), served: make(chan struct{}),
		closed:   make(chan struct{}),
		behavior: Honest(), forbidden: map[string]string{}, canaries: map[string]bool{},
	}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l)
	}()
	return s
}

// Close ends the server and every connection, and waits for both. It may be
// called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	s.mu.Unlock()
	_ = s.http.Close()
	<-s.served
}

// Key is the key that the server takes.
func (s *Server) Key() string { return s.key }

// URL is what to configure as the url of a provider.
func (s *Server) URL(protocol string) string {
	if protocol == OpenAI {
		return "http://" + s.addr + "/v1"
	}
	return "http://" + s.addr
}

// Behave sets what the server does from the next request on.
func (s *Server) Behave(b Behavior) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behavior = b
}

// Forbid names a text that no request may hold, such as the name of a user.
func (s *Server) Forbid(what, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forbidden[text] = what
}

// Requests returns what the server was asked, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count is the number of requests since the start.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// Flaws are what requests had that an isolated evaluator's must not have.
func (s *Server) Flaws() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.flaws)
}

// serve reads one request, keeps account of it, and behaves.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	q := Request{Header: r.Header.Clone(), Body: string(body)}
	key := ""
	switch r.URL.Path {
	case "/v1/messages":
		q.Protocol, key = Anthropic, r.Header.Get("x-api-key")
	case "/v1/chat/completions":
		q.Protocol, key = OpenAI, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	default:
		refuse(w, http.StatusNotFound, "not_found_error", "no such address: "+r.URL.Path)
		return
	}
	var m wire
	bad := q.read(body, &m)
	behavior := s.account(&q, m)
	switch {
	case r.Method != http.MethodPost:
		refuse(w, http.StatusMethodNotAllowed, "invalid_request_error", "POST only")
	case key != s.key:
		refuse(w, http.StatusUnauthorized, "authentication_error", "invalid key")
	case r.Header.Get("Content-Type") != "application/json",
		q.Protocol == Anthropic && r.Header.Get("anthropic-version") == "":
		refuse(w, http.StatusBadRequest, "invalid_request_error", "content-type and anthropic-version are required")
	case bad != "":
		refuse(w, http.StatusBadRequest, "invalid_request_error", bad)
	default:
		behavior.answer(s, w, r, q)
	}
}

// A wire is a request of either protocol. Whatever is there of Tools, Functions
// and Stream is a flaw.
type wire struct {
	Model    string `json:"model"`
	System   string `json:"system"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Temperature *float64        `json:"temperature"`
	MaxTokens   int             `json:"max_tokens"`
	MaxOutput   int             `json:"max_completion_tokens"`
	Tools       json.RawMessage `json:"tools"`
	ToolChoice  json.RawMessage `json:"tool_choice"`
	Functions   json.RawMessage `json:"functions"`
	Metadata    json.RawMessage `json:"metadata"`
	User        json.RawMessage `json:"user"`
	Stream      bool            `json:"stream"`
}

var (
	canaryForm = regexp.MustCompile(`VERIFICATION TOKEN: ([0-9a-f]{64})\b`)
	dataForm   = regexp.MustCompile(`(?s)^BEGIN ACTION ([0-9a-f]{32})\n([^\n]*)\nEND ACTION ([0-9a-f]{32})$`)
)

// read fills the request. It returns what is wrong with it, for a status 400.
func (q *Request) read(body []byte, m *wire) string {
	if err := json.Unmarshal(body, m); err != nil {
		return "the body is not JSON"
	}
	q.Model, q.MaxTokens, q.Temperature, q.System = m.Model, cmp.Or(m.MaxTokens, m.MaxOutput), m.Temperature, m.System
	for _, msg := range m.Messages {
		switch msg.Role {
		case "system":
			q.System += msg.Content
		case "user":
			q.User += msg.Content
		}
	}
	if c := canaryForm.FindStringSubmatch(q.System); c != nil {
		q.Canary = c[1]
	}
	if d := dataForm.FindStringSubmatch(q.User); d != nil && d[1] == d[3] {
		q.Action = d[2]
	}
	switch {
	case q.Model != Model:
		return "no such model"
	case q.MaxTokens <= 0 || len(m.Messages) == 0:
		return "max_tokens and messages are required"
	}
	return ""
}

// account keeps the request and notes its flaws.
func (s *Server) account(q *Request, m wire) Behavior {
	s.mu.Lock()
	defer s.mu.Unlock()
	flaw := func(is bool, what string) {
		if is {
			s.flaws = append(s.flaws, fmt.Sprintf("request %d: %s", len(s.requests)+1, what))
		}
	}
	users := 0
	for _, msg := range m.Messages {
		if msg.Role == "user" {
			users++
		}
		flaw(msg.Role != "user" && msg.Role != "system", "a message of the role "+msg.Role+", which is history")
	}
	flaw(users != 1, fmt.Sprintf("%d messages of the user", users))
	flaw(len(m.Tools)+len(m.Functions)+len(m.ToolChoice) > 0, "tools")
	flaw(len(m.Metadata)+len(m.User) > 0, "an identity")
	flaw(m.Stream, "a stream")
	flaw(q.Canary == "", "no canary in the system prompt")
	flaw(q.Canary != "" && strings.Count(strings.ToLower(q.Body), q.Canary) != 1,
		"the canary stands in more than one place")
	flaw(q.Canary != "" && s.canaries[q.Canary], "a canary that was used before")
	flaw(q.Action == "", "no data between the two boundaries")
	for text, what := range s.forbidden {
		flaw(strings.Contains(q.Body, text), what)
	}
	q.Before = s.last
	s.last, s.canaries[q.Canary] = q.Canary, true
	s.requests = append(s.requests, *q)
	return s.behavior
}

// refuse answers with an error in the form that both services have.
func refuse(w http.ResponseWriter, status int, kind, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error",
		"error": map[string]string{"type": kind, "message": text}})
}
