package approver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
)

// memKV is a KV in memory, for tests that need no durability. The clock is the
// test's, so it runs under synctest.
type memKV struct {
	mu      sync.Mutex
	records map[string]memRecord
	due     map[string]time.Time
	watch   map[string][]chan struct{}
	// fail, when set, is asked before each operation.
	fail func(op, key string) error
}

type memRecord struct {
	value []byte
	rev   Rev
}

func newMemKV() *memKV {
	return &memKV{records: map[string]memRecord{}, due: map[string]time.Time{}, watch: map[string][]chan struct{}{}}
}

func (m *memKV) check(ctx context.Context, op, key string) error {
	if m.fail != nil {
		if err := m.fail(op, key); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (m *memKV) Get(ctx context.Context, key string) ([]byte, Rev, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.check(ctx, "get", key); err != nil {
		return nil, "", err
	}
	r, ok := m.records[key]
	if !ok {
		return nil, "", ErrNotFound
	}
	return slices.Clone(r.value), r.rev, nil
}

func (m *memKV) Put(ctx context.Context, key string, value []byte, prev, next Rev, due, keep time.Time) error {
	return m.PutBefore(ctx, time.Time{}, key, value, prev, next, due, keep)
}

func (m *memKV) PutBefore(ctx context.Context, before time.Time, key string, value []byte, prev, next Rev, due, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.check(ctx, "put", key); err != nil {
		return err
	}
	if r := m.records[key]; r.rev == next {
		return nil
	} else if r.rev != prev {
		return ErrConflict
	} else if !before.IsZero() && !time.Now().Before(before) {
		return ErrOverdue
	}
	m.records[key] = memRecord{slices.Clone(value), next}
	delete(m.due, key)
	if !due.IsZero() {
		m.due[key] = due
	}
	for _, c := range m.watch[key] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	return nil
}

func (m *memKV) Due(ctx context.Context, shard, limit int) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.check(ctx, "due", ""); err != nil {
		return nil, err
	}
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(m.due)) {
		if s, _ := ShardOfKey(k); s == shard && !m.due[k].After(time.Now()) && len(keys) < limit {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

func (m *memKV) Scheduled(ctx context.Context, shard, limit int) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.check(ctx, "scheduled", ""); err != nil {
		return nil, err
	}
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(m.due)) {
		if s, _ := ShardOfKey(k); s == shard && len(keys) < limit {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

func (m *memKV) Watch(ctx context.Context, key string) (<-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := make(chan struct{}, 1)
	c <- struct{}{}
	m.watch[key] = append(m.watch[key], c)
	context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.watch[key] = slices.DeleteFunc(m.watch[key], func(d chan struct{}) bool { return c == d })
		close(c)
	})
	return c, nil
}

func (m *memKV) Lease(ctx context.Context, name string, ttl time.Duration) (Fence, error) {
	return 1, ctx.Err()
}

func (m *memKV) Now(ctx context.Context) (time.Time, error) { return time.Now(), ctx.Err() }

// memAudit keeps records in memory; fail makes it err for one event.
type memAudit struct {
	mu      sync.Mutex
	records []Record
	fail    Event
}

func (a *memAudit) Record(_ context.Context, r Record) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail == r.Event {
		return "", errors.New("disk full")
	}
	a.records = append(a.records, r)
	return fmt.Sprintf("hash%d", len(a.records)), nil
}

func (a *memAudit) events(request string) []Event {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Event
	for _, r := range a.records {
		if r.Request == request || request == "" {
			out = append(out, r.Event)
		}
	}
	return out
}

// join adds what another log has now, while its own daemon may still write there.
func (a *memAudit) join(other *memAudit) {
	other.mu.Lock()
	records := slices.Clone(other.records)
	other.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.records = append(a.records, records...)
}

// chat is a channel in memory: cards by message id, and a way to answer.
type chat struct {
	name    string
	mu      sync.Mutex
	cards   map[string]Card
	order   []string
	reply   ReplyFunc
	ready   chan struct{}
	partial bool
	post    func(ctx context.Context) error // runs before a card is stored
	update  func(Card) error
}

func newChat(name string) *chat {
	return &chat{name: name, cards: map[string]Card{}, ready: make(chan struct{})}
}

func (c *chat) Name() string { return c.name }

func (c *chat) Run(ctx context.Context, reply ReplyFunc) error {
	c.reply = reply
	close(c.ready)
	<-ctx.Done()
	return nil
}

func (c *chat) Post(ctx context.Context, to Destination, card Card) (Ref, error) {
	if c.post != nil {
		if err := c.post(ctx); err != nil {
			return Ref{}, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id := fmt.Sprintf("%s-%d", to.Conversation, len(c.order))
	c.cards[id] = card
	c.order = append(c.order, id)
	return Ref{Message: id, Partial: c.partial}, nil
}

func (c *chat) Update(_ context.Context, ref Ref, card Card) error {
	if c.update != nil {
		if err := c.update(card); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cards[ref.Message] = card
	return nil
}

// count is how many cards were posted.
func (c *chat) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.order)
}

// card returns the n-th card posted, from the end when n is negative.
func (c *chat) card(n int) (string, Card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n < 0 {
		n += len(c.order)
	}
	if n < 0 || n >= len(c.order) {
		return "", Card{}
	}
	return c.order[n], c.cards[c.order[n]]
}

// bench is a running broadcaster with two chats.
type bench struct {
	*Broadcaster
	t        *testing.T
	kv       *memKV
	audit    *memAudit
	tg, dc   *chat
	stop     func()
	fpChange string            // mixed into fingerprints
	files    map[string]string // hashes in fingerprints
	unbound  []string          // what they do not bind
}

func newBench(t *testing.T, kv *memKV) *bench { return newBenchOn(t, kv, kv) }

// newBenchOn uses store, which wraps kv.
func newBenchOn(t *testing.T, kv *memKV, store KV) *bench {
	t.Helper()
	return newBenchUnder(t, kv, store, make([]byte, 32))
}

// newBenchUnder has a code key, and those that it replaced.
func newBenchUnder(t *testing.T, kv *memKV, store KV, key []byte, old ...[]byte) *bench {
	t.Helper()
	if err := BeginControls(t.Context(), kv); err != nil {
		t.Fatal(err)
	}
	x := &bench{t: t, kv: kv, audit: &memAudit{}, tg: newChat("telegram"), dc: newChat("discord")}
	people := People{}
	people.Add("telegram", []Approver{{ID: "1", Name: "Alice", Person: "alice"}, {ID: "2", Name: "Bob", Person: "bob"}})
	people.Add("discord", []Approver{{ID: "d1", Name: "Alice", Person: "alice"}, {ID: "d2", Name: "Bob", Person: "bob"}})
	b, err := NewBroadcaster(Options{
		Store: store, Audit: x.audit, People: people, Channels: []Channel{x.tg, x.dc},
		Destinations: []Destination{{Channel: "telegram", Conversation: "T"}, {Channel: "discord", Conversation: "D"}},
		Fingerprint: func(_ context.Context, c ToolCall) (Binding, error) {
			return Bind(c, "policy"+x.fpChange, x.files, x.unbound)
		},
		CodeKey: key, OldCodeKeys: old, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	x.Broadcaster = b
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = b.Run(ctx) }()
	<-x.tg.ready
	<-x.dc.ready
	x.stop = func() { cancel(); <-ended }
	t.Cleanup(x.stop)
	return x
}

// askAsync puts a call before people; the verdict comes on the channel.
func (x *bench) askAsync(ctx context.Context, call ToolCall, sev Severity) <-chan Verdict {
	out := make(chan Verdict, 1)
	go func() { out <- x.Ask(ctx, call, Verdict{Decision: Ask, By: "policy", Rule: "r", Severity: sev}) }()
	return out
}

func testCall(id string) ToolCall {
	return ToolCall{ID: id, Agent: "claude", Session: "s", Tool: "Bash", Command: "git push --force", Args: []byte(`{"command":"git push --force"}`), Dir: "/repo", At: time.Now()}
}

func (x *bench) tap(c *chat, n int, sender string, approve bool) Outcome {
	msg, card := c.card(n)
	conv := map[string]string{"telegram": "T", "discord": "D"}[c.name]
	return x.Reply(x.t.Context(), Reply{Channel: c.name, Conversation: conv, Sender: sender, Approve: approve, Method: ByTap, Request: card.Request, Message: msg})
}
