package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/gate"
)

// A freeze that the audit cannot record is in force, and says so.
func TestFreezeThatCannotBeRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		x.audit.failing(approver.EventFrozen)
		if _, err := x.Controls.Freeze(t.Context(), "uid 7", ""); err == nil ||
			!strings.Contains(err.Error(), "every call is denied from now on, but the freeze could not be recorded: disk full") {
			t.Errorf("told %v", err)
		}
		if v, err := (FreezeStage{Store: x.kv}).Judge(t.Context(), testCall("c1")); err != nil ||
			v.Decision != approver.Deny {
			t.Errorf("a call after it: %+v, %v", v, err)
		}
	})
}

// The story: somebody sees the agent run wild and freezes. What waits for people
// is denied there and then; nobody is asked about a call that slipped past the check of the
// gate. If people are asked after all, because the store did not answer in between, their yes
// does not release it; nor does it after the freeze was lifted.
func TestFreeze(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		open := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		denied, err := x.Controls.Freeze(t.Context(), "uid 7", "it runs wild")
		if v := <-open; err != nil || denied != 1 || v.Decision != approver.Deny || !strings.Contains(v.Reason, "frozen") {
			t.Errorf("%d denied, %v; the agent is told %+v", denied, err, v)
		}
		stage := FreezeStage{Store: x.kv}
		if v, err := stage.Judge(t.Context(), testCall("c2")); err != nil || v.Decision != approver.Deny ||
			!strings.Contains(v.Reason, "it runs wild") {
			t.Errorf("a new call: %+v, %v", v, err)
		}
		time.Sleep(time.Second)
		asked, _ := x.tg.card(-1)
		if v := <-x.askAsync(t.Context(), testCall("c2"), approver.High); v.Decision != approver.Deny ||
			!strings.Contains(v.Reason, "frozen") {
			t.Errorf("a call that slipped past the gate is told %+v", v)
		}
		if again, _ := x.tg.card(-1); again != asked {
			t.Error("people were asked about it")
		}
		slipped := x.slips(testCall("c3"))
		if _, card := x.tg.card(-1); !strings.HasPrefix(warned(card), "FROZEN by uid 7") {
			t.Errorf("the card says %q", warned(card))
		}
		if out := x.tap(x.tg, -1, "1", true); out.Kind == approver.OutcomeApproved {
			t.Errorf("told %+v", out)
		}
		if v := <-slipped; v.Decision != approver.Deny {
			t.Errorf("released during a freeze: %+v", v)
		}
		older := x.slips(testCall("c4")) // made in the freeze, answered after it
		time.Sleep(time.Second)
		if err := x.Controls.Unfreeze(t.Context(), "uid 7"); err != nil {
			t.Fatal(err)
		}
		if out := x.tap(x.tg, -1, "1", true); out.Kind == approver.OutcomeApproved {
			t.Errorf("told %+v", out)
		}
		if v := <-older; v.Decision != approver.Deny {
			t.Errorf("what a freeze burned was released: %+v", v)
		}
		time.Sleep(time.Second)
		later := x.askAsync(t.Context(), testCall("c5"), approver.High)
		synctest.Wait()
		if out := x.tap(x.tg, -1, "1", true); out.Kind != approver.OutcomeApproved || (<-later).Decision != approver.Allow {
			t.Errorf("after the freeze: %+v", out)
		}
		if err := x.Controls.Unfreeze(t.Context(), "uid 7"); !errors.Is(err, ErrNotFrozen) {
			t.Errorf("lifted twice: %v", err)
		}
	})
}

// slips puts a call before people while the store does not say that everything is frozen.
func (x *bench) slips(call approver.ToolCall) <-chan approver.Verdict {
	time.Sleep(time.Second) // what is still written about an earlier call is none of this one
	stored := false
	x.kv.failing(func(op, key string) error {
		stored = stored || op != "get" && strings.Contains(key, ":req:")
		if stored && op == "get" && key == controlKey() {
			return errors.New("no store")
		}
		return nil
	})
	v := x.askAsync(x.t.Context(), call, approver.High)
	synctest.Wait()
	x.kv.failing(nil)
	return v
}

