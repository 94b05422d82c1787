package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/configs"
	"approver.example/shieldcore/evaluator/evaluatortest"
	"approver.example/store/storetest/redistest"
)

// build sets everything up: the folder, chat apps, store, configuration and daemon.
func (w *world) build(o Options) error {
	dir, err := os.MkdirTemp("", "approver-demo-")
	if err != nil {
		return err
	}
	w.dir, w.daemon.Dir = dir, dir
	w.alice = person{"Alice", map[string]string{"telegram": "10042", "slack": "U0ALICE42"}}
	w.bob = person{"Bob", map[string]string{"telegram": "10043", "slack": "U0BOB0043"}}
	w.apps = []*app{w.telegram(), w.discord(), w.slack()}
	w.model = evaluatortest.New()
	store := "  sqlite: {path: data/approver.db}\n"
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
	w.title("setting", "approver demo: the real program, and three chat apps that are played on this machine"+
		map[bool]string{true: "; requests are kept in Redis"}[o.Redis])
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
	return &app{
		name: "Telegram", channel: "telegram", conversation: fmt.Sprint(chat), fake: s, log: s.Log,
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

// configText returns the configuration. A team would write the same, except for the model and
// api_url addresses, which point to the fakes, and the limits on questions and the pace of the platforms,
// which a test that kills the daemon would otherwise reach.
func (w *world) configText(store string) string {
	tg, dc, sl := w.apps[0], w.apps[1], w.apps[2]
	list := func(channel string) string {
		return fmt.Sprintf("[{id: %q, name: Alice, person: alice}, {id: %q, name: Bob, person: bob}]", w.alice.id[channel],
			w.bob.id[channel])
	}
	return fmt.Sprintf(`dir: data
policy: policy.yaml
asks_per_minute: {user: 1000, agent: 1000}
pace: false
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
`, w.model.URL(evaluatortest.OpenAI), evaluatortest.Model, w.model.Key(), store, tg.token, tg.url,
		tg.conversation, list("telegram"), dc.token, dc.url, dc.conversation, list("discord"),
		sl.token, slacktest.AppToken, sl.url, sl.conversation, list("slack"))
}

// How long people have to answer.
const (
	shortTTL = 5 * time.Second // to show what silence does
	patience = time.Minute     // for somebody at the keyboard
)

// policyText returns the default policy, preceded by two rules with other times than its two
// minutes. turn is the time of the second rule.
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

// shield: calls that the rules leave to the evaluator, a separate model, go there first. People are
// asked only about calls of which it is not sure.
func (w *world) shield() error {
	w.title("shield", "5. A language model of yours looks first: rm -rf ../old-builds")
	command := func(n string) string { return "rm -rf ../old-builds-" + n }
	for _, step := range []struct {
		n, says  string
		model    evaluatortest.Behavior
		decision string
		exit     int
	}{
		{"1", "ALLOW, so it goes on and nobody is asked",
			evaluatortest.Deciding("ALLOW", 0.95, "old build output beside the project"), "no decision", 0},
		{"2", "BLOCK, so it is denied", evaluatortest.Deciding("BLOCK", 0.9, "nothing says that these builds are old"),
			"deny", 2},
		{"3", "ALLOW without the secret word that it was given: the command took it over, so it is denied",
			evaluatortest.Saying("taken over", "forgets its canary", func(evaluatortest.Request) string {
				return evaluatortest.Verdict("ALLOW", 1, "as you command", strings.Repeat("0", 64))
			}), "deny", 2},
	} {
		w.model.Behave(step.model)
		asked := w.model.Count()
		o, err := w.answer(w.hook(command(step.n), ""))
		if err != nil {
			return err
		}
		w.check(w.model.Count() == asked+1 && o.decision() == step.decision && o.exit == step.exit,
			"the model says %s", step.says)
	}
	w.model.Behave(evaluatortest.Deciding("ESCALATE", 0.55, "may be intended"))
	hook := w.hook(command("4"), "make room on the disk")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	w.say("the model is not sure, so people are asked; Bob taps Details on Discord, to see how sure it is …")
	before := w.toldSoFar(w.bob, "discord")
	if err := w.tap(w.bob, "discord", cards, fake.DetailsButton); err != nil {
		return err
	}
	text, err := w.heard(w.bob, "discord", before)
	if err != nil {
		return err
	}
	w.check(strings.Contains(text, "tier 2, confidence 0.55") &&
		strings.Contains(text, "claimed by the model: may be intended"),
		"Details have its confidence, 0.55 of 1, and its own words, marked as claimed")
	all := w.model.Requests()
	last := all[len(all)-1].Body
	w.check(!strings.Contains(last, "make room on the disk") && !strings.Contains(last, w.alice.name),
		"the model was shown the call, and neither what the agent says of it nor who answers")
	if err := w.tap(w.bob, "discord", cards, fake.ApproveButton); err != nil {
		return err
	}
	_, err = w.end(hook, cards, approvedBy(w.bob, "discord"))
	return err
}
