package broadcaster_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"

	"approver.example/broadcaster"

	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/redisstore"
	"approver.example/store/sqlitestore"
	"approver.example/store/storetest/redistest"
)

// The race: on each of many requests, eight people answer and the deadline
// falls, all in the same instant. Exactly one answer may stand, and what each
// person, each card and the agent are told must agree.
const (
	raceRequests = 2000
	raceRepliers = 8
	raceAtOnce   = 100
	raceTTL      = 700 * time.Millisecond
	raceLead     = 40 * time.Millisecond // how long before the deadline the first answer
)

func TestRaceOnAFile(t *testing.T) {
	store, err := sqlitestore.Open(sqlitestore.Config{
		Path: filepath.Join(t.TempDir(), "approver.db"),
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	race(t, store)
}

func TestRaceOnRedis(t *testing.T) {
	server, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	race(t, openRedis(t, server))
}

func openRedis(t *testing.T, server *redistest.Server) *redisstore.Store {
	t.Helper()
	return openRedisWith(t, server, hubKey(t))
}

// openRedisWith opens it with a key file, as another replica has it.
func openRedisWith(t *testing.T, server *redistest.Server, key string) *redisstore.Store {
	t.Helper()
	store, err := redisstore.Open(t.Context(), redisstore.Config{
		Addrs: []string{server.Addr}, HubKeyFile: key,
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// hubKey writes a key file for records in Redis.
func hubKey(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hub.key")
	if err := os.WriteFile(path, []byte(rand.Text()+rand.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// memory is a chat and an audit in one: it notes what was shown and recorded.
type memory struct {
	mu     sync.Mutex
	reply  approver.ReplyFunc
	ready  chan struct{}
	cards  map[string]approver.Card           // by request, as last shown
	seen   map[string]chan approver.Ref       // by call: the card is there
	events map[string]map[approver.Event]int  // by request
	past   map[string]map[approver.State]bool // settled states ever shown, by request
	once   map[string]bool                    // ids of records: one that is repeated is one record
}

func newMemory() *memory {
	return &memory{
		ready: make(chan struct{}), cards: map[string]approver.Card{}, seen: map[string]chan approver.Ref{},
		events: map[string]map[approver.Event]int{}, past: map[string]map[approver.State]bool{}, once: map[string]bool{},
	}
}

func (m *memory) Name() string { return "memory" }

func (m *memory) Run(ctx context.Context, reply approver.ReplyFunc) error {
	m.reply = reply
	close(m.ready)
	<-ctx.Done()
	return nil
}

func (m *memory) Post(_ context.Context, to approver.Destination, c approver.Card) (approver.Ref, error) {
	ref := approver.Ref{Destination: to, Message: c.Request}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cards[c.Request] = c
	for _, b := range c.Details {
		if ch := m.seen[b.Text]; b.Label == "Session" && ch != nil {
			ch <- ref
			m.seen[b.Text] = nil
		}
	}
	return ref, nil
}

func (m *memory) Update(_ context.Context, ref approver.Ref, c approver.Card) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cards[c.Request] = c
	if m.past[c.Request] == nil {
		m.past[c.Request] = map[approver.State]bool{}
	}
	m.past[c.Request][c.State] = true
	return nil
}

func (m *memory) Record(_ context.Context, r approver.Record) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Once != "" && m.once[r.Once] {
		return "hash", nil
	}
	m.once[r.Once] = true
	if m.events[r.Request] == nil {
		m.events[r.Request] = map[approver.Event]int{}
	}
	m.events[r.Request][r.Event]++
	return "hash", nil
}

func race(t *testing.T, store approver.KV) {
	var persons []approver.Approver
	for i := range raceRepliers {
		persons = append(persons, approver.Approver{ID: fmt.Sprint(i), Name: fmt.Sprintf("Person %d", i)})
	}
	daemon := startReplica(t, store, persons...)
	b, m := daemon.b, daemon.m

	var (
		mu     sync.Mutex
		count  = map[string]int{}
		slots  = make(chan struct{}, raceAtOnce)
		all    sync.WaitGroup
		faults []string
		lead   = raceLead
		start  = time.Now()
	)
	requests := raceRequests
	if testing.Short() { // as under the race detector
		requests /= 4
	}
	for n := range requests {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			mu.Lock()
			from := lead
			mu.Unlock()
			verdict, outs, request := raceOne(t, b, m, n, from)
			fault, kind := judgeRace(verdict, outs)
			mu.Lock()
			defer mu.Unlock()
			if kind == "expired" { // a slow machine: the next people answer sooner
				lead = min(lead+raceLead/2, raceTTL)
			} else {
				lead = max(lead-raceLead/8, 0) // and on a fast one later
			}
			count[kind]++
			for _, o := range outs {
				count[fmt.Sprintf("told %s", kindName(o.Kind))]++
			}
			if fault != "" {
				faults = append(faults, fmt.Sprintf("request %s: %s", request, fault))
			}
		})
	}
	all.Wait()
	took := time.Since(start)
	settled := waitForCards(m)
	for _, f := range faults {
		t.Error(f)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, c := range m.cards {
		if e := m.events[id]; e[approver.EventReleased]+e[approver.EventDenied]+e[approver.EventExpired] != 1 {
			t.Errorf("request %s: the audit has %v", id, e)
		}
		if len(m.past[id]) != 1 {
			t.Errorf("request %s: its card showed %v, the last %q", id, m.past[id], c.Result)
		}
	}
	if count["approved"]+count["denied"] == 0 || count["expired"] == 0 { // a slow machine leaves people little
		t.Errorf("the race was no race: %v", count)
	}
	t.Logf("%d requests, %d repliers each and the deadline at once, in %v: approved %d, denied %d, expired %d; "+
		"standing answers other than one: %d; cards up to date: %d",
		requests, raceRepliers, took.Round(time.Millisecond), count["approved"], count["denied"], count["expired"],
		len(faults), settled)
	t.Logf("people were told: %v", count)
}

// raceOne lets everybody answer one request within a few milliseconds of its
// deadline.
func raceOne(
	t *testing.T, b *broadcaster.Broadcaster, m *memory, n int, lead time.Duration,
) (approver.Verdict, []approver.Outcome, string) {
	session := fmt.Sprintf("s%d", n)
	here := make(chan approver.Ref, 1)
	m.mu.Lock()
	m.seen[session] = here
	m.mu.Unlock()
	call := approver.ToolCall{
		ID: fmt.Sprintf("%032x", n+1), Agent: "claude", Session: session, Tool: "Bash", Command: "make deploy",
		Args: []byte(`{"command":"make deploy"}`), At: time.Now(),
	}
	verdict := make(chan approver.Verdict, 1)
	go func() {
		verdict <- b.Ask(t.Context(), call, approver.Verdict{Decision: approver.Ask, Severity: approver.High, TTL: raceTTL})
	}()
	ref := <-here
	m.mu.Lock()
	due := m.cards[ref.Message].Due
	m.mu.Unlock()
	outs := make([]approver.Outcome, raceRepliers)
	var repliers sync.WaitGroup
	for i := range raceRepliers {
		// From the lead before to 10 ms after: reading, writing and the clock overlap.
		at := due.Add(mrand.N(lead+10*time.Millisecond) - lead)
		repliers.Go(func() {
			time.Sleep(time.Until(at))
			outs[i] = m.reply(t.Context(), approver.Reply{
				Channel: "memory", Conversation: "room", Sender: fmt.Sprint(i), Approve: (i+n)%2 == 0,
				Method: approver.ByTap, Request: ref.Message, Message: ref.Message,
			})
		})
	}
	repliers.Wait()
	return <-verdict, outs, ref.Message
}

// judgeRace compares what the agent heard with what each person heard.
func judgeRace(v approver.Verdict, outs []approver.Outcome) (fault, kind string) {
	told := map[approver.OutcomeKind]int{}
	for _, o := range outs {
		told[o.Kind]++
	}
	stands := told[approver.OutcomeApproved] + told[approver.OutcomeDenied]
	switch {
	case v.Decision == approver.Allow && stands == told[approver.OutcomeApproved] &&
		stands+told[approver.OutcomeRecorded] == 1:
		return "", "approved" // or recorded, on a machine that is slow to tell
	case v.Decision == approver.Deny && told[approver.OutcomeDenied] == 1 && stands == 1:
		return "", "denied"
	case v.Decision == approver.Deny && stands == 0 && !strings.Contains(v.Reason, "denied by"):
		return "", "expired"
	}
	return fmt.Sprintf("the agent heard %v (%s), people %v", v.Decision, v.Reason, told), "wrong"
}

func kindName(k approver.OutcomeKind) string {
	return [...]string{
		"refused", "approved", "denied", "too late", "expired", "unknown", "used", "locked", "need code", "recorded",
	}[k]
}

// waitForCards waits until every card shows an end, and returns how many do.
func waitForCards(m *memory) (settled int) {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		settled = 0
		m.mu.Lock()
		for _, c := range m.cards {
			if c.Result != "" {
				settled++
			}
		}
		total := len(m.cards)
		m.mu.Unlock()
		if settled == total {
			break
		}
	}
	return settled
}
