package channeltest_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/discord"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/internal/secret"
)

// A counter is between a channel and its platform, and counts what the platform refuses because it came too soon.
type counter struct {
	mu      sync.Mutex
	limited []string
}

// before returns the address of a counter before a platform.
func (c *counter) before(t *testing.T, platform string) string {
	t.Helper()
	at, err := url.Parse(platform)
	if err != nil {
		t.Fatal(err)
	}
	host := *at
	host.Path = ""
	proxy := httputil.NewSingleHostReverseProxy(&host)
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.StatusCode == http.StatusTooManyRequests {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.limited = append(c.limited, r.Request.Method+" "+r.Request.URL.Path)
		}
		return nil
	}
	srv := httptest.NewServer(proxy)
	t.Cleanup(srv.Close)
	return srv.URL + at.Path
}

func (c *counter) count() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(all, c.limited...)
}

// A crowded is a platform with limits like the real one's, and a channel in it whose calls are counted.
type crowded struct {
	app
	counter
	people  []approver.Approver
	channel approver.Channel
	to      approver.Destination
}

var crowdedApps = map[string]func(*testing.T) (*crowded, error){
	"telegram, a group":        func(t *testing.T) (*crowded, error) { return crowdedTelegram(t, group) },
	"telegram, a private chat": func(t *testing.T) (*crowded, error) { return crowdedTelegram(t, 0) },
	"discord": func(t *testing.T) (c *crowded, err error) {
		a := newDiscord(t).(*discordApp)
		a.PostLimit, a.EditLimit, a.GlobalLimit, a.PostWindow = 5, 5, 50, 5*time.Second
		c = newCrowded(a)
		cfg := discord.Config{Token: secret.New(a.Token()), APIURL: c.before(t, a.URL()), Channels: []string{a.here},
			Approvers: c.people}
		c.to = cfg.Destinations()[0]
		c.channel, err = discord.New(cfg, slog.New(slog.DiscardHandler))
		return c, err
	},
	"slack": func(t *testing.T) (c *crowded, err error) {
		a := &slackApp{Server: slacktest.New(slacktest.Options{Burst: 4, Edits: 5, RetryAfter: time.Second}),
			bots: map[string]bool{}}
		t.Cleanup(a.Close)
		a.AddConversation(slacktest.Conversation{ID: channelID})
		c = newCrowded(a)
		cfg := slack.Config{BotToken: secret.New(slacktest.BotToken), AppToken: secret.New(slacktest.AppToken),
			APIURL: c.before(t, a.URL()), Channels: []string{channelID}, Approvers: c.people}
		c.to = cfg.Destinations()[0]
		c.channel, err = slack.New(cfg, slog.New(slog.DiscardHandler))
		return c, err
	},
}

func newCrowded(a app) *crowded {
	return &crowded{app: a, people: []approver.Approver{{ID: a.add("approver"), Name: "Ann", Person: "ann"}}}
}

// crowdedTelegram has one chat; zero is the private chat of the approver.
func crowdedTelegram(t *testing.T, chat int64) (c *crowded, err error) {
	a := newTelegram(t).(*telegramApp)
	a.SetRate(30)
	a.SetLimits(telegramtest.Limits{Burst: 3, Group: 20})
	c = newCrowded(a)
	if chat == 0 {
		chat = a.last
		a.AddChat(telegramtest.Chat{ID: chat})
	}
	cfg := telegram.Config{Token: secret.New(a.Token()), APIURL: c.before(t, a.URL()), Approvers: c.people,
		Chats: []telegram.Chat{{ID: strconv.FormatInt(chat, 10)}}}
	c.to = cfg.Destinations()[0]
	c.channel, err = telegram.New(cfg, slog.New(slog.DiscardHandler))
	return c, err
}

