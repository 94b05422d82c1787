package discord

import (
	"context"
	"flag"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/display"
	"approver.example/internal/secret"
	"approver.example/tokens"
)

// TestMain lets more tests run at once than there are processors: they wait
// most of their time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	m.Run()
}

// A bench is a channel, the Discord that it is connected to, and what its
// people answered.
type bench struct {
	t                   *testing.T
	s                   *discordtest.Server
	c                   *Channel
	cfg                 Config
	ann, bob, mallory   string
	here, there, direct string
	cancel              context.CancelFunc
	ended               chan struct{}
	err                 error
	log                 *strings.Builder
	lock                *locked // writes it

	mu      sync.Mutex
	replies []approver.Reply // without their events
	events  []string
}

// newBench makes a channel; set may change its configuration.
func newBench(t *testing.T, set func(b *bench)) *bench {
	t.Helper()
	s := discordtest.New()
	t.Cleanup(s.Close)
	s.PostLimit = 1000
	b := &bench{t: t, s: s, log: &strings.Builder{}}
	b.ann, b.bob, b.mallory = s.AddUser("Ann"), s.AddUser("Bob"), s.AddUser("Mallory")
	b.here, b.there, b.direct = s.AddChannel(), s.AddChannel(), s.AddDirect(b.ann)
	b.cfg = Config{
		Token: secret.New(s.Token()), APIURL: s.URL(), Channels: []string{b.here, b.there, b.direct},
		Approvers: []approver.Approver{{ID: b.ann}, {ID: b.bob}},
	}
	if set != nil {
		set(b)
	}
	b.lock = &locked{w: b.log}
	c, err := New(b.cfg, slog.New(slog.NewTextHandler(b.lock, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	c.backoff.First = 20 * time.Millisecond
	b.c = c
	return b
}

type locked struct {
	mu sync.Mutex
	w  *strings.Builder
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// run starts Run; nil takes every answer and says "noted".
func (b *bench) run(reply approver.ReplyFunc) *bench {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel, b.ended = cancel, make(chan struct{})
	if reply == nil {
		reply = func(context.Context, approver.Reply) approver.Outcome {
			return approver.Outcome{Kind: approver.OutcomeRecorded, Text: "noted"}
		}
	}
	go func() {
		defer close(b.ended)
		b.err = b.c.Run(ctx, func(ctx context.Context, r approver.Reply) approver.Outcome {
			b.mu.Lock()
			said := r
			said.Event = ""
			b.replies, b.events = append(b.replies, said), append(b.events, r.Event)
			b.mu.Unlock()
			return reply(ctx, r)
		})
	}()
	b.t.Cleanup(func() { _, _ = b.stop() })
	return b
}

// stop ends Run and returns what was logged and its error.
func (b *bench) stop() (log string, err error) {
	b.t.Helper()
	b.cancel()
	select {
	case <-b.ended:
	case <-time.After(30 * time.Second):
		b.t.Fatal("Run goes on after its context ended")
	}
	if strings.Contains(b.log.String(), b.s.Token()) {
		b.t.Error("the log shows the token")
	}
	return b.log.String(), b.err
}

// connected runs the channel and waits for connection and commands.
func (b *bench) connected() *bench {
	b.t.Helper()
	b.run(nil)
	b.until("the commands to be registered", func() bool {
		b.c.mu.Lock()
		defer b.c.mu.Unlock()
		return b.c.applied
	})
	return b
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

func (b *bench) until(what string, ok func() bool) {
	b.t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// nothing sees that no reply came by the time that a later event of Bob has
// been answered.
func (b *bench) nothing(what string) {
	b.t.Helper()
	before := len(b.got())
	card := high()
	ref := b.post(b.there, card)
	if err := b.s.Tap(b.bob, b.there, ref.Message, fake.DenyButton); err != nil {
		b.t.Fatal(err)
	}
	b.until("the later answer", func() bool { return len(b.got()) > before })
	time.Sleep(30 * time.Millisecond)
	if got := b.got()[before:]; len(got) != 1 || got[0].Request != card.Request || got[0].Approve {
		b.t.Fatalf("%s: got the replies %+v", what, got)
	}
}

// one waits for the next reply, and sees that it is one.
func (b *bench) one(before int) approver.Reply {
	b.t.Helper()
	b.until("a reply", func() bool { return len(b.got()) > before })
	time.Sleep(30 * time.Millisecond)
	got := b.got()[before:]
	if len(got) != 1 {
		b.t.Fatalf("got %d replies: %+v", len(got), got)
	}
	return got[0]
}

func (b *bench) post(conversation string, card approver.Card) approver.Ref {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ref, err := b.c.Post(ctx, approver.Destination{Channel: Name, Conversation: conversation}, card)
	if err != nil {
		b.t.Fatalf("Post: %v", err)
	}
	return ref
}

func (b *bench) told(user, text string) {
	b.t.Helper()
	b.until("the person to be told "+text,
		func() bool { return strings.Contains(strings.Join(b.s.Told(user), "\n"), text) })
}

// high is a card that one tap may approve.
func high() approver.Card {
	code, err := tokens.Mint(tokens.MinLength)
	if err != nil {
		panic(err)
	}
	now := time.Now().Truncate(time.Second)
	return approver.Card{
		Request: uuid.Must(uuid.NewV7()).String(), State: approver.Pending, Severity: approver.High, OneTap: true,
		Push: "🟠 HIGH · Force-push main", Body: channeltest.Command("git push --force origin main"),
		Why: []string{"It rewrites history."}, Claimed: "tidy up", Context: "claude of ann @ devbox · ~/src",
		Details: []display.Block{{Label: "Rule", Text: "git.force"}},
		Code:    code, Created: now, Due: now.Add(2 * time.Minute),
	}
}

func catastrophic() approver.Card {
	card := high()
	card.Severity, card.OneTap, card.Push = approver.Catastrophic, false, "🔴 CATASTROPHIC · rm -rf /"
	return card
}
