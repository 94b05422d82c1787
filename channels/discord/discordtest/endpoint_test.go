package discordtest

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Discord enters an address only if it answers a ping and refuses a wrong signature. Then presses go there, signed, and
// the answer to the request is the response; the callback over REST is none any more.
func TestEndpoint(t *testing.T) {
	s := New()
	defer s.Close()
	ann, channel := s.AddUser("Ann"), s.AddChannel()
	checks := true
	bodies := make(chan map[string]any, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		key, _ := hex.DecodeString(s.PublicKey())
		signature, _ := hex.DecodeString(r.Header.Get("X-Signature-Ed25519"))
		if checks && !ed25519.Verify(key, append([]byte(r.Header.Get("X-Signature-Timestamp")), body...), signature) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var in map[string]any
		_ = json.Unmarshal(body, &in)
		if in["type"] == 1.0 {
			_, _ = io.WriteString(w, `{"type":1}`)
			return
		}
		bodies <- in
		_, _ = io.WriteString(w, `{"type":4,"data":{"content":"noted","flags":64}}`)
	}))
	defer hook.Close()
	enter := func(address string) int {
		req, _ := http.NewRequest(http.MethodPatch, s.URL()+"/v10/applications/@me",
			strings.NewReader(`{"interactions_endpoint_url":`+address+`}`))
		req.Header.Set("Authorization", "Bot "+s.Token())
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	checks = false
	if status := enter(`"` + hook.URL + `"`); status != 400 || s.Endpoint() != "" {
		t.Errorf("an address that takes wrong signatures: %d, %q", status, s.Endpoint())
	}
	checks = true
	if status := enter(`"` + hook.URL + `"`); status != 200 || s.Endpoint() != hook.URL {
		t.Fatalf("a good address: %d, %q", status, s.Endpoint())
	}
	s.SendPress(ann, channel, "", "x", 1, nil)
	in := <-bodies
	if !s.Await(&s.mu, 20*time.Second, func() bool { return len(s.whispers) == 1 }) {
		t.Errorf("the response is not shown: %v", s.Log())
	}
	if told := s.Told(ann); len(told) != 1 || told[0] != "noted" {
		t.Errorf("told %q", told)
	}
	resp, err := http.Post(s.URL()+"/v10/interactions/"+in["id"].(string)+"/"+in["token"].(string)+"/callback",
		"application/json", strings.NewReader(`{"type":4,"data":{"content":"again"}}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 404 {
		t.Errorf("a callback: %d", resp.StatusCode)
	}
	if status := enter("null"); status != 200 || s.Endpoint() != "" {
		t.Errorf("taken away: %d, %q", status, s.Endpoint())
	}
}
