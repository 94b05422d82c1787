package broadcaster

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/gate"
)

// fullFor lets the store take no writes, and with away nothing at all.
func (x *bench) fullFor(away bool) {
	x.kv.failing(func(op, _ string) error {
		if away || op == "put" {
			return syscall.ENOSPC
		}
		return nil
	})
}

// works lets the store do all again.
func (x *bench) works() {
	x.kv.failing(nil)
}

// The story: an agent ran wild and had filled the store's disk. People froze everything;
// the store could not take that, the command failed, and every call that nobody had to be
// asked about went on. Now the freeze holds in the daemon until the store takes it, also
// where a store that fails lets calls through, and nothing but lifting it ends it.
func TestAFreezeThatTheStoreDoesNotTake(t *testing.T) {
	for name, away := range map[string]bool{"a full disk": false, "a store that is away": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				if _, err := x.Controls.Pause(t.Context(), nil, MaxPause, true, "Ada"); err != nil {
					t.Fatal(err)
				}
				gate := &gate.Gate{
					Stages: []approver.Stage{FreezeStage{Store: x.kv, Mark: x.Mark}}, FailOpen: true, Audit: x.audit,
					Log: slog.New(slog.DiscardHandler), Ask: func(context.Context, approver.ToolCall,
						approver.Verdict) approver.Verdict {
						return approver.Verdict{}
					},
				}
				waits := x.askAsync(t.Context(), testCall("c0"), approver.High)
				synctest.Wait()
				x.fullFor(away)
				at := time.Now()
				answer := make(chan error, 1)
				go func() {
					_, err := x.Controls.Freeze(t.Context(), "uid 7", "it runs wild")
					answer <- err
				}()
				synctest.Wait()
				if v := gate.Decide(t.Context(), testCall("c1")); v.Decision != approver.Deny ||
					!strings.Contains(v.Reason, "it runs wild") {
					t.Errorf("a call while the store is still told: %+v", v)
				}
				err := <-answer
				if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(),
					"frozen here until restart or until the store takes it") {
					t.Errorf("told %v after %v", err, time.Since(at))
				}
				if n := x.count(approver.EventAlarm); n != 1 || x.count(approver.EventFrozen) != 0 {
					t.Errorf("%d alarms; a line says that the store has it: %d", n, x.count(approver.EventFrozen))
				}
				for range 3 {
					time.Sleep(20 * time.Second)
					if v := gate.Decide(t.Context(), testCall("c2")); v.Decision != approver.Deny {
						t.Errorf("a call after %v: %+v", time.Since(at), v)
					}
				}
				if _, paused := x.Controls.PausedFor(t.Context(), approver.High); paused {
					t.Error("it goes on to be paused")
				}
				if c := x.Mark.Held(); !strings.Contains(c.Notice(time.Now()), "by this daemon alone") ||
					!strings.Contains(c.Here, "no space left") {
					t.Errorf("status says %q", c.Notice(time.Now()))
				}
				if err := x.Controls.Unfreeze(t.Context(), "Ada"); err == nil || x.Mark.holding() == nil {
					t.Errorf("lifted while the store takes nothing: %v", err)
				}
				seen := x.Mark.Held() // by who may be lifting it just now
				x.works()
				time.Sleep(15 * time.Second)
				c, err := LoadControls(t.Context(), x.kv)
				if err != nil || !c.Freeze.At.Equal(seen.Freeze.At) || !c.SameFreezes(seen) || c.Freeze.By != "uid 7" ||
					c.Freeze.Reason != "it runs wild" || time.Now().Before(c.Pause.Until) || x.Mark.holding() != nil {
					t.Errorf("the store has %+v, %v; held: %v", c, err, x.Mark.holding())
				}
				if v := <-waits; v.Decision != approver.Deny || x.count(approver.EventFrozen) != 1 {
					t.Errorf("what waited: %+v; %d lines say frozen", v, x.count(approver.EventFrozen))
				}
				if err := x.Controls.Unfreeze(t.Context(), "Ada"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				if c, _, err := x.Controls.Load(t.Context()); err != nil || c.Frozen() || !c.freezeVoids(at) {
					t.Errorf("after the lift: %+v, %v", c, err)
				}
				if v, err := (FreezeStage{Store: x.kv, Mark: x.Mark}).Judge(t.Context(), testCall("c3")); err != nil ||
					v.Decision != approver.Pass || v.By == "" {
					t.Errorf("after the lift: %+v, %v", v, err)
				}
			})
		})
	}
}

