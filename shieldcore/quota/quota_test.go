package quota

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

func TestConfig(t *testing.T) {
	must(t, DefaultConfig().Validate())
	for _, tt := range []struct {
		name   string
		change func(c *Config)
		want   string
	}{
		{"nothing at all", func(c *Config) { *c = Config{} }, "daily_budget: 0"},
		{"no rate", func(c *Config) { c.Agent = Rate{} }, "agent.count"},
		{"negative", func(c *Config) { c.User.Count = -1 }, "user.count"},
		{"too many", func(c *Config) { c.Overall.Count = MaxCount + 1 }, "overall.count"},
		{"hours", func(c *Config) { c.Agent.Per = time.Hour }, "agent.per"},
		{"no burst", func(c *Config) { c.Overall.Burst = 0 }, "overall.burst"},
		{"huge burst", func(c *Config) { c.Overall.Burst = MaxBurst + 1 }, "overall.burst"},
		{"no names", func(c *Config) { c.Names = 0 }, "names"},
		{"many names", func(c *Config) { c.Names = MaxNames + 1 }, "names"},
		{"budget", func(c *Config) { c.DailyBudget = MaxBudget + 1 }, "daily_budget"},
		{"share of nothing", func(c *Config) { c.AlarmAt = []int{0} }, "alarm_at[0]"},
		{"share of more", func(c *Config) { c.AlarmAt = []int{50, 101} }, "alarm_at[1]"},
		{"share twice", func(c *Config) { c.AlarmAt = []int{50, 50} }, "alarm_at[1]"},
		{"too many shares", func(c *Config) { c.AlarmAt = make([]int, MaxShares+1) }, "alarm_at: 17"},
	} {
		c := DefaultConfig()
		tt.change(&c)
		if _, err := New(newMemKV(), c, quiet()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, not %q", tt.name, err, tt.want)
		}
	}
	if _, err := New(nil, DefaultConfig(), quiet()); err == nil {
		t.Error("no store is accepted")
	}
}

func TestZeroValuesRefuse(t *testing.T) {
	for _, q := range []*Quota{nil, {}} {
		want(t, q.Evaluate(t.Context(), agent(1, "a")), ErrUnknown)
		want(t, q.Spend(t.Context(), 1), ErrUnknown)
		if _, err := q.Snapshot(t.Context()); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
		q.Close()
	}
	q := newFor(t, newMemKV(), small())
	for _, who := range []Who{{}, {Agent: "a"}, {Peer: approver.Peer{UID: 1}, Agent: "a"},
		{Peer: approver.Peer{Known: true}}} {
		want(t, q.Evaluate(t.Context(), who), ErrUnknown)
	}
	for _, n := range []int{0, -1, -1 << 62} {
		want(t, q.Spend(t.Context(), n), ErrUnknown)
	}
	if s, err := q.Snapshot(t.Context()); err != nil || s.Charged != 0 || s.Spent != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// Each bucket lets its burst through, and then its rate.
func TestBuckets(t *testing.T) {
	for _, tt := range []struct {
		name        string
		who         func(i int) Who
		burst       int
		later       time.Duration
		afterwards  int
		explanation string
	}{
		{"one agent", func(int) Who { return agent(1, "a") }, 3, 2 * time.Second, 2,
			"this agent (60 a minute and 3 at once)"},
		{"one uid with three names", func(i int) Who { return agent(1, fmt.Sprint(i%3)) }, 5, 2 * time.Second, 4,
			"this user's agents together"},
		{"all", func(i int) Who { return agent(uint32(i), "a") }, 8, time.Second, 4, "all agents together"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newFor(t, newMemKV(), small())
				i := 0
				call := func() error { i++; return q.Evaluate(t.Context(), tt.who(i)) }
				if n := granted(t, 100, call, ErrRate); n != tt.burst {
					t.Fatalf("%d calls at once", n)
				}
				err := call()
				var r *RefusedError
				if !errors.As(err, &r) || !strings.Contains(err.Error(), tt.explanation) || !r.Again.After(time.Now()) ||
					!strings.Contains(err.Error(), clockText(r.Again)) {
					t.Fatalf("got %v", err)
				}
				time.Sleep(time.Until(r.Again) - 1)
				want(t, call(), ErrRate)
				time.Sleep(time.Nanosecond)
				want(t, call(), nil)
				time.Sleep(time.Hour)
				if n := granted(t, 100, call, ErrRate); n != tt.burst {
					t.Fatalf("%d calls after a pause", n)
				}
				time.Sleep(tt.later)
				if n := granted(t, 100, call, ErrRate); n != tt.afterwards {
					t.Fatalf("%d calls after %v", n, tt.later)
				}
			})
		})
	}
}

