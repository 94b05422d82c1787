package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"approver.example/channels/discord/discordtest"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/configs"
	"approver.example/shieldcore/evaluator/evaluatortest"
	"approver.example/store/storetest/redistest"
)

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
	w.model = evaluatortest.New()
	store := "  bolt: {path: data/approver.db}\n"
	if o.Redis {
		if store, err = w.startRedis(); err != nil {
			return err
		}
	}
	if o.store != "" {
		store = o.store
	}
	for name, text := range map[string]string{"approver.yaml": w.configText(store),
		"policy.yaml": policyText(w.patience)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	w.title("setting", "approver demo: real daemon, real hook, three chat apps on loopback, "+
		map[bool]string{true: "Redis", false: "embedded store"}[o.Redis])
	return w.startDaemon()
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

func (w *world) telegram() *app {
	const chat = -1001234567890
	s := telegramtest.New()
	s.AddUser(10042, "Alice")
	s.AddUser(10043, "Bob")
	s.AddChat(telegramtest.Chat{ID: chat})
	log := func() (out []string) {
		for _, e := range s.Log() {
			out = append(out, e.String())
		}
		return out
	}
	return &app{
		name: "Telegram", channel: "telegram", conversation: fmt.Sprint(chat), fake: s, log: log,
		posts: "sendMessage 200", edits: "editMessageText 200", close: s.Close, token: s.Token(), url: s.URL(),
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
		return fmt.Sprintf("[{id: %q, name: Alice, person: alice}, {id: %q, name: Bob, person: bob}]", w.alice.id[channel],
			w.bob.id[channel])
	}
	return fmt.Sprintf(`dir: data
policy: policy.yaml
shield:
  evaluator: {provider: openai, url: %q, model: %q, key: %q}
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
`, w.model.URL(evaluatortest.OpenAI), evaluatortest.Model, w.model.Key(), store, tg.token, tg.url, tg.conversation, list("telegram"), dc.token, dc.url, dc.conversation, list("discord"),
		sl.token, slacktest.AppToken, sl.url, sl.conversation, list("slack"))
}

// What the policy gives people time for.
const (
	shortTTL = 5 * time.Second // to show what silence does
	patience = time.Minute     // for somebody at the keyboard
)

// policyText is the default policy with two rules before it that have other
// times than its two minutes.
func policyText(turn time.Duration) string {
	return strings.Replace(string(configs.DefaultPolicyYAML()), "\nrules:\n", fmt.Sprintf(`
rules:
  - name: demo.short
    tools: [Bash]
    command: '^terraform destroy\b'
    decision: ask
    severity: high
    ttl: %v
    reason: tears down infrastructure; the demo gives it five seconds
  - name: demo.turn
    tools: [Bash]
    command: '^git push --force origin yours$'
    decision: ask
    severity: high
    ttl: %v
    reason: overwrites history on the remote; the demo gives you a minute
`, shortTTL, turn), 1)
}
