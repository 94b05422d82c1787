package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/fingerprint"
)

// memKV is a KV in memory, for tests that need no durability. The clock is the
// test's, so it runs under synctest.
type memKV struct {
	mu      sync.Mutex
	records map[string]memRecord
	due     map[string]time.Time
	keep    map[string]time.Time // until when, as real stores do it
	watch   map[string][]chan struct{}
	// fail, when set, is asked before each operation.
	fail func(op, key string) error
}

type memRecord struct {
	value []byte
	rev   approver.Rev
}

func newMemKV() *memKV {
	return &memKV{records: map[string]memRecord{}, due: map[string]time.Time{}, keep: map[string]time.Time{},
		watch: map[string][]chan struct{}{}}
}

// failing sets what is asked before each operation: nothing, when nil.
func (m *memKV) failing(fail func(op, key string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

// record is what is under a key now.
func (m *memKV) record(key string) memRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key]
}

// replace puts a record there, as whoever can write to the store does.
func (m *memKV) replace(key string, r memRecord) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[key] = r
}

func (m *memKV) forget(key string) {
	delete(m.records, key)
	delete(m.due, key)
	delete(m.keep, key)
}

func (m *memKV) check(ctx context.Context, op, key string) error {
	if until, ok := m.keep[key]; ok && !until.After(time.Now()) {
		m.forget(key)
	}
	if m.fail != nil {
		if err := m.fail(op, key); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (m *memKV) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.check(ctx, "get", key); err != nil {
		return nil, "", err
	}
	r, ok := m.records[key]
	if !ok {
		return nil, "", approver.ErrNotFound
	}
	return slices.Clone(r.value), r.rev, nil
}

func (m *memKV) Put(ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keep time.Time) error {
	return m.PutBefore(ctx, time.Time{}, key, value, prev, next, due, keep)
}

func (m *memKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.check(ctx, "put", key); err != nil {
		return err
	}
	if !keep.IsZero() && keep.Before(due) {
		return fmt.Errorf("put %s: it would be forgotten at %v, before it is due at %v", key, keep, due)
	}
	if r := m.records[key]; r.rev == next {
		return nil
	} else if r.rev != prev {
		return approver.ErrConflict
	} else if !before.IsZero() && !time.Now().Before(before) {
		return approver.ErrOverdue
	}
	m.records[key] = memRecord{slices.Clone(value), next}
	delete(m.due, key)
	delete(m.keep, key)
	if !keep.IsZero() {
		m.keep[key] = keep
	}
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
	return m.dueOf(ctx, limit, func(s int) bool { return s == shard })
}

// DueAll implements approver.Sweeper. Its limit is for all shards together.
func (m *memKV) DueAll(ctx context.Context, limit int) ([]string, error) {
	return m.dueOf(ctx, limit*approver.Shards, func(int) bool { return true })
}

func (m *memKV) dueOf(ctx context.Context, limit int, of func(shard int) bool) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.check(ctx, "due", ""); err != nil {
		return nil, err
	}
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(m.due)) {
		if s, _ := approver.ShardOfKey(k); of(s) && !m.due[k].After(time.Now()) && len(keys) < limit {
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
		if s, _ := approver.ShardOfKey(k); s == shard && len(keys) < limit {
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

func (m *memKV) Lease(ctx context.Context, name string, ttl time.Duration) (approver.Fence, error) {
	return 1, ctx.Err()
}

func (m *memKV) Now(ctx context.Context) (time.Time, error) { return time.Now(), ctx.Err() }

// memAudit keeps records in memory; fail makes it err for one event.
type memAudit struct {
	mu      sync.Mutex
	records []approver.Record
	fail    approver.Event
}

func (a *memAudit) Record(_ context.Context, r approver.Record) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail == r.Event {
		return "", errors.New("disk full")
	}
	a.records = append(a.records, r)
	return fmt.Sprintf("hash%d", len(a.records)), nil
}

// failing sets the event that cannot be recorded.
func (a *memAudit) failing(event approver.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fail = event
}

// recorded returns every record so far.
func (a *memAudit) recorded() []approver.Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.records)
}