// A freeze comes while a question is being stored: after the question has looked at the freeze,
// and before the freeze can list it. It is denied and nobody is asked.
func TestAFreezeWhileAQuestionIsStored(t *testing.T) {
	call, who := testCall("c1"), testWho
	call.Peer = approver.Peer{Known: true, UID: 7}
	who.Peer = call.Peer
	for name, freeze := range map[string]func(*bench) error{
		"everything": func(x *bench) error {
			_, err := x.Controls.Freeze(x.t.Context(), "uid 7", "it runs wild")
			return err
		},
		"one agent": func(x *bench) error {
			_, err := x.Controls.Hold(x.t.Context(), who, "uid 7", "it runs wild")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				hold := make(chan struct{})
				x.limit = func() { <-hold } // after it has looked at the freeze, before it is stored
				answer := x.askAsync(t.Context(), call, approver.High)
				synctest.Wait()
				if err := freeze(x); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond)
				close(hold)
				if v := <-answer; v.Decision != approver.Deny || !strings.Contains(v.Reason, "frozen") {
					t.Errorf("the agent is told %+v", v)
				}
				if message, card := x.tg.card(-1); message != "" {
					t.Errorf("people are asked: %+v", card)
				}
			})
		})
	}
}

// What is asked of approver itself is decided during a freeze too: else nobody
// could lift it.
func TestControlInAFreeze(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		if _, err := x.Controls.Freeze(t.Context(), "uid 7", ""); err != nil {
			t.Fatal(err)
		}
		call := testCall("c1")
		call.Control = "unfreeze"
		v := x.askAsync(t.Context(), call, approver.High)
		synctest.Wait()
		time.Sleep(time.Second)
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeRecorded || (<-v).Decision != approver.Allow {
			t.Errorf("%+v", out) // nobody lifts it here, and nobody is told that it is lifted
		}
	})
}

// A freeze that the store cannot tell of denies; a pause that it cannot tell of
// asks.
func TestControlsFailClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBench(t, kv)
		if _, err := x.Controls.Pause(t.Context(), nil, time.Hour, true, "Ada"); err != nil {
			t.Fatal(err)
		}
		gate := &gate.Gate{
			Stages: []approver.Stage{FreezeStage{Store: kv}}, Audit: x.audit, Log: slog.New(slog.DiscardHandler),
		}
		broken := errors.New("no store")
		kv.failing(func(op, key string) error {
			if op == "get" && key == controlKey() {
				return broken
			}
			return nil
		})
		if v := gate.Decide(t.Context(), testCall("c1")); v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
		if _, paused := x.Controls.PausedFor(t.Context(), approver.High); paused {
			t.Error("paused without a store")
		}
	})
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		asked := 0
		ask := approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High}
		gate := &gate.Gate{
			Audit: x.audit, Log: slog.New(slog.DiscardHandler), Paused: x.Controls.PausedFor,
			Ask: func(context.Context, approver.ToolCall, approver.Verdict) approver.Verdict {
				asked++
				return approver.Verdict{}
			},
			Stages: []approver.Stage{stageFunc(func() approver.Verdict { return ask })},
		}
		decide := func(want approver.Decision, questions int, what string) {
			t.Helper()
			asked = 0
			if v := gate.Decide(t.Context(), testCall("c")); v.Decision != want || asked != questions {
				t.Errorf("%s: %v, asked %d", what, v.Decision, asked)
			}
		}
		decide(approver.Deny, 1, "before")
		if _, err := x.Controls.Pause(t.Context(), nil, MaxPause+1, false, "Ada"); err == nil {
			t.Error("a pause that is too long")
		}
		if _, err := x.Controls.Pause(t.Context(), nil, 10*time.Minute, false, "Ada"); err != nil {
			t.Fatal(err)
		}
		decide(approver.Pass, 0, "HIGH in a pause")
		ask.Severity = approver.Catastrophic
		decide(approver.Deny, 1, "CATASTROPHIC in a pause")
		if _, err := x.Controls.Pause(t.Context(), nil, 10*time.Minute, true, "Ada"); err != nil {
			t.Fatal(err)
		}
		decide(approver.Pass, 0, "CATASTROPHIC in a pause of everything")
		ask.Decision = approver.Deny
		decide(approver.Deny, 0, "a rule's deny in a pause")
		ask.Decision = approver.Ask
		time.Sleep(10 * time.Minute)
		decide(approver.Deny, 1, "after the pause")
		if _, err := x.Controls.Pause(t.Context(), nil, 10*time.Minute, true, "Ada"); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Controls.Pause(t.Context(), nil, 0, false, "Ada"); err != nil {
			t.Fatal(err)
		}
		decide(approver.Deny, 1, "after its end")
		if _, err := x.Controls.Pause(t.Context(), nil, 10*time.Minute, true, "Ada"); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Controls.Freeze(t.Context(), "uid 7", ""); err != nil {
			t.Fatal(err)
		}
		if err := x.Controls.Unfreeze(t.Context(), "uid 7"); err != nil {
			t.Fatal(err)
		}
		decide(approver.Deny, 1, "after a freeze, which ends it")
	})
}

