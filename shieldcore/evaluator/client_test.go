package evaluator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example/internal/secret"
)

func mustURL(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	must(t, err)
	return u
}

func noKey(http.Header) {}

// The name may lead anywhere; without TLS nothing but this machine is dialed.
func TestPlainHTTPStaysHere(t *testing.T) {
	_, err := newClient(mustURL(t, "http://192.0.2.1:80/"), nil, noKey).post(t.Context(), nil)
	var u *UnavailableError
	if !errors.As(err, &u) || !strings.Contains(err.Error(), "does not lead to this machine") {
		t.Errorf("%v", err)
	}
	for address, ok := range map[string]bool{"127.0.0.1:80": true, "127.3.2.1:80": true, "[::1]:80": true,
		"192.0.2.1:80": false, "0.0.0.0:80": false, "[fe80::1%eth0]:80": false, "": false, "localhost:80": false} {
		if err := onlyLoopback("tcp", address, nil); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A certificate that nobody vouches for, and a server without TLS, get nothing.
func TestTLS(t *testing.T) {
	asked := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, "{}")
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	c := newClient(mustURL(t, s.URL), nil, noKey)
	if _, err := c.post(t.Context(), nil); !errors.Is(err, ErrUnavailable) ||
		!strings.Contains(err.Error(), "certificate is not trusted") {
		t.Errorf("%v", err)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	if _, err := newClient(mustURL(t, strings.Replace(plain.URL, "http:", "https:", 1)), nil, noKey).post(t.Context(),
		nil); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("%v", err)
	}
	if asked != 0 {
		t.Errorf("%d requests", asked)
	}
	trust(c, s)
	if b, err := c.post(t.Context(), nil); err != nil || string(b) != "{}" {
		t.Errorf("%s, %v", b, err)
	}
}

func trust(c *client, s *httptest.Server) {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	c.http.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool}
}

// Only a proxy that is configured is used, and it sees no more than a host.
func TestProxy(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "https_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	if newClient(mustURL(t, "https://api.example"), nil, noKey).http.Transport.(*http.Transport).Proxy != nil {
		t.Error("the environment names a proxy")
	}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	defer s.Close()
	var seen []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.Host+r.Header.Get("Authorization"))
		to, err := net.Dial("tcp", r.Host)
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		w.WriteHeader(http.StatusOK)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		go func() { _, _ = io.Copy(to, rw) }()
		_, _ = io.Copy(conn, to)
	}))
	defer proxy.Close()
	c := newClient(mustURL(t, s.URL), mustURL(t, proxy.URL),
		func(h http.Header) { h.Set("Authorization", "Bearer secret") })
	trust(c, s)
	if b, err := c.post(t.Context(), []byte("{}")); err != nil || string(b) != "{}" {
		t.Errorf("%s, %v", b, err)
	}
	if len(seen) != 1 || seen[0] != "CONNECT "+s.Listener.Addr().String() {
		t.Errorf("%q", seen)
	}
}

