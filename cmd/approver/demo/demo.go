// Package demo shows the whole way of approvals with nothing installed and no
// account: a real daemon in a temporary folder, real hook processes with a
// recorded payload, and three fake chat servers on loopback that speak the real
// protocols.
//
// It is also a test: Run fails unless every step was as it should be, by the
// fakes' own logs and by the audit's verifier.
package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"approver.example/channels/discord/discordtest"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/configs"
	"approver.example/store/storetest/redistest"
)

// Options say what kind of demo it is.
type Options struct {
	Redis       bool // a private redis-server instead of the embedded store
	Interactive bool // let the person at the keyboard answer once more at the end
	JSON        bool // one event per line
	In          io.Reader
	Out         io.Writer
	Program     string // the approver program, run as daemon and as hook

	store string // for tests: this store part of the configuration instead
}

// Run shows everything and returns an error if anything was not as it should be.
func Run(ctx context.Context, o Options) (err error) {
	w := &world{
		screen: &screen{out: o.Out, json: o.JSON, start: time.Now()},
		ctx:    ctx, program: o.Program, asked: map[string]int{},
	}
	if err := w.build(o); err != nil {
		return errors.Join(err, w.tearDown())
	}
	defer func() { err = errors.Join(err, w.tearDown()) }()
	scenes := []func() error{w.oneTap, w.catastrophe, w.silence, w.photoFinish, w.kill}
	if o.Interactive {
		lines := bufio.NewReader(o.In)
		scenes = append(scenes, func() error { return w.interactive(func() (string, error) { return lines.ReadString('\n') }) })
	}
	for _, scene := range append(scenes, w.proof) {
		if err := scene(); err != nil {
			return fmt.Errorf("%s: %w\n%s", w.step, err, w.lastLog())
		}
	}
	if w.failed > 0 {
		return fmt.Errorf("%d things were not as they should be (see ✗ above)\n%s", w.failed, w.lastLog())
	}
	w.title("done", fmt.Sprintf("All as it should be, in %.1f s", time.Since(w.start).Seconds()))
	return nil
}

