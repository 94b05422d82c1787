package quota

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/redisstore"
	"approver.example/store/sqlitestore"
	"approver.example/store/storetest/redistest"
)

// A shifted store's clock is ahead by a fixed time, so that no test runs over
// midnight unless it wants to.
type shifted struct {
	approver.KV
	ahead time.Duration
}

// atNoon is how far ahead a clock has to be for it to be noon.
func atNoon() time.Duration {
	now := time.Now().UTC()
	return now.Truncate(24 * time.Hour).Add(36 * time.Hour).Sub(now)
}

func (s shifted) back(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(-s.ahead)
}

func (s shifted) GetNow(ctx context.Context, key string) ([]byte, approver.Rev, time.Time, error) {
	value, rev, now, err := approver.GetNow(ctx, s.KV, key)
	return value, rev, now.Add(s.ahead), err
}

func (s shifted) Now(ctx context.Context) (time.Time, error) {
	now, err := s.KV.Now(ctx)
	return now.Add(s.ahead), err
}

func (s shifted) PutBefore(ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev,
	due, keep time.Time) error {
	return s.KV.PutBefore(ctx, s.back(before), key, value, prev, next, due, s.back(keep))
}

// A place opens stores on the same records.
type place struct {
	name   string
	shared bool
	open   func(t testing.TB) approver.KV
	addr   string // of the server
	key    string // the file of the hub key
}

func embeddedPlace(t testing.TB) place {
	t.Helper()
	path := filepath.Join(t.TempDir(), "approver.db")
	return place{name: "embedded", open: func(t testing.TB) approver.KV {
		t.Helper()
		s, err := sqlitestore.Open(sqlitestore.Config{Path: path}, quiet())
		must(t, err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}}
}

func redisPlace(t testing.TB) place {
	t.Helper()
	server, err := redistest.Start(t.Context(), redistest.Options{})
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	key := filepath.Join(t.TempDir(), "key")
	must(t, os.WriteFile(key, []byte(strings.Repeat("k", 64)+"\n"), 0o600))
	return place{name: "redis", shared: true, addr: server.Addr, key: key, open: func(t testing.TB) approver.KV {
		t.Helper()
		return openRedis(t, server.Addr, key)
	}}
}

func openRedis(t testing.TB, addr, key string) approver.KV {
	t.Helper()
	s, err := redisstore.Open(t.Context(), redisstore.Config{Addrs: []string{addr}, HubKeyFile: key}, quiet())
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func places(t testing.TB) []place { return []place{embeddedPlace(t), redisPlace(t)} }

// large are limits that leave the rate out of the way.
func large(budget int64) Config {
	c := DefaultConfig()
	c.Agent = Rate{Count: MaxCount, Per: time.Second, Burst: MaxBurst}
	c.User, c.Overall = c.Agent, c.Agent
	c.DailyBudget = budget
	return c
}

// Over both stores the same things hold.
func TestOverStores(t *testing.T) {
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) {
			kv := shifted{p.open(t), atNoon()}
			q := newFor(t, kv, small())
			spend := func() error { return q.Spend(t.Context(), 1) }
			evaluate := func() error { return q.Evaluate(t.Context(), agent(1, "a")) }
			if n := granted(t, 100, spend, ErrBudget); n != 10 {
				t.Errorf("a budget of 10 gave %d", n)
			}
			begun := time.Now()
			if n := granted(t, 100, evaluate, ErrRate); n < 3 || n > 3+int(time.Since(begun)/time.Second) {
				t.Errorf("a burst of 3 gave %d", n)
			}
			if s, err := q.Snapshot(t.Context()); err != nil || s.Charged != 10 {
				t.Errorf("%+v, %v", s, err)
			}
			// Another day has its own budget, and the old one's is not given anew.
			tomorrow := newFor(t, shifted{kv.KV, kv.ahead + 24*time.Hour}, small())
			if n := granted(t, 100, func() error { return tomorrow.Spend(t.Context(), 1) }, ErrBudget); n != 10 {
				t.Errorf("the next day gave %d", n)
			}
			again := newFor(t, kv, small())
			want(t, again.Spend(t.Context(), 1), ErrBudget)
			// A damaged record refuses.
			key := userKey(2)
			if err := kv.PutBefore(t.Context(), time.Time{}, key, []byte("{"), "", approver.NewRev(), time.Time{},
				time.Now().Add(48*time.Hour)); err != nil {
				t.Fatal(err)
			}
			want(t, q.Evaluate(t.Context(), agent(2, "a")), ErrUnknown)
			want(t, kv.KV.(interface{ Close() error }).Close(), nil)
			want(t, again.Spend(t.Context(), 1), ErrUnknown)
			want(t, again.Evaluate(t.Context(), agent(3, "a")), ErrUnknown)
		})
	}
}

