package telegram

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"approver.example/internal/secret"
	"github.com/goccy/go-yaml"

	"approver.example"
)

const goodToken = "123456:AAbbCCddEEffGGhhIIjjKKllMMnn-_00112"

func goodConfig() Config {
	return Config{
		Token: secret.New(goodToken), Chats: []Chat{{ID: "-1001234567890"}},
		Approvers: []approver.Approver{{ID: "10042"}},
	}
}

func TestConfigDefects(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no token":   {func(c *Config) { c.Token = secret.Text{} }, "no token"},
		"two tokens": {func(c *Config) { c.TokenFile = "x" }, "both set"},
		"bad token": {func(c *Config) { c.Token = secret.New("123456:AA/../getMe?x=1234567890123456") },
			"does not look like one"},
		"api without scheme": {func(c *Config) { c.APIURL = "api.telegram.org" }, "api_url"},
		"api not http":       {func(c *Config) { c.APIURL = "ftp://127.0.0.1" }, "api_url"},
		"api with query":     {func(c *Config) { c.APIURL = "https://127.0.0.1/?a=b" }, "api_url"},
		"api with user":      {func(c *Config) { c.APIURL = "https://u:p@127.0.0.1" }, "api_url"},
		"api without host":   {func(c *Config) { c.APIURL = "https:///bot" }, "api_url"},
		"api unparsable":     {func(c *Config) { c.APIURL = "http://[::1" }, "api_url"},
		"no chats":           {func(c *Config) { c.Chats = nil }, "no chats"},
		"chat name":          {func(c *Config) { c.Chats[0].ID = "@ops" }, "not a chat id"},
		"chat empty":         {func(c *Config) { c.Chats[0].ID = "" }, "not a chat id"},
		"chat zero":          {func(c *Config) { c.Chats[0].ID = "0" }, "not a chat id"},
		"chat twice":         {func(c *Config) { c.Chats = append(c.Chats, c.Chats[0]) }, "listed twice"},
		"thread negative":    {func(c *Config) { c.Chats[0].Thread = -1 }, "positive number"},
		"thread too big":     {func(c *Config) { c.Chats[0].Thread = 1 << 31 }, "positive number"},
		"no approvers":       {func(c *Config) { c.Approvers = nil }, "no approvers"},
		"approver name":      {func(c *Config) { c.Approvers[0].ID = "@ann" }, "not a user id"},
		"approver a group":   {func(c *Config) { c.Approvers[0].ID = "-100123" }, "not a user id"},
		"approver empty":     {func(c *Config) { c.Approvers[0].ID = "" }, "not a user id"},
		"approver spelling":  {func(c *Config) { c.Approvers[0].ID = "010042" }, "not a user id"},
		"approver too big":   {func(c *Config) { c.Approvers[0].ID = "4503599627370496" }, "not a user id"},
		"approver twice":     {func(c *Config) { c.Approvers = append(c.Approvers, c.Approvers[0]) }, "listed twice"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := goodConfig()
			c.change(&cfg)
			errs := problems(cfg)
			if len(errs) != 1 || !strings.Contains(errs[0], c.want) {
				t.Fatalf("Validate: %v, want one error with %q", errs, c.want)
			}
			ch, err := New(cfg, nil)
			if err == nil || ch != nil {
				t.Fatal("New took the configuration")
			}
			if strings.Contains(err.Error(), cfg.Token.Reveal()) && !cfg.Token.IsZero() {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

// problems are the lines of what Validate says.
func problems(cfg Config) []string {
	err := cfg.Validate()
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestConfigAllProblemsAtOnce(t *testing.T) {
	if errs := problems(Config{}); len(errs) != 3 {
		t.Errorf("the empty configuration has the problems %v, want token, chats, approvers", errs)
	}
	_, err := New(Config{APIURL: "x"}, nil)
	for _, want := range []string{"no token", "api_url", "no chats", "no approvers"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New: %v, want %q in it", err, want)
		}
	}
}

func TestConfigFromYAML(t *testing.T) {
	var cfg Config
	err := yaml.UnmarshalWithOptions([]byte(`
token: `+goodToken+`
api_url: http://127.0.0.1:8081/
chats:
  - id: -1001234567890
    thread: 7
  - id: "10042"
approvers:
  - id: 10042
    name: Ann
  - {id: "10043", person: bob}
`), &cfg, yaml.Strict())
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatalf("Validate: %v", err)
	}
	want := []approver.Destination{
		{Channel: "telegram", Conversation: "-1001234567890/7"},
		{Channel: "telegram", Conversation: "10042"},
	}
	if got := cfg.Destinations(); !slices.Equal(got, want) {
		t.Errorf("destinations %+v, want %+v", got, want)
	}
	c, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.url != "http://127.0.0.1:8081" || c.LeaseName() != "telegram:123456" || c.Name() != "telegram" {
		t.Errorf("url %q, lease %q, name %q", c.url, c.LeaseName(), c.Name())
	}
	if p, ok := c.guard.people.Lookup(Name, "10043"); !ok || p.ID != "bob" {
		t.Errorf("10043 is %+v, %v", p, ok)
	}
}

func TestTokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	cfg := goodConfig()
	cfg.Token, cfg.TokenFile = secret.Text{}, file
	if _, err := New(cfg, nil); err == nil || !strings.Contains(err.Error(), "token_file") {
		t.Errorf("a missing file: %v", err)
	}
	for text, ok := range map[string]bool{goodToken + "\n": true, "hunter2-is-my-secret\n": false} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(cfg, nil)
		if (err == nil) != ok {
			t.Errorf("New with a file of %q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error shows the file's content: %v", err)
		}
	}
}
