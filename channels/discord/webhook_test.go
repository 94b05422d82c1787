package discord

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/internal/secret"
	"approver.example/internal/section"
)

func TestConformanceByWebhook(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has the conformance of the other way in, and the other tests of this one")
	}
	channeltest.Run(t, func(t *testing.T) channeltest.Fixture {
		s := discordtest.New()
		t.Cleanup(s.Close)
		first, second, stranger := s.AddUser("Ann"), s.AddUser("Bob"), s.AddUser("Mallory")
		cfg := Config{
			Token: secret.New(s.Token()), APIURL: s.URL(), Channels: []string{s.AddChannel(), s.AddChannel()},
			Approvers: []approver.Approver{{ID: first}, {ID: second}}, Receive: section.ByWebhook,
		}
		c, err := New(cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		c.hook.at = channeltest.ServeHook(t, Name, c.Webhook())
		to := cfg.Destinations()
		return channeltest.Fixture{
			Channel: c, Fake: s, Here: to[0], There: to[1], Approver: first, Second: second, Stranger: stranger,
			FatalRevoked: true, Secrets: []string{s.Token()}, Gone: s.RemoveChannel, Delete: s.Delete,
		}
	})
}

// unhooked makes a bench for a webhook whose channel does not run yet; set may change its configuration.
func unhooked(t *testing.T, set func(b *bench)) *bench {
	t.Helper()
	b := newBench(t, func(b *bench) {
		b.cfg.Receive = section.ByWebhook
		if set != nil {
			set(b)
		}
	})
	b.c.look = 20 * time.Millisecond
	b.c.hook.at = channeltest.ServeHook(t, Name, b.c.Webhook())
	return b
}

// hooked makes a bench whose channel gets interactions at a webhook.
func hooked(t *testing.T) *bench {
	t.Helper()
	return unhooked(t, nil).connected()
}