// An agent that is refused takes nothing from others, and writes nothing.
func TestRefusalsTakeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		q := newFor(t, kv, small())
		granted(t, 100, func() error { return q.Evaluate(t.Context(), agent(1, "a")) }, ErrRate)
		writes := kv.writes
		for range 1000 {
			want(t, q.Evaluate(t.Context(), agent(1, "a")), ErrRate)
		}
		if kv.writes != writes {
			t.Errorf("%d writes for calls that are refused", kv.writes-writes)
		}
		want(t, q.Evaluate(t.Context(), agent(2, "b")), nil)
		want(t, q.Evaluate(t.Context(), agent(1, "b")), nil) // its uid has two tokens left
		for range 10 {
			want(t, q.Spend(t.Context(), 1), nil)
		}
		want(t, q.Spend(t.Context(), 1), ErrBudget)
		writes = kv.writes
		for range 1000 {
			want(t, q.Spend(t.Context(), 1), ErrBudget)
		}
		if kv.writes != writes {
			t.Errorf("%d writes for a budget that is spent", kv.writes-writes)
		}
		if s, err := q.Snapshot(t.Context()); err != nil || s.Evaluated != 5 || s.RefusedRate != 1001 ||
			s.RefusedBudget != 1001 || s.Spent != 10 || s.Charged != 10 {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// An agent that claims many names gets no more tokens and fills no store.
func TestManyNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, c := newMemKV(), small()
		c.User = Rate{Count: 120, Per: time.Minute, Burst: 50}
		c.Overall = Rate{Count: 1000, Per: time.Second, Burst: 1000}
		c.Agent = Rate{Count: 1, Per: time.Minute, Burst: 10}
		q := newFor(t, kv, c)
		got := 0
		for i := range 10_000 {
			name := fmt.Sprintf("%d%s", i, strings.Repeat("x", 100))
			if err := q.Evaluate(t.Context(), agent(7, name)); err == nil {
				got++
			} else if want(t, err, ErrRate); i == 4 && !strings.Contains(err.Error(), "go by 4 names already") {
				t.Error(err)
			}
			if i%100 == 0 {
				time.Sleep(time.Second)
			}
		}
		// 100 s: one name's bucket is full again after a minute.
		if got > c.Names*2 {
			t.Errorf("%d names got tokens", got)
		}
		if len(kv.records) != 2 {
			t.Errorf("%d records", len(kv.records))
		}
		if size := len(kv.records[userKey(7)].value); size > 300 {
			t.Errorf("the record has %d bytes", size)
		}
		want(t, q.Evaluate(t.Context(), agent(8, "a")), nil)
		var s buckets // it is kept until the slowest of its buckets is full
		must(t, decode(kv.records[userKey(7)].value, &s))
		for name, full := range s.Names {
			if kv.records[userKey(7)].keep.UnixNano() < int64(full)+int64(keepBuckets) {
				t.Errorf("%s is forgotten before it is full", name)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) { // and, with room for all names, the uid's bucket holds
		c := small()
		c.Names = MaxNames
		q := newFor(t, newMemKV(), c)
		i := 0
		if n := granted(t, 100, func() error { i++; return q.Evaluate(t.Context(), agent(7, fmt.Sprint(i))) },
			ErrRate); n != 5 {
			t.Errorf("%d tokens for a uid", n)
		}
	})
}