// build makes the stage: folder, chat apps, store, configuration, daemon.
func (w *world) build(o Options) error {
	dir, err := os.MkdirTemp("", "approver-demo-")
	if err != nil {
		return err
	}
	w.dir = dir
	w.alice = person{"Alice", map[string]string{"telegram": "10042", "slack": "U0ALICE42"}}
	w.bob = person{"Bob", map[string]string{"telegram": "10043", "slack": "U0BOB0043"}}
	w.apps = []*app{w.telegram(), w.discord(), w.slack()}
	store := "  bolt: {path: data/approver.db}\n"
	if o.Redis {
		if store, err = w.startRedis(); err != nil {
			return err
		}
	}
	if o.store != "" {
		store = o.store
	}
	for name, text := range map[string]string{"approver.yaml": w.configText(store), "policy.yaml": policyText()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	w.title("setting", "approver demo: real daemon, real hook, three chat apps on loopback, "+map[bool]string{true: "Redis", false: "embedded store"}[o.Redis])
	start := time.Now()
	if err := w.startDaemon(); err != nil {
		return fmt.Errorf("%w\n%s", err, w.lastLog())
	}
	w.say("the daemon is ready after %d ms", time.Since(start).Milliseconds())
	return nil
}

// startRedis starts a private redis-server and returns its part of the
// configuration.
func (w *world) startRedis() (string, error) {
	server, err := redistest.Start(w.ctx, redistest.Options{})
	if err != nil {
		return "", err
	}
	w.redis = server.Close
	key := filepath.Join(w.dir, "hub.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("demo-key", 6)), 0o600); err != nil {
		return "", err
	}
	return fmt.Sprintf("  redis: {addrs: [%q], hub_key_file: hub.key}\n", server.Addr), nil
}

func (w *world) tearDown() error {
	var errs []error
	if w.daemon != nil {
		errs = append(errs, w.stopDaemon())
	}
	for _, a := range w.apps {
		a.close()
	}
	if w.redis != nil {
		errs = append(errs, w.redis())
	}
	return errors.Join(append(errs, os.RemoveAll(w.dir))...)
}

// lastLog is the end of the daemon's log, for when something went wrong.
func (w *world) lastLog() string {
	raw, err := os.ReadFile(filepath.Join(w.dir, "daemon.log"))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return "the end of the daemon's log:\n  " + strings.Join(lines[max(0, len(lines)-15):], "\n  ")
}

func (w *world) telegram() *app {
	const chat = -1001234567890
	s := telegramtest.New()
	s.AddUser(10042, "Alice")
	s.AddUser(10043, "Bob")
	s.AddChat(telegramtest.Chat{ID: chat})
	log := func() (out []string) {
		for _, e := range s.Log() {
			out = append(out, e.Method)
		}
		return out
	}
	return &app{
		name: "Telegram", channel: "telegram", conversation: fmt.Sprint(chat), fake: s, log: log,
		posts: "sendMessage", edits: "editMessageText", close: s.Close, token: s.Token(), url: s.URL(),
	}
}

func (w *world) discord() *app {
	s := discordtest.New()
	w.alice.id["discord"], w.bob.id["discord"] = s.AddUser("Alice"), s.AddUser("Bob")
	channel := s.AddChannel()
	return &app{
		name: "Discord", channel: "discord", conversation: channel, fake: s, log: s.Log,
		posts: "POST /api/v10/channels/", edits: "PATCH /api/v10/channels/", close: s.Close, token: s.Token(), url: s.URL(),
	}
}

func (w *world) slack() *app {
	const channel = "C0APPROVAL"
	s := slacktest.New(slacktest.Options{})
	s.AddUser(slacktest.User{ID: w.alice.id["slack"], Name: "Alice"})
	s.AddUser(slacktest.User{ID: w.bob.id["slack"], Name: "Bob"})
	s.AddConversation(slacktest.Conversation{ID: channel})
	return &app{
		name: "Slack", channel: "slack", conversation: channel, fake: s, log: s.Log,
		posts: "chat.postMessage", edits: "chat.update", close: s.Close, token: slacktest.BotToken, url: s.URL(),
	}
}

// configText is the configuration: what a team would write, but for the api_url
// lines that point at the fakes.
func (w *world) configText(store string) string {
	tg, dc, sl := w.apps[0], w.apps[1], w.apps[2]
	list := func(channel string) string {
		return fmt.Sprintf("[{id: %q, name: Alice, person: alice}, {id: %q, name: Bob, person: bob}]", w.alice.id[channel], w.bob.id[channel])
	}
	return fmt.Sprintf(`dir: data
policy: policy.yaml
store:
%ssockets:
  submit: run/submit.sock
  resolve: run/resolve.sock
channels:
  telegram:
    token: %q
    api_url: %q
    chats: [{id: %q}]
    approvers: %s
  discord:
    token: %q
    api_url: %q
    channels: [%q]
    approvers: %s
  slack:
    bot_token: %q
    app_token: %q
    api_url: %q
    channels: [%q]
    approvers: %s
`, store, tg.token, tg.url, tg.conversation, list("telegram"), dc.token, dc.url, dc.conversation, list("discord"),
		sl.token, slacktest.AppToken, sl.url, sl.conversation, list("slack"))
}

// policyText is the default policy with one rule before it that has five
// seconds instead of two minutes.
func policyText() string {
	return strings.Replace(string(configs.DefaultPolicyYAML()), "\nrules:\n", `
rules:
  - name: demo.short
    tools: [Bash]
    command: '^terraform destroy\b'
    decision: ask
    severity: high
    ttl: 5s
    reason: tears down infrastructure; the demo gives it five seconds
`, 1)
}
