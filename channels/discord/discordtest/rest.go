package discordtest

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"

	"approver.example/channels/channeltest/fake"
)

// An apiError is a response that is no success, as Discord words it.
type apiError struct {
	status  int
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Errors  map[string]any `json:"errors,omitempty"`
}

func (e *apiError) Error() string { return e.Message }

// Errors as Discord words them.
var (
	errUnauthorized   = &apiError{status: 401, Message: "401: Unauthorized"}
	errNotFound       = &apiError{status: 404, Message: "404: Not Found"}
	errUnknownChannel = &apiError{status: 404, Code: 10003, Message: "Unknown Channel"}
	errUnknownMessage = &apiError{status: 404, Code: 10008, Message: "Unknown Message"}
	errUnknownWebhook = &apiError{status: 404, Code: 10015, Message: "Unknown Webhook"}
	errLate           = &apiError{status: 404, Code: 10062, Message: "Unknown interaction"}
	errAcked          = &apiError{status: 400, Code: 40060, Message: "Interaction has already been acknowledged."}
	errEmpty          = &apiError{status: 400, Code: 50006, Message: "Cannot send an empty message"}
	errNoPermission   = &apiError{status: 403, Code: 50013, Message: "Missing Permissions"}
	errNotAuthor      = &apiError{status: 403, Code: 50005, Message: "Cannot edit a message authored by another user"}
	errJSON           = &apiError{status: 400, Code: 50109, Message: "The request body contains invalid JSON."}
	errVersion        = &apiError{status: 400, Code: 50041, Message: "Invalid API version provided."}
	errTooLarge       = &apiError{status: 413, Code: 40005, Message: "Request entity too large"}
)

// maxUpload is what a server without boosts takes in one request, in bytes.
const maxUpload = 10 << 20

// handler routes requests.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	api := func(pattern string, h func(r *http.Request) (any, error)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v10/"+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, h) })
	}
	api("GET gateway", s.getGateway)
	api("GET users/@me", s.getSelf)
	api("GET gateway/bot", s.authorized(s.getGatewayBot))
	api("GET applications/@me", s.authorized(s.getApplication))
	api("PATCH applications/@me", s.authorized(s.patchApplication))
	api("GET channels/{channel}", s.authorized(s.getChannel))
	api("GET channels/{channel}/messages/{message}", s.authorized(s.getMessage))
	api("POST channels/{channel}/messages", s.authorized(s.postMessage))
	api("PATCH channels/{channel}/messages/{message}", s.authorized(s.patchMessage))
	api("DELETE channels/{channel}/messages/{message}", s.authorized(s.deleteMessage))
	api("POST applications/{app}/guilds/{guild}/commands", s.authorized(s.postCommand))
	api("POST interactions/{id}/{token}/callback", s.callback)
	api("POST webhooks/{app}/{token}", s.followUp)
	api("PATCH webhooks/{app}/{token}/messages/@original", s.editOriginal)
	mux.HandleFunc("GET /gateway/", s.serveGateway)
	mux.HandleFunc("/api/v10/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, func(*http.Request) (any, error) { return nil, errNotFound })
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, func(*http.Request) (any, error) { return nil, errVersion })
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.healthy(w, r) && !s.Trips.Meet(r.Method+" "+r.URL.Path, w, r, mux) {
			mux.ServeHTTP(w, r)
		}
	})
}

var secretPath = regexp.MustCompile(`(/(?:interactions|webhooks)/\d+/)[^/]+`)

// healthy notes a request and applies the present fault to it.
func (s *Server) healthy(w http.ResponseWriter, r *http.Request) bool {
	s.Note("%s %s", r.Method, secretPath.ReplaceAllString(r.URL.Path, "${1}…"))
	fault, left := s.Fault()
	if fault == fake.Revoked && strings.HasPrefix(r.URL.Path, "/gateway/") {
		return true // it says so by itself
	}
	return !s.Misbehaves(w, r, map[fake.Fault]func(http.ResponseWriter){
		fake.RateLimited: func(w http.ResponseWriter) { limited(w, left, true) },
		fake.Malformed: func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":"1098`)
		},
		fake.Revoked: func(w http.ResponseWriter) { writeError(w, errUnauthorized) },
	})
}

// serve runs a handler and writes what it returns as JSON.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, h func(r *http.Request) (any, error)) {
	if !s.within(w, r) {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload)
	out, err := h(r)
	if err != nil {
		writeError(w, err)
		return
	}
	if out == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

func writeError(w http.ResponseWriter, err error) {
	var e *apiError
	if !errors.As(err, &e) {
		e = &apiError{status: 500, Message: err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	_ = json.NewEncoder(w).Encode(e)
}

func (s *Server) authorized(h func(r *http.Request) (any, error)) func(r *http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		if r.Header.Get("Authorization") != "Bot "+s.Token() {
			return nil, errUnauthorized
		}
		return h(r)
	}
}

func (s *Server) getSelf(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Header.Get("Authorization") {
	case "Bot " + s.Token():
		return s.users[s.bot], nil
	case "Bot " + s.AnotherBot():
		return &user{ID: s.id(), Username: "another", Bot: true}, nil
	}
	return nil, errUnauthorized
}

func (s *Server) getGateway(*http.Request) (any, error) {
	return map[string]any{"url": "ws://" + s.Addr + "/gateway"}, nil
}

func (s *Server) getGatewayBot(*http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]any{
		"url": "ws://" + s.Addr + "/gateway", "shards": 1,
		"session_start_limit": map[string]any{"total": 1000, "remaining": s.budget, "reset_after": 14_400_000,
			"max_concurrency": 1},
	}, nil
}

func (s *Server) getApplication(*http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.application(), nil
}

func (s *Server) getChannel(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.channels[r.PathValue("channel")]; c != nil {
		out := *c
		return &out, nil
	}
	return nil, errUnknownChannel
}

// readBody reads a message body, JSON or multipart with payload_json.
func readBody(r *http.Request, into any) (files []upload, err error) {
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, errTooLarge
		}
		if json.Unmarshal(raw, into) != nil {
			return nil, errJSON
		}
		return nil, nil
	}
	found := false
	for parts := multipart.NewReader(r.Body, params["boundary"]); ; {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errTooLarge
		}
		raw, err := io.ReadAll(p)
		if err != nil {
			return nil, errTooLarge
		}
		if p.FormName() == "payload_json" {
			found = true
			if json.Unmarshal(raw, into) != nil {
				return nil, errJSON
			}
			continue
		}
		files = append(files, upload{p.FileName(), raw})
	}
	if !found {
		return nil, errJSON
	}
	return files, nil
}

type upload struct {
	name string
	data []byte
}
