package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/internal/secret"
	"approver.example/internal/section"
)

const hookSecret = "0123456789abcdef0123456789abcdef-test_secret"

// hookConfig is a configuration whose channel gets its updates at a webhook.
func hookConfig(s *telegramtest.Server) Config {
	cfg := testConfig(s)
	cfg.Receive, cfg.WebhookSecret = section.ByWebhook, secret.New(hookSecret)
	return cfg
}

// hookUp gives a channel the daemon's listener.
func hookUp(t testing.TB, c *Channel) {
	t.Helper()
	c.hook.at = channeltest.ServeHook(t, Name, c.Webhook())
}

// unhooked makes a bench for a webhook whose channel does not run yet.
func unhooked(t *testing.T) *bench {
	t.Helper()
	b := idle(t)
	var err error
	if b.c.hook, err = newHook(hookConfig(b.s), b.c); err != nil {
		t.Fatal(err)
	}
	b.c.pace.look = 20 * time.Millisecond
	hookUp(t, b.c)
	return b
}

// hooked makes a bench whose channel gets its updates at a webhook.
func hooked(t *testing.T) *bench {
	t.Helper()
	b := unhooked(t)
	b.run()
	b.eventually("the webhook to be set", func() bool { return b.s.Webhook() != "" && b.c.Reception().Up })
	return b
}

func TestConformanceByWebhook(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has the conformance of the other way in, and the other tests of this one")
	}
	channeltest.Run(t, func(t *testing.T) channeltest.Fixture {
		s := newWorld(t)
		cfg := hookConfig(s)
		to := cfg.Destinations()
		c := newChannel(t, cfg)
		hookUp(t, c)
		return channeltest.Fixture{
			Channel: c, Fake: s, Here: to[0], There: to[1],
			Approver: text(ann), Second: text(bob), Stranger: text(mallory),
			CodeByMessage: true, Reasons: true, FatalRevoked: true, Secrets: []string{s.Token(), hookSecret},
			Reads: func(shown string) string { return strings.ReplaceAll(shown, string(tab), "\t") },
			Gone: func(conversation string) {
				s.AddChat(telegramtest.Chat{ID: chatID(t, conversation), Kicked: true})
			},
			Delete: func(conversation, message string) { s.Delete(chatID(t, conversation), message) },
		}
	})
}

