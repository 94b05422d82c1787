package daemon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
)

// hookedConfig is a configuration whose Discord brings presses to a webhook.
func hookedConfig(t *testing.T, dir string, s *discordtest.Server, people, channel string) configs.Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	_ = l.Close()
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(ownPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := configs.Parse(filepath.Join(dir, "approver.yaml"), fmt.Appendf(nil, `dir: data
policy: policy.yaml
sockets: {submit: run/s.sock, resolve: run/r.sock}
webhooks: {listen: "%[1]s", url: "http://%[1]s"}
channels:
  discord:
    receive: webhook
    public_key: %[2]s
    token: %[3]s
    api_url: %[4]s
    channels: ["%[5]s"]
    approvers: [{id: "%[6]s"}]
`, free, s.PublicKey(), s.Token(), s.URL(), channel, people))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// The daemon listens for platforms, a press that Discord brings there approves a call, junk is refused and
// counted, and status says both. The listener ends with the daemon.
func TestADaemonWithAWebhook(t *testing.T) {
	dir, err := os.MkdirTemp("", "hook")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := discordtest.New()
	t.Cleanup(s.Close)
	ann, channel := s.AddUser("Ann"), s.AddChannel()
	cfg := hookedConfig(t, dir, s, ann, channel)
	d := New(cfg, slog.New(slog.NewTextHandler(t.Output(), nil)))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	select {
	case <-d.Ready():
	case err := <-ended:
		t.Fatalf("the start: %v", err)
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("waited in vain for %s\n%s", what, strings.Join(s.Log(), "\n"))
			}
		}
	}
	at := "http://" + cfg.Webhooks.Listen + "/discord"
	until("the address to be entered", func() bool { return s.Endpoint() == at })
	answered := make(chan string, 1)
	go func() {
		exit, out := hookCall(cfg, "git push origin main")
		answered <- fmt.Sprint(exit, out)
	}()
	until("the card", func() bool { return len(s.Cards(channel)) == 1 })
	if resp, err := http.Post(at, "application/json", bytes.NewReader([]byte(`{"type":1}`))); err != nil ||
		resp.StatusCode != http.StatusUnauthorized || resp.Body.Close() != nil {
		t.Errorf("junk: %v, %v", resp, err)
	}
	if err := s.Tap(ann, channel, s.Cards(channel)[0].Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	if out := <-answered; !strings.HasPrefix(out, "0") || !strings.Contains(out, "allow") {
		t.Errorf("the approved call: %s", out)
	}
	var status adminapi.Status
	resolve := httpapi.ResolveClient{Socket: cfg.Sockets.Resolve}
	if err := resolve.Operate(ctx, adminapi.OpStatus, struct{}{}, &status); err != nil {
		t.Fatal(err)
	}
	c := status.Channels[0]
	if !c.Receives || c.LastRequest.IsZero() || c.Refused < 2 ||
		!strings.Contains(c.Asked(), "requests refused, the last") {
		t.Errorf("status says %+v: %s, %s", c, c.Receiving(), c.Asked())
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	if c, err := net.Dial("tcp", cfg.Webhooks.Listen); err == nil {
		_ = c.Close()
		t.Error("the listener is still there")
	}
}

// An address that is taken keeps the daemon from starting, with its setting in the error, and nothing is left behind.
func TestADaemonWhoseWebhookHasNoPort(t *testing.T) {
	dir, err := os.MkdirTemp("", "port")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := discordtest.New()
	t.Cleanup(s.Close)
	cfg := hookedConfig(t, dir, s, s.AddUser("Ann"), s.AddChannel())
	l, err := net.Listen("tcp", cfg.Webhooks.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = New(cfg, slog.New(slog.DiscardHandler)).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "webhooks.listen") {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(cfg.Sockets.Submit); err == nil {
		t.Error("the socket is still there")
	}
}

// The story: an agent that runs as the daemon's own user reads the secret of the webhook, and brings a yes in
// Ann's name to the listener on loopback. So a webhook with a shared secret is refused where agents could read it; a
// platform that signs with a key of its own is not.
func TestSharedSecretsNeedAnIsolatedDaemon(t *testing.T) {
	const text = `dir: .
sockets: {submit: /tmp/s.sock, resolve: /tmp/r.sock}
webhooks: {url: "https://approver.example.com"}
channels:
  telegram:
    receive: webhook
    webhook_secret: 0123456789abcdef0123456789abcdef
    token: "123456:AAEhBP0av28FrPBmiRhTLD2ucWOCrDqUmZs"
    chats: [{id: "10042"}]
    approvers: [{id: "10042"}]
  discord:
    receive: webhook
    token: hunter2
    channels: ["200000000000000001"]
    approvers: [{id: "100000000000000001"}]
  slack:
    receive: webhook
    signing_secret: 8f742231b10e8888abcd99yyyzzz85a5
    app_id: A0123456789
    bot_token: xoxb-hunter2
    channels: [C0123456789]
    approvers: [{id: U0123456789}]
`
	cfg, err := configs.Parse(filepath.Join(t.TempDir(), "approver.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, isolated := range []bool{false, true} {
		channels, err := OpenChannels(cfg, isolated, nil, slog.New(slog.DiscardHandler))
		var opened []string
		for _, c := range channels {
			opened = append(opened, c.Name())
		}
		want := []string{"discord"}
		if isolated {
			want = []string{"telegram", "discord", "slack"}
		}
		if !slices.Equal(opened, want) || (err == nil) != isolated {
			t.Errorf("isolated %v: opened %v, %v", isolated, opened, err)
		}
		if !isolated && strings.Count(err.Error(), "docs/isolated.md") != 2 {
			t.Errorf("the error does not say what to do: %v", err)
		}
	}
	if err := CheckStart(cfg); err == nil || !strings.Contains(err.Error(), "receive: webhook needs an isolated daemon") {
		t.Errorf("serve would start: %v", err)
	}
}