// Uids are new records; the overall bucket bounds them, and they go.
func TestManyUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		q := newFor(t, kv, small())
		for i := range 10_000 {
			_ = q.Evaluate(t.Context(), agent(uint32(i), "a"))
		}
		if len(kv.records) > 10 { // the burst, one that was refused, and the overall one
			t.Errorf("%d records", len(kv.records))
		}
		for key, r := range kv.records {
			if left := time.Until(r.keep); left < keepBuckets || left > keepBuckets+time.Minute {
				t.Errorf("%s is kept for %v", key, left)
			}
		}
	})
}

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFor(t, newMemKV(), small())
		err := q.Spend(t.Context(), 11)
		if want(t, err, ErrBudget); !strings.Contains(err.Error(), "no day has room") {
			t.Error(err)
		}
		want(t, q.Spend(t.Context(), 7), nil)
		err = q.Spend(t.Context(), 4)
		if want(t, err, ErrBudget); !strings.Contains(err.Error(), "fewer than 4 of the 10") {
			t.Error(err)
		}
		want(t, q.Spend(t.Context(), 3), nil)
		err = q.Spend(t.Context(), 1)
		var r *RefusedError
		if !errors.As(err, &r) || !r.Again.Equal(time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)) ||
			!strings.Contains(err.Error(), "2000-01-01 are spent") ||
			!strings.Contains(err.Error(), "after 2000-01-02 00:00 UTC") {
			t.Error(err)
		}
	})
}

// The day changes at midnight in UTC, wherever the process is.
func TestChangeOfDay(t *testing.T) {
	for _, tt := range []struct{ from, next string }{
		{"2026-11-21", "2026-11-22"}, {"2026-12-31", "2027-01-01"}, {"2027-02-28", "2027-03-01"},
		{"2028-02-28", "2028-02-29"}, {"2028-02-29", "2028-03-01"}, {"2100-02-28", "2100-03-01"},
		{"2026-04-30", "2026-05-01"},
		{"2026-03-29", "2026-03-30"}, // the clocks of Europe change
	} {
		t.Run(tt.from, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				local := time.Local
				time.Local = time.FixedZone("far", -11*3600)
				defer func() { time.Local = local }()
				kv := newMemKV()
				begin, err := time.Parse(time.DateOnly, tt.from)
				must(t, err)
				kv.ahead = time.Until(begin)
				q := newFor(t, kv, small())
				spend := func() error { return q.Spend(t.Context(), 1) }
				if n := granted(t, 100, spend, ErrBudget); n != 10 {
					t.Fatalf("%d at the beginning of the day", n)
				}
				time.Sleep(24*time.Hour - 1)
				want(t, spend(), ErrBudget)
				if s, _ := q.Snapshot(t.Context()); s.Day != tt.from {
					t.Errorf("the day is %s", s.Day)
				}
				time.Sleep(time.Nanosecond)
				if n := granted(t, 100, spend, ErrBudget); n != 10 {
					t.Fatalf("%d at the beginning of the next day", n)
				}
				if s, err := q.Snapshot(t.Context()); err != nil || s.Day != tt.next || s.Charged != 10 {
					t.Errorf("%+v, %v", s, err)
				}
				if keep := kv.records[dayKey(tt.from)].keep; !keep.Equal(begin.Add(24*time.Hour + keepDay)) {
					t.Errorf("kept until %v", keep)
				}
			})
		})
	}
}

