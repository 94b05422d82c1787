package slack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/internal/secret"
	"approver.example/internal/section"
	"approver.example/internal/webhooks"
	"approver.example/tokens"
)

// hookConfig is a configuration whose channel gets its events at a webhook.
func hookConfig(fake *slacktest.Server) slack.Config {
	cfg := config(fake)
	cfg.Receive, cfg.SigningSecret, cfg.AppID = section.ByWebhook, secret.New(slacktest.SigningSecret), slacktest.AppID
	cfg.AppToken = secret.Text{}
	return cfg
}

func TestConformanceByWebhook(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has the conformance of the other way in, and the other tests of this one")
	}
	channeltest.Run(t, func(t *testing.T) channeltest.Fixture {
		fake := workspace(t, slacktest.Options{})
		cfg := hookConfig(fake)
		c, err := slack.New(cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := fake.SetRequestURL(t.Context(), channeltest.ServeHook(t, slack.Name, c.Webhook())); err != nil {
			t.Fatal(err)
		}
		return channeltest.Fixture{
			Channel: c, Fake: untilUp{deniesOnly{fake}, c}, Here: cfg.Destinations()[0], There: cfg.Destinations()[1],
			Approver: ann, Second: ben, Stranger: stranger, FatalRevoked: true,
			Secrets: []string{slacktest.BotToken, slacktest.SigningSecret}, Delete: fake.Delete,
			Gone: func(conversation string) {
				fake.AddConversation(slacktest.Conversation{ID: conversation, NotMember: true})
			},
		}
	})
}

// untilUp is Slack with people who type only once the app is up: Slack repeats no command.
type untilUp struct {
	deniesOnly
	c *slack.Channel
}

func (u untilUp) Type(user, conversation, text string) {
	for end := time.Now().Add(5 * time.Second); !u.c.Reception().Up && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
	u.deniesOnly.Type(user, conversation, text)
}