// The story: an agent asked 25 things at once, and the platform refused most of the cards: 50 calls in a tenth of a
// second, each answered with 429. Now the platform refuses none of them, nor of the edits when they have all been
// answered, and a CATASTROPHIC question that comes last is shown before those that wait.
func TestManyQuestionsInOneChat(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes as long as the platforms want")
	}
	for name, start := range crowdedApps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := start(t)
			if err != nil {
				t.Fatal(err)
			}
			calls, slow := 25, strings.Contains(name, "group")
			if slow {
				calls = 14 // that many HIGH ones go out within a minute
			}
			x := &story{matrix: &matrix{app: c.app, t: t, to: c.to}, audit: &ledger{}}
			x.kv = embeddedIn(t, filepath.Join(t.TempDir(), "flood.db"))
			o := coreOptions(x.kv, c.channel, c.to, c.people)
			o.Audit, o.Unlimited = x.audit, false
			x.stop = x.run(o)
			x.until("the channel is up", func() bool { return x.core.Channels.State(c.to.Channel).Up })
			var answers []<-chan approver.Verdict
			for n := range calls {
				answers = append(answers, x.ask(t.Context(), x.call(fmt.Sprintf("make part-%d", n))))
			}
			time.Sleep(time.Second)
			const last = "rm -rf /data"
			answers = append(answers, x.askAs(t.Context(), x.call(last), approver.Verdict{Severity: approver.Catastrophic}))
			x.card(last)
			if x.posted() > calls {
				t.Error("the most urgent card came last")
			}
			x.until("all cards", func() bool { return x.posted() == calls+1 })
			if _, err := x.core.Controls.Freeze(t.Context(), "op", "that is enough"); err != nil {
				t.Fatal(err)
			}
			for _, answer := range answers {
				verdictOf(t, answer)
			}
			x.until("the end on the cards", func() bool { return slow || x.buttons() == 0 })
			if said := c.count(); len(said) > 0 {
				t.Errorf("%d calls came too soon: %v", len(said), said)
			}
		})
	}
}

// posted counts the open requests whose card is there.
func (x *story) posted() (n int) {
	open, _ := x.core.Requests.Open(x.t.Context())
	for _, r := range open {
		if r.Postings[0].Phase == broadcaster.Posted {
			n++
		}
	}
	return n
}

// buttons counts the cards that have some.
func (x *story) buttons() (n int) {
	for _, c := range x.Cards(x.to.Conversation) {
		if len(c.Buttons) > 0 {
			n++
		}
	}
	return n
}

// Many agents ask, in one minute, far more than one chat can show. The most urgent is shown first, the platform
// refuses nothing, and each request comes to an end that the audit has. APPROVER_FLOOD is how many requests: it
// is for a long run that is measured, as make flood does.
func TestFlood(t *testing.T) {
	asked, _ := strconv.Atoi(os.Getenv("APPROVER_FLOOD"))
	if asked == 0 {
		t.Skip("a long run: see APPROVER_FLOOD")
	}
	for name, start := range crowdedApps {
		t.Run(name, func(t *testing.T) {
			c, err := start(t)
			if err != nil {
				t.Fatal(err)
			}
			x := &story{matrix: &matrix{app: c.app, t: t, to: c.to}, audit: &ledger{}}
			x.kv = embeddedIn(t, filepath.Join(t.TempDir(), "flood.db"))
			o := coreOptions(x.kv, c.channel, c.to, c.people)
			o.Audit, o.Unlimited = x.audit, false
			x.stop = x.run(o)
			x.until("the channel is up", func() bool { return x.core.Channels.State(c.to.Channel).Up })
			x.flood(asked, time.Minute)
			x.judgeFlood(asked, c)
		})
	}
}

