package calls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// This file judges what an HTTP call brought back in the place of a platform's JSON: the page
// of a proxy, a portal's log-in, or nothing. Such a body is no word of the platform. It is
// shown to nobody; the HTTP status is.

// A ForeignError is an answer that the platform's API did not give. It is an error, whatever
// its status says.
type ForeignError struct {
	Status int
	what   string
}

// Error names the status, and says nothing of the body's own.
func (f *ForeignError) Error() string {
	return Status(f.Status) + ": " + f.what + ": a proxy or a wrong URL?"
}

// Status is an HTTP status in words. The reason that came with it is not used: anybody on
// the way may have written it.
func Status(code int) string {
	text := http.StatusText(code)
	if text == "" {
		return fmt.Sprintf("HTTP %d", code)
	}
	return fmt.Sprintf("HTTP %d %s", code, text)
}

// Judge returns what is wrong with a body; nil is JSON as the API gives it. An object has
// one of the members, if any are named.
func Judge(status int, body []byte, members ...string) error {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return &ForeignError{status, "the answer is empty"}
	case !json.Valid(body) || body[0] != '{' && body[0] != '[':
		return &ForeignError{status, "the answer is not JSON"}
	case len(members) == 0:
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) == nil {
		for _, name := range members {
			if _, has := object[name]; has {
				return nil
			}
		}
	}
	return &ForeignError{status, "the answer is JSON, but not of this API"}
}