// A loosening that cannot be recorded does not happen.
func TestControlsAreRecordedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		x.audit.failing(approver.EventPaused)
		if _, err := x.Controls.Pause(t.Context(), nil, time.Minute, true, "Ada"); err == nil {
			t.Error("paused without a record")
		}
		x.audit.failing(approver.EventUnfrozen)
		if _, err := x.Controls.Freeze(t.Context(), "uid 7", ""); err != nil {
			t.Fatal(err)
		}
		if err := x.Controls.Unfreeze(t.Context(), "uid 7"); err == nil {
			t.Error("lifted without a record")
		}
		c, now, err := x.Controls.Load(t.Context())
		if err != nil || !c.Frozen() || c.Paused(approver.High, now) {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

// The audit tells of no pause, observe mode or end of a freeze that never was:
// what was recorded first and then failed has a second record.
func TestControlsThatFailAfterTheirRecord(t *testing.T) {
	away := errors.New("no store")
	loosen := map[approver.Event]func(context.Context, *bench) error{
		approver.EventPaused: func(ctx context.Context, x *bench) error {
			_, err := x.Controls.Pause(ctx, nil, time.Minute, true, "Ada")
			return err
		},
		approver.EventObserving: func(ctx context.Context, x *bench) error {
			_, err := x.Controls.Observe(ctx, nil, time.Hour, "Ada")
			return err
		},
		approver.EventUnfrozen: func(ctx context.Context, x *bench) error { return x.Controls.Unfreeze(ctx, "Ada") },
	}
	for name, tt := range map[string]struct {
		event  approver.Event
		frozen bool
		store  error
		want   error
		note   string
	}{
		"a pause in a freeze":   {approver.EventPaused, true, nil, ErrFrozen, "this did not take effect: "},
		"observing in a freeze": {approver.EventObserving, true, nil, ErrFrozen, "this did not take effect: "},
		"a pause without a store": {
			approver.EventPaused, false, away, away, "this is not known to have taken effect: ",
		},
		"observing without a store": {
			approver.EventObserving, false, away, away, "this is not known to have taken effect: ",
		},
		"the end of a freeze, without store": {
			approver.EventUnfrozen, true, away, away, "this is not known to have taken effect: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				if tt.frozen {
					if _, err := x.Controls.Freeze(t.Context(), "Bob", ""); err != nil {
						t.Fatal(err)
					}
				}
				x.kv.failing(func(op, key string) error {
					if op == "put" && key == controlKey() {
						return tt.store
					}
					return nil
				})
				if err := loosen[tt.event](t.Context(), x); !errors.Is(err, tt.want) {
					t.Errorf("told %v", err)
				}
				if last := x.audit.newest(); last.Event != tt.event || !strings.HasPrefix(last.Note, tt.note) ||
					!strings.Contains(last.Note, " by Ada") || !strings.HasSuffix(last.Note, tt.want.Error()) {
					t.Errorf("the last record is %+v", last)
				}
			})
		})
	}
}

