package evaluator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"approver.example/internal/secret"
	"approver.example/shieldcore/evaluator/evaluatortest"
)

// The model's name had a typing error. Every call was blocked, status counted "6 blocked,
// 0 failed", and only the audit said why. Health says it before a call needs it, in our
// own words: what a provider says may repeat the key.
func TestHealth(t *testing.T) {
	p := evaluatortest.New()
	defer p.Close()
	gone := evaluatortest.New()
	gone.Close()
	refusing := func(status int, kind, message string) evaluatortest.Behavior {
		return evaluatortest.Over("refusing", "", func(_ *evaluatortest.Server, w http.ResponseWriter, _ *http.Request,
			_ evaluatortest.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, kind, message+" "+p.Key())
		})
	}
	good := Config{Provider: OpenAI, URL: p.URL(OpenAI), Model: evaluatortest.Model, Key: secret.New(p.Key()),
		Deadline: time.Second}
	with := func(change func(*Config)) Config { c := good; change(&c); return c }
	for name, tt := range map[string]struct {
		cfg  Config
		does evaluatortest.Behavior
		want string // of the error; empty is none
	}{
		"right": {good, evaluatortest.Honest(), ""},
		"right, anthropic": {with(func(c *Config) { c.Provider, c.URL = Anthropic, p.URL(Anthropic) }),
			evaluatortest.Honest(), ""},
		"it blocks all": {good, evaluatortest.Deciding("BLOCK", 0.9, "no"), ""},
		"a wrong model": {good, refusing(400, "invalid_request_error", "model: nope"),
			"HTTP 400, invalid request error): check model"},
		"a wrong model, 404": {good, refusing(404, "not_found_error", "model: nope"),
			"HTTP 404, not found error): check url and model"},
		"a model not for us": {good, refusing(403, "permission_error", "no"),
			"HTTP 403, permission error): check with the provider what the key may do"},
		"a region not for us": {good, refusing(403, "unsupported_country", "no"),
			"(HTTP 403): check with the provider what the key may do"},
		"no such model": {good, refusing(400, "model_not_found", "no"), "HTTP 400, model not found): check model"},
		"too long": {good, refusing(400, "context_length_exceeded", "no"),
			"context length exceeded): check max_payload"},
		"too large":         {good, refusing(413, "request_too_large", "no"), "request too large): check max_payload"},
		"no such parameter": {good, refusing(400, "unsupported_parameter", "no"), "unsupported parameter): check reasoning"},
		"a bill": {good, refusing(402, "billing_error", "no"),
			"HTTP 402, billing error): look at the account's billing"},
		"a bill, with 403": {good, refusing(403, "billing_error", "no"),
			"HTTP 403, billing error): look at the account's billing"},
		"too many requests": {good, refusing(429, "rate_limit_error", "wait"), "it limits the rate of requests (HTTP 429)"},
		"a web page": {good, evaluatortest.Over("page", "",
			func(_ *evaluatortest.Server, w http.ResponseWriter, _ *http.Request, _ evaluatortest.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = fmt.Fprint(w, "<html>welcome</html>")
			}), "the answer is a web page, so another server is there: check url"},
		"an unknown kind": {good, refusing(400, "the_key_is_"+p.Key(), "no"), "(HTTP 400): check model"},
		"a wrong key": {with(func(c *Config) { c.Key = secret.New("another") }), evaluatortest.Honest(),
			"does not take the key (HTTP 401"},
		"no key": {with(func(c *Config) { c.Key = secret.Text{} }), evaluatortest.Honest(),
			"does not take the key (HTTP 401"},
		"a wrong path": {with(func(c *Config) { c.URL = p.URL(OpenAI) + "/v2" }), evaluatortest.Honest(),
			"HTTP 404"},
		"another protocol": {with(func(c *Config) { c.Provider = Anthropic }), evaluatortest.Honest(), "HTTP 404"},
		"nobody there": {with(func(c *Config) { c.URL = gone.URL(OpenAI) }), evaluatortest.Honest(),
			"it cannot be connected to"},
		"out of money": {good, refusing(429, "insufficient_quota", "pay"), "the account has no money or quota left"},
		"down":         {good, refusing(503, "api_error", "later"), "HTTP 503"},
		"slow":         {good, evaluatortest.Slow(3 * time.Second), "did not answer within the deadline"},
		"not up to it": {good, evaluatortest.Saying("chat", "",
			func(evaluatortest.Request) string { return "Sure! ALLOW" }), "does not have the form"},
		"no canary": {good, evaluatortest.Saying("no canary", "",
			func(evaluatortest.Request) string { return evaluatortest.Verdict("ALLOW", 1, "x", "") }),
			"canary verification failed"},
		"an answer without end": {good, evaluatortest.Enveloping("cut", "",
			func(_ evaluatortest.Request, e map[string]any) { e["choices"] = []any{} }), "not exactly one answer"},
	} {
		t.Run(name, func(t *testing.T) {
			p.Behave(tt.does)
			e, err := New(tt.cfg)
			must(t, err)
			if r := e.Reception(); r.Up || !r.Since.IsZero() {
				t.Errorf("before it was asked: %+v", r)
			}
			before, start := p.Count(), time.Now()
			said, err := e.Health(t.Context())
			if took := time.Since(start); took > 2*time.Second || p.Count() > before+1 {
				t.Errorf("it took %v and %d requests", took, p.Count()-before)
			}
			if tt.want == "" && (err != nil || said == "") ||
				tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%q, %v; want %q", said, err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), p.Key()) {
				t.Errorf("the key is shown: %v", err)
			}
			if r := e.Reception(); r.Up != (tt.want == "") || !r.Up && !strings.Contains(r.Problem, tt.want) {
				t.Errorf("%+v", r)
			}
		})
	}
	if flaws := p.Flaws(); len(flaws) > 0 && !strings.Contains(strings.Join(flaws, ""), "key") {
		t.Errorf("%v", flaws)
	}
	if _, err := (*Evaluator)(nil).Health(t.Context()); err == nil || (*Evaluator)(nil).Reception().Up {
		t.Error("no evaluator is well")
	}
}

// A call that was given up meanwhile says nothing of the evaluator.
func TestReceptionOfACallThatWasGivenUp(t *testing.T) {
	p := evaluatortest.New()
	defer p.Close()
	e, err := New(Config{Provider: OpenAI, URL: p.URL(OpenAI), Model: evaluatortest.Model, Key: secret.New(p.Key())})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Judge(ctx, harmless); !errors.Is(err, context.Canceled) || !e.Reception().Since.IsZero() {
		t.Errorf("%v, %+v", err, e.Reception())
	}
	if _, err := e.Judge(t.Context(), harmless); err != nil || !e.Reception().Up {
		t.Errorf("%v, %+v", err, e.Reception())
	}
}