// What else happens while a freeze holds in one daemon alone: whatever that daemon writes of
// the controls takes the freeze along, and lifting ends it in store and memory at once.
func TestAFreezeHereMeetsOtherChanges(t *testing.T) {
	for name, tt := range map[string]struct {
		act    func(x, other *bench) error // once the store works
		frozen bool
	}{
		"lifted before the store was told again": {
			func(x, _ *bench) error { return x.Controls.Unfreeze(x.t.Context(), "Ada") }, false,
		},
		"frozen once more":      {func(x, _ *bench) error { return freezeNow(x) }, true},
		"a change of approvers": {func(x, _ *bench) error { return x.Mark.Count(x.t.Context(), x.kv) }, true},
		"one agent frozen": {func(x, _ *bench) error {
			_, err := x.Controls.Hold(x.t.Context(), testWho, "approver", "r")
			return err
		}, true},
		"a pause": {func(x, _ *bench) error {
			if _, err := x.Controls.Pause(x.t.Context(), nil, time.Minute, true, "Eve"); !errors.Is(err, ErrFrozen) {
				return errors.New("it is paused")
			}
			return nil
		}, true},
		"another daemon's change": {
			func(_, other *bench) error { return other.Mark.Count(other.t.Context(), other.kv) }, true,
		},
		"a restart": {func(x, _ *bench) error { x.stop(); x.Mark.took(x.Mark.holding()); return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				other := newBench(t, x.kv)
				x.fullFor(false)
				if err := freezeNow(x); err == nil || x.Mark.holding() == nil {
					t.Fatalf("told %v", err)
				}
				x.works()
				if err := tt.act(x, other); err != nil {
					t.Fatal(err)
				}
				time.Sleep(15 * time.Second)
				c, err := LoadControls(t.Context(), x.kv)
				if err != nil || c.Frozen() != tt.frozen || x.Mark.holding() != nil {
					t.Errorf("%+v, %v, held %v", c, err, x.Mark.holding())
				}
				if n := x.count(approver.EventAlarm) + other.count(approver.EventAlarm); n != 1 {
					t.Errorf("%d alarms", n)
				}
			})
		})
	}
}

// A yes that people gave to a call from before such a freeze, or in it, runs nothing.
func TestAFreezeHereBurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		call := testCall("c1")
		v := x.askAsync(t.Context(), call, approver.High)
		synctest.Wait()
		x.kv.failing(func(op, key string) error { // room for the yes, and not for the freeze
			if op == "put" && key == controlKey() {
				return syscall.ENOSPC
			}
			return nil
		})
		if err := freezeNow(x); err == nil {
			t.Fatal("the store has it")
		}
		_ = x.tap(x.tg, -1, "1", true)
		if got := <-v; got.Decision != approver.Deny {
			t.Errorf("released: %+v", got)
		}
		if n := x.count(approver.EventReleased); n > 0 {
			t.Errorf("%d released", n)
		}
	})
}

