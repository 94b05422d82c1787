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
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
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
	token string
	addr  string

	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever something changes
	http    *http.Server  // nil while Down
	served  chan struct{} // closed when http has ended
	closed  bool

	fault    fake.Fault
	recovers time.Time // end of RateLimited, once it has begun
	scripted map[string][]Trouble

	users    map[int64]string
	chats    map[int64]*Chat
	messages map[int64][]*Message
	lastID   int

	updates    []update
	nextUpdate int64
	allowed    []string
	poll       int // number of the newest poll
	holding    int // polls that are held open
	hasty      bool
	webhook    string
	commands   []string

	queries   map[string]*query
	queryLife time.Duration
	told      map[int64][]string

	perSecond int
	sent      []time.Time

	log []Entry
}

// An Entry is one call that the server saw.
type Entry struct {
	At     time.Time
	Method string
	Status int // of the answer; 0 if there was none
}

// String is the entry as one line.
func (e Entry) String() string {
	return fmt.Sprintf("%s %s %d", e.At.UTC().Format("15:04:05.000"), e.Method, e.Status)
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
		token:   fmt.Sprintf("%d:%s", BotID, rand.Text()+rand.Text()[:9]),
		changed: make(chan struct{}), scripted: map[string][]Trouble{},
		users: map[int64]string{}, chats: map[int64]*Chat{}, messages: map[int64][]*Message{}, lastID: 100,
		nextUpdate: 900000, queries: map[string]*query{}, queryLife: 15 * time.Second,
		told: map[int64][]string{}, perSecond: 30,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listen("127.0.0.1:0")
	return s
}

// listen starts serving; s.mu is held.
func (s *Server) listen(addr string) {
	var l net.Listener
	var err error
	for range 200 {
		if l, err = net.Listen("tcp", addr); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		panic("telegramtest: " + err.Error())
	}
	s.addr = l.Addr().String()
	srv := &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	s.http, s.served = srv, done
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
}

// unlisten stops serving and cuts every connection; s.mu is held.
func (s *Server) unlisten() {
	if s.http == nil {
		return
	}
	_ = s.http.Close()
	<-s.served
	s.http = nil
}

// URL is the value for api_url.
func (s *Server) URL() string { return "http://" + s.addr }

// Token is the bot's token.
func (s *Server) Token() string { return s.token }

// Close stops the server and cuts every connection.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.unlisten()
	s.notify()
}

// notify wakes whoever waits for a change; s.mu is held.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Log returns what the server saw, oldest first.
func (s *Server) Log() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Calls counts the calls of a method.
func (s *Server) Calls(method string) int {
	n := 0
	for _, e := range s.Log() {
		if e.Method == method {
			n++
		}
	}
	return n
}

// Break makes the service misbehave from now on.
func (s *Server) Break(f fake.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.fault, s.recovers = f, time.Time{}
	switch {
	case f == fake.Down:
		s.unlisten()
	case s.http == nil:
		s.listen(s.addr)
	}
	s.notify()
}

// SetQueryLife sets how long a button press can be answered; 15 s at the start.
func (s *Server) SetQueryLife(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queryLife = d
}

// SetRate sets how many messages and edits the bot may send in a second; 30 at
// the start.
func (s *Server) SetRate(perSecond int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.perSecond = perSecond
}

// SetWebhook sets a webhook, as another program with the same token would.
func (s *Server) SetWebhook(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = address
	s.notify()
}

// Commands returns the commands that the bot has registered.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

var (
	errBroken = errors.New("the service misbehaves") // makes serve misbehave as the fault says
	errCut    = errors.New("the connection breaks")
)

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	token, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	at, status := time.Now(), 0
	defer func() {
		s.mu.Lock()
		s.log = append(s.log, Entry{at, method, status})
		s.mu.Unlock()
	}()
	result, err := s.call(r, token, method)
	if errors.Is(err, errBroken) {
		status = s.misbehave(w, r)
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
	broken, known := s.broken(), token == s.token
	trouble := s.next(method)
	s.mu.Unlock()
	switch {
	case broken:
		return nil, errBroken
	case !strings.HasPrefix(r.URL.Path, "/bot") || !strings.Contains(token, ":"):
		return nil, &APIError{Code: http.StatusNotFound, Description: "Not Found"}
	case !known:
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

// broken reports whether a fault applies now; s.mu is held.
func (s *Server) broken() bool {
	if s.fault != fake.RateLimited {
		return s.fault != fake.Healthy
	}
	now := time.Now()
	if s.recovers.IsZero() {
		s.recovers = now.Add(time.Second)
	}
	if now.Before(s.recovers) {
		return true
	}
	s.fault = fake.Healthy
	return false
}

// misbehave answers as the fault says and returns the status.
func (s *Server) misbehave(w http.ResponseWriter, r *http.Request) int {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	status, kind, body := http.StatusInternalServerError, "text/html",
		"<html><head><title>500 Internal Server Error</title></head><body>nginx</body></html>"
	switch fault {
	case fake.Hangs, fake.Down:
		s.hang(r.Context())
		panic(http.ErrAbortHandler)
	case fake.RateLimited:
		status, kind = http.StatusTooManyRequests, "application/json"
		body = `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 1","parameters":{"retry_after":1}}`
	case fake.Malformed:
		status, kind, body = http.StatusOK, "application/json", `{"ok":true,"result":{"message_id":1`
	case fake.Healthy, fake.ServerError:
	case fake.Revoked:
		status, kind, body = http.StatusUnauthorized, "application/json",
			`{"ok":false,"error_code":401,"description":"Unauthorized"}`
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
	return status
}

// hang waits until the service no longer hangs or the caller gives up.
func (s *Server) hang(ctx context.Context) {
	for {
		s.mu.Lock()
		hangs, changed := s.fault == fake.Hangs && !s.closed, s.changed
		s.mu.Unlock()
		if !hangs {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
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
