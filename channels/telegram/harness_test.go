package telegram

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/internal/calls"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/display"
	"approver.example/internal/secret"
	"approver.example/tokens"
)

// The people and chats of the tests.
const (
	ann       int64 = 10042
	bob       int64 = 10043
	mallory   int64 = 66666
	teamChat  int64 = -1001234567890
	opsChat   int64 = -1009876543210
	otherTxt        = "-1005555555555"
	otherChat       = -1005555555555
	topic           = 7
)

func text(n int64) string { return strconv.FormatInt(n, 10) }

// newWorld is a Telegram with two groups, a private chat and three people.
func newWorld(t testing.TB) *telegramtest.Server {
	s := telegramtest.New()
	t.Cleanup(s.Close)
	s.AddUser(ann, "Ann")
	s.AddUser(bob, "Bob")
	s.AddUser(mallory, "Mallory")
	s.AddChat(telegramtest.Chat{ID: teamChat, Topics: []int{topic, 8}})
	s.AddChat(telegramtest.Chat{ID: opsChat})
	s.AddChat(telegramtest.Chat{ID: -1005555555555})
	s.AddChat(telegramtest.Chat{ID: ann})
	return s
}

func testConfig(s *telegramtest.Server) Config {
	return Config{
		Token: secret.New(s.Token()), APIURL: s.URL(),
		Chats:     []Chat{{ID: text(teamChat)}, {ID: text(opsChat)}, {ID: text(teamChat), Thread: topic}, {ID: text(ann)}},
		Approvers: []approver.Approver{{ID: text(ann), Name: "Ann"}, {ID: text(bob), Name: "Bob", Person: "bob"}},
	}
}

func newChannel(t testing.TB, cfg Config) *Channel {
	t.Helper()
	c, err := New(cfg, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A bench is a running channel with its fake.
type bench struct {
	*testing.T
	c    *Channel
	s    *telegramtest.Server
	logs *logbook

	mu      sync.Mutex
	replies []approver.Reply // without their events
	events  []string
	judge   func(context.Context, approver.Reply) approver.Outcome

	cancel context.CancelFunc
	done   chan error
}

// logbook keeps what was logged.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// quickPace is the default pace without the waits.
func quickPace() pace {
	p := defaultPace()
	p.retry = calls.Backoff{First: 10 * time.Millisecond, Last: 50 * time.Millisecond}
	p.conflict = 20 * time.Millisecond
	p.doubt, p.alone, p.saying = 10*time.Millisecond, 50*time.Millisecond, time.Minute
	return p
}

// idle makes a bench whose channel does not run yet.
func idle(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, s: newWorld(t), logs: &logbook{}}
	c, err := New(testConfig(b.s), slog.New(slog.NewTextHandler(b.logs, nil)))
	if err != nil {
		t.Fatal(err)
	}
	c.pace = quickPace()
	b.c = c
	b.judge = func(_ context.Context, r approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeRecorded,
			Text: "Your answer no. " + strconv.Itoa(len(b.got())) + " is noted."}
	}
	t.Cleanup(func() {
		if strings.Contains(b.logs.String(), b.s.Token()) {
			t.Errorf("the token is in the log:\n%s", b.logs)
		}
	})
	return b
}

// running makes a bench whose channel polls.
func running(t *testing.T) *bench {
	t.Helper()
	b := idle(t)
	b.run()
	b.eventually("the first poll", func() bool { return b.s.Polling() })
	return b
}

func (b *bench) run() {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel, b.done = cancel, make(chan error, 1)
	done := b.done
	go func() { done <- b.c.Run(ctx, b.reply) }()
	b.Cleanup(func() { b.stop() })
}

func (b *bench) reply(ctx context.Context, r approver.Reply) approver.Outcome {
	b.mu.Lock()
	said := r
	said.Event = ""
	b.replies, b.events = append(b.replies, said), append(b.events, r.Event)
	judge := b.judge
	b.mu.Unlock()
	return judge(ctx, r)
}

func (b *bench) stop() {
	b.Helper()
	b.cancel()
	select {
	case err := <-b.done:
		if err != nil {
			b.Errorf("Run returned %v", err)
		}
		b.done <- nil
	case <-time.After(30 * time.Second):
		b.Fatal("Run did not end with its context")
	}
}

func (b *bench) got() []approver.Reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.replies)
}

// event is that of a reply, by its number.
func (b *bench) event(n int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.events[n]
}

func (b *bench) eventually(what string, ok func() bool) {
	b.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			b.Fatalf("waited in vain for %s; the log is\n%s", what, b.logs)
		}
	}
}

// want waits for n replies and returns the last.
func (b *bench) want(n int) approver.Reply {
	b.Helper()
	b.eventually(strconv.Itoa(n)+" replies", func() bool { return len(b.got()) >= n })
	got := b.got()
	if len(got) != n {
		b.Fatalf("got %d replies, want %d: %+v", len(got), n, got)
	}
	return got[n-1]
}

// nothing sees that what was sent before became no reply: a later answer of an
// approver is the only one.
func (b *bench) nothing() {
	b.Helper()
	before := len(b.got())
	code := mint(b.T)
	b.s.Type(text(bob), text(opsChat), "/deny "+code.Reveal())
	if r := b.want(before + 1); !r.Code.Equal(code) {
		b.Errorf("it became a reply: %+v", r)
	}
	b.settled()
}

// settled waits until every update is done and confirmed.
func (b *bench) settled() {
	b.Helper()
	b.eventually("all updates to be confirmed", func() bool { return b.s.Pending() == 0 })
}

func (b *bench) post(card approver.Card) approver.Ref {
	b.Helper()
	return b.postTo(testConfig(b.s).Destinations()[0], card)
}

func (b *bench) postTo(to approver.Destination, card approver.Card) approver.Ref {
	b.Helper()
	ref, err := b.c.Post(b.Context(), to, card)
	if err != nil {
		b.Fatalf("Post: %v", err)
	}
	return ref
}

// message is the fake's message of a ref.
func (b *bench) message(ref approver.Ref) telegramtest.Message {
	b.Helper()
	at, err := parsePlace(ref.Conversation)
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range b.s.Messages(at.chat) {
		if strconv.Itoa(m.ID) == ref.Message {
			return m
		}
	}
	b.Fatalf("no message %+v", ref)
	return telegramtest.Message{}
}

func mint(t testing.TB) tokens.Code {
	code, err := tokens.Mint(6)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func highCard(t testing.TB) approver.Card {
	command := "git push --force origin main"
	now := time.Date(2026, 5, 4, 14, 30, 10, 0, time.UTC)
	return approver.Card{
		Request: uuid.Must(uuid.NewV7()).String(), State: approver.Pending, Severity: approver.High, OneTap: true,
		Push: display.PushLine(approver.High.String(), "Force-push main", "acme/shop"), Body: channeltest.Command(command),
		Why: []string{"A forced push rewrites history."}, Claimed: "tidy up",
		Context: "claude of dev @ devbox · ~/shop (main) · NOT ISOLATED",
		Code:    mint(t), Created: now, Due: now.Add(2 * time.Minute),
	}
}

func catastrophicCard(t testing.TB) approver.Card {
	card := highCard(t)
	card.Severity, card.OneTap = approver.Catastrophic, false
	card.Body = channeltest.Command("rm -rf /srv/data")
	card.Push = display.PushLine(approver.Catastrophic.String(), "Delete /srv/data", "acme/shop")
	return card
}

// shows makes the core answer with details from now on.
func (b *bench) shows(said, details string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.judge = func(context.Context, approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeShown, Text: said, Details: details}
	}
}