// flood has 200 agents ask within a time. Each is told to come back after five seconds. It returns when all
// requests are over.
func (x *story) flood(asked int, within time.Duration) {
	const agents, urgentEvery = 200, 400
	began := time.Now()
	heap := func() int {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc >> 20)
	}
	first := heap()
	var waiting sync.WaitGroup
	for agent := range agents {
		waiting.Go(func() {
			for n := agent; n < asked; n += agents {
				time.Sleep(time.Until(began.Add(within * time.Duration(n) / time.Duration(asked))))
				why := approver.Verdict{Severity: approver.High, Decision: approver.Ask, By: "policy", Rule: "r"}
				if n%urgentEvery == urgentEvery-1 {
					why.Severity = approver.Catastrophic
				}
				command := fmt.Sprintf("make part-%d", n)
				call := approver.ToolCall{ID: fmt.Sprintf("%032d", n+1), Agent: fmt.Sprint("agent-", agent), Session: "s",
					Tool: "Bash", Command: command, Args: fmt.Appendf(nil, `{"command":%q}`, command), Dir: "/repo", At: time.Now(),
					ParkAt: time.Now().Add(5 * time.Second), Peer: approver.Peer{Known: true, UID: 1000}}
				ctx, stop := context.WithTimeout(x.t.Context(), 290*time.Second)
				waiting.Go(func() {
					defer stop()
					x.core.Ask(ctx, call, why)
				})
			}
		})
	}
	most, routines := 0, 0
	for over := false; !over; {
		time.Sleep(time.Second)
		open, err := x.core.Requests.Open(x.t.Context())
		over = err == nil && len(open) == 0 && time.Since(began) > within
		most, routines = max(most, heap()-first), max(routines, runtime.NumGoroutine())
		if s := int(time.Since(began).Seconds()); s%20 == 0 {
			x.t.Logf("%d s: %d open, %d MiB beyond the start", s, len(open), heap()-first)
		}
		if time.Since(began) > 15*time.Minute {
			x.t.Fatalf("%d requests are still open", len(open))
		}
	}
	waiting.Wait()
	x.t.Logf("at most %d MiB beyond the start, and %d goroutines", most, routines)
}

// judgeFlood looks at what became of the requests.
func (x *story) judgeFlood(asked int, c *crowded) {
	x.t.Helper()
	// Each of them takes an edit, and the platform takes only so many.
	for end := time.Now().Add(15 * time.Minute); x.buttons() > 0; time.Sleep(time.Second) {
		if time.Now().After(end) {
			x.t.Fatalf("%d cards still have buttons", x.buttons())
		}
	}
	ends := map[approver.Cause]int{}
	cards := map[approver.Severity][]time.Duration{}
	urgent, shown := 0, map[string]bool{}
	x.audit.mu.Lock()
	defer x.audit.mu.Unlock()
	at := map[string]time.Time{}
	for _, r := range x.audit.records {
		switch r.Event {
		case approver.EventAsked:
			at[r.Request] = r.At
			if r.Verdict.Severity == approver.Catastrophic {
				urgent++
			}
		case approver.EventPosted:
			if !shown[r.Request] {
				shown[r.Request] = true
				cards[r.Verdict.Severity] = append(cards[r.Verdict.Severity], r.At.Sub(at[r.Request]))
			}
		case approver.EventDenied, approver.EventExpired:
			ends[r.Resolution.Cause]++
		default: // it says nothing of a card, or of an end
		}
	}
	if n := ends[approver.TimedOut] + ends[approver.NoRoom]; n != asked || len(at) != asked {
		x.t.Errorf("of %d requests, the audit has %d as asked, and these ends: %v", asked, len(at), ends)
	}
	if n := len(cards[approver.Catastrophic]); n != urgent {
		x.t.Errorf("%d of %d CATASTROPHIC requests were shown", n, urgent)
	}
	for severity, took := range cards {
		slices.Sort(took)
		x.t.Logf("%v: %d shown, after %v in the middle and %v at most", severity, len(took),
			took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
	}
	said := c.count()
	x.t.Logf("%d asked, ends %v, refused as too soon %d", asked, ends, len(said))
	if len(said) > 0 {
		x.t.Errorf("calls that came too soon: %v", said)
	}
}
