package calls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// This file detects bodies that do not come from a platform's API, although an HTTP call
// returned them: the page of a proxy, a portal's login, or nothing. The platform did not say
// it, so it is shown to nobody; only the HTTP status is.

// A ForeignError is an answer that did not come from the platform's API. It is an error
// whatever its status says.
type ForeignError struct {
	Status int
	what   string
}

// Error names the status, and quotes nothing of the body.
func (f *ForeignError) Error() string {
	return Status(f.Status) + ": " + f.what + ": a proxy or a wrong URL?"
}

// Status is an HTTP status in words. The reason phrase that came with it is not used: anything
// on the way may have written it.
func Status(code int) string {
	text := http.StatusText(code)
	if text == "" {
		return fmt.Sprintf("HTTP %d", code)
	}
	return fmt.Sprintf("HTTP %d %s", code, text)
}

// Judge returns what is wrong with a body; nil if it is JSON as the API returns it. If members
// are named, an object must have at least one of them.
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
