package oncall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/oncall/oncalltest"
	"approver.example/internal/secret"
)

var (
	_ approver.Pager         = (*Channel)(nil)
	_ approver.Taker         = (*Channel)(nil)
	_ approver.HealthChecker = (*Channel)(nil)
	_ approver.Renewer       = (*Channel)(nil)
)

// both is a configuration with both services.
func both(s *oncalltest.Server) Config {
	return Config{
		PagerDutyKey: secret.New(oncalltest.PagerDutyKey), PagerDutyURL: s.URL(),
		OpsgenieKey: secret.New(oncalltest.OpsgenieKey), OpsgenieURL: s.URL() + "/",
	}
}

func serve(t *testing.T) *oncalltest.Server {
	t.Helper()
	s := oncalltest.New()
	t.Cleanup(func() { s.Close() })
	return s
}

func channel(t *testing.T, cfg Config) *Channel {
	t.Helper()
	c, err := New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

func at(service string) approver.Destination {
	return approver.Destination{Channel: Name, Conversation: service}
}

func TestConformance(t *testing.T) {
	for _, service := range []string{PagerDuty, Opsgenie} {
		t.Run(service, func(t *testing.T) {
			channeltest.RunPager(t, func(t *testing.T) channeltest.PagerFixture {
				s := serve(t)
				return channeltest.PagerFixture{
					Channel: channel(t, both(s)), Here: at(service), Break: s.Break, Sent: s.Bodies,
					Open: func() (all []string) {
						for _, a := range s.Open() {
							all = append(all, a.Text)
						}
						return all
					},
					Secrets: []string{oncalltest.PagerDutyKey, oncalltest.OpsgenieKey},
				}
			})
		})
	}
}

// card is a request that waits for a minute.
func card(id string, s approver.Severity) approver.Card {
	return approver.Card{
		Request: id, Severity: s, State: approver.Pending, Push: s.String() + " · git push --force origin main",
		Due: time.Now().Add(time.Minute),
	}
}

func TestAnAlertSaysHowUrgentItIsAndWhereToAnswer(t *testing.T) {
	s := serve(t)
	c := channel(t, both(s))
	shown := []string{"telegram", "slack"}
	c.Where(func(_ context.Context, request string) []string {
		if request == "" {
			t.Error("of no request")
		}
		return shown
	})
	for _, want := range []struct {
		service  string
		severity approver.Severity
		word     string
	}{
		{PagerDuty, approver.High, "error"}, {PagerDuty, approver.Catastrophic, "critical"},
		{Opsgenie, approver.High, "P2"}, {Opsgenie, approver.Catastrophic, "P1"},
	} {
		id := want.service + want.word
		ref, err := c.Post(t.Context(), at(want.service), card(id, want.severity))
		if err != nil {
			t.Fatal(err)
		}
		open := s.Open()
		a := open[len(open)-1]
		if a.ID != id || a.Severity != want.word || !strings.Contains(a.Text, "Telegram, Slack") {
			t.Errorf("%s %s: %+v", want.service, want.severity, a)
		}
		if ref.Message != id {
			t.Errorf("%+v", ref)
		}
	}
	shown = nil // a chat that is still being tried is none where anybody can answer
	if _, err := c.Post(t.Context(), at(PagerDuty), card("alone", approver.High)); err != nil {
		t.Fatal(err)
	}
	open := s.Open()
	if a := open[len(open)-1]; strings.Contains(a.Text, "Answer it") || !strings.Contains(a.Text, "approver pending") {
		t.Errorf("%s", a.Text)
	}
}

func TestTheServiceIsToldWhoDecided(t *testing.T) {
	s := serve(t)
	c := channel(t, both(s))
	ref, err := c.Post(t.Context(), at(Opsgenie), card("r1", approver.High))
	if err != nil {
		t.Fatal(err)
	}
	end := card("r1", approver.High)
	end.State, end.Result = approver.Denied, "⛔ Denied by Ann"
	if err := c.Update(t.Context(), ref, end); err != nil {
		t.Fatal(err)
	}
	if a := s.Alerts()[0]; a.Open || a.Note != end.Result {
		t.Errorf("%+v", a)
	}
}

// The story: the answer of the service was lost, and so were those of the tries that followed. The request
// ended, and nobody knew of an alert: it rang on-call all night. Now it is closed after the deadline, and one
// whose post was confirmed in the end is not touched.
func TestAnAlertThatNobodyKnowsOfIsClosed(t *testing.T) {
	for _, service := range []string{PagerDuty, Opsgenie} {
		t.Run(service, func(t *testing.T) {
			s := serve(t)
			c := channel(t, both(s))
			c.doubts.after, c.doubts.every = 0, 5*time.Millisecond
			s.LoseAnswers(2)
			for _, id := range []string{"lost", "confirmed"} {
				k := card(id, approver.High)
				k.Due = time.Now().Add(-time.Second)
				if _, err := c.Post(t.Context(), at(service), k); err == nil || errors.Is(err, approver.ErrFinal) {
					t.Fatalf("%v", err)
				}
			}
			if _, err := c.Post(t.Context(), at(service), card("confirmed", approver.High)); err != nil {
				t.Fatal(err)
			}
			if all := s.Alerts(); len(all) != 2 || all[1].Opened != 1 || all[1].Taken != 2 {
				t.Fatalf("%+v", all)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); _ = c.Run(ctx, nil) }()
			for end := time.Now().Add(20 * time.Second); len(s.Open()) != 1 && time.Now().Before(end); {
				time.Sleep(5 * time.Millisecond)
			}
			cancel()
			<-ended
			if open := s.Open(); len(open) != 1 || open[0].ID != "confirmed" {
				t.Errorf("%+v", open)
			}
		})
	}
}