// The story: an agent that had filled the store's disk ran a call that nobody judged. The
// freeze of that one agent could not be written and was lost: it went on, also when there
// was room again, and status said nothing. Now everything stops in its place.
func TestAFreezeOfOneAgentThatTheStoreDoesNotTake(t *testing.T) {
	for name, away := range map[string]bool{"a full disk": false, "a store that is away": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				stage := FreezeStage{Store: x.kv, Mark: x.Mark}
				x.fullFor(away)
				_, err := x.Controls.Hold(t.Context(), testWho, "approver", "it ran unasked")
				if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "everything is frozen in place of one agent") {
					t.Errorf("told %v", err)
				}
				if n := x.count(approver.EventAlarm); n != 1 {
					t.Errorf("%d alarms", n)
				}
				for range 3 {
					if v, err := stage.Judge(t.Context(), testCall("c1")); v.Decision != approver.Deny {
						t.Errorf("%+v, %v", v, err)
					}
					time.Sleep(20 * time.Second)
				}
				x.works()
				time.Sleep(15 * time.Second)
				synctest.Wait()
				c, _, err := x.Controls.Load(t.Context())
				if err != nil || !c.Frozen() || c.Here != "" || !strings.Contains(c.Freeze.Reason, "it ran unasked") {
					t.Errorf("when there is room again: %+v, %v", c, err)
				}
				if err := x.Controls.Unfreeze(t.Context(), "Ada"); err != nil {
					t.Fatal(err)
				}
				if v, err := stage.Judge(t.Context(), testCall("c2")); err != nil || v.Decision != approver.Pass {
					t.Errorf("after it was lifted: %+v, %v", v, err)
				}
			})
		})
	}
}

// A lateKV asks before it writes the controls, and is not locked meanwhile.
type lateKV struct {
	approver.KV
	before func() error
}

func (s *lateKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time,
) error {
	if key == controlKey() && s.before != nil {
		if err := s.before(); err != nil {
			return err
		}
	}
	return s.KV.PutBefore(ctx, before, key, value, prev, next, due, keepUntil)
}

// The story: everything was frozen, and the store was full. A second freeze, of something
// worse, held in the daemon alone. There was room again, and the first freeze was lifted
// before the daemon could give the store the second: that one was gone, and no line said that
// it had ever held. Now it comes into the store and the audit first, and the lift is refused,
// as where the store works.
func TestALiftOfAnotherFreezeLeavesTheOneHeldHere(t *testing.T) {
	for name, tt := range map[string]struct {
		wait   time.Duration // until somebody lifts; the daemon gives it to the store after at most 2 s
		ahead  bool          // the store's clock is ahead of the daemon's
		lifted bool          // at the first try
	}{
		"the lift is first": {wait: 0},
		"the lift is first, and the store's clock ahead": {ahead: true},
		"the daemon is first":                            {wait: 5 * time.Second, lifted: true},
		"the daemon is first, and the clock ahead":       {wait: 5 * time.Second, ahead: true, lifted: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				var store approver.KV = kv
				if tt.ahead {
					store = aheadKV{kv}
				}
				x := newBenchOn(t, kv, store)
				if err := freezeNow(x); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				asked, _, err := x.Controls.Load(t.Context()) // what people are asked about just now
				if err != nil {
					t.Fatal(err)
				}
				x.fullFor(false)
				if _, err := x.Controls.Freeze(t.Context(), "uid 8", "second"); err == nil {
					t.Fatal("a full store took it")
				}
				time.Sleep(37 * time.Millisecond) // at no moment at which the daemon tells the store again
				synctest.Wait()
				x.works()
				time.Sleep(tt.wait)
				if now, _, err := x.Controls.Load(t.Context()); err != nil || now.SameFreezes(asked) {
					t.Errorf("a yes to lifting the first one counts: %+v, %v", now, err)
				}
				if err := x.Controls.Unfreeze(t.Context(), "Ada"); (err == nil) != tt.lifted || err != nil &&
					!errors.Is(err, errFrozenAnew) {
					t.Errorf("the lift: %v", err)
				}
				synctest.Wait() // the daemon may be recording the freeze at this moment
				c, err := LoadControls(t.Context(), x.kv)
				if err != nil || c.Frozen() == tt.lifted || x.Mark.holding() != nil {
					t.Errorf("the store has %+v, %v; held %v", c, err, x.Mark.holding())
				}
				if n := x.count(approver.EventFrozen); n != 2 {
					t.Errorf("%d lines say frozen", n)
				}
				if !tt.lifted {
					if err := x.Controls.Unfreeze(t.Context(), "Ada"); err != nil {
						t.Errorf("the second lift: %v", err)
					}
				}
				time.Sleep(time.Minute)
				if c, _, err := x.Controls.Load(t.Context()); err != nil || c.Frozen() || x.count(approver.EventAlarm) != 1 {
					t.Errorf("at the end: %+v, %v, %d alarms", c, err, x.count(approver.EventAlarm))
				}
			})
		})
	}
}

