package slacktest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// This file brings events to a request URL over HTTP, in the place of Socket Mode.

// SigningSecret is what the service signs its requests with.
const SigningSecret = "8f742231b10e8888abcd99yyyzzz85a5"

// SetRequestURL makes the service bring events to an address, as somebody enters it at Slack, and not to sockets. It
// fails if the address does not answer Slack's question who it is. An empty address means sockets again.
func (s *Server) SetRequestURL(ctx context.Context, address string) error {
	if address != "" {
		body := []byte(`{"token":"verification","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9","type":"url_verification"}`)
		status, answer, err := s.Bring(ctx, address, body, Sign(time.Now(), "application/json", body))
		var said struct{ Challenge string }
		if err != nil || status != http.StatusOK || json.Unmarshal(answer, &said) != nil ||
			said.Challenge != "3eZbrw1aBm2rZgRNFdxV2595E9" {
			return fmt.Errorf("your URL didn't respond with the value of the challenge parameter: %d %s, %w", status, answer,
				err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requestURL = address
	return nil
}

// Sign returns the headers of a request that the service signs at a time.
func Sign(at time.Time, kind string, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	m := hmac.New(sha256.New, []byte(SigningSecret))
	_, _ = fmt.Fprintf(m, "v0:%s:%s", stamp, body)
	h := http.Header{"Content-Type": {kind}}
	h.Set("X-Slack-Request-Timestamp", stamp)
	h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(m.Sum(nil)))
	return h
}

const formKind = "application/x-www-form-urlencoded"

// Request is the body in which the service brings an event, and its kind.
func Request(kind string, payload any) (body []byte, contentType string) {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic("slacktest: " + err.Error())
	}
	switch kind {
	case "events_api":
		return raw, "application/json"
	case "interactive":
		return []byte(url.Values{"payload": {string(raw)}}.Encode()), formKind
	}
	form := url.Values{}
	var fields map[string]any
	_ = json.Unmarshal(raw, &fields) // a command has texts only
	for name, value := range fields {
		form.Set(name, fmt.Sprint(value))
	}
	return []byte(form.Encode()), formKind
}

// Bring sends a request as the service does, and returns the answer.
func (s *Server) Bring(ctx context.Context, address string, body []byte, header http.Header) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.AckTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	return resp.StatusCode, answer, err
}

// request brings an event to an address until it is taken, or given up: the service repeats events, and
// neither presses nor commands.
func (s *Server) request(address string, e *envelope) {
	defer e.once.Do(func() { close(e.sent) })
	body, contentType := Request(e.kind, e.payload)
	tries := 1
	if e.kind == "events_api" {
		tries = deliveries
	}
	for attempt := range tries {
		header := Sign(time.Now(), contentType, body)
		if attempt > 0 {
			header.Set("X-Slack-Retry-Num", strconv.Itoa(attempt))
			header.Set("X-Slack-Retry-Reason", "http_error")
		}
		s.Note("request %s %s attempt %d", e.kind, e.id, attempt)
		e.once.Do(func() { close(e.sent) })
		status, answer, err := s.Bring(context.Background(), address, body, header)
		if err == nil && status == http.StatusOK {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.Note("ack %s %s", e.kind, e.id)
			delete(s.waiting, e.id)
			if !json.Valid(answer) || !e.rich {
				answer = []byte("{}")
			}
			if e.onAck != nil {
				e.onAck(answer)
			}
			close(e.acked)
			return
		}
		s.Note("request %s %s: status %d, %v", e.kind, e.id, status, err)
		select {
		case <-time.After(requestPause):
		case <-s.stop:
			return
		}
	}
	s.giveUp(e)
}

// requestPause is how long the service waits before it repeats an event; Slack waits up to five minutes.
const requestPause = 50 * time.Millisecond