// press is a press of Ann's on a card, as Discord writes it.
func (b *bench) press(card approver.Card, ref approver.Ref) []byte {
	b.t.Helper()
	raw, err := json.Marshal(map[string]any{
		"id": strconv.FormatInt(time.Now().UnixNano(), 10), "application_id": b.s.Application(), "type": 3,
		"token": discordtest.InteractionToken, "version": 1, "channel_id": b.here, "guild_id": b.s.Guild(),
		"member": map[string]any{"user": map[string]any{"id": b.ann, "username": "ann"}},
		"data":   map[string]any{"custom_id": discordtest.CustomID(card.Request, "d"), "component_type": 2},
		"message": map[string]any{"id": ref.Message, "channel_id": b.here, "content": "x",
			"author": map[string]any{"id": b.s.Bot(), "username": "approver", "bot": true}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

func (b *bench) bring(body []byte, header http.Header) (status int, said string) {
	b.t.Helper()
	status, raw, err := b.s.Bring(b.t.Context(), b.c.hook.at, body, header)
	if err != nil {
		b.t.Fatal(err)
	}
	return status, string(raw)
}

// The story: somebody recorded a genuine press, or makes one up, and brings it. It does not count: not with a
// signature of another body, time or application, not without one, and not a genuine one of two minutes ago.
func TestWebhookForged(t *testing.T) {
	t.Parallel()
	b := hooked(t)
	card := high()
	body := b.press(card, b.post(b.here, card))
	other := append([]byte(nil), body...)
	other[len(other)-2] ^= 1
	genuine := b.s.Sign(time.Now(), body)
	with := func(name, value string) http.Header {
		h := genuine.Clone()
		h.Set(name, value)
		return h
	}
	stranger := discordtest.New()
	t.Cleanup(stranger.Close)
	refused := 0
	for name, h := range map[string]http.Header{
		"of another body":        b.s.Sign(time.Now(), other),
		"of another time":        with(stampHeader, strconv.FormatInt(time.Now().Unix()+1, 10)),
		"of another application": stranger.Sign(time.Now(), body),
		"with a guess":           with(signatureHeader, strings.Repeat("0", 128)),
		"that is no hex":         with(signatureHeader, strings.Repeat("x", 128)),
		"too short":              with(signatureHeader, "00"),
		"unsigned":               with(signatureHeader, ""),
		"without a time":         with(stampHeader, ""),
		"two minutes old":        b.s.Sign(time.Now().Add(-2*time.Minute), body),
		"of the future":          b.s.Sign(time.Now().Add(2*time.Minute), body),
	} {
		refused++
		if status, said := b.bring(body, h); status != http.StatusUnauthorized || said != "" {
			t.Errorf("%s: %d %q", name, status, said)
		}
	}
	b.nothing("forged presses")
	now := b.c.Reception()
	if now.Refused < uint64(refused) || now.Refusal == "" || !now.Up { // Discord's own probe is among them
		t.Errorf("it says %+v", now)
	}
	before := len(b.got())
	if status, _ := b.bring(body, genuine); status != http.StatusOK {
		t.Errorf("the genuine press: %d", status)
	}
	b.one(before)
}

// The story: a genuine press is recorded on its way and brought again at once. It counts once.
func TestWebhookReplayed(t *testing.T) {
	t.Parallel()
	b := unhooked(t, nil)
	b.c.ackWithin = 100 * time.Millisecond
	b.connected()
	card := high()
	body := b.press(card, b.post(b.here, card))
	header := b.s.Sign(time.Now(), body)
	for range 3 {
		if status, _ := b.bring(body, header); status/100 != 2 {
			t.Errorf("%d", status)
		}
	}
	b.one(0)
}

// Discord enters an address only if a ping is answered, and a wrong signature refused: see discordtest.
func TestWebhookIsProbed(t *testing.T) {
	t.Parallel()
	b := hooked(t)
	if b.s.Endpoint() != b.c.hook.at {
		t.Errorf("presses go to %q", b.s.Endpoint())
	}
	if err := b.s.Probe(t.Context(), b.c.hook.at); err != nil {
		t.Error(err)
	}
}

// The story: an answer takes ten seconds, because the store is slow. Discord hears within three that it is being
// handled, and the person is told the outcome all the same.
func TestWebhookAnswersInTime(t *testing.T) {
	t.Parallel()
	b := unhooked(t, nil)
	release := make(chan struct{})
	b.run(func(context.Context, approver.Reply) approver.Outcome {
		<-release
		return approver.Outcome{Kind: approver.OutcomeApproved, Text: "Approved at last."}
	})
	b.until("the endpoint", func() bool { return b.c.Reception().Up })
	card := high()
	ref := b.post(b.here, card)
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	b.until("the press", func() bool { return len(b.got()) == 1 })
	b.until("the announcement", func() bool { return b.s.Count("endpoint: response 5") == 1 })
	close(release)
	b.told(b.ann, "Approved at last.")
	if n := b.s.Unanswered(); n != 0 {
		t.Errorf("%d presses failed before the person's eyes", n)
	}
}

// The story: another program with the same bot enters its own address. Ours is entered again, and the log says why.
func TestWebhookThatMoved(t *testing.T) {
	t.Parallel()
	b := hooked(t)
	b.s.SetEndpoint("https://elsewhere.example/x")
	b.until("the address to be ours again", func() bool { return b.s.Endpoint() == b.c.hook.at })
	card := high()
	ref := b.post(b.here, card)
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.one(0)
	if log, _ := b.stop(); !strings.Contains(log, "another program has changed where presses go") {
		t.Errorf("the log does not say so:\n%s", log)
	}
}

// The story: the operator goes back to the gateway, and buttons are dead, because Discord still brings presses to the
// address. The gateway's channel takes the address away.
func TestWebhookBackToTheGateway(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.s.SetEndpoint("https://elsewhere.example/x")
	b.connected()
	if at := b.s.Endpoint(); at != "" {
		t.Fatalf("presses go to %s", at)
	}
	card := high()
	ref := b.post(b.here, card)
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.one(0)
}

// The configured key has to be that of the bot's application: otherwise the bot, or the key, is somebody else's.
func TestWebhookKey(t *testing.T) {
	t.Parallel()
	good := unhooked(t, func(b *bench) { b.cfg.PublicKey = strings.ToUpper(b.s.PublicKey()) }).connected()
	if !good.c.Reception().Up {
		t.Error("the right key is refused")
	}
	b := unhooked(t, func(b *bench) { b.cfg.PublicKey = strings.Repeat("ab", 32) })
	b.run(nil)
	<-b.ended
	if _, err := b.stop(); err == nil || !strings.Contains(err.Error(), "public_key is not that of the bot's app") {
		t.Errorf("Run ended with %v", err)
	}
}

// The story: two replicas stand behind a balancer. Neither waits for a lease, Discord brings each press to one of them,
// and every answer arrives once.
func TestWebhookOfReplicas(t *testing.T) {
	t.Parallel()
	one := unhooked(t, nil)
	two := &bench{t: t, s: one.s, log: &strings.Builder{}, cfg: one.cfg, ann: one.ann, here: one.here}
	two.lock = &locked{w: two.log}
	var err error
	if two.c, err = New(one.cfg, slog.New(slog.NewTextHandler(two.lock, nil))); err != nil {
		t.Fatal(err)
	}
	two.c.look = one.c.look
	if one.c.LeaseName() != "" || two.c.LeaseName() != "" {
		t.Error("a channel with a webhook wants a lease")
	}
	front := channeltest.Balance(t, one.c.hook.at, channeltest.ServeHook(t, Name, two.c.Webhook())) + "/" + Name
	one.c.hook.at, two.c.hook.at = front, front
	one.run(nil)
	two.run(nil)
	one.until("both to receive", func() bool { return one.c.Reception().Up && two.c.Reception().Up })
	for range 10 {
		ref := one.post(one.here, high())
		if err := one.s.Tap(one.ann, one.here, ref.Message, fake.DenyButton); err != nil {
			t.Fatal(err)
		}
	}
	one.until("all answers", func() bool { return len(one.got())+len(two.got()) >= 10 })
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

// Doctor says where presses go, and if that is not here.
func TestWebhookHealth(t *testing.T) {
	t.Parallel()
	b := hooked(t)
	if who, err := b.c.Health(t.Context()); err != nil || !strings.Contains(who, b.c.hook.at) {
		t.Errorf("%q, %v", who, err)
	}
	_, _ = b.stop()
	b.s.SetEndpoint("https://elsewhere.example/x")
	if _, err := b.c.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "https://elsewhere.example/x") {
		t.Errorf("%v", err)
	}
}

// What people read is true where no messages arrive: /help says so, and a card without buttons names commands only.
func TestWebhookTellsOfNoMessages(t *testing.T) {
	t.Parallel()
	b := unhooked(t, nil)
	b.run(func(context.Context, approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeShown, Text: "What you can do here:", Details: "a line"}
	})
	b.until("the commands", func() bool { names, _ := b.s.Commands("en-US"); return len(names) > 6 })
	if !b.s.Command(b.ann, b.here, "help", "") {
		t.Fatal("there is no /help")
	}
	b.told(b.ann, "Messages do not reach approver here")
	card := high()
	v, err := b.c.plainest().render(card, 0)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(v.Content, "reply no") || !strings.Contains(v.Content, "/deny code:") {
		t.Errorf("the plainest card says\n%s", v.Content)
	}
}

// Pairing without the daemon would wait in vain, and says so. With it, only what works is advised.
func TestWebhookPairs(t *testing.T) {
	t.Parallel()
	b := unhooked(t, nil)
	p, err := b.cfg.ForPairing(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "only the daemon receives") {
		t.Errorf("%v", err)
	}
	says, err := p.Introduce(t.Context(), high().Code)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range says.Steps {
		if strings.Contains(step.Text, "Message") {
			t.Errorf("it advises a message: %s", step.Text)
		}
	}
}

// The settings of a webhook.
func TestWebhookConfig(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Receive = section.ByWebhook }, ""},
		{func(c *Config) { c.Receive = "http" }, `receive: "http" is not known`},
		{func(c *Config) { c.PublicKey = "abc" }, "64 hexadecimal digits"},
		{func(c *Config) { c.PublicKey = strings.Repeat("zz", 32) }, "64 hexadecimal digits"},
		{func(c *Config) { c.Receive, c.TextApprovals = section.ByWebhook, true }, "brings no messages"},
	} {
		cfg := b.cfg
		c.change(&cfg)
		err := cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	cfg := b.cfg
	cfg.Receive = section.ByWebhook
	c, err := cfg.Open(section.Installation{Webhooks: "https://a.example"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if at := c.(*Channel).hook.at; at != "https://a.example/discord" {
		t.Errorf("presses go to %s", at)
	}
}

// Whatever Discord signs, the channel answers; of what others bring nothing gets that far.
func FuzzWebhook(f *testing.F) {
	f.Add([]byte(`{"type":1}`))
	f.Add([]byte(`{"id":"1","type":3,"token":"x","data":{"custom_id":"a1:x:d","component_type":2},"message":{"id":"2"}}`))
	f.Add([]byte(`{"id":"1","type":2,"token":"x","data":{"name":"approve","options":[{"name":"code","value":3}]}}`))
	f.Add([]byte(`{"id":"1","type":5,"token":"x","data":{"custom_id":"a1:x:c","components":[]}}`))
	s := discordtest.New()
	f.Cleanup(s.Close)
	c, err := New(Config{Token: secret.New(s.Token()), APIURL: s.URL(), Channels: []string{s.AddChannel()},
		Approvers: []approver.Approver{{ID: s.AddUser("Ann")}}, Receive: section.ByWebhook, PublicKey: s.PublicKey()},
		slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	c.ackWithin = 0
	hook := c.Webhook()
	f.Fuzz(func(t *testing.T, body []byte) {
		header := s.Sign(time.Now(), body)
		if err := hook.Verify(header, body); err != nil {
			t.Fatalf("a genuine request is refused: %v", err)
		}
		if hook.Verify(header, append(body, 'x')) == nil {
			t.Error("another body has the same signature")
		}
		workers := newWorkers(c.log)
		defer workers.stop()
		in := newIntake(c, workers, func(_ context.Context, r approver.Reply) approver.Outcome {
			t.Errorf("%q became %+v", body, r)
			return approver.Outcome{}
		})
		in.desk = &desk{waiting: map[string]chan any{}}
		defer c.hook.gate.Open(&run{in, t.Context()})()
		switch a := hook.Take(t.Context(), header, body); a.Status {
		case 0, http.StatusBadRequest, http.StatusAccepted:
		default:
			t.Errorf("%q is answered with %d", body, a.Status)
		}
	})
}