type stageFunc func() approver.Verdict

func (f stageFunc) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return f(), nil
}

// The story: Redis restarts just when a call comes in. Whether there is a freeze
// cannot be read for a second. The call is not denied for that: it waits. When the
// store stays away, it is denied.
func TestACallWaitsForAStoreThatRestarts(t *testing.T) {
	for away, want := range map[time.Duration]approver.Decision{
		time.Second: approver.Allow, StorePatience - time.Second: approver.Allow, StorePatience + time.Second: approver.Deny,
		time.Hour: approver.Deny,
	} {
		t.Run(away.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				back := time.Now().Add(away)
				x.kv.failing(func(op, _ string) error {
					if op == "get" && time.Now().Before(back) {
						return errors.New("connection refused")
					}
					return nil
				})
				allow := stageFunc(func() approver.Verdict { return approver.Verdict{Decision: approver.Allow} })
				gate := &gate.Gate{
					Stages: []approver.Stage{FreezeStage{Store: x.kv}, allow}, Audit: x.audit, Log: slog.New(slog.DiscardHandler),
				}
				start := time.Now()
				v := gate.Decide(t.Context(), testCall("c1"))
				if v.Decision != want {
					t.Errorf("got %v: %s", v.Decision, v.Detail)
				}
				if took := time.Since(start); took > StorePatience+time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // a record that was changed by hand is a freeze, at once
		kv := newMemKV()
		kv.failing(func(string, string) error { return approver.ErrTampered })
		start := time.Now()
		v, err := (FreezeStage{Store: kv}).Judge(t.Context(), testCall("c1"))
		if err != nil || v.Decision != approver.Deny || v.Rule != "frozen" || time.Since(start) > 0 {
			t.Errorf("%+v, %v after %v", v, err, time.Since(start))
		}
	})
}

// A second freeze dropped its reason, and nobody was told that everything was frozen already.
func TestASecondFreezeKeepsBothReasons(t *testing.T) {
	long := strings.Repeat("x", maxReason)
	for name, c := range map[string]struct{ first, second, want string }{
		"another":              {"it runs wild", "stolen key", "it runs wild; stolen key (uid 8)"},
		"the same":             {"it runs wild", "it runs wild", "it runs wild"},
		"the first had none":   {"", "stolen key", "stolen key (uid 8)"},
		"the second has none":  {"it runs wild", "", "it runs wild"},
		"neither":              {"", "", ""},
		"no room for both":     {long, "stolen key", long},
		"the second is longer": {"it runs wild", long, "it runs wild"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newBench(t, newMemKV())
			if _, before, err := x.Controls.FreezeBeside(t.Context(), "uid 7", c.first, ""); err != nil || before != (Freeze{}) {
				t.Fatalf("before %+v, %v", before, err)
			}
			for range 2 { // the same words are not kept twice
				if _, before, err := x.Controls.FreezeBeside(t.Context(), "uid 8", c.second, ""); err != nil ||
					before.By != "uid 7" || before.At.IsZero() || !strings.HasPrefix(before.Reason, c.first) {
					t.Fatalf("before %+v, %v", before, err)
				}
			}
			now, _, err := x.Controls.Load(t.Context())
			if err != nil || now.Freeze.By != "uid 7" || now.Freeze.Reason != c.want {
				t.Errorf("%+v, %v; want the reason %q", now.Freeze, err, c.want)
			}
			var notes []string
			for _, r := range x.audit.recorded() {
				if r.Event == approver.EventFrozen {
					notes = append(notes, r.Note)
				}
			}
			if len(notes) != 3 || !strings.HasSuffix(notes[1], cmp.Or(c.second, "no reason given")) {
				t.Errorf("recorded %.300q", notes)
			}
		})
	}
}
