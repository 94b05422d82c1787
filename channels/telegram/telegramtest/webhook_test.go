package telegramtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The service brings each update to the webhook with the secret token, in order, again until it is taken, and to no
// poll meanwhile. After deleteWebhook polls get what is left.
func TestWebhook(t *testing.T) {
	s := newServer(t)
	var mu sync.Mutex
	var got []int64
	refuse := 2
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var u struct {
			ID int64 `json:"update_id"`
		}
		mu.Lock()
		defer mu.Unlock()
		if json.NewDecoder(r.Body).Decode(&u) != nil || r.Header.Get("X-Telegram-Bot-Api-Secret-Token") != "secret_1-A" {
			t.Errorf("the headers are %v", r.Header)
		}
		if got = append(got, u.ID); refuse > 0 {
			refuse--
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer hook.Close()
	before := s.Inject(map[string]any{"message": "waits"})
	if r := post(t, s, "setWebhook", "url", hook.URL, "secret_token", "secret_1-A"); !r.OK {
		t.Fatalf("%+v", r)
	}
	after := s.Inject(map[string]any{"message": "new"})
	for end := time.Now().Add(20 * time.Second); s.Pending() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	mu.Lock()
	if want := []int64{before, before, before, after}; !slices.Equal(got, want) {
		t.Errorf("the webhook got %v, want %v", got, want)
	}
	mu.Unlock()
	if r := post(t, s, "getUpdates"); r.Code != 409 {
		t.Errorf("a poll beside it: %+v", r)
	}
	if r := post(t, s, "deleteWebhook"); !r.OK {
		t.Errorf("%+v", r)
	}
	last := s.Inject(map[string]any{"message": "for a poll"})
	if left := ids(t, s); !slices.Equal(left, []int64{last}) {
		t.Errorf("a poll gets %v", left)
	}
}

// A webhook is refused for an address without TLS elsewhere, and for a secret that no header may carry.
func TestWebhookThatIsRefused(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct{ address, secret, want string }{
		{"http://example.org/x", "", "An HTTPS URL must be provided"}, {"x", "", "An HTTPS URL must be provided"},
		{"https://example.org", "a b", "unallowed characters"},
		{"https://example.org", strings.Repeat("a", 257), "unallowed characters"},
	} {
		r := post(t, s, "setWebhook", "url", c.address, "secret_token", c.secret)
		if r.OK || r.Code != 400 || !strings.Contains(r.Description, c.want) {
			t.Errorf("%.40s %.40s: %+v", c.address, c.secret, r)
		}
	}
	s.Inject(map[string]any{"message": "x"})
	r := post(t, s, "setWebhook", "url", "http://127.0.0.1:1/", "drop_pending_updates", "true")
	if !r.OK || s.Pending() != 0 {
		t.Errorf("%+v, %d pending", r, s.Pending())
	}
	s.Inject(map[string]any{"message": "y"})
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if r := post(t, s, "getWebhookInfo"); strings.Contains(fmt.Sprint(string(r.Result)), "Connection failed") {
			return
		}
	}
	t.Error("nobody hears that the webhook fails")
}

// What one person taps waits for nobody else's tap, nor for what is said in a chat; and an update whose answer was lost
// comes again.
func TestWebhookQueues(t *testing.T) {
	s := newServer(t)
	slow := make(chan struct{})
	var mu sync.Mutex
	got := map[int64]int{}
	var first int64
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var u struct {
			ID int64 `json:"update_id"`
		}
		_ = json.NewDecoder(r.Body).Decode(&u)
		mu.Lock()
		got[u.ID]++
		waits := u.ID == first
		mu.Unlock()
		if waits {
			<-slow
		}
	}))
	defer hook.Close()
	tap := func(user int64) int64 {
		return s.Inject(map[string]any{"callback_query": map[string]any{"from": map[string]any{"id": user}}})
	}
	mu.Lock()
	first = tap(1)
	mu.Unlock()
	behind, other := tap(1), tap(2)
	said := s.Inject(map[string]any{"message": map[string]any{"chat": map[string]any{"id": -5}}})
	s.LoseWebhookAnswers(1)
	if r := post(t, s, "setWebhook", "url", hook.URL); !r.OK {
		t.Fatalf("%+v", r)
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			mu.Lock()
			done := ok()
			mu.Unlock()
			if done {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("in vain for %s: %v", what, got)
			}
		}
	}
	until("the others", func() bool { return got[other] > 0 && got[said] > 0 && got[other]+got[said] == 3 })
	mu.Lock()
	if got[behind] != 0 {
		t.Error("the same person's next tap did not wait")
	}
	mu.Unlock()
	close(slow)
	until("the same person's next tap", func() bool { return got[behind] == 1 })
}
