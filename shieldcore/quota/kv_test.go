package quota

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"approver.example"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// A memKV is a KV in memory whose clock is the test's, so it runs under synctest.
type memKV struct {
	approver.KV // what the quota does not use

	mu      sync.Mutex
	ahead   time.Duration // of the clock
	records map[string]memRecord
	reads   int
	writes  int
	delay   func(op string)            // before an operation, while others go on
	fail    func(op, key string) error // before an operation
	lost    func(key string) error     // after a write that was made
}

type memRecord struct {
	value []byte
	rev   approver.Rev
	keep  time.Time
}

func newMemKV() *memKV { return &memKV{records: map[string]memRecord{}} }

func (m *memKV) now() time.Time { return time.Now().Add(m.ahead).UTC() }

func (m *memKV) wait(op string) {
	m.mu.Lock()
	delay := m.delay
	m.mu.Unlock()
	if delay != nil {
		delay(op)
	}
}

func (m *memKV) check(ctx context.Context, op, key string) error {
	if m.fail != nil {
		if err := m.fail(op, key); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (m *memKV) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	m.wait("get")
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	if err := m.check(ctx, "get", key); err != nil {
		return nil, "", err
	}
	r, ok := m.records[key]
	if !ok || !m.now().Before(r.keep) {
		return nil, "", approver.ErrNotFound
	}
	return slices.Clone(r.value), r.rev, nil
}

func (m *memKV) PutBefore(ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, _,
	keep time.Time) error {
	m.wait("put")
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.check(ctx, "put", key); err != nil {
		return err
	}
	r, ok := m.records[key]
	if ok && !m.now().Before(r.keep) {
		r, ok = memRecord{}, false
	}
	switch {
	case ok && r.rev == next:
		return nil
	case r.rev != prev:
		return approver.ErrConflict
	case !before.IsZero() && !m.now().Before(before):
		return approver.ErrOverdue
	}
	m.writes++
	m.records[key] = memRecord{slices.Clone(value), next, keep}
	if m.lost != nil {
		return m.lost(key)
	}
	return nil
}

func (m *memKV) Now(ctx context.Context) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now(), m.check(ctx, "now", "")
}

// set changes the store under its lock.
func (m *memKV) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func agent(uid uint32, name string) Who {
	return Who{Peer: approver.Peer{Known: true, UID: uid}, Agent: name}
}

// small are limits that a test reaches. Their intervals divide evenly.
func small() Config {
	return Config{
		Agent:       Rate{Count: 60, Per: time.Minute, Burst: 3},
		User:        Rate{Count: 120, Per: time.Minute, Burst: 5},
		Overall:     Rate{Count: 4, Per: time.Second, Burst: 8},
		Names:       4,
		DailyBudget: 10,
		AlarmAt:     []int{50, 80, 95},
	}
}

func newFor(t testing.TB, kv approver.KV, c Config) *Quota {
	t.Helper()
	q, err := New(kv, c, quiet())
	must(t, err)
	t.Cleanup(q.Close)
	return q
}

// want fails unless an error is of the kind, or nil.
func want(t testing.TB, err, kind error) {
	t.Helper()
	if kind == nil && err != nil || kind != nil && !errors.Is(err, kind) {
		t.Fatalf("got %v, not %v", err, kind)
	}
}

// granted makes calls until one is refused, and returns how many were not.
func granted(t testing.TB, most int, call func() error, kind error) (n int) {
	t.Helper()
	for ; n < most; n++ {
		if err := call(); err != nil {
			want(t, err, kind)
			return n
		}
	}
	return n
}
