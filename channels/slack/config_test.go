package slack_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"approver.example"
	"approver.example/channels/slack"
	"approver.example/internal/secret"
)

func good() slack.Config {
	return slack.Config{
		BotToken:  secret.New("xoxb-1"),
		AppToken:  secret.New("xapp-1"),
		Channels:  []string{"C0HERE1234"},
		Approvers: []approver.Approver{{ID: "U0ANN12345"}},
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*slack.Config)
		want   []string // parts of the error; none: it is valid
	}{
		{"the least", func(*slack.Config) {}, nil},
		{"everything", func(c *slack.Config) {
			c.AppID, c.Teams, c.Connections, c.TextApprovals = "A012345678", []string{"T012345678", "E012345678"}, 5, true
			c.Channels = append(c.Channels, "G0GROUP123", "D0DIRECT12")
			c.Approvers = append(c.Approvers, approver.Approver{ID: "W0GRID1234"})
			c.APIURL = "http://127.0.0.1:8080/api"
		}, nil},
		{"nothing", func(c *slack.Config) { *c = slack.Config{} },
			[]string{"bot_token is missing", "app_token is missing", "channels is empty", "approvers is empty"}},
		{"tokens swapped", func(c *slack.Config) { c.BotToken, c.AppToken = c.AppToken, c.BotToken },
			[]string{"bot_token does not start with xoxb-", "app_token does not start with xapp-"}},
		{"a user's token", func(c *slack.Config) { c.BotToken = secret.New("xoxp-1") },
			[]string{"bot_token does not start with xoxb-"}},
		{"token twice", func(c *slack.Config) { c.BotTokenFile = "f" },
			[]string{"bot_token and bot_token_file are both set"}},
		{"a channel's name", func(c *slack.Config) { c.Channels = []string{"#general"} },
			[]string{`channels[0] "#general" is not a conversation id`}},
		{"a person as channel", func(c *slack.Config) { c.Channels = []string{"U0ANN12345"} },
			[]string{`channels[0] "U0ANN12345" is not`}},
		{"a channel twice", func(c *slack.Config) { c.Channels = []string{"C0HERE1234", "C0HERE1234"} },
			[]string{`channels[1] "C0HERE1234" is there twice`}},
		{"an approver's name", func(c *slack.Config) { c.Approvers = []approver.Approver{{ID: "ann"}} },
			[]string{`approvers[0] id "ann" is not a user id`}},
		{"an approver's mail", func(c *slack.Config) { c.Approvers[0].ID = "ann@example.org" }, []string{"is not a user id"}},
		{"an approver in lower case", func(c *slack.Config) { c.Approvers[0].ID = "u0ann12345" },
			[]string{"is not a user id"}},
		{"an approver without id", func(c *slack.Config) { c.Approvers = []approver.Approver{{Name: "Ann"}} },
			[]string{"is not a user id"}},
		{"an approver twice", func(c *slack.Config) { c.Approvers = append(c.Approvers, c.Approvers[0]) },
			[]string{"approvers[1] id", "twice"}},
		{"a bad team", func(c *slack.Config) { c.Teams = []string{"home"} }, []string{`teams[0] "home"`}},
		{"a bad app", func(c *slack.Config) { c.AppID = "approver" }, []string{`app_id "approver"`}},
		{"too many connections", func(c *slack.Config) { c.Connections = 6 }, []string{"connections is 6"}},
		{"negative connections", func(c *slack.Config) { c.Connections = -1 }, []string{"connections is -1"}},
		{"other commands", func(c *slack.Config) { c.Command, c.DenyCommand = "/ok", "/no-no_2" }, nil},
		{"a command without its slash", func(c *slack.Config) { c.Command = "ok" }, []string{`command "ok" is not the name`}},
		{"a command in capitals", func(c *slack.Config) { c.DenyCommand = "/Nope" }, []string{`deny_command "/Nope" is not`}},
		{"a command of two words", func(c *slack.Config) { c.Command = "/ok now" }, []string{`command "/ok now" is not`}},
		{"a long command", func(c *slack.Config) { c.Command = "/" + strings.Repeat("x", 32) }, []string{"is not the name"}},
		{"pairing's command", func(c *slack.Config) { c.Command = "/pair" }, []string{"is not /pair"}},
		{"one command for both", func(c *slack.Config) { c.Command = "/deny" }, []string{"cannot approve and deny"}},
		{"an approving command called deny", func(c *slack.Config) { c.Command, c.DenyCommand = "/deny", "/nope" },
			[]string{"take one for the other"}},
		{"a denying command called approve", func(c *slack.Config) { c.Command, c.DenyCommand = "/ok", "/approve" },
			[]string{"take one for the other"}},
		{"relative url", func(c *slack.Config) { c.APIURL = "/api/" }, []string{"api_url"}},
		{"other scheme", func(c *slack.Config) { c.APIURL = "ftp://host/" }, []string{"api_url"}},
		{"password in url", func(c *slack.Config) { c.APIURL = "https://u:sekret@host/" }, []string{"api_url"}},
		{"query in url", func(c *slack.Config) { c.APIURL = "https://host/?a=b" }, []string{"api_url"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := good()
			c.change(&cfg)
			err := cfg.Validate()
			if len(c.want) == 0 {
				if err != nil {
					t.Fatalf("Validate: %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("Validate accepts it")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not say %q: %v", part, err)
				}
			}
			if strings.Contains(err.Error(), "xoxp-1") || strings.Contains(err.Error(), "sekret") {
				t.Errorf("the error shows a secret: %v", err)
			}
			if _, err := slack.New(cfg, nil); err == nil {
				t.Errorf("New accepts what Validate refuses")
			}
		})
	}
}