// bring sends a request to the webhook, as anybody may.
func (b *bench) bring(given string, body []byte) (status int) {
	b.Helper()
	req, err := http.NewRequest(http.MethodPost, b.c.hook.at, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	if given != "" {
		req.Header.Set(secretHeader, given)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// denial is an update in which Ann denies a code.
func denial(t *testing.T, id int64) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"update_id": id, "message": map[string]any{
		"message_id": id, "date": time.Now().Unix(), "text": "/deny " + mint(t).Reveal(),
		"chat": map[string]any{"id": teamChat, "type": "supergroup"},
		"from": map[string]any{"id": ann, "is_bot": false, "first_name": "Ann"}}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The story: an agent on the same machine finds the listener and brings a yes in Ann's name, without the secret, with
// a guess, with a part of it, and with the bot's token. None counts, each is counted, and one line is in the log.
func TestWebhookWithoutTheSecret(t *testing.T) {
	b := hooked(t)
	for i, given := range []string{"", "guess", hookSecret[:20], hookSecret + "x", strings.ToUpper(hookSecret),
		b.s.Token()} {
		if status := b.bring(given, denial(t, int64(100+i))); status != http.StatusUnauthorized {
			t.Errorf("with the secret %q: %d", given, status)
		}
	}
	b.nothing()
	now := b.c.Reception()
	if now.Refused != 6 || now.LastRefused.IsZero() || !strings.Contains(now.Refusal, "another secret") || !now.Up {
		t.Errorf("it says %+v", now)
	}
	if now.Brought.IsZero() {
		t.Error("it does not say that Telegram brought something")
	}
	if strings.Contains(b.logs.String(), hookSecret) {
		t.Error("the secret is in the log")
	}
}

// The story: Telegram's copy of our 200 is lost, so the update comes again. It counts once.
func TestWebhookUpdateTwice(t *testing.T) {
	b := hooked(t)
	b.s.LoseWebhookAnswers(2)
	ref := b.post(highCard(t))
	if err := b.s.Tap(text(ann), ref.Conversation, ref.Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	b.settled()
	b.want(1)
	raw := denial(t, 5_000_000)
	for range 3 {
		if status := b.bring(hookSecret, raw); status != http.StatusOK {
			t.Errorf("brought again: %d", status)
		}
	}
	b.want(2)
}

// The story: the daemon is started anew just when Ann taps. Nobody takes the update, Telegram keeps it, and the
// next daemon hears of it.
func TestWebhookKeepsWhatNobodyTook(t *testing.T) {
	b := hooked(t)
	ref := b.post(highCard(t))
	b.stop()
	if err := b.s.Tap(text(ann), ref.Conversation, ref.Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	if status := b.bring(hookSecret, denial(t, 5_000_000)); status != http.StatusServiceUnavailable {
		t.Errorf("without a daemon: %d", status)
	}
	if now := b.c.Reception(); now.Up {
		t.Errorf("a channel that stopped says %+v", now)
	}
	b.run()
	if r := b.want(1); !r.Approve || r.Message != ref.Message {
		t.Errorf("%+v", r)
	}
	b.settled()
}

// The story: Ann's yes waits for its agent, and Bob says no in the same chat meanwhile. Telegram brings what is said
// in one chat in order, so the yes must not hold back the no until it is done.
func TestWebhookHoldsNothingBack(t *testing.T) {
	b := unhooked(t)
	b.c.pace.hold = 50 * time.Millisecond
	release := make(chan struct{})
	b.judge = func(_ context.Context, r approver.Reply) approver.Outcome {
		if r.Approve {
			<-release
		}
		return approver.Outcome{Kind: approver.OutcomeRecorded, Text: "Noted."}
	}
	b.run()
	b.s.Type(text(ann), text(teamChat), "/approve "+mint(t).Reveal())
	b.s.Type(text(bob), text(teamChat), "/deny "+mint(t).Reveal())
	b.eventually("the no beside the yes", func() bool {
		return slices.ContainsFunc(b.got(), func(r approver.Reply) bool { return !r.Approve && r.Sender == text(bob) })
	})
	close(release)
	b.want(2)
	b.settled()
}

// An update is acknowledged when it is done, not before.
func TestWebhookAcknowledgesWhatIsDone(t *testing.T) {
	b := unhooked(t)
	b.c.pace.hold = time.Minute
	begun, release := make(chan struct{}), make(chan struct{})
	b.judge = func(context.Context, approver.Reply) approver.Outcome {
		if len(b.got()) == 1 {
			close(begun)
			<-release
		}
		return approver.Outcome{Kind: approver.OutcomeRecorded, Text: "Noted."}
	}
	b.run()
	b.eventually("the webhook to be set", func() bool { return b.s.Webhook() != "" })
	taken := make(chan int, 1)
	raw := denial(t, 5_000_000)
	go func() { taken <- b.bring(hookSecret, raw) }()
	<-begun
	for range 5 { // others are acknowledged meanwhile
		b.s.Type(text(bob), text(opsChat), "/deny "+mint(t).Reveal())
		b.settled()
	}
	select {
	case status := <-taken:
		t.Errorf("the update was acknowledged with %d before it was done", status)
	default:
	}
	close(release)
	if status := <-taken; status != http.StatusOK {
		t.Errorf("%d", status)
	}
}

// The story: another program with the same bot sets its own webhook. Ours is set again, and the log says why.
func TestWebhookThatMoved(t *testing.T) {
	b := hooked(t)
	ours := b.s.Webhook()
	b.s.SetWebhook("https://elsewhere.example/x")
	b.eventually("the webhook to be ours again", func() bool { return b.s.Webhook() == ours })
	b.s.Type(text(ann), text(teamChat), "/deny "+mint(t).Reveal())
	b.want(1)
	if !strings.Contains(b.logs.String(), "another program has changed the webhook") {
		t.Errorf("the log does not say so:\n%s", b.logs)
	}
}

// The story: the certificate of the proxy has run out. Telegram says so, and with it status and doctor; nobody waits
// for answers that cannot come.
func TestWebhookThatTelegramCannotReach(t *testing.T) {
	b := unhooked(t)
	b.c.hook.at = "http://127.0.0.1:1/" + Name // nobody is there
	b.run()
	b.eventually("the webhook to be set", func() bool { return b.s.Webhook() != "" })
	b.s.Type(text(ann), text(teamChat), "/deny "+mint(t).Reveal())
	b.eventually("no reception", func() bool {
		now := b.c.Reception()
		return !now.Up && strings.Contains(now.Problem, "cannot bring updates")
	})
	if _, err := b.c.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "Connection failed") ||
		!strings.Contains(err.Error(), "1 wait") {
		t.Errorf("doctor says %v", err)
	}
}

// Doctor says where updates go, and if it is not here.
func TestWebhookHealth(t *testing.T) {
	b := hooked(t)
	who, err := b.c.Health(t.Context())
	if err != nil || !strings.Contains(who, b.c.hook.at) {
		t.Errorf("%q, %v", who, err)
	}
	b.stop()
	b.s.SetWebhook("https://elsewhere.example/x")
	if _, err := b.c.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "https://elsewhere.example/x") {
		t.Errorf("%v", err)
	}
	b.s.SetWebhook("")
	if _, err := b.c.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "no webhook is set") {
		t.Errorf("%v", err)
	}
}

// The story: the operator goes back to polling. The webhook is taken away, and what came in between is not lost.
func TestWebhookBackToPolling(t *testing.T) {
	b := hooked(t)
	b.stop()
	b.s.Type(text(ann), text(teamChat), "/deny "+mint(t).Reveal())
	b.c.hook = nil
	b.run()
	b.want(1)
	if b.s.Webhook() != "" {
		t.Error("the webhook is still set")
	}
}

// The story: two replicas stand behind a balancer. Neither waits for a lease, Telegram brings each update to one of
// them, and every answer arrives once.
func TestWebhookOfReplicas(t *testing.T) {
	one, two := hooked(t), idle(t)
	var err error
	two.s = one.s
	if two.c, err = New(hookConfig(one.s), slog.New(slog.NewTextHandler(two.logs, nil))); err != nil {
		t.Fatal(err)
	}
	two.c.pace = one.c.pace
	hookUp(t, two.c)
	one.stop()
	if one.c.LeaseName() != "" || two.c.LeaseName() != "" {
		t.Error("a channel with a webhook wants a lease")
	}
	front := channeltest.Balance(t, one.c.hook.at, two.c.hook.at) + "/" + Name
	one.c.hook.at, two.c.hook.at = front, front
	one.run()
	two.run()
	both := []*bench{one, two}
	one.eventually("both to receive", func() bool { return one.c.Reception().Up && two.c.Reception().Up })
	refs := map[string]bool{}
	for range 12 {
		ref := one.post(highCard(t))
		refs[ref.Message] = true
		if err := one.s.Tap(text(ann), ref.Conversation, ref.Message, fake.DenyButton); err != nil {
			t.Fatal(err)
		}
	}
	one.settled()
	one.eventually("all answers", func() bool { return len(one.got())+len(two.got()) >= 12 })
	for _, b := range both {
		if len(b.got()) == 0 {
			t.Error("one of the replicas got nothing")
		}
		for _, r := range b.got() {
			if !refs[r.Message] {
				t.Errorf("an answer came twice: %+v", r)
			}
			delete(refs, r.Message)
		}
	}
	if len(refs) > 0 {
		t.Errorf("lost: %v", refs)
	}
}

// The settings of a webhook.
func TestWebhookConfig(t *testing.T) {
	hooked := func(change func(*Config)) Config {
		cfg := goodConfig()
		cfg.Receive, cfg.WebhookSecret = section.ByWebhook, secret.New(hookSecret)
		change(&cfg)
		return cfg
	}
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(*Config) {}, ""},
		{func(c *Config) { c.Receive = "push" }, `receive: "push" is not known`},
		{func(c *Config) { c.WebhookSecret = secret.Text{} }, "no webhook_secret"},
		{func(c *Config) { c.WebhookSecretFile = "x" }, "both set"},
		{func(c *Config) { c.WebhookSecret = secret.New("short") }, "32 to 256"},
		{func(c *Config) { c.WebhookSecret = secret.New(strings.Repeat("a", 257)) }, "32 to 256"},
		{func(c *Config) { c.WebhookSecret = secret.New(strings.Repeat("ä", 32)) }, "32 to 256"},
	} {
		switch errs := problems(hooked(c.change)); {
		case c.want == "" && len(errs) > 0, c.want != "" && (len(errs) != 1 || !strings.Contains(errs[0], c.want)):
			t.Errorf("%v, want %q", errs, c.want)
		}
	}
	cfg := hooked(func(*Config) {})
	if _, err := cfg.Open(section.Installation{}, nil); err == nil || !strings.Contains(err.Error(), "isolated") {
		t.Errorf("beside agents of the same user: %v", err)
	}
	c, err := cfg.Open(section.Installation{Isolated: true, Webhooks: "https://a.example"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if at := c.(*Channel).hook.at; at != "https://a.example/telegram" {
		t.Errorf("updates go to %s", at)
	}
}

// Whatever the holder of the secret brings, the channel answers, and only an approver's own message counts.
func FuzzWebhookTake(f *testing.F) {
	f.Add([]byte(`{"update_id":7,"message":{"message_id":1,"date":1,"text":"/deny x","chat":{"id":-1},"from":{"id":1}}}`))
	f.Add([]byte(`{"update_id":8,"callback_query":{"id":"1","from":{"id":10042},"data":"a1:x:a","message":{}}}`))
	f.Add([]byte(`{"update_id":9}`))
	f.Add([]byte(`[]`))
	c, err := New(func() Config {
		cfg := goodConfig()
		cfg.Receive, cfg.WebhookSecret, cfg.APIURL = section.ByWebhook, secret.New(hookSecret), "http://127.0.0.1:1"
		return cfg
	}(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		ctx, cancel := context.WithCancel(t.Context())
		l := newListener(c, func(_ context.Context, r approver.Reply) approver.Outcome {
			if r.Sender != "10042" || r.Conversation != "-1001234567890" {
				t.Errorf("%s became %+v", body, r)
			}
			return approver.Outcome{Text: "Noted."}
		})
		shut := c.hook.gate.Open(&run{l, ctx})
		if a := c.hook.Take(ctx, nil, body); a.Status != 0 {
			t.Errorf("%s is answered with %d", body, a.Status)
		}
		shut()
		cancel()
		for _, q := range []*queues{l.people, l.freezing, l.others} {
			q.wait()
		}
	})
}
