package oncall

import (
	"encoding/json"
	"net/http"
	"net/url"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/display"
)

// opsgenie speaks the Alert API of Opsgenie, which Jira Service Management has too. The key is in a
// header. An alias names the alert: while one with it is open, another create only counts it up.
type opsgenie struct{}

type opsgenieAlert struct {
	Message     string            `json:"message"` // at most 130 characters
	Alias       string            `json:"alias"`
	Description string            `json:"description,omitempty"`
	Details     map[string]string `json:"details,omitempty"`
	Priority    string            `json:"priority"` // P1 is the most urgent
	Source      string            `json:"source"`
}

type opsgenieClose struct {
	Source string `json:"source"`
	Note   string `json:"note,omitempty"`
}

func (opsgenie) open(p page) message {
	priority := "P2"
	if p.severity == approver.Catastrophic {
		priority = "P1"
	}
	alert := opsgenieAlert{
		Message: p.headline, Alias: p.request, Description: p.lines(), Details: p.all(), Priority: priority,
		Source: "approver",
	}
	return message{path: "/v2/alerts", body: func(string) any { return alert }}
}

func (opsgenie) close(request, result string) message {
	return message{
		path: "/v2/alerts/" + url.PathEscape(request) + "/close?identifierType=alias",
		body: func(string) any { return opsgenieClose{Source: "approver", Note: result} },
		gone: true,
	}
}

// check counts alerts, which changes nothing.
func (opsgenie) check() (message, bool) { return message{path: "/v2/alerts/count"}, true }

func (opsgenie) sign(r *http.Request, key string) { r.Header.Set("Authorization", "GenieKey "+key) }

func (opsgenie) members() []string { return []string{"requestId", "result", "message", "data"} }

func (opsgenie) sorted(status int, body []byte) (kind calls.Kind, words, cure string) {
	var said struct{ Message string }
	_ = json.Unmarshal(body, &said) // what cannot be read is not quoted
	words = display.SafeLine(said.Message)
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return calls.Revoked, words,
			"copy the key of an API integration that may create alerts into opsgenie_key_file; a key " +
				"of a European account needs opsgenie_url: https://api.eu.opsgenie.com"
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return calls.Refused, words, ""
	case http.StatusNotFound:
		return calls.Fatal, words, "opsgenie_url does not lead to the Alert API: leave it out, or correct it"
	}
	return calls.Transient, words, ""
}