func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bot, app, wrong := write("bot", "xoxb-secret\n"), write("app", "xapp-secret\n"), write("wrong", "xoxp-secret\n")
	for _, c := range []struct {
		name, bot, app, want string
	}{
		{"both", bot, app, ""},
		{"missing file", filepath.Join(dir, "none"), app, "bot_token_file"},
		{"another kind", wrong, app, "bot_token does not start with xoxb-"},
		{"swapped", bot, bot, "app_token does not start with xapp-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := good()
			cfg.BotToken, cfg.AppToken = secret.Text{}, secret.Text{}
			cfg.BotTokenFile, cfg.AppTokenFile = c.bot, c.app
			_, err := slack.New(cfg, nil)
			switch {
			case c.want == "" && err != nil:
				t.Fatalf("New: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("New gives %v, want %q", err, c.want)
			case err != nil && strings.Contains(err.Error(), "-secret"):
				t.Fatalf("the error shows a token: %v", err)
			}
		})
	}
	if _, err := slack.New(slack.Config{BotTokenFile: filepath.Join(dir, "none")}, nil); err == nil ||
		errors.Is(err, os.ErrNotExist) {
		t.Errorf("New reads files of a configuration that is invalid anyway: %v", err)
	}
}

func TestConfigFromYAML(t *testing.T) {
	const text = `
bot_token: xoxb-1
app_token_file: /etc/approver/slack-app
app_id: A012345678
channels: [C0HERE1234, D0DIRECT12]
approvers:
  - id: U0ANN12345
    name: Ann
    person: ann
teams: [E012345678]
text_approvals: true
connections: 1
api_url: https://proxy.example/api/
`
	var got slack.Config
	if err := yaml.UnmarshalWithOptions([]byte(text), &got, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	want := slack.Config{
		BotToken: secret.New("xoxb-1"), AppTokenFile: "/etc/approver/slack-app", AppID: "A012345678",
		Channels:  []string{"C0HERE1234", "D0DIRECT12"},
		Approvers: []approver.Approver{{ID: "U0ANN12345", Name: "Ann", Person: "ann"}},
		Teams:     []string{"E012345678"}, TextApprovals: true, Connections: 1, APIURL: "https://proxy.example/api/",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	list := got.Destinations()
	if len(list) != 2 || list[1] != (approver.Destination{Channel: "slack", Conversation: "D0DIRECT12"}) {
		t.Errorf("destinations are %+v", list)
	}
}