func (a *memAudit) events(request string) []approver.Event {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []approver.Event
	for _, r := range a.records {
		if r.Request == request || request == "" {
			out = append(out, r.Event)
		}
	}
	return out
}

// of returns the records of a call.
func (a *memAudit) of(callID string) []approver.Record {
	return slices.DeleteFunc(a.recorded(), func(r approver.Record) bool { return r.Call.ID != callID })
}

// join adds what another log has now, while its own daemon may still write there.
func (a *memAudit) join(other *memAudit) {
	records := other.recorded()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.records = append(a.records, records...)
}

// chat is a channel in memory: cards by message id, and a way to answer.
type chat struct {
	name    string
	mu      sync.Mutex
	cards   map[string]approver.Card
	order   []string
	reply   approver.ReplyFunc
	ready   chan struct{}
	partial bool
	post    func(ctx context.Context) error // runs before a card is stored
	update  func(approver.Card) error
}

func newChat(name string) *chat {
	return &chat{name: name, cards: map[string]approver.Card{}, ready: make(chan struct{})}
}

func (c *chat) Name() string { return c.name }

func (c *chat) Run(ctx context.Context, reply approver.ReplyFunc) error {
	c.reply = reply
	close(c.ready)
	<-ctx.Done()
	return nil
}

func (c *chat) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	c.mu.Lock()
	post := c.post
	c.mu.Unlock()
	if post != nil {
		if err := post(ctx); err != nil {
			return approver.Ref{}, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id := fmt.Sprintf("%s-%d", to.Conversation, len(c.order))
	c.cards[id] = card
	c.order = append(c.order, id)
	return approver.Ref{Message: id, Partial: c.partial}, nil
}

func (c *chat) Update(_ context.Context, ref approver.Ref, card approver.Card) error {
	c.mu.Lock()
	update := c.update
	c.mu.Unlock()
	if update != nil {
		if err := update(card); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cards[ref.Message] = card
	return nil
}

// onPost sets what runs before a card is posted, and onUpdate before one is edited.
func (c *chat) onPost(f func(ctx context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.post = f
}

func (c *chat) onUpdate(f func(approver.Card) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.update = f
}

// at returns what a message shows, and put shows a card there.
func (c *chat) at(message string) approver.Card {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cards[message]
}

func (c *chat) put(message string, card approver.Card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cards[message] = card
}

// holds makes a card that another daemon posted the only one there is, unless this
// daemon has edited it already.
func (c *chat) holds(message string, card approver.Card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, updated := c.cards[message]; !updated {
		c.cards[message] = card
	}
	c.order = []string{message}
}

// aLongTime is an hour in which nothing more may happen. The clock looks around each
// second of it, so that under the race detector it is shorter.
func aLongTime() time.Duration {
	if testing.Short() {
		return 5 * time.Minute
	}
	return time.Hour
}

// takeOver shows what another chat shows.
func (c *chat) takeOver(from *chat) {
	from.mu.Lock()
	cards, order := maps.Clone(from.cards), slices.Clone(from.order)
	from.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cards, c.order = cards, order
}

// count is how many cards were posted.
func (c *chat) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.order)
}

// card returns the n-th card posted, from the end when n is negative.
func (c *chat) card(n int) (string, approver.Card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n < 0 {
		n += len(c.order)
	}
	if n < 0 || n >= len(c.order) {
		return "", approver.Card{}
	}
	return c.order[n], c.cards[c.order[n]]
}

// composed is a broadcaster that is not running, of parts that need not be whole.
func composed(o Options) *Broadcaster {
	b := &Broadcaster{Options: o, handovers: &handovers{}}
	b.compose()
	return b
}

// tune changes options of a broadcaster whose parts are at work.
func (b *Broadcaster) tune(change func(o *Options)) { change(&b.Options) }

// quiet is for chats that count messages: nobody is told of an outage within this time.
const quiet = 1000 * time.Hour

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
	limit    func()            // called before a question is stored
	judge    atomic.Pointer[judge]
}