// The story: the key was replaced at the service, and the new one put into its file. The old one was refused
// until somebody restarted the daemon at night.
func TestANewKeyIsTakenFromItsFile(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	put := func(name, key string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(key+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c := channel(t, Config{
		PagerDutyKeyFile: put("pd", oncalltest.PagerDutyKey), PagerDutyURL: s.URL(),
		OpsgenieKeyFile: put("og", oncalltest.OpsgenieKey), OpsgenieURL: s.URL(),
	})
	const pd, og = "ffffffffffffffffffffffffffffffff", "99998888-7777-6666-5555-444433332222"
	s.SetKey(PagerDuty, pd)
	s.SetKey(Opsgenie, og)
	for service, cure := range map[string]string{PagerDuty: "pagerduty_key_file", Opsgenie: "opsgenie_key_file"} {
		_, err := c.Post(t.Context(), at(service), card("r1", approver.High))
		if err == nil || errors.Is(err, approver.ErrFinal) || !strings.Contains(err.Error(), cure) {
			t.Errorf("%s: %v", service, err)
		}
	}
	path := put("pd", pd)
	put("og", og)
	if c.Holds(path) {
		t.Error("it has not taken the new key yet")
	}
	for _, service := range []string{PagerDuty, Opsgenie} {
		if _, err := c.Post(t.Context(), at(service), card("r1", approver.High)); err != nil {
			t.Errorf("%s: %v", service, err)
		}
	}
	if !c.Holds(path) {
		t.Error("it says that it does not use the file's key")
	}
}

func TestALimitIsKeptBetweenCalls(t *testing.T) {
	s := serve(t)
	c := channel(t, both(s))
	s.SetLimit(2)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	for _, id := range []string{"r1", "r2", "r3", "r4"} {
		_, err := c.Post(ctx, at(PagerDuty), card(id, approver.High))
		var patience approver.Patience
		switch late := id > "r2"; {
		case !late && err != nil:
			t.Errorf("%s: %v", id, err)
		case late && (!errors.As(err, &patience) || patience.RetryAfter() < 30*time.Second):
			t.Errorf("%s: %v", id, err)
		}
	}
	if n := len(s.Bodies()); n != 3 {
		t.Errorf("%d calls: a service that limits the rate was called all the same", n)
	}
	if _, err := c.Post(ctx, at(Opsgenie), card("r3", approver.High)); err != nil {
		t.Errorf("the other service: %v", err)
	}
}

func TestHealthSaysWhatWasNotChecked(t *testing.T) {
	s := serve(t)
	c := channel(t, both(s))
	who, err := c.Health(t.Context())
	if err != nil || who != "Opsgenie, PagerDuty (not checked until it is used)" {
		t.Errorf("%q %v", who, err)
	}
	if len(s.Alerts()) != 0 {
		t.Error("somebody was called")
	}
	s.SetKey(Opsgenie, "another")
	if _, err := c.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "opsgenie_key_file") {
		t.Errorf("%v", err)
	}
	s.Break(fake.Down)
	if _, err := c.Health(t.Context()); err == nil || strings.Contains(err.Error(), s.URL()) {
		t.Errorf("%v", err)
	}
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   []string // parts of the error; none: it is valid
	}{
		"both":        {func(*Config) {}, nil},
		"one":         {func(c *Config) { c.OpsgenieKey, c.OpsgenieURL = secret.Text{}, "" }, nil},
		"none":        {func(c *Config) { *c = Config{} }, []string{"no service", "pagerduty_key_file"}},
		"a key twice": {func(c *Config) { c.PagerDutyKeyFile = "f" }, []string{"pagerduty_key and pagerduty_key_file"}},
		"a key with a gap": {func(c *Config) { c.OpsgenieKey = secret.New("a b") },
			[]string{"opsgenie_key is not a key"}},
		"a URL without a key": {func(c *Config) { c.OpsgenieKey = secret.Text{} }, []string{"opsgenie_url",
			"opsgenie_key_file"}},
		"a relative URL":      {func(c *Config) { c.PagerDutyURL = "/v2" }, []string{"pagerduty_url"}},
		"a password in a URL": {func(c *Config) { c.OpsgenieURL = "https://u:sekret@host" }, []string{"opsgenie_url"}},
	} {
		cfg := Config{PagerDutyKey: secret.New("k1"), OpsgenieKey: secret.New("k2"),
			OpsgenieURL: "https://api.eu.opsgenie.com"}
		c.change(&cfg)
		err := cfg.Validate()
		if (err == nil) != (len(c.want) == 0) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "sekret") {
				t.Errorf("%s: %v, want %q", name, err, part)
			}
		}
	}
}

// The story: a service quoted the key that it did not know, and it stood in the log, in status and in the audit.
func TestAKeyThatIsQuotedIsNotShown(t *testing.T) {
	const key = "R0SECRETSECRETSECRETSECRETSECRET"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"status":"invalid event","message":"No","errors":["routing_key %s is unknown"]}`, key)
	}))
	defer s.Close()
	c := channel(t, Config{PagerDutyKey: secret.New(key), PagerDutyURL: s.URL})
	_, err := c.Post(t.Context(), at(PagerDuty), card("r1", approver.High))
	if err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "is unknown") {
		t.Error(err)
	}
}