// A write that comes to the store after midnight takes nothing from the day before,
// and the evaluation is one of the new day.
func TestWriteOverMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		q := newFor(t, kv, small())
		time.Sleep(24*time.Hour - 2)
		slow := true
		kv.fail = func(op, _ string) error {
			if op == "put" && slow {
				slow = false
				time.Sleep(10 * time.Nanosecond)
			}
			return nil
		}
		want(t, q.Spend(t.Context(), 1), nil)
		if _, old := kv.records[dayKey("2000-01-01")]; old {
			t.Error("it was taken from the day that was over")
		}
		if s, err := q.Snapshot(t.Context()); err != nil || s.Day != "2000-01-02" || s.Charged != 1 {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// A clock that goes back, against its contract, brings no budget; neither does one
// that differs between replicas.
func TestClocksThatGoBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		q := newFor(t, kv, small())
		spend := func() error { return q.Spend(t.Context(), 1) }
		granted(t, 100, spend, ErrBudget)
		kv.set(func() { kv.ahead = 24 * time.Hour })
		time.Sleep(time.Second)
		if n := granted(t, 4, spend, ErrBudget); n != 4 {
			t.Fatalf("%d on the next day", n)
		}
		kv.set(func() { kv.ahead = -10 * 24 * time.Hour })
		time.Sleep(10 * time.Second)
		if n := granted(t, 100, spend, ErrBudget); n != 6 {
			t.Errorf("%d more after the clock went back", n)
		}
		other := newFor(t, kv, small()) // it never saw the later days
		kv.set(func() { kv.ahead = 0 })
		time.Sleep(time.Second)
		want(t, other.Spend(t.Context(), 1), ErrBudget)
	})
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		q := newFor(t, kv, small())
		evaluate := func() error { return q.Evaluate(t.Context(), agent(1, "a")) }
		kv.ahead = 1000 * time.Hour
		granted(t, 100, evaluate, ErrRate)
		kv.set(func() { kv.ahead = 0 })
		time.Sleep(time.Minute)
		want(t, evaluate(), ErrRate) // the bucket begins empty …
		time.Sleep(time.Second)
		want(t, evaluate(), ErrRate) // … as the overall one does when it is looked at …
		time.Sleep(time.Second)
		want(t, evaluate(), nil) // … and fills at its rate
	})
}