// A budget is not exceeded by many replicas with many goroutines, though they are
// told of it by nobody but the store; and nothing of it is left when all are refused.
func TestBudgetIsNeverExceeded(t *testing.T) {
	for _, p := range places(t) {
		for _, budget := range []int64{1, 7, 100, 3000} {
			t.Run(fmt.Sprint(p.name, budget), func(t *testing.T) {
				if testing.Short() && budget > 1000 {
					t.Skip("each evaluation is a durable write: it takes long, and the others race as well")
				}
				kv := p.open(t)
				ahead := atNoon() + time.Duration(budget)*24*time.Hour // a record of its own
				var replicas []*Quota
				var told atomic.Int64
				c := large(budget)
				c.OnAlarm = func(Alarm) { told.Add(1) }
				for i := range 4 {
					if i > 0 && p.shared {
						kv = p.open(t)
					}
					q, err := New(shifted{kv, ahead}, c, quiet())
					must(t, err)
					replicas = append(replicas, q)
				}
				var spent atomic.Int64
				var calls sync.WaitGroup
				begun := time.Now()
				for i := range 64 {
					calls.Go(func() {
						q, n := replicas[i%4], 1+i%2
						for {
							err := q.Spend(t.Context(), n)
							if err != nil {
								if want(t, err, ErrBudget); n == 1 {
									return
								}
								n = 1
								continue
							}
							spent.Add(int64(n))
						}
					})
				}
				calls.Wait()
				took := time.Since(begun)
				for _, q := range replicas {
					if s, err := q.Snapshot(t.Context()); err != nil || s.Charged != budget {
						t.Fatalf("%+v, %v", s, err)
					}
					q.Close()
				}
				if got := spent.Load(); got != budget {
					t.Errorf("of %d there were %d spent", budget, got)
				}
				if told.Load() != 3 {
					t.Errorf("%d alarms", told.Load())
				}
				t.Logf("%d in %v: %.0f/s", spent.Load(), took, float64(spent.Load())/took.Seconds())
			})
		}
	}
}

// Buckets are shared too.
func TestRateIsNeverExceeded(t *testing.T) {
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) {
			c := large(1)
			c.Overall = Rate{Count: 200, Per: time.Second, Burst: 50}
			kv := p.open(t)
			var calls sync.WaitGroup
			var got atomic.Int64
			ahead := atNoon()
			begun := time.Now()
			for i := range 4 {
				if i > 0 && p.shared {
					kv = p.open(t)
				}
				q := newFor(t, shifted{kv, ahead}, c)
				for range 4 {
					calls.Go(func() {
						for time.Since(begun) < time.Second {
							if err := q.Evaluate(t.Context(), agent(uint32(i), "a")); err == nil {
								got.Add(1)
							} else if !errors.Is(err, ErrRate) {
								t.Error(err)
							}
							time.Sleep(time.Millisecond)
						}
					})
				}
			}
			calls.Wait()
			took := time.Since(begun)
			if most := 50 + int64(200*took.Seconds()) + 1; got.Load() > most || got.Load() < 50 {
				t.Errorf("%d in %v, at most %d are right", got.Load(), took, most)
			}
			t.Logf("%d in %v", got.Load(), took)
		})
	}
}

// The environment of a process that spends for TestProcesses.
const childEnv = "APPROVER_QUOTA_SPEND"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	if err := child(strings.Split(os.Getenv(childEnv), " ")); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// child spends at a rate until the budget is gone, and says how much it has spent.
func child(args []string) error {
	ahead, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	budget, err := strconv.ParseInt(args[3], 10, 64)
	if err != nil {
		return err
	}
	rate, err := strconv.Atoi(args[4])
	if err != nil {
		return err
	}
	ctx := context.Background()
	kv, err := redisstore.Open(ctx, redisstore.Config{Addrs: []string{args[0]}, HubKeyFile: args[1]}, quiet())
	if err != nil {
		return err
	}
	defer kv.Close()
	q, err := New(shifted{kv, time.Duration(ahead)}, large(budget), quiet())
	if err != nil {
		return err
	}
	var spent, refused, unknown atomic.Int64
	var calls sync.WaitGroup
	begun := time.Now()
	for i := 0; refused.Load() == 0 && i < 10*int(budget); i++ {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		calls.Go(func() {
			switch err := q.Spend(ctx, 1); {
			case err == nil:
				spent.Add(1)
			case errors.Is(err, ErrBudget):
				refused.Add(1)
			default:
				unknown.Add(1)
			}
		})
	}
	calls.Wait()
	fmt.Println(spent.Load(), unknown.Load(), time.Since(begun).Milliseconds())
	return nil
}

// Two processes on one Redis, each at 1,000 calls a second.
func TestProcesses(t *testing.T) {
	p := redisPlace(t)
	const budget = 4000
	ahead := int64(atNoon())
	var spent, unsure int64
	var mu sync.Mutex
	var children sync.WaitGroup
	for range 2 {
		children.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %d 1000", childEnv, p.addr, p.key, ahead, budget))
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%v: %s", err, out)
				return
			}
			var s, u, ms int64
			if _, err := fmt.Fscan(bufio.NewReader(strings.NewReader(string(out))), &s, &u, &ms); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			t.Logf("%d spent, %d not known in %d ms: %d/s", s, u, ms, s*1000/ms)
			mu.Lock()
			defer mu.Unlock()
			spent, unsure = spent+s, unsure+u
		})
	}
	children.Wait()
	if spent > budget || unsure == 0 && spent != budget {
		t.Errorf("of %d there were %d spent, %d are not known", budget, spent, unsure)
	}
}

// must fails a test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
