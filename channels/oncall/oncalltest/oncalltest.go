// Package oncalltest is PagerDuty and Opsgenie on loopback: the parts of the Events API v2 and of the
// Alert API that open and close alerts, with the real services' limits and error bodies.
package oncalltest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"approver.example/channels/channeltest/fake"
)

// The keys that the services take, until SetKey.
const (
	PagerDutyKey = "0123456789abcdef0123456789abcdef"
	OpsgenieKey  = "11112222-3333-4444-5555-666677778888"
)

// The services.
const (
	PagerDuty = "pagerduty"
	Opsgenie  = "opsgenie"
)

// An Alert is one alert of a service.
type Alert struct {
	Service  string
	ID       string // the dedup_key or alias
	Headline string // what a phone shows
	Severity string // critical, or P1
	Text     string // all that it says
	Open     bool
	Opened   int // how often it was opened while it was not open
	Taken    int // how many events about it the service took
	Note     string
}

// A Server is both services at one address. Make it with New, end it with Close.
type Server struct {
	*fake.Site // its Log has each call

	mu     sync.Mutex
	keys   map[string]string
	alerts []*Alert
	bodies []string
	limit  int // events that each service takes in a minute; 0 is 120
	taken  map[string][]time.Time
	lost   int // answers that are lost after the call was carried out
}

// New starts a server.
func New() *Server {
	s := &Server{
		keys:  map[string]string{PagerDuty: PagerDutyKey, Opsgenie: OpsgenieKey},
		taken: map[string][]time.Time{},
	}
	s.Site = fake.NewSite(http.HandlerFunc(s.serve))
	return s
}

// URL is the address of both services.
func (s *Server) URL() string { return "http://" + s.Addr }

// SetKey makes a service take another key, and no longer the one before.
func (s *Server) SetKey(service, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[service] = key
}

// SetLimit sets how many events each service takes in a minute.
func (s *Server) SetLimit(perMinute int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = perMinute
}

// LoseAnswers carries out the next calls and cuts their connections instead of answering.
func (s *Server) LoseAnswers(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = n
}

// Alerts returns every alert, in the order in which they were first opened.
func (s *Server) Alerts() []Alert {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Alert, len(s.alerts))
	for i, a := range s.alerts {
		out[i] = *a
	}
	return out
}

// Open returns the alerts that are open.
func (s *Server) Open() []Alert {
	return slices.DeleteFunc(s.Alerts(), func(a Alert) bool { return !a.Open })
}

// Bodies returns the body of every call, whatever became of it.
func (s *Server) Bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	s.mu.Lock()
	s.bodies = append(s.bodies, string(body))
	s.mu.Unlock()
	s.Note("%s %s", r.Method, r.URL.RequestURI())
	duty := r.URL.Path == "/v2/enqueue"
	own := map[fake.Fault]func(http.ResponseWriter){
		fake.RateLimited: func(w http.ResponseWriter) { w.Header().Set("Retry-After", "1"); tooMany(w) },
		fake.Malformed: func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"status":"success","mess`)
		},
		fake.Revoked: func(w http.ResponseWriter) {
			if duty {
				invalid(w, "Length of 'routing_key' is incorrect (should be 32 characters)")
			} else {
				refuse(w, http.StatusUnauthorized, "Could not authenticate")
			}
		},
	}
	if s.Misbehaves(w, r, own) {
		return
	}
	switch path := strings.TrimPrefix(r.URL.Path, "/v2/alerts"); {
	case duty && r.Method == http.MethodPost:
		s.enqueue(w, body)
	case path == r.URL.Path:
		w.WriteHeader(http.StatusNotFound)
	case r.Header.Get("Authorization") != "GenieKey "+s.key(Opsgenie):
		refuse(w, http.StatusUnauthorized, "Could not authenticate")
	case path == "/count" && r.Method == http.MethodGet:
		answer(w, http.StatusOK, map[string]any{"data": map[string]int{"count": len(s.Open())}, "requestId": "r"})
	case path == "" && r.Method == http.MethodPost:
		s.create(w, body)
	case strings.HasSuffix(path, "/close") && r.Method == http.MethodPost &&
		r.URL.Query().Get("identifierType") == "alias":
		s.closeAlert(w, strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/close"), body)
	default:
		refuse(w, http.StatusNotFound, "No such resource")
	}
}

func (s *Server) key(service string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[service]
}

// take notes one event of a service, and reports whether the rate allows it.
func (s *Server) take(w http.ResponseWriter, service string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit, now := s.limit, time.Now()
	if limit == 0 {
		limit = 120
	}
	s.taken[service] = slices.DeleteFunc(s.taken[service], func(at time.Time) bool { return now.Sub(at) > time.Minute })
	if len(s.taken[service]) >= limit {
		w.Header().Set("Retry-After", strconv.Itoa(int(time.Minute.Seconds())))
		tooMany(w)
		return false
	}
	s.taken[service] = append(s.taken[service], now)
	return true
}

// lose cuts the connection if the answer is to be lost.
func (s *Server) lose() {
	s.mu.Lock()
	lost := s.lost > 0
	if lost {
		s.lost--
	}
	s.mu.Unlock()
	if lost {
		panic(http.ErrAbortHandler)
	}
}