func TestStoreThatFails(t *testing.T) {
	away := errors.New("dial tcp 10.0.0.7:6379: refused")
	for _, op := range []string{"now", "get", "put"} {
		synctest.Test(t, func(t *testing.T) {
			kv := newMemKV()
			q := newFor(t, kv, small())
			kv.fail = func(o, _ string) error {
				if o == op {
					return away
				}
				return nil
			}
			for _, err := range []error{q.Spend(t.Context(), 1), q.Evaluate(t.Context(), agent(1, "a"))} {
				if want(t, err, ErrUnknown); !errors.Is(err, away) || strings.Contains(err.Error(), "10.0.0.7") {
					t.Errorf("%s: got %v", op, err)
				}
			}
			kv.set(func() { kv.fail = nil })
			want(t, q.Spend(t.Context(), 1), nil)
			want(t, q.Evaluate(t.Context(), agent(1, "a")), nil)
		})
	}
	synctest.Test(t, func(t *testing.T) { // one that hangs
		kv := newMemKV()
		q := newFor(t, hanging{kv}, small())
		begun := time.Now()
		want(t, q.Spend(t.Context(), 1), ErrUnknown)
		if took := time.Since(begun); took > storeTime {
			t.Errorf("it took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		begun = time.Now()
		want(t, q.Spend(ctx, 1), ErrUnknown)
		if took := time.Since(begun); took > time.Millisecond {
			t.Errorf("it took %v", took)
		}
		want(t, q.Spend(ctx, 1), ErrUnknown)
		var calls sync.WaitGroup
		for range 4196 {
			calls.Go(func() { want(t, q.Spend(t.Context(), 1), ErrUnknown) })
		}
		calls.Wait()
		if len(kv.records) != 0 {
			t.Error("something was taken")
		}
	})
	synctest.Test(t, func(t *testing.T) { // one that panics does not end the daemon
		kv := newMemKV()
		q := newFor(t, kv, small())
		kv.fail = func(string, string) error { panic("defect") }
		want(t, q.Spend(t.Context(), 1), ErrUnknown)
		want(t, q.Evaluate(t.Context(), agent(1, "a")), ErrUnknown)
	})
}

// A hanging store answers when the call's time is over.
type hanging struct{ *memKV }

func (hanging) Now(ctx context.Context) (time.Time, error) {
	<-ctx.Done()
	return time.Time{}, ctx.Err()
}

func TestDamagedRecords(t *testing.T) {
	today := `"day":"2000-01-01"`
	for _, value := range []string{
		``, `null`, `{}`, `[]`, `0`, `{"v":1}`, `{"v":2,` + today + `,"charged":1}`, `{"v":1,` + today + `,"charged":-5}`,
		`{"v":1,"day":"1999-12-31","charged":1}`, `{"v":1,` + today + `,"charged":1.5}`,
		`{"v":1,` + today + `,"charged":"1"}`,
		`{"v":1,` + today + `,"charged":1}{}`, `{"v":1,` + today + `,"charged":1,"more":1}`,
		`{"v":1,` + today + `,"charged":99999999999}`,
		`{"v":1,"all":0}`, `{"v":1,"all":-1}`, `{"v":1,"all":1,"names":{"short":1}}`,
		`{"v":1,"all":1,"names":{"0123456789abcdef":0}}`, "\x00\xff",
	} {
		synctest.Test(t, func(t *testing.T) {
			kv := newMemKV()
			q := newFor(t, kv, small())
			for _, key := range []string{dayKey("2000-01-01"), userKey(1), overallKey()} {
				kv.records[key] = memRecord{[]byte(value), approver.NewRev(), time.Now().Add(100 * time.Hour)}
			}
			err := q.Spend(t.Context(), 1)
			if want(t, err, ErrUnknown); err.(*RefusedError).Cause == nil ||
				!strings.Contains(err.(*RefusedError).Cause.Error(), dayKey("2000-01-01")) {
				t.Errorf("%s: %v", value, err.(*RefusedError).Cause)
			}
			if value != `{"v":1}` {
				_, err = q.Snapshot(t.Context())
				want(t, err, ErrUnknown)
			}
			want(t, q.Evaluate(t.Context(), agent(1, "a")), ErrUnknown) // its own bucket
			want(t, q.Evaluate(t.Context(), agent(2, "a")), ErrUnknown) // the overall one
			time.Sleep(24 * time.Hour)
			want(t, q.Spend(t.Context(), 1), nil) // a new day has a new record
		})
	}
}

// A write whose outcome is not known may have been made: it counts, and nothing runs
// because of it.
func TestAmbiguousWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		var mu sync.Mutex
		var told []int
		c := small()
		c.OnAlarm = func(a Alarm) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, a.Share)
		}
		q := newFor(t, kv, c)
		broken := errors.New("connection reset")
		kv.lost = func(string) error { return broken }
		want(t, q.Spend(t.Context(), 1), nil) // the repeat finds the write
		if s, _ := q.Snapshot(t.Context()); s.Charged != 1 {
			t.Errorf("%d are charged", s.Charged)
		}
		lost := false
		kv.set(func() {
			kv.lost = func(string) error { lost = true; return broken }
			kv.fail = func(op, _ string) error {
				if lost && op == "put" {
					return broken
				}
				return nil
			}
		})
		want(t, q.Spend(t.Context(), 4), ErrUnknown) // it was made, and nobody knows
		kv.set(func() { kv.lost, kv.fail = nil, nil })
		if s, _ := q.Snapshot(t.Context()); s.Charged != 5 {
			t.Errorf("%d are charged", s.Charged)
		}
		if len(told) != 0 {
			t.Errorf("told %v", told)
		}
		want(t, q.Spend(t.Context(), 1), nil)
		synctest.Wait()
		if !slices.Equal(told, []int{50}) { // what that write was to tell is told later
			t.Errorf("told %v", told)
		}
		if n := granted(t, 100, func() error { return q.Spend(t.Context(), 1) }, ErrBudget); n != 4 {
			t.Errorf("%d are left", n)
		}
		synctest.Wait()
		if !slices.Equal(told, []int{50, 80, 95}) && !slices.Equal(told, []int{50, 95, 80}) {
			t.Errorf("told %v", told)
		}
	})
}

