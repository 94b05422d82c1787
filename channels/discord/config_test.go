package discord

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/internal/secret"
	"github.com/goccy/go-yaml"

	"approver.example"
)

const (
	someChannel = "1098765432109876543"
	someUser    = "198765432109876543"
)

func valid() Config {
	return Config{
		Token: secret.New("token"), Channels: []string{someChannel},
		Approvers: []approver.Approver{{ID: someUser}},
	}
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   []string // empty: valid
	}{
		"valid": {func(*Config) {}, nil},
		"everything": {func(c *Config) {
			c.Guild, c.ApplicationID, c.APIURL = someUser, someUser,
				"http://127.0.0.1:9/api/"
		}, nil},
		"zero":               {func(c *Config) { *c = Config{} }, []string{"no token", "no channels", "no approvers"}},
		"two tokens":         {func(c *Config) { c.TokenFile = "x" }, []string{"both set"}},
		"token with prefix":  {func(c *Config) { c.Token = secret.New("Bot abc") }, []string{`leave out the word "Bot"`}},
		"token with newline": {func(c *Config) { c.Token = secret.New("ab\ncd") }, []string{"no token has"}},
		"channel name": {func(c *Config) { c.Channels = []string{"#ops"} },
			[]string{`channels[0]: "#ops" is not a channel id`}},
		"channel twice": {func(c *Config) { c.Channels = append(c.Channels, someChannel) },
			[]string{"channels[1]", "listed twice"}},
		"user name": {func(c *Config) { c.Approvers[0].ID = "ann#1234" },
			[]string{`approvers[0]: "ann#1234" is not a user id`}},
		"user empty":      {func(c *Config) { c.Approvers[0].ID = "" }, []string{"approvers[0]"}},
		"user too big":    {func(c *Config) { c.Approvers[0].ID = "99999999999999999999" }, []string{"approvers[0]"}},
		"user with zeros": {func(c *Config) { c.Approvers[0].ID = "0" + someUser }, []string{"approvers[0]"}},
		"user mention":    {func(c *Config) { c.Approvers[0].ID = "<@" + someUser + ">" }, []string{"approvers[0]"}},
		"user twice": {func(c *Config) { c.Approvers = append(c.Approvers, c.Approvers[0]) },
			[]string{"approvers[1]", "listed twice"}},
		"guild name":       {func(c *Config) { c.Guild = "home" }, []string{"guild:"}},
		"application name": {func(c *Config) { c.ApplicationID = "approver" }, []string{"application_id:"}},
		"api relative":     {func(c *Config) { c.APIURL = "/api" }, []string{"api_url"}},
		"api other scheme": {func(c *Config) { c.APIURL = "ftp://discord.com/api" }, []string{"api_url"}},
		"api with user":    {func(c *Config) { c.APIURL = "https://a:b@discord.com/api" }, []string{"api_url"}},
		"api with query":   {func(c *Config) { c.APIURL = "https://discord.com/api?x=1" }, []string{"api_url"}},
		"all at once": {
			func(c *Config) {
				c.Channels, c.Approvers, c.APIURL = []string{"a"}, []approver.Approver{{ID: "b"}}, "c"
			},
			[]string{"channels[0]", "approvers[0]", "api_url"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := valid()
			c.change(&cfg)
			err := cfg.Validate()
			if (err == nil) != (len(c.want) == 0) {
				t.Fatalf("Validate: %v", err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("the error does not say %q:\n%v", w, err)
				}
			}
			if _, newErr := New(cfg, slog.New(slog.DiscardHandler)); (newErr == nil) != (err == nil) {
				t.Errorf("New: %v, Validate: %v", newErr, err)
			}
		})
	}
}

func TestConfigFromYAML(t *testing.T) {
	var cfg Config
	// Ids are written with and without quotes.
	err := yaml.UnmarshalWithOptions([]byte(`
token: abc
channels: [1098765432109876543, "1098765432109876544"]
approvers:
  - id: 198765432109876543
    name: Ann
guild: 1098765432109876000
text_approvals: true
`), &cfg, yaml.Strict())
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	if cfg.Channels[0] != someChannel || cfg.Approvers[0].ID != someUser || !cfg.TextApprovals ||
		cfg.Guild != "1098765432109876000" {
		t.Errorf("read %+v", cfg)
	}
	if to := cfg.Destinations(); len(to) != 2 ||
		to[1] != (approver.Destination{Channel: "discord", Conversation: "1098765432109876544"}) {
		t.Errorf("the destinations are %+v", to)
	}
}

func TestTokenFile(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, want string }{
		"good":   {"secret-token\n", ""},
		"prefix": {"Bot secret-token\n", "leave out"},
		"two":    {"secret-token\nsecret-token", "no token has"},
		"empty":  {"\n", "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := valid()
			cfg.Token, cfg.TokenFile = secret.Text{}, filepath.Join(dir, name)
			if err := os.WriteFile(cfg.TokenFile, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			ch, err := New(cfg, slog.New(slog.DiscardHandler))
			switch {
			case c.want == "" && (err != nil || ch.token.Reveal() != "secret-token"):
				t.Fatalf("New: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("New: %v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
	cfg := valid()
	cfg.Token, cfg.TokenFile = secret.Text{}, filepath.Join(dir, "none")
	if _, err := New(cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "token_file") {
		t.Errorf("New with a missing file: %v", err)
	}
}

// Replicas with the same bot compete for one lease, other bots do not; the name
// shows nothing of the token.
func TestLeaseName(t *testing.T) {
	name := func(token string) string {
		cfg := valid()
		cfg.Token, cfg.TokenFile = secret.New(token), ""
		c, err := New(cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		var solo approver.Solo = c
		return solo.LeaseName()
	}
	one, again, other := name("token-one"), name("token-one"), name("token-two")
	if one != again || one == other || !strings.HasPrefix(one, "discord:") || strings.Contains(one, "token") {
		t.Errorf("%q, %q, %q", one, again, other)
	}
}