// change changes an alert, which is made if it is to be opened.
func (s *Server) change(service, id string, open bool, f func(*Alert)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.alerts, func(a *Alert) bool { return a.Service == service && a.ID == id })
	if at < 0 {
		if !open {
			return // there is nothing to close, which is no error
		}
		s.alerts, at = append(s.alerts, &Alert{Service: service, ID: id}), len(s.alerts)
	}
	a := s.alerts[at]
	a.Taken++
	if open && !a.Open {
		a.Opened++
	}
	a.Open = open
	f(a)
}

func (s *Server) enqueue(w http.ResponseWriter, body []byte) {
	var e struct {
		RoutingKey string `json:"routing_key"`
		Action     string `json:"event_action"`
		DedupKey   string `json:"dedup_key"`
		Payload    *struct {
			Summary, Source, Severity string
			Details                   map[string]string `json:"custom_details"`
		}
	}
	if json.Unmarshal(body, &e) != nil || len(body) > 512<<10 {
		invalid(w, "JSON is invalid")
		return
	}
	var wrong []string
	bad := func(is bool, text string) {
		if is {
			wrong = append(wrong, text)
		}
	}
	bad(len(e.RoutingKey) != 32, "Length of 'routing_key' is incorrect (should be 32 characters)")
	bad(len(e.RoutingKey) == 32 && e.RoutingKey != s.key(PagerDuty), "'routing_key' is invalid")
	bad(len(e.DedupKey) > 255, "Length of 'dedup_key' is incorrect (should be at most 255 characters)")
	switch {
	case e.Action == "resolve":
		bad(e.DedupKey == "", "'dedup_key' is missing or blank")
	case e.Action != "trigger":
		bad(true, "'event_action' is invalid (must be one of trigger, acknowledge, resolve)")
	case e.Payload == nil:
		bad(true, "'payload' is missing or blank")
	default:
		bad(e.Payload.Summary == "", "'payload.summary' is missing or blank")
		bad(utf8.RuneCountInString(e.Payload.Summary) > 1024, "'payload.summary' is too long")
		bad(e.Payload.Source == "", "'payload.source' is missing or blank")
		bad(!slices.Contains([]string{"critical", "error", "warning", "info"}, e.Payload.Severity),
			"'payload.severity' is invalid")
	}
	if len(wrong) > 0 {
		invalid(w, wrong...)
		return
	}
	if !s.take(w, PagerDuty) {
		return
	}
	s.change(PagerDuty, e.DedupKey, e.Action == "trigger", func(a *Alert) {
		if p := e.Payload; p != nil {
			a.Headline, a.Severity, a.Text = p.Summary, p.Severity, p.Summary+"\n"+said(p.Details)
		}
	})
	s.lose()
	answer(w, http.StatusAccepted,
		map[string]string{"status": "success", "message": "Event processed", "dedup_key": e.DedupKey})
}

func (s *Server) create(w http.ResponseWriter, body []byte) {
	var a struct {
		Message, Alias, Description, Priority, Source string
		Details                                       map[string]string
	}
	size := 0
	if json.Unmarshal(body, &a) != nil {
		refuse(w, http.StatusUnprocessableEntity, "Request body is not processable. Please check the errors.")
		return
	}
	for k, v := range a.Details {
		size += utf8.RuneCountInString(k) + utf8.RuneCountInString(v)
	}
	switch {
	case a.Message == "" || utf8.RuneCountInString(a.Message) > 130:
		refuse(w, http.StatusUnprocessableEntity, "Message must have 1 to 130 characters")
	case len(a.Alias) > 512, utf8.RuneCountInString(a.Description) > 15000, size > 8000:
		refuse(w, http.StatusUnprocessableEntity, "A field is too long")
	case !slices.Contains([]string{"P1", "P2", "P3", "P4", "P5"}, a.Priority):
		refuse(w, http.StatusUnprocessableEntity, "Priority should be one of P1, P2, P3, P4, P5")
	case s.take(w, Opsgenie):
		s.change(Opsgenie, a.Alias, true, func(of *Alert) {
			of.Headline, of.Severity = a.Message, a.Priority
			of.Text = a.Message + "\n" + a.Description + "\n" + said(a.Details)
		})
		s.lose()
		processed(w)
	}
}

func (s *Server) closeAlert(w http.ResponseWriter, alias string, body []byte) {
	var c struct{ Note string }
	if json.Unmarshal(body, &c) != nil {
		refuse(w, http.StatusUnprocessableEntity, "Request body is not processable. Please check the errors.")
		return
	}
	if !s.take(w, Opsgenie) {
		return
	}
	s.change(Opsgenie, alias, false, func(a *Alert) { a.Note = c.Note })
	s.lose()
	processed(w)
}

// said is what fields say, in the order of their names.
func said(fields map[string]string) string {
	var lines []string
	for name, text := range fields {
		lines = append(lines, name+": "+text)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func processed(w http.ResponseWriter) {
	answer(w, http.StatusAccepted, map[string]any{"result": "Request will be processed", "took": 0.1, "requestId": "r"})
}

func refuse(w http.ResponseWriter, status int, text string) {
	answer(w, status, map[string]any{"message": text, "took": 0.1, "requestId": "r"})
}

func invalid(w http.ResponseWriter, wrong ...string) {
	answer(w, http.StatusBadRequest,
		map[string]any{"status": "invalid event", "message": "Event object is invalid", "errors": wrong})
}

func tooMany(w http.ResponseWriter) {
	answer(w, http.StatusTooManyRequests, map[string]string{"message": "You are making too many requests"})
}