// A caller who has gone takes nothing.
func TestCallerWhoHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		q := newFor(t, kv, small())
		slow := true
		kv.delay = func(op string) {
			if op == "put" && slow {
				slow = false
				time.Sleep(time.Second)
			}
		}
		var calls sync.WaitGroup
		calls.Go(func() { want(t, q.Spend(t.Context(), 1), nil) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		want(t, q.Spend(ctx, 5), ErrUnknown)
		calls.Wait()
		synctest.Wait()
		if s, err := q.Snapshot(t.Context()); err != nil || s.Charged != 1 {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// Sixty-four agents ask in the same instant. The first is written alone and all others in one
// write behind it: else each would wait for the disk as often as there are others before it.
// The budget is kept to the last one, and each share is told once.
func TestCallsAtOnceShareAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		told := make(chan int, 100)
		c := small()
		c.DailyBudget, c.OnAlarm = 50, func(a Alarm) { told <- a.Share }
		q := newFor(t, kv, c)
		kv.delay = slowPut
		var spent atomic.Int64
		var calls sync.WaitGroup
		for range 64 {
			calls.Go(func() {
				err := q.Spend(t.Context(), 1)
				if err == nil {
					spent.Add(1)
				} else {
					want(t, err, ErrBudget)
				}
			})
		}
		calls.Wait()
		if s, err := q.Snapshot(t.Context()); err != nil || s.Charged != 50 || spent.Load() != 50 || kv.writes != 2 {
			t.Errorf("%d were spent in %d writes: %+v, %v", spent.Load(), kv.writes, s, err)
		}
		synctest.Wait()
		close(told)
		var shares []int
		for share := range told {
			shares = append(shares, share)
		}
		if slices.Sort(shares); !slices.Equal(shares, c.AlarmAt) {
			t.Errorf("told %v", shares)
		}
	})
}

func slowPut(op string) {
	if op == "put" {
		time.Sleep(100 * time.Millisecond)
	}
}

// A caller leaves while the write that it shares is on its way. The alarm that its change
// noted is given by the next change of the process.
func TestCallerWhoLeavesASharedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		told := make(chan int, 100)
		c := small()
		c.AlarmAt, c.OnAlarm = []int{50}, func(a Alarm) { told <- a.Share }
		q := newFor(t, kv, c)
		kv.delay = slowPut
		var calls sync.WaitGroup
		calls.Go(func() { want(t, q.Spend(t.Context(), 1), nil) })
		synctest.Wait()
		calls.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
			defer cancel()
			want(t, q.Spend(ctx, 5), ErrUnknown)
		})
		calls.Wait()
		time.Sleep(time.Second)
		if s, err := q.Snapshot(t.Context()); err != nil || s.Charged != 6 || len(told) != 0 {
			t.Errorf("%+v, %v, %d told", s, err, len(told))
		}
		want(t, q.Spend(t.Context(), 1), nil)
		if share := <-told; share != 50 {
			t.Errorf("told %d", share)
		}
	})
}

// Sixty-four callers leave while the write that they share is on its way. Whichever of them has
// noted an alarm, the next change of the process gives it.
func TestManyWhoLeaveASharedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		told := make(chan int, 100)
		c := small()
		c.DailyBudget, c.AlarmAt, c.OnAlarm = 100, []int{2}, func(a Alarm) { told <- a.Share }
		q := newFor(t, kv, c)
		kv.delay = slowPut
		var calls sync.WaitGroup
		calls.Go(func() { want(t, q.Spend(t.Context(), 1), nil) })
		synctest.Wait()
		for range 64 {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
				defer cancel()
				want(t, q.Spend(ctx, 1), ErrUnknown)
			})
			synctest.Wait()
		}
		calls.Wait()
		time.Sleep(time.Second)
		want(t, q.Spend(t.Context(), 1), nil)
		synctest.Wait()
		if s, err := q.Snapshot(t.Context()); err != nil || s.Charged != 66 || len(told) != 1 {
			t.Errorf("%+v, %v, %d told", s, err, len(told))
		}
	})
}

// A deafKV answers in its own time, as a disk does: it does not look at contexts.
type deafKV struct{ *memKV }

func (d deafKV) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	return d.memKV.Get(context.WithoutCancel(ctx), key)
}

func (d deafKV) Now(ctx context.Context) (time.Time, error) {
	return d.memKV.Now(context.WithoutCancel(ctx))
}

