package slack_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/tokens"
)

// The probe is a code that an approver sends of whom no test speaks.
const (
	probe  = "CONFIRM-PRVWTY"
	prober = "U0PROBE123"
)

// A bench is a channel at work in a fake workspace.
type bench struct {
	t       *testing.T
	fake    *slacktest.Server
	channel *slack.Channel
	cancel  context.CancelFunc
	ended   chan error
	logs    *logs

	mu      sync.Mutex
	outcome func(context.Context, approver.Reply) approver.Outcome
	replies []approver.Reply // without their events
	events  []string
	probes  int
}

type setup struct {
	opts    slacktest.Options
	config  func(*slack.Config)
	fake    func(*slacktest.Server)
	outcome func(context.Context, approver.Reply) approver.Outcome
}

func start(t *testing.T, s setup) *bench {
	t.Helper()
	b := begin(t, s)
	if !b.fake.WaitConnections(2) {
		t.Fatal("the channel did not connect")
	}
	return b
}

// begin starts Run without waiting for it to connect.
func begin(t *testing.T, s setup) *bench {
	t.Helper()
	b := &bench{t: t, fake: workspace(t, s.opts), ended: make(chan error, 1), logs: &logs{}, outcome: s.outcome}
	if b.outcome == nil {
		b.outcome = func(_ context.Context, r approver.Reply) approver.Outcome {
			return approver.Outcome{Kind: approver.OutcomeRecorded, Text: "Noted."}
		}
	}
	cfg := config(b.fake)
	if s.config != nil {
		s.config(&cfg)
	}
	if s.fake != nil {
		s.fake(b.fake)
	}
	c, err := slack.New(cfg, slog.New(slog.NewTextHandler(b.logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	b.channel = c
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	go func() { b.ended <- c.Run(ctx, b.reply) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-b.ended:
		case <-time.After(30 * time.Second):
			t.Error("Run did not end with its context")
		}
		for _, secret := range []string{slacktest.BotToken, slacktest.AppToken, "ticket-"} {
			if strings.Contains(b.logs.String(), secret) {
				t.Errorf("the log shows %s", secret)
			}
		}
	})
	return b
}

func (b *bench) reply(ctx context.Context, r approver.Reply) approver.Outcome {
	code, _ := tokens.Parse(probe)
	b.mu.Lock()
	if r.Code.Equal(code) && r.Method == approver.ByCommand {
		b.probes++
		b.mu.Unlock()
		return approver.Outcome{}
	}
	said := r
	said.Event = ""
	b.replies, b.events = append(b.replies, said), append(b.events, r.Event)
	f := b.outcome
	b.mu.Unlock()
	return f(ctx, r)
}

func (b *bench) got() []approver.Reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]approver.Reply(nil), b.replies...)
}

// event is that of a reply, by its number.
func (b *bench) event(n int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.events[n]
}

func (b *bench) eventually(what string, f func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if f() {
			return
		}
	}
	b.t.Fatalf("in vain for: %s\nreplies %+v\nlog of the service:\n%s\nour log:\n%s", what, b.got(),
		strings.Join(b.fake.Log(), "\n"), b.logs)
}

// want waits for exactly n replies in all.
func (b *bench) want(n int) []approver.Reply {
	b.t.Helper()
	b.eventually("the replies", func() bool { return len(b.got()) >= n })
	b.pass()
	if got := b.got(); len(got) != n {
		b.t.Fatalf("got %d replies, want %d: %+v", len(got), n, got)
	}
	return b.got()
}

// pass lets a later event come through on every connection.
func (b *bench) pass() {
	b.t.Helper()
	for range 2 {
		b.mu.Lock()
		before := b.probes
		b.mu.Unlock()
		b.fake.Type(prober, here, "/deny "+probe)
		b.eventually("a later event", func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.probes > before
		})
	}
	time.Sleep(20 * time.Millisecond)
}

func (b *bench) told(user, part string) {
	b.t.Helper()
	b.eventually(user+" is told "+part, func() bool {
		return strings.Contains(strings.Join(b.fake.Told(user), "\n"), part)
	})
}

func (b *bench) card() approver.Card {
	code, err := tokens.Mint(8)
	if err != nil {
		b.t.Fatal(err)
	}
	now := time.Now()
	return approver.Card{
		Request: uuid.Must(uuid.NewV7()).String(), State: approver.Pending, Severity: approver.High, OneTap: true,
		Push: "🟠 HIGH · Deploy", Body: channeltest.Command("make deploy"), Why: []string{"It deploys."}, Context: "claude",
		Code: code, Created: now, Due: now.Add(2 * time.Minute),
	}
}

func (b *bench) catastrophic() approver.Card {
	card := b.card()
	card.Severity = approver.Catastrophic
	return card
}

func (b *bench) post(card approver.Card) approver.Ref {
	b.t.Helper()
	return b.postTo(approver.Destination{Channel: "slack", Conversation: here}, card)
}

func (b *bench) postTo(to approver.Destination, card approver.Card) approver.Ref {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ref, err := b.channel.Post(ctx, to, card)
	if err != nil {
		b.t.Fatalf("Post: %v", err)
	}
	return ref
}

// ends waits for Run to end by itself, with an error that says part.
func (b *bench) ends(part string) {
	b.t.Helper()
	select {
	case err := <-b.ended:
		b.ended <- err
		if err == nil || !strings.Contains(err.Error(), part) {
			b.t.Errorf("Run ended with %v, want %q", err, part)
		}
		for _, secret := range []string{slacktest.BotToken, slacktest.AppToken} {
			if err != nil && strings.Contains(err.Error(), secret) {
				b.t.Errorf("the error shows a token")
			}
		}
	case <-time.After(30 * time.Second):
		b.t.Fatalf("Run goes on; want it to end with %q\n%s", part, b.logs)
	}
}

// logs is what the channel logged.
type logs struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