func TestRequestsAreBounded(t *testing.T) {
	c := newClient(mustURL(t, "http://127.0.0.1:1"), nil, noKey)
	if _, err := c.post(t.Context(), make([]byte, maxRequest+1)); err == nil || errors.Is(err, ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if _, err := c.post(t.Context(), nil); !errors.Is(err, ErrUnavailable) ||
		!strings.Contains(err.Error(), "cannot be connected") {
		t.Errorf("%v", err)
	}
}

// A wait that would leave no time for an answer is none at all.
func TestPause(t *testing.T) {
	for _, tt := range []struct {
		err      error
		deadline time.Duration
		again    bool
		took     time.Duration
	}{
		{&UnavailableError{RetryAfter: 5 * time.Second}, 30 * time.Second, true, 5 * time.Second},
		{&UnavailableError{RetryAfter: 29 * time.Second}, 30 * time.Second, true, 29 * time.Second},
		{&UnavailableError{RetryAfter: 30 * time.Second}, 30 * time.Second, false, 0},
		{&UnavailableError{RetryAfter: time.Hour}, 30 * time.Second, false, 0},
		{&UnavailableError{}, 30 * time.Second, false, 0},
		{&UnavailableError{RetryAfter: time.Second}, 0, false, 0}, // no deadline, no wait
		{errCanary, 30 * time.Second, false, 0},
		{nil, 30 * time.Second, false, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			if tt.deadline > 0 {
				ctx, cancel = context.WithTimeout(t.Context(), tt.deadline)
			}
			defer cancel()
			began := time.Now()
			if again := pause(ctx, tt.err); again != tt.again || time.Since(began) != tt.took {
				t.Errorf("%v: again %v after %v", tt.err, again, time.Since(began))
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // the agent goes away meanwhile
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		time.AfterFunc(time.Second, cancel)
		if pause(ctx, &UnavailableError{RetryAfter: 30 * time.Second}) {
			t.Error("asked again for nobody")
		}
	})
}

func TestConfig(t *testing.T) {
	good := Config{Provider: OpenAI, Model: "m"}
	must(t, good.Validate())
	key := secret.New("sk-secret value")
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"nothing":          {func(c *Config) { *c = Config{} }, "provider"},
		"provider":         {func(c *Config) { c.Provider = "ollama" }, `"ollama" is not known`},
		"provider in caps": {func(c *Config) { c.Provider = "OpenAI" }, "is not known"},
		"no model":         {func(c *Config) { c.Model = "" }, "model must name"},
		"model's form":     {func(c *Config) { c.Model = "a\nb" }, "model must name"},
		"http":             {func(c *Config) { c.URL = "http://llm.example/v1" }, "must be https"},
		"http by number":   {func(c *Config) { c.URL = "http://192.0.2.1/v1" }, "must be https"},
		"http look-alike":  {func(c *Config) { c.URL = "http://localhost.example/v1" }, "must be https"},
		"any address":      {func(c *Config) { c.URL = "http://0.0.0.0/v1" }, "must be https"},
		"user":             {func(c *Config) { c.URL = "https://u:p@llm.example" }, "without user"},
		"query":            {func(c *Config) { c.URL = "https://llm.example?key=1" }, "query"},
		"file":             {func(c *Config) { c.URL = "file:///x" }, "absolute http or https"},
		"no host":          {func(c *Config) { c.URL = "https:///x" }, "absolute http or https"},
		"no key":           {func(c *Config) { c.Provider = Anthropic }, "no key"},
		"two keys":         {func(c *Config) { c.KeyFile, c.KeyEnv = "/x", "X" }, "more than one"},
		"two other keys":   {func(c *Config) { c.Key, c.KeyEnv = secret.New("x"), "X" }, "more than one"},
		"key's form":       {func(c *Config) { c.Key = key }, "characters that no key has"},
		"deadline":         {func(c *Config) { c.Deadline = time.Hour }, "deadline is 1h0m0s"},
		"deadline below":   {func(c *Config) { c.Deadline = -time.Second }, "deadline is -1s"},
		"tokens":           {func(c *Config) { c.MaxTokens = 1 }, "max_tokens is 1"},
		"payload":          {func(c *Config) { c.MaxPayload = 1 << 30 }, "max_payload is"},
		"proxy":            {func(c *Config) { c.Proxy = "socks5://x" }, "proxy must be"},
		"proxy with user":  {func(c *Config) { c.Proxy = "http://u:p@x" }, "proxy must be"},
		"proxy for http": {func(c *Config) { c.URL, c.Proxy = "http://127.0.0.1:1/v1", "http://127.0.0.1:2" },
			"proxy is for an https url"},
	} {
		c := good
		tt.change(&c)
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret value") ||
			strings.Contains(err.Error(), "u:p@") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if e, err := New(c); err == nil || e != nil {
			t.Errorf("%s: New takes it", name)
		}
	}
	for _, u := range []string{"", "http://127.0.0.1:11434/v1", "http://localhost:8080/v1/", "http://[::1]:1/v1",
		"https://llm.example/openai/v1"} {
		c := good
		c.URL = u
		to, err := c.endpoint()
		if err != nil || c.Validate() != nil || !strings.HasSuffix(to.Path, "/v1/chat/completions") {
			t.Errorf("%s: %v, %v", u, to, err)
		}
	}
	if to, err := (Config{Provider: Anthropic}).endpoint(); err != nil ||
		to.String() != "https://api.anthropic.com/v1/messages" {
		t.Errorf("%v, %v", to, err)
	}
}

func TestKeyFromEnvironment(t *testing.T) {
	t.Setenv("EVALUATOR_KEY", " sk-from-env \n")
	for _, c := range []Config{{KeyEnv: "EVALUATOR_KEY"}, {KeyFile: "env:EVALUATOR_KEY"}} {
		if key, err := c.secret(); err != nil || key.Reveal() != "sk-from-env" {
			t.Errorf("%v", err)
		}
	}
	t.Setenv("EVALUATOR_KEY", "sk-two\nlines")
	if _, err := New(Config{Provider: OpenAI, Model: "m", KeyEnv: "EVALUATOR_KEY"}); err == nil ||
		strings.Contains(err.Error(), "two") {
		t.Errorf("%v", err)
	}
	if _, err := New(Config{Provider: OpenAI, Model: "m", KeyEnv: "EVALUATOR_NONE"}); err == nil ||
		!strings.Contains(err.Error(), "EVALUATOR_NONE") {
		t.Errorf("%v", err)
	}
}

// must fails a test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