// The disk hangs for three seconds under the first of several calls. Its time is over when the
// record is read, so that nothing is taken for it: it must not hear a yes.
func TestRecordThatIsReadTooLate(t *testing.T) {
	for name, take := range map[string]func(*Quota, context.Context) error{
		"budget": func(q *Quota, ctx context.Context) error { return q.Spend(ctx, 1) },
		"rate":   func(q *Quota, ctx context.Context) error { return q.Evaluate(ctx, agent(1, "a")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				q := newFor(t, deafKV{kv}, small())
				atGet := func(do func()) {
					kv.set(func() {
						kv.delay = func(op string) {
							if op == "get" {
								do()
							}
						}
					})
				}
				atGet(func() { time.Sleep(3 * time.Second) })
				for _, callers := range []int{1, 3} {
					var calls sync.WaitGroup
					for range callers {
						calls.Go(func() { want(t, take(q, t.Context()), ErrUnknown) })
					}
					calls.Wait()
					time.Sleep(time.Minute)
				}
				if len(kv.records) != 0 {
					t.Errorf("%v", kv.records)
				}
				ctx, cancel := context.WithCancel(t.Context())
				atGet(cancel) // the caller leaves at that moment
				want(t, take(q, ctx), ErrUnknown)
			})
		})
	}
}

// A quota that is closed has told of every share that was reached: nobody is told afterwards.
func TestAlarmWhileClosing(t *testing.T) {
	for range 200 {
		c := small()
		var told atomic.Int64
		c.OnAlarm = func(Alarm) { told.Add(1) }
		q := newFor(t, newMemKV(), c)
		spent := make(chan error)
		go func() { spent <- q.Spend(t.Context(), 10) }()
		runtime.Gosched()
		q.Close()
		before := told.Load()
		if err := <-spent; err == nil && before != 3 {
			t.Fatalf("%d told before it was closed", before)
		}
	}
}

// A write that fails, or panics, refuses all that share it and keeps nobody from the next.
func TestSharedWriteThatFails(t *testing.T) {
	for name, fault := range map[string]func() error{
		"fails":  func() error { return errors.New("connection reset") },
		"panics": func() error { panic("a defect") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				q := newFor(t, kv, small())
				kv.delay = slowPut
				kv.fail = func(op, _ string) error {
					if op == "put" {
						return fault()
					}
					return nil
				}
				var calls sync.WaitGroup
				for range 8 {
					calls.Go(func() { want(t, q.Spend(t.Context(), 1), ErrUnknown) })
				}
				calls.Wait()
				kv.set(func() { kv.fail = nil })
				want(t, q.Spend(t.Context(), 10), nil)
			})
		})
	}
}

// An agent that goes on calling after it was refused keeps no other waiting.
func TestRefusedInALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		q := newFor(t, kv, small())
		granted(t, 100, func() error { return q.Evaluate(t.Context(), agent(1, "a")) }, ErrRate)
		kv.set(func() { kv.delay = func(string) { time.Sleep(10 * time.Millisecond) } })
		var calls sync.WaitGroup
		for range 1000 {
			calls.Go(func() { want(t, q.Evaluate(t.Context(), agent(1, "a")), ErrRate) })
		}
		begun := time.Now()
		want(t, q.Evaluate(t.Context(), agent(2, "b")), nil)
		if took := time.Since(begun); took > 100*time.Millisecond {
			t.Errorf("another waited %v", took)
		}
		calls.Wait()
	})
}

// A bucket of a time far ahead is empty and fills at its rate: nobody is locked out.
func TestBucketFarAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		q := newFor(t, kv, small())
		for _, key := range []string{userKey(1), overallKey()} {
			kv.records[key] = memRecord{[]byte(`{"v":1,"all":9000000000000000000}`), approver.NewRev(),
				time.Now().Add(100 * time.Hour)}
			want(t, q.Evaluate(t.Context(), agent(1, "a")), ErrRate)
			time.Sleep(time.Second)
		}
		want(t, q.Evaluate(t.Context(), agent(1, "a")), nil)
	})
}

// The story: replicas carry the store's clock on, so one of them is some ms behind. It took an
// empty bucket for one that was emptied ahead of its time, and made it fuller: a call in turn
// from the one and the other got a token each time.
func TestAReplicaWhoseClockIsBehindGivesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, c := newMemKV(), large(1)
		c.Overall = Rate{Count: 200, Per: time.Second, Burst: 50}
		ahead, behind := newFor(t, kv, c), newFor(t, shifted{kv, -10 * time.Millisecond}, c)
		given := 0
		for range 1000 {
			for _, q := range []*Quota{ahead, behind} {
				if q.Evaluate(t.Context(), agent(1, "a")) == nil {
					given++
				}
			}
		}
		if given != 50 {
			t.Errorf("%d calls, of 50 at once", given)
		}
	})
}