// An aheadKV has a clock that is an hour ahead.
type aheadKV struct{ *memKV }

func (k aheadKV) Now(ctx context.Context) (time.Time, error) {
	now, err := k.memKV.Now(ctx)
	return now.Add(time.Hour), err
}

// The same where both freezes hold in the daemon alone: people who were asked about the
// first have not said yes to lifting the second.
func TestASecondFreezeHeldHereIsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		x.fullFor(false)
		if err := freezeNow(x); err == nil {
			t.Fatal("a full store took it")
		}
		asked, _, err := x.Controls.Load(t.Context())
		if err != nil || !asked.Frozen() {
			t.Fatalf("%+v, %v", asked, err)
		}
		if now, _, err := x.Controls.Load(t.Context()); err != nil || !now.SameFreezes(asked) {
			t.Errorf("nothing came, and it is another: %+v, %v", now, err)
		}
		if err := freezeNow(x); err == nil {
			t.Fatal("a full store took it")
		}
		time.Sleep(time.Millisecond) // the store takes it no earlier than it came
		x.works()
		if now, _, err := x.Controls.Load(t.Context()); err != nil || now.SameFreezes(asked) ||
			now.Freeze.At != asked.Freeze.At {
			t.Errorf("a yes to lifting the first one counts: %+v, %v", now, err)
		}
		if err := x.Controls.lift(t.Context(), asked); !errors.Is(err, errFrozenAnew) {
			t.Errorf("lifted by it: %v", err)
		}
	})
}

// For an instant nobody saw a freeze: the controls were read before the store took the one that the daemon
// held, and the daemon had let go of it before it was added to them. A call at that moment was let through.
func TestAFreezeIsSeenWhileTheStoreTakesIt(t *testing.T) {
	for range 3000 {
		kv, mark := newMemKV(), NewControlMark(1)
		if err := BeginControls(t.Context(), kv); err != nil {
			t.Fatal(err)
		}
		mark.hold(Freeze{At: time.Now(), By: "Ada", Reason: "it runs wild"})
		held := mark.holding()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := changeControls(t.Context(), kv, mark, kv.Put, func(c *Controls, _ time.Time) error {
				c.Freeze, c.usesReserve = held.Freeze, true
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			mark.took(held)
		})
		for range 8 {
			if c, err := readControls(t.Context(), kv, mark); err != nil || !c.Frozen() {
				t.Fatalf("not frozen: %+v, %v", c, err)
			}
		}
		wg.Wait()
	}
}

// The daemon looked after its freezes just as somebody froze everything, and gave the store the same freeze:
// two lines said frozen.
func TestAFreezeThatIsBeingStoredIsRecordedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		store := &lateKV{KV: kv}
		x := newBenchOn(t, kv, store)
		synctest.Wait()
		first := true
		store.before = func() error {
			if first {
				first = false
				time.Sleep(3 * time.Second) // the daemon looks every two
			}
			return nil
		}
		_ = freezeNow(x) // this store cannot list the open requests
		time.Sleep(time.Minute)
		if n := x.count(approver.EventFrozen); n != 1 || first || x.Mark.holding() != nil {
			t.Errorf("%d lines say frozen; held %v", n, x.Mark.holding())
		}
	})
}

