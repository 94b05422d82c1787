package configs_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example/configs"
)

const webhookFile = `webhooks: {%s}
channels:
  discord:
    receive: webhook
    token_file: d.token
    channels: ["200000000000000001"]
    approvers: [{id: "100000000000000001"}]
`

// The settings that all webhooks share.
func TestWebhookSettings(t *testing.T) {
	for _, c := range []struct{ settings, want string }{
		{`url: "https://approver.example.com"`, ""},
		{`url: "https://approver.example.com/hooks"`, ""},
		{`url: "http://127.0.0.1:8790"`, ""},
		{`url: "https://a.example", listen: "0.0.0.0:80"`, ""},
		{`url: "https://a.example", listen: "[::1]:80"`, ""},
		{`listen: "127.0.0.1:8790"`, "webhooks.url is missing"},
		{`url: "http://approver.example.com"`, "must be an https address"},
		{`url: "http://localhost"`, "must be an https address"},
		{`url: "https://a.example/"`, "must be an https address"},
		{`url: "https://u:hunter2@a.example"`, "must be an https address"},
		{`url: "https://a.example?x=1"`, "must be an https address"},
		{`url: "https://a.example", listen: ":80"`, "webhooks.listen must be"},
		{`url: "https://a.example", listen: "127.0.0.1"`, "webhooks.listen must be"},
		{`url: "https://a.example", listen: "127.0.0.1:0"`, "webhooks.listen must be"},
		{`url: "https://a.example", listen: "127.0.0.1:http"`, "webhooks.listen must be"},
	} {
		_, err := configs.Parse("/etc/approver/approver.yaml", []byte(strings.Replace(webhookFile, "%s", c.settings, 1)))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.settings, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2 ") {
			t.Errorf("the error shows a password: %v", err)
		}
	}
}

// The story: somebody who may write the configuration lets Discord's presses, or Telegram's with their secret, go to a
// server of their own. Both that a channel receives by webhook and where wait for people, and until then the channel
// receives as before.
func TestWebhooksWaitForPeople(t *testing.T) {
	cfg, err := configs.Parse("/etc/approver/approver.yaml",
		[]byte(strings.Replace(webhookFile, "%s", `url: "https://a.example"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	const receive, where = "channels.discord.receive: webhook", "webhooks.url: https://a.example"
	all := cfg.Authority()
	for _, line := range []string{receive, where} {
		if !slices.Contains(all, line) {
			t.Errorf("%q is not among %q", line, all)
		}
		without := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == line })
		if held := cfg.HeldTo(without); held.Channels.Discord.Receive != "" {
			t.Errorf("without %q the channel receives by %s", line, held.Channels.Discord.Receive)
		}
	}
	if held := cfg.HeldTo(all); held.Channels.Discord.Receive == "" || held.Webhooks.URL != "https://a.example" {
		t.Errorf("with all of it: %+v", held.Webhooks)
	}
	if cfg.Channels.Discord.Receive == "" {
		t.Error("the configuration itself was changed")
	}
}