func newBench(t *testing.T, kv *memKV) *bench { return newBenchOn(t, kv, kv) }

// newBenchOn uses store, which wraps kv.
func newBenchOn(t *testing.T, kv *memKV, store approver.KV) *bench {
	t.Helper()
	return newBenchUnder(t, kv, store, make([]byte, 32))
}

// newBenchUnder has a code key, and those that it replaced.
func newBenchUnder(t *testing.T, kv *memKV, store approver.KV, key []byte, old ...[]byte) *bench {
	t.Helper()
	if err := BeginControls(t.Context(), kv); err != nil {
		t.Fatal(err)
	}
	x := &bench{t: t, kv: kv, audit: &memAudit{}, tg: newChat("telegram"), dc: newChat("discord")}
	people := approver.People{}
	people.Add("telegram", []approver.Approver{
		{ID: "1", Name: "Alice", Person: "alice"}, {ID: "2", Name: "Bob", Person: "bob"},
	})
	people.Add("discord", []approver.Approver{
		{ID: "d1", Name: "Alice", Person: "alice"}, {ID: "d2", Name: "Bob", Person: "bob"},
	})
	b, err := NewBroadcaster(Options{
		Store: store, Audit: x.audit, People: people, Channels: []approver.Channel{x.tg, x.dc},
		Destinations: []approver.Destination{
			{Channel: "telegram", Conversation: "T"}, {Channel: "discord", Conversation: "D"},
		},
		Fingerprint: func(_ context.Context, c approver.ToolCall) (approver.Binding, error) {
			return fingerprint.Bind(c, "policy"+x.fpChange, x.files, x.unbound)
		},
		Limit: func(context.Context, string, approver.ToolCall) error {
			if x.limit != nil {
				x.limit()
			}
			return nil
		}, CodeKey: key, OldCodeKeys: old,
		Log: slog.New(slog.DiscardHandler), OutageAfter: quiet,
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
func (x *bench) askAsync(ctx context.Context, call approver.ToolCall, sev approver.Severity) <-chan approver.Verdict {
	out := make(chan approver.Verdict, 1)
	go func() {
		out <- x.Ask(ctx, call, approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: sev})
	}()
	return out
}

func testCall(id string) approver.ToolCall {
	return approver.ToolCall{ID: id, Agent: "claude", Session: "s", Tool: "Bash", Command: "git push --force",
		Args: []byte(`{"command":"git push --force"}`), Dir: "/repo", At: time.Now()}
}

// loaded is a request as it is stored.
func (x *bench) loaded(id string) Request {
	x.t.Helper()
	r, _, err := x.Requests.load(x.t.Context(), id)
	if err != nil {
		x.t.Fatal(err)
	}
	return r
}

// typed is the yes of somebody in the Telegram chat who typed the code of a card.
func typed(method approver.Method, card approver.Card) approver.Reply {
	return approver.Reply{
		Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: method, Code: card.Code,
	}
}

func (x *bench) tap(c *chat, n int, sender string, approve bool) approver.Outcome {
	msg, card := c.card(n)
	conv := map[string]string{"telegram": "T", "discord": "D"}[c.name]
	return x.Answers.Reply(x.t.Context(), approver.Reply{Channel: c.name, Conversation: conv, Sender: sender,
		Approve: approve, Method: approver.ByTap, Request: card.Request, Message: msg, Shown: card.Upto})
}

// longComputation keeps a test out of short runs, such as the race detector's, which has
// nothing to say of what one goroutine computes.
func longComputation(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a long computation in one goroutine")
	}
}
