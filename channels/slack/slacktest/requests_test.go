package slacktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Slack enters an address only if it answers its question. Then events come there, signed, and those of messages
// again, until they are taken; a command's answer is shown to its sender.
func TestRequestURL(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	s.AddUser(User{ID: "U0ANN12345", Name: "ann"})
	s.AddConversation(Conversation{ID: "C0HERE1234"})
	var mu sync.Mutex
	var seen []string
	refuse, polite := 2, false
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := hmac.New(sha256.New, []byte(SigningSecret))
		_, _ = io.WriteString(m, "v0:"+r.Header.Get("X-Slack-Request-Timestamp")+":"+string(body))
		if "v0="+hex.EncodeToString(m.Sum(nil)) != r.Header.Get("X-Slack-Signature") {
			t.Error("a request has another signature")
		}
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(string(body), "url_verification") {
			if polite {
				_, _ = io.WriteString(w, `{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9"}`)
			}
			return
		}
		seen = append(seen, r.Header.Get("Content-Type")+" "+r.Header.Get("X-Slack-Retry-Num"))
		if refuse--; refuse >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if form, err := url.ParseQuery(string(body)); err == nil && form.Get("command") == "/deny" {
			_, _ = io.WriteString(w, `{"response_type":"ephemeral","text":"Denied."}`)
		}
	}))
	defer hook.Close()
	if err := s.SetRequestURL(t.Context(), hook.URL); err == nil {
		t.Error("an address that does not answer the question is entered")
	}
	mu.Lock()
	polite = true
	mu.Unlock()
	if err := s.SetRequestURL(t.Context(), hook.URL); err != nil {
		t.Fatal(err)
	}
	s.Type("U0ANN12345", "C0HERE1234", "no")
	count := func(n int) bool {
		return s.Await(&mu, findSocket, func() bool { return len(seen) == n })
	}
	if !count(3) || seen[0] != "application/json " || seen[2] != "application/json 2" {
		t.Errorf("a message came as %q", seen)
	}
	s.Type("U0ANN12345", "C0HERE1234", "/deny x")
	if !s.Await(&s.mu, findSocket, func() bool { return len(s.told["U0ANN12345"]) == 1 }) {
		t.Errorf("nothing was told: %q", s.Log())
	}
	mu.Lock()
	refuse = 1
	mu.Unlock()
	s.Type("U0ANN12345", "C0HERE1234", "/deny x")
	if !s.Await(&s.mu, findSocket, func() bool { return len(s.told["U0ANN12345"]) == 2 }) {
		t.Errorf("that the command failed was not told: %q", s.Log())
	}
	if !count(5) || !strings.Contains(s.Told("U0ANN12345")[1], "dispatch_failed") {
		t.Errorf("%q, told %q", seen, s.Told("U0ANN12345"))
	}
}