// What is spent while a quota is closed counts.
func TestSpendWhileClosing(t *testing.T) {
	for range 50 {
		kv, c := newMemKV(), large(10_000)
		kv.ahead = atNoon()
		q := newFor(t, kv, c)
		var spent atomic.Int64
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() {
				for q.Spend(t.Context(), 1) == nil {
					spent.Add(1)
				}
			})
		}
		time.Sleep(200 * time.Microsecond)
		q.Close()
		calls.Wait()
		if s, err := newFor(t, kv, c).Snapshot(t.Context()); err != nil || s.Charged != spent.Load() {
			t.Fatalf("%d were spent: %+v, %v", spent.Load(), s, err)
		}
	}
}

// No rate is exceeded because its interval is rounded.
func TestIntervals(t *testing.T) {
	for count := 1; count <= MaxCount; count += 1 + count/7 {
		for _, per := range []time.Duration{time.Second, time.Minute} {
			r := Rate{Count: count, Per: per, Burst: 1}
			if all := r.interval() * time.Duration(count); all < per || all > per+per/1000 {
				t.Errorf("%v: %v for all", r, all)
			}
		}
	}
}

// Each share is told once a day, by one replica.
func TestAlarms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		var mu sync.Mutex
		told := map[string]int{}
		c := small()
		c.DailyBudget = 1000
		c.OnAlarm = func(a Alarm) {
			mu.Lock()
			defer mu.Unlock()
			told[fmt.Sprint(a.Day, " ", a.Share)]++
			if a.Charged*100 < a.Budget*int64(a.Share) || a.Budget != 1000 {
				t.Errorf("%+v", a)
			}
			panic("of the one who is told")
		}
		replicas := []*Quota{newFor(t, kv, c), newFor(t, kv, c), newFor(t, kv, c)}
		for day := 1; day <= 2; day++ {
			var calls sync.WaitGroup
			for i := range 1500 {
				calls.Go(func() { _ = replicas[i%3].Spend(t.Context(), 1) })
			}
			calls.Wait()
			synctest.Wait()
			for _, share := range c.AlarmAt {
				if key := fmt.Sprintf("2000-01-%02d %d", day, share); told[key] != 1 {
					t.Errorf("%s was told %d times", key, told[key])
				}
			}
			if len(told) != day*3 {
				t.Errorf("told %v", told)
			}
			time.Sleep(24 * time.Hour)
		}
	})
}

// Records of the builds that leased evaluations ahead count as they stand.
func TestRecordsOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		for key, value := range map[string]string{
			dayKey("2000-01-01"): `{"v":1,"day":"2000-01-01","charged":8,"told":[{"share":50` +
				`,"by":"5b0c3a53-1f63-4b0e-8d3a-7c1a1c1b2d3e"},` +
				`{"share":80,"by":"0d4f8a12-9a77-4a57-9c38-6a1f3b5c7d9e"}]}`,
			userKey(1):         `{"v":1,"all":946684802000000000,"names":{"ca978112ca1bbdca":946684803000000000}}`,
			overallKey():       `{"v":1,"all":946684800250000000}`,
			askedKey("uid", 1): `{"v":1,"last":[{"at":946684799000000000,"of":"0123456789abcdef","call":"0123456789abcde0"}]}`,
		} {
			kv.records[key] = memRecord{[]byte(value), approver.NewRev(), time.Now().Add(time.Hour)}
		}
		q := newFor(t, kv, small())
		if n := granted(t, 10, func() error { return q.Spend(t.Context(), 1) }, ErrBudget); n != 2 {
			t.Errorf("%d of the day's budget were left", n)
		}
		want(t, q.Evaluate(t.Context(), agent(1, "a")), ErrRate)
		want(t, q.Evaluate(t.Context(), agent(1, "b")), nil)
		a := asksOn(t, kv, AskLimits{User: 2, Agent: 2})
		want(t, a.Take(t.Context(), asker(1, "a", "/p"), "one"), nil)
		var many *approver.TooManyError
		if err := a.Take(t.Context(), asker(1, "a", "/p"), "two"); !errors.As(err, &many) {
			t.Error(err)
		}
	})
}
