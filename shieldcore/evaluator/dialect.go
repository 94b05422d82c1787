package evaluator

import (
	"encoding/json"
	"errors"
	"net/http"

	"approver.example/internal/secret"
)

// A dialect is a provider's protocol, as far as one question and one answer need
// it.
type dialect interface {
	home() string // the vendor's own address
	path() string // what follows the configured address
	authorize(key secret.Text, h http.Header)
	request(p prompt, o options) any
	// answer takes the model's text out of the provider's JSON. An error blocks: an
	// answer that is not whole, or more than a text, is none.
	answer(fields map[string]json.RawMessage) (answered, error)
}

// options are what is the same in every request.
type options struct {
	model     string
	maxTokens int
	reasoning bool
}

// answered is what a provider says.
type answered struct {
	text string
	read int // tokens of the prompt, by the provider's count; zero if it does not say
}

var errNotWhole = errors.New("the provider's answer does not have the form of one")

// list reads a JSON array of objects.
func list(raw json.RawMessage) ([]map[string]json.RawMessage, bool) {
	var out []map[string]json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &out) != nil {
		return nil, false
	}
	return out, true
}

// object reads a JSON object.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

func is(raw json.RawMessage, want string) bool {
	got, ok := text(raw)
	return ok && got == want
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}