// The story: people lifted a freeze that one daemon held alone. While the store was writing
// that, the daemon tried once more to give it the freeze: two seconds later everything was
// frozen again, by somebody who had done nothing. Whichever comes first, a lift that was
// recorded holds.
func TestALiftIsNotUndoneByTheDaemon(t *testing.T) {
	for name, room := range map[string]bool{"the daemon's try fails": false, "the daemon's try succeeds": true} {
		for _, slow := range []time.Duration{time.Second, 5 * time.Second} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					kv := newMemKV()
					store := &lateKV{KV: kv}
					x := newBenchOn(t, kv, store)
					synctest.Wait() // the daemon has looked, and looks again in 2 s
					x.Mark.hold(Freeze{At: time.Now(), By: "Ada", Reason: "it runs wild"})
					x.Mark.refused(syscall.ENOSPC)
					lifting := true
					store.before = func() error {
						if lifting { // the first to write is the lift
							lifting = false
							time.Sleep(slow)
							return nil
						}
						if room {
							return nil
						}
						return syscall.ENOSPC
					}
					if err := x.Controls.Unfreeze(t.Context(), "Eve"); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute)
					if c, _, err := x.Controls.Load(t.Context()); err != nil || c.Frozen() || x.Mark.holding() != nil {
						t.Errorf("a minute later: %+v, %v", c, err)
					}
					if n := x.count(approver.EventFrozen); n != 0 || lifting || x.count(approver.EventUnfrozen) != 1 {
						t.Errorf("%d lines say frozen", n)
					}
				})
			})
		}
	}
}

// What took compares is the freeze, not where it lies: what the store said of it meanwhile
// does not make it another, and a newer one is not taken along.
func TestTookComparesTheFreeze(t *testing.T) {
	m := NewControlMark(0)
	m.hold(Freeze{At: time.Unix(1, 0), By: "Ada"})
	held := m.holding()
	m.refused(syscall.ENOSPC)
	if m.took(held); m.holding() != nil {
		t.Error("it holds on because the store said something")
	}
	m.hold(Freeze{At: time.Unix(1, 0), By: "Ada"})
	held = m.holding()
	m.hold(Freeze{At: time.Unix(1, 0), By: "Eve"})
	if m.took(held); m.holding() == nil {
		t.Error("a second freeze was taken along")
	}
	m.took(nil)
	if m.took(m.holding()); m.holding() != nil {
		t.Error("it never ends")
	}
}

// The story: the store was found to be an older one while the daemon ran, and its disk was
// full: the freeze was lost and, because that is found once, never tried again.
func TestDistrustHoldsHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		x.fullFor(false)
		if err := x.Controls.Distrust(t.Context(), approver.AlarmStore, "the store is an older one"); !errors.Is(err,
			syscall.ENOSPC) {
			t.Errorf("told %v", err)
		}
		stage := FreezeStage{Store: x.kv, Mark: x.Mark}
		for range 3 {
			if v, err := stage.Judge(t.Context(), testCall("c1")); v.Decision != approver.Deny {
				t.Errorf("%+v, %v", v, err)
			}
			time.Sleep(20 * time.Second)
		}
		x.works()
		time.Sleep(15 * time.Second)
		c, err := LoadControls(t.Context(), x.kv)
		if err != nil || c.Freeze.By != "approver" || !strings.Contains(c.Freeze.Reason, "older one") ||
			x.Mark.holding() != nil {
			t.Errorf("when there is room: %+v, %v", c, err)
		}
	})
}

// The audit was moved away. The alarm and the freeze stood twice in the log: when it was
// found, and when it could be recorded.
func TestACauseOfDistrustIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		var log bytes.Buffer
		x.tune(func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		x.fullFor(false)
		if err := x.Controls.Distrust(t.Context(), approver.AlarmAudit, "it was moved"); err == nil {
			t.Error("a freeze that the store does not take is no error")
		}
		x.works()
		if err := x.Controls.Distrust(t.Context(), approver.AlarmAudit, "it was moved"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		for _, line := range []string{"AUDIT ALARM", "FROZEN: every call"} {
			if n := strings.Count(log.String(), line); n != 1 {
				t.Errorf("%d lines of %q: %s", n, line, &log)
			}
		}
		time.Sleep(2 * guardEvery) // until what is owed to the audit is recorded
		if err := x.Controls.Distrust(t.Context(), approver.AlarmAudit, "it was moved"); err != nil ||
			strings.Count(log.String(), "AUDIT ALARM") != 2 {
			t.Errorf("moved once more: %v: %s", err, &log)
		}
	})
}
