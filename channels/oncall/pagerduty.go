package oncall

import (
	"encoding/json"
	"net/http"
	"strings"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/display"
)

// pagerDuty speaks the Events API v2. The key is in the body. A dedup_key names the alert: events
// with the same one are about the same alert, and a resolve of one that is not open is ignored.
type pagerDuty struct{}

type pagerDutyEvent struct {
	RoutingKey string            `json:"routing_key"`
	Action     string            `json:"event_action"`
	DedupKey   string            `json:"dedup_key"`
	Payload    *pagerDutyPayload `json:"payload,omitempty"`
	Client     string            `json:"client,omitempty"`
}

type pagerDutyPayload struct {
	Summary  string            `json:"summary"` // at most 1,024 characters
	Source   string            `json:"source"`
	Severity string            `json:"severity"` // critical, error, warning or info
	Class    string            `json:"class,omitempty"`
	Details  map[string]string `json:"custom_details,omitempty"`
}

const enqueue = "/v2/enqueue"

func (pagerDuty) open(p page) message {
	severity := "error"
	if p.severity == approver.Catastrophic {
		severity = "critical"
	}
	payload := &pagerDutyPayload{
		Summary: p.headline, Source: "approver", Severity: severity, Class: "approval", Details: p.all(),
	}
	return message{path: enqueue, body: func(key string) any {
		return pagerDutyEvent{RoutingKey: key, Action: "trigger", DedupKey: p.request, Payload: payload,
			Client: "approver"}
	}}
}

func (pagerDuty) close(request, _ string) message {
	return message{path: enqueue, body: func(key string) any {
		return pagerDutyEvent{RoutingKey: key, Action: "resolve", DedupKey: request}
	}}
}

// check returns no message: each event that PagerDuty takes is one for people.
func (pagerDuty) check() (message, bool) { return message{}, false }

func (pagerDuty) sign(*http.Request, string) {}

// members are what an answer has one of.
func (pagerDuty) members() []string { return []string{"status", "message", "errors", "error"} }

func (pagerDuty) sorted(status int, body []byte) (kind calls.Kind, words, cure string) {
	var said struct {
		Status, Message string
		Errors          []string
	}
	_ = json.Unmarshal(body, &said) // what cannot be read is not quoted
	words = display.SafeLine(strings.Join(append([]string{said.Message}, said.Errors...), ": "))
	wrongKey := strings.Contains(words, "routing_key") || strings.Contains(strings.ToLower(words), "integration key")
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusBadRequest && wrongKey:
		return calls.Revoked, words, "copy the integration key of an Events API v2 integration again, whole, into " +
			"pagerduty_key_file; a key of the REST API is another one"
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge:
		return calls.Refused, words, ""
	case status == http.StatusNotFound:
		return calls.Fatal, words, "pagerduty_url does not lead to the Events API: leave it out, or correct it"
	}
	return calls.Transient, words, ""
}
