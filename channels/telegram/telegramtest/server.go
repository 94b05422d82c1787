// Package telegramtest is a Telegram of our own for tests and the demo: the Bot
// API over HTTP on loopback with one bot, its chats, and the people in them.
//
// It keeps the rules that a bot meets at the real service: the token in the
// path, parameters in every encoding, limits in UTF-16 code units, HTML parsing
// with the service's own errors, button data of at most 64 bytes, one poll at a
// time, offsets that confirm, callback queries that grow old, and rate limits.
// Mentions, links, hashtags and commands outside code are found as the service
// finds them, so that a test can see that a text became none.
//
// People act through the methods of fake.Platform; [Server.Inject] sends any
// update at all.
package telegramtest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"approver.example/channels/channeltest/fake"
)

// What the server's one bot is called.
const (
	BotID   int64 = 7000000001
	BotName       = "approver_test_bot"
)

// A Server is the fake service. All methods are safe for concurrent use.
type Server struct {
	*fake.Site              // its Log has each call, with the status of the answer; 0 if there was none
	token      atomic.Value // a string

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced whenever something changes
	scripted map[string][]Trouble

	users    map[int64]string
	bots     map[int64]bool
	chats    map[int64]*Chat
	messages map[int64][]*Message
	lastID   int

	updates    []update
	nextUpdate int64
	allowed    []string
	poll       int // number of the newest poll
	holding    int // polls that are held open
	hasty      bool
	unmarked   bool // no markup is understood
	webhook    string
	endPush    context.CancelFunc // ends the bringing of updates to the webhook; nil if none are brought
	pushing    sync.WaitGroup
	commands   map[commandKey][]Command

	queries   map[string]*query
	queryLife time.Duration
	told      map[int64][]string
	toasts    map[int64][]Toast
	whispers  map[int64][]Message // what one person alone was shown
	asides    map[int]int64       // who sent the bot a message that nobody else sees
	old       bool

	webhookError string
	loseAnswers  int // of a webhook

	perSecond int
	limits    Limits
	sent      []sending
}

// An APIError is an answer of the service that is no success. It is an error.
type APIError struct {
	Code        int
	Description string
	RetryAfter  int   // seconds; 0 leaves it out
	MigrateTo   int64 // 0 leaves it out
}

// Error returns the description.
func (f *APIError) Error() string { return f.Description }

func bad(format string, args ...any) *APIError {
	return &APIError{Code: http.StatusBadRequest, Description: "Bad Request: " + fmt.Sprintf(format, args...)}
}

// New starts a server on a free port of 127.0.0.1. It panics if there is none.
func New() *Server {
	s := &Server{
		changed: make(chan struct{}), scripted: map[string][]Trouble{},
		users: map[int64]string{}, bots: map[int64]bool{}, chats: map[int64]*Chat{}, messages: map[int64][]*Message{},
		lastID:     100,
		nextUpdate: 900000, queries: map[string]*query{}, queryLife: 15 * time.Second,
		told: map[int64][]string{}, toasts: map[int64][]Toast{}, whispers: map[int64][]Message{}, asides: map[int]int64{},
		commands: map[commandKey][]Command{}, perSecond: 30,
	}
	s.ResetToken()
	s.Site = fake.NewSite(http.HandlerFunc(s.serve))
	return s
}

// URL is the value for api_url.
func (s *Server) URL() string { return "http://" + s.Addr }

// Token is the bot's token.
func (s *Server) Token() string { return s.token.Load().(string) }

// ResetToken gives the bot another token, as @BotFather does. The old one is refused.
func (s *Server) ResetToken() string {
	s.token.Store(fmt.Sprintf("%d:%s", BotID, rand.Text()+rand.Text()[:9]))
	return s.Token()
}

// Close stops the server and cuts every connection.
func (s *Server) Close() {
	s.Site.Close()
	s.mu.Lock()
	s.endWebhook()
	s.notify()
	s.mu.Unlock()
	s.pushing.Wait()
}

// notify wakes whoever waits for a change; s.mu is held.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Calls counts the calls of a method.
func (s *Server) Calls(method string) int { return s.Count(" " + method + " ") }

// Break makes the service misbehave from now on.
func (s *Server) Break(f fake.Fault) {
	s.Site.Break(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notify()
}

// SetQueryLife sets how long a button press can be answered; 15 s at the start.
func (s *Server) SetQueryLife(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queryLife = d
}

var (
	errBroken = errors.New("the service misbehaves") // makes serve misbehave as the fault says
	errCut    = errors.New("the connection breaks")
)

// faults are what the service says when it misbehaves.
var faults = map[fake.Fault]func(http.ResponseWriter){
	fake.RateLimited: says(http.StatusTooManyRequests,
		`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 1","parameters":{"retry_after":1}}`),
	fake.Malformed: says(http.StatusOK, `{"ok":true,"result":{"message_id":1`),
	fake.Revoked:   says(http.StatusUnauthorized, `{"ok":false,"error_code":401,"description":"Unauthorized"}`),
}

func says(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	token, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	status := 0
	defer func() { s.Note("%s %d", method, status) }()
	result, err := s.call(r, token, method)
	if errors.Is(err, errBroken) {
		if !s.Misbehaves(w, r, faults) {
			panic(http.ErrAbortHandler) // it is over
		}
		return
	}
	var html page
	if errors.As(err, &html) {
		status = int(html)
		html.write(w)
		return
	}
	reply := map[string]any{"ok": err == nil, "result": result}
	status = http.StatusOK
	var f *APIError
	if errors.As(err, &f) {
		status = f.Code
		reply = map[string]any{"ok": false, "error_code": f.Code, "description": f.Description}
		parameters := map[string]any{}
		if f.RetryAfter > 0 {
			parameters["retry_after"] = f.RetryAfter
		}
		if f.MigrateTo != 0 {
			parameters["migrate_to_chat_id"] = f.MigrateTo
		}
		if len(parameters) > 0 {
			reply["parameters"] = parameters
		}
	} else if err != nil {
		panic(http.ErrAbortHandler) // the caller is gone, or cut off
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(reply)
}

func (s *Server) call(r *http.Request, token, method string) (any, error) {
	s.mu.Lock()
	trouble := s.next(method)
	s.mu.Unlock()
	switch {
	case s.broken():
		return nil, errBroken
	case !strings.HasPrefix(r.URL.Path, "/bot") || !strings.Contains(token, ":"):
		return nil, &APIError{Code: http.StatusNotFound, Description: "Not Found"}
	case token != s.Token():
		return nil, &APIError{Code: http.StatusUnauthorized, Description: "Unauthorized"}
	}
	p, err := readParams(r)
	if err != nil {
		return nil, bad("can't parse the request: %v", err)
	}
	if !trouble.none() && trouble.Cut != After {
		return nil, trouble.befall()
	}
	result, err := s.do(r.Context(), method, p)
	if trouble.Cut == After {
		return nil, errCut
	}
	return result, err
}

// do carries a call out.
func (s *Server) do(ctx context.Context, method string, p params) (any, error) {
	if method == "getUpdates" {
		return s.getUpdates(ctx, p)
	}
	do, ok := methods[method]
	if !ok {
		return nil, &APIError{Code: http.StatusNotFound, Description: "Not Found: method not found"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	return do(s, p)
}

// broken reports whether a fault applies now.
func (s *Server) broken() bool {
	f, _ := s.Fault()
	return f != fake.Healthy
}

// Polling reports whether a poll is being held open.
func (s *Server) Polling() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holding > 0
}

// Pending is how many updates wait to be confirmed.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.updates)
}
