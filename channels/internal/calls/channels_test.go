package calls_test

import (
	"context"
	"crypto/x509"
	"errors"
	"flag"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/channeltest"
	"approver.example/channels/discord"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/calls/callstest"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/internal/secret"
	"approver.example/tokens"
)

// known is the authority that this process believes.
var known *callstest.Authority

func TestMain(m *testing.M) {
	var err error
	if known, err = callstest.NewAuthority(); err != nil {
		panic(err)
	}
	if err := os.Setenv("GODEBUG", "x509usefallbackroots=1"); err != nil {
		panic(err)
	}
	x509.SetFallbackRoots(known.Roots)
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil { // they mostly wait
		panic(err)
	}
	m.Run()
}

// A platform is a fake, and a channel that is to reach it at another address.
type platform struct {
	addr string // of the fake
	to   approver.Destination
	open func(api string) (approver.Channel, error) // api is the address without a path
}

var platforms = map[string]func(*testing.T) platform{
	"telegram": func(t *testing.T) platform {
		s := telegramtest.New()
		t.Cleanup(s.Close)
		s.AddUser(10042, "Ann")
		s.AddChat(telegramtest.Chat{ID: 10042})
		cfg := telegram.Config{Token: secret.New(s.Token()), Chats: []telegram.Chat{{ID: "10042"}},
			Approvers: []approver.Approver{{ID: "10042"}}}
		return platform{s.Addr, cfg.Destinations()[0], func(api string) (approver.Channel, error) {
			cfg.APIURL = api
			return telegram.New(cfg, slog.New(slog.DiscardHandler))
		}}
	},
	"discord": func(t *testing.T) platform {
		s := discordtest.New()
		t.Cleanup(s.Close)
		cfg := discord.Config{Token: secret.New(s.Token()), Channels: []string{s.AddChannel()},
			Approvers: []approver.Approver{{ID: s.AddUser("Ann")}}}
		return platform{s.Addr, cfg.Destinations()[0], func(api string) (approver.Channel, error) {
			cfg.APIURL = api + "/api"
			return discord.New(cfg, slog.New(slog.DiscardHandler))
		}}
	},
	"slack": func(t *testing.T) platform {
		s := slacktest.New(slacktest.Options{})
		t.Cleanup(s.Close)
		s.AddUser(slacktest.User{ID: "U0ANN12345", Name: "ann"})
		s.AddConversation(slacktest.Conversation{ID: "C0HERE1234"})
		cfg := slack.Config{BotToken: secret.New(slacktest.BotToken), AppToken: secret.New(slacktest.AppToken),
			Channels: []string{"C0HERE1234"}, Approvers: []approver.Approver{{ID: "U0ANN12345"}}}
		return platform{s.Addr, cfg.Destinations()[0], func(api string) (approver.Channel, error) {
			cfg.APIURL = api + "/api"
			return slack.New(cfg, slog.New(slog.DiscardHandler))
		}}
	},
}

func card(t *testing.T) approver.Card {
	code, err := tokens.Mint(tokens.MinLength)
	if err != nil {
		t.Fatal(err)
	}
	return approver.Card{Request: "01a202c8-d1ca-7ed5-8a27-ef64d1726bbc", State: approver.Pending,
		Severity: approver.High, OneTap: true, Push: "🟠 HIGH · Deploy", Body: channeltest.Command("make deploy"),
		Code: code, Created: time.Now(), Due: time.Now().Add(2 * time.Minute)}
}

// The story: the machine's clock was wrong after it woke up, or a hotel's portal answered in the
// platform's place, or the name could not be looked up yet. Whoever looked was told nothing, or
// the channel ended although all was well a minute later. Nothing on the way is the platform's
// word: the channel goes on trying, cards are kept, status says the reason with what to look at,
// and when the trouble is over, so is the outage.
func TestTroubleOnTheWayPasses(t *testing.T) {
	in := func(d time.Duration) time.Time { return time.Now().Add(d) }
	for trouble, c := range map[string]struct {
		cert         func(*testing.T) callstest.Certificate // nil for a name that is not there
		reason, cure string
	}{
		"a name that is not there": {nil, "lookup no-such-host.invalid", "DNS"},
		"an unknown authority": {func(t *testing.T) callstest.Certificate {
			return callstest.NewCertificate(t, "127.0.0.1", in(time.Hour))
		}, "unknown authority", "a proxy on the way"},
		"a certificate that is over": {func(t *testing.T) callstest.Certificate {
			return known.Issue(t, "127.0.0.1", in(-time.Hour))
		}, "certificate has expired", "this machine's clock"},
		"a certificate of tomorrow": {func(t *testing.T) callstest.Certificate {
			return known.Issue(t, "127.0.0.1", in(48*time.Hour))
		}, "not yet valid", "this machine's clock"},
		"another host's certificate": {func(t *testing.T) callstest.Certificate {
			return known.Issue(t, "other.example", in(time.Hour))
		}, "certificate for 127.0.0.1", "a proxy on the way"},
	} {
		for name, begin := range platforms {
			t.Run(trouble+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := begin(t)
				api, front := "https://no-such-host.invalid", (*callstest.Front)(nil)
				if c.cert != nil {
					front = callstest.NewFront(t, p.addr, c.cert(t))
					api = "https://" + front.Addr
				}
				ch, err := p.open(api)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- ch.Run(ctx, nil) }()
				defer func() {
					cancel()
					if err := <-ended; err != nil {
						t.Errorf("Run gives %v", err)
					}
				}()
				look := ch.(approver.Receiver).Reception
				until := func(what string, ok func() bool) {
					t.Helper()
					for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
						if time.Now().After(end) || len(ended) > 0 {
							t.Fatalf("waited in vain for %s: %+v", what, look())
						}
					}
				}
				says := func() bool {
					r := look()
					why := broadcaster.ChannelState{Receiver: true, Reception: r}.Hearing().Why
					return !r.Up && strings.Contains(why, c.reason) && strings.Contains(why, c.cure)
				}
				until("the reason", says)
				for range 2 {
					last := look().Bad
					until("another try", func() bool { return look().Bad.After(last) && says() })
				}
				_, err = ch.Post(ctx, p.to, card(t))
				if err == nil || errors.Is(err, approver.ErrFinal) || calls.KindOf(err) != calls.Transient ||
					calls.Unclear(err) || !strings.Contains(err.Error(), c.reason) {
					t.Errorf("Post gives %v", err)
				}
				if front == nil {
					return
				}
				front.Show(known.Issue(t, "127.0.0.1", in(time.Hour)))
				until("the reception", func() bool { return look().Up })
				if _, err := ch.Post(ctx, p.to, card(t)); err != nil {
					t.Errorf("Post gives %v", err)
				}
			})
		}
	}
}