// hooked makes a bench whose channel gets its events at a webhook, and returns its address.
func hooked(t *testing.T, s setup) (b *bench, at string) {
	t.Helper()
	s.config = func(cfg *slack.Config) {
		cfg.Receive, cfg.SigningSecret, cfg.AppID = section.ByWebhook, secret.New(slacktest.SigningSecret), slacktest.AppID
		cfg.AppToken = secret.Text{}
	}
	b = begin(t, s)
	at = channeltest.ServeHook(t, slack.Name, b.channel.Webhook())
	if err := b.fake.SetRequestURL(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	b.eventually("reception", func() bool { return b.channel.Reception().Up })
	return b, at
}

// press is a press of Ann's on a card, as Slack brings it.
func (b *bench) press(card approver.Card, ref approver.Ref, action string) (body []byte, kind string) {
	payload := b.fake.ButtonPayload(ann, here, ref.Message, "ap:"+card.Request+":1", card.Request, action)
	return slacktest.Request("interactive", payload)
}

func (b *bench) bring(at string, body []byte, header http.Header) (status int) {
	b.t.Helper()
	status, said, err := b.fake.Bring(b.t.Context(), at, body, header)
	if err != nil {
		b.t.Fatal(err)
	}
	if status != http.StatusOK && len(said) > 0 {
		b.t.Errorf("a stranger is told %q", said)
	}
	return status
}

// The story: somebody recorded a genuine press, or makes one up, and brings it. It does not count: not with a
// signature of another body or another time, not with another secret, not without one, and not a genuine one of six
// minutes ago.
func TestWebhookForged(t *testing.T) {
	b, at := hooked(t, setup{})
	card := b.card()
	body, kind := b.press(card, b.post(card), "approve")
	other := append([]byte(nil), body...)
	other[len(other)-1] ^= 1
	genuine := slacktest.Sign(time.Now(), kind, body)
	without := func(name string) http.Header {
		h := genuine.Clone()
		h.Del(name)
		return h
	}
	moved := genuine.Clone()
	moved.Set("X-Slack-Request-Timestamp", fmt.Sprint(time.Now().Unix()+1))
	guess := genuine.Clone()
	guess.Set("X-Slack-Signature", "v0="+strings.Repeat("0", 64))
	empty := genuine.Clone()
	empty.Set("X-Slack-Signature", "v0=")
	refused := 0
	for name, h := range map[string]http.Header{
		"of another body":  slacktest.Sign(time.Now(), kind, other),
		"of another time":  moved,
		"with a guess":     guess,
		"with nothing":     empty,
		"unsigned":         without("X-Slack-Signature"),
		"without a time":   without("X-Slack-Request-Timestamp"),
		"six minutes old":  slacktest.Sign(time.Now().Add(-6*time.Minute), kind, body),
		"of the future":    slacktest.Sign(time.Now().Add(6*time.Minute), kind, body),
		"of another place": {"X-Telegram-Bot-Api-Secret-Token": {slacktest.SigningSecret}},
	} {
		refused++
		if status := b.bring(at, body, h); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
	}
	b.want(0)
	if now := b.channel.Reception(); now.Refused != uint64(refused) || now.Refusal == "" || !now.Up {
		t.Errorf("it says %+v", now)
	}
	if status := b.bring(at, body, genuine); status != http.StatusOK {
		t.Errorf("the genuine press: %d", status)
	}
	b.want(1)
}

// The story: a genuine press is recorded on its way and brought again within the five minutes. It counts once.
func TestWebhookReplayed(t *testing.T) {
	b, at := hooked(t, setup{})
	card := b.card()
	body, kind := b.press(card, b.post(card), "approve")
	header := slacktest.Sign(time.Now(), kind, body)
	for range 3 {
		if status := b.bring(at, body, header); status != http.StatusOK {
			t.Errorf("%d", status)
		}
	}
	b.want(1)
}

// The story: Slack does not hear our answer in time and brings the event again, with X-Slack-Retry-Num. It
// counts once; a message that denies is the kind that Slack repeats.
func TestWebhookRetried(t *testing.T) {
	b, at := hooked(t, setup{})
	code, err := tokens.Mint(8)
	if err != nil {
		t.Fatal(err)
	}
	body, kind := slacktest.Request("events_api", b.fake.MessagePayload(ann, here, "", "no "+code.Reveal()))
	for n := range 3 {
		header := slacktest.Sign(time.Now(), kind, body)
		if n > 0 {
			header.Set("X-Slack-Retry-Num", fmt.Sprint(n))
		}
		if status := b.bring(at, body, header); status != http.StatusOK {
			t.Errorf("try %d: %d", n, status)
		}
	}
	if r := b.want(1)[0]; r.Approve || !r.Code.Equal(code) {
		t.Errorf("%+v", r)
	}
}

// The story: an answer takes ten seconds, because the store is slow. Slack gives up after three: it hears of
// the press before, and the person is told the outcome all the same.
func TestWebhookAnswersInTime(t *testing.T) {
	release := make(chan struct{})
	b, at := hooked(t, setup{outcome: func(context.Context, approver.Reply) approver.Outcome {
		<-release
		return approver.Outcome{Kind: approver.OutcomeApproved, Text: "Approved at last."}
	}})
	card := b.card()
	body, kind := b.press(card, b.post(card), "approve")
	if status := b.bring(at, body, slacktest.Sign(time.Now(), kind, body)); status != http.StatusOK { // within its 3 s
		t.Errorf("%d", status)
	}
	close(release)
	b.told(ann, "Approved at last.")
}

// What only the holder of the secret can bring and nobody can read ends nothing.
func TestWebhookUnreadable(t *testing.T) {
	b, at := hooked(t, setup{})
	for kind, bodies := range map[string][]string{
		"application/json":                  {"", "{", "[]", `{"type":"event_callback"}`, `{"type":"url_verification"}`},
		"application/x-www-form-urlencoded": {"", "%", "payload=%7B", "a=b", "command=%2Fapprove", "payload=null"},
		"text/plain; charset=":              {"hello"},
	} {
		for _, body := range bodies {
			if status := b.bring(at, []byte(body), slacktest.Sign(time.Now(), kind, []byte(body))); status != http.StatusOK {
				t.Errorf("%s %q: %d", kind, body, status)
			}
		}
	}
	b.want(0)
}

// The story: two replicas stand behind a balancer. Slack brings each event to one of them; every answer arrives once.
func TestWebhookOfReplicas(t *testing.T) {
	one, first := hooked(t, setup{})
	two, second := hooked(t, setup{})
	if err := one.fake.SetRequestURL(t.Context(), channeltest.Balance(t, first, second)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		card := one.card()
		ref := one.post(card)
		if err := one.fake.Tap(ann, here, ref.Message, fake.DenyButton); err != nil {
			t.Fatal(err)
		}
	}
	one.eventually("all answers", func() bool { return len(one.got())+len(two.got()) >= 10 })
	seen := map[string]bool{}
	for _, b := range []*bench{one, two} {
		if len(b.got()) == 0 {
			t.Error("one of the replicas got nothing")
		}
		for _, r := range b.got() {
			if seen[r.Request] {
				t.Errorf("an answer came twice: %+v", r)
			}
			seen[r.Request] = true
		}
	}
}

// While no daemon receives, events are refused, so that Slack repeats those that it repeats.
func TestWebhookWithoutDaemon(t *testing.T) {
	b, at := hooked(t, setup{})
	b.cancel()
	err := <-b.ended
	b.ended <- err
	body, kind := slacktest.Request("events_api", b.fake.MessagePayload(ann, here, "", "no"))
	if status := b.bring(at, body, slacktest.Sign(time.Now(), kind, body)); status != http.StatusServiceUnavailable {
		t.Errorf("%d", status)
	}
	if now := b.channel.Reception(); now.Up {
		t.Errorf("%+v", now)
	}
}

// The settings of a webhook.
func TestWebhookConfig(t *testing.T) {
	for _, c := range []struct {
		change func(*slack.Config)
		want   string
	}{
		{func(*slack.Config) {}, ""},
		{func(c *slack.Config) { c.AppToken = secret.New(slacktest.AppToken) }, ""},
		{func(c *slack.Config) { c.Receive = "http" }, `receive: "http" is not known`},
		{func(c *slack.Config) { c.SigningSecret = secret.Text{} }, "signing_secret is missing"},
		{func(c *slack.Config) { c.SigningSecretFile = "x" }, "both set"},
		{func(c *slack.Config) { c.SigningSecret = secret.New("short") }, "does not look like one"},
		{func(c *slack.Config) { c.AppID = "" }, "app_id is missing"},
		{func(c *slack.Config) { c.AppToken = secret.New("xoxb-1") }, "another kind of token"},
	} {
		cfg := hookConfig(workspace(t, slacktest.Options{}))
		c.change(&cfg)
		err := cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	cfg := hookConfig(workspace(t, slacktest.Options{}))
	if _, err := cfg.Open(section.Installation{}, nil); err == nil || !strings.Contains(err.Error(), "isolated") {
		t.Errorf("beside agents of the same user: %v", err)
	}
	if _, err := cfg.Open(section.Installation{Isolated: true}, nil); err != nil {
		t.Error(err)
	}
}

// Pairing without the daemon would wait in vain, and says so.
func TestWebhookPairsWithTheDaemonOnly(t *testing.T) {
	p, err := hookConfig(workspace(t, slacktest.Options{})).ForPairing(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "only the daemon receives") {
		t.Errorf("%v", err)
	}
}

// The story: Slack signs the body and not its type. Somebody behind the TLS of a proxy had a stranger's message
// signed, whose text was a form with an approver's press in it, and brought it as a form.
func TestAMessageBroughtAsAFormIsNoPress(t *testing.T) {
	b, at := hooked(t, setup{})
	card := b.card()
	ref := b.post(card)
	pressed := b.fake.ButtonPayload(ann, here, ref.Message, "ap:"+card.Request+":1", card.Request, "approve")
	press, err := json.Marshal(pressed)
	if err != nil {
		t.Fatal(err)
	}
	message, err := json.Marshal(b.fake.MessagePayload(stranger, here, "", "hi"))
	if err != nil {
		t.Fatal(err)
	}
	var event map[string]any
	if err := json.Unmarshal(message, &event); err != nil {
		t.Fatal(err)
	}
	event["event"].(map[string]any)["blocks"] = []any{map[string]any{"type": "rich_text", "elements": []any{map[string]any{
		"type": "rich_text_section", "elements": []any{map[string]any{"type": "text",
			"text": "x&payload=" + url.QueryEscape(string(press)) + "&y"}}}}}}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(event); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"application/json", "application/x-www-form-urlencoded"} {
		header := slacktest.Sign(time.Now(), "application/json", body.Bytes())
		header.Set("Content-Type", kind)
		b.bring(at, body.Bytes(), header)
	}
	// A real press comes behind them, so that they have been looked at.
	form := []byte("payload=" + url.QueryEscape(string(press)))
	b.bring(at, form, slacktest.Sign(time.Now(), "application/x-www-form-urlencoded", form))
	b.want(1)
}

// Whatever the holder of the secret brings, the channel answers; of what strangers bring nothing gets that far.
func FuzzWebhook(f *testing.F) {
	f.Add("application/json", []byte(`{"type":"event_callback","event":{"type":"message","text":"no"}}`))
	f.Add("application/json", []byte(`{"type":"url_verification","challenge":"x"}`))
	f.Add("application/x-www-form-urlencoded", []byte("payload=%7B%22type%22%3A%22block_actions%22%7D"))
	f.Add("application/x-www-form-urlencoded", []byte("command=%2Fapprove&text=x"))
	fake := slacktest.New(slacktest.Options{})
	f.Cleanup(fake.Close)
	cfg := hookConfig(fake)
	c, err := slack.New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	hook := c.Webhook()
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		header := slacktest.Sign(time.Now(), kind, body)
		if err := hook.Verify(header, body); err != nil {
			t.Fatalf("a genuine request is refused: %v", err)
		}
		if hook.Verify(header, append(body, 'x')) == nil {
			t.Error("another body has the same signature")
		}
		switch a := hook.Take(t.Context(), header, body); a.Status {
		case 0, webhooks.Away.Status:
		default:
			t.Errorf("%q %q is answered with %d", kind, body, a.Status)
		}
	})
}
