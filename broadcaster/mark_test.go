package broadcaster

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// taken takes records out of the store, as somebody who can write to it does.
func (x *bench) taken(keys func(key string) bool) {
	x.kv.mu.Lock()
	defer x.kv.mu.Unlock()
	maps.DeleteFunc(x.kv.records, func(key string, _ memRecord) bool { return keys(key) })
}

// The story: an agent that can write to Redis deletes the one record that says that
// everything is frozen. Calls ran again, and the last line of the audit said frozen.
// Now a store without that record is frozen at the very next call, whoever deleted
// what, a former record put in its place is no better, and the audit has an alarm.
func TestAFreezeThatWasTakenOutOfTheStore(t *testing.T) {
	control := func(key string) bool { return key == controlKey() }
	all := func(string) bool { return true }
	old := func(x *bench, was memRecord) {
		x.kv.replace(controlKey(), was)
	}
	for name, tt := range map[string]struct {
		before func(x *bench) error
		rob    func(x *bench, was memRecord) // was is the record before
	}{
		"deleted while frozen":            {freezeNow, func(x *bench, _ memRecord) { x.taken(control) }},
		"everything deleted while frozen": {freezeNow, func(x *bench, _ memRecord) { x.taken(all) }},
		"the record of before the freeze": {freezeNow, old},
		"the record of before, without a version": {
			freezeNow, func(x *bench, _ memRecord) { old(x, memRecord{[]byte(`{}`), "r"}) },
		},
		"deleted, and nothing was frozen": {nil, func(x *bench, _ memRecord) { x.taken(control) }},
		"a pause that was ended": {pauseAndEnd, func(x *bench, _ memRecord) {
			old(x, memRecord{[]byte(`{"version":2,"pause":{"until":"2999-01-01T00:00:00Z","all":true}}`), "r"})
		}},
		"deleted and made anew": {
			freezeNow, func(x *bench, _ memRecord) { x.taken(control); _ = BeginControls(x.t.Context(), x.kv) },
		},
		"the record of before a lifted freeze": {func(x *bench) error {
			return errors.Join(freezeNow(x), x.Controls.Unfreeze(x.t.Context(), "Ada"))
		}, old},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				stage := FreezeStage{Store: x.kv, Mark: x.Mark}
				if v, err := stage.Judge(t.Context(), testCall("c1")); err != nil || v.Decision != approver.Pass {
					t.Fatalf("before: %+v, %v", v, err)
				}
				was := x.kv.record(controlKey())
				if tt.before != nil {
					if err := tt.before(x); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Second)
				tt.rob(x, was)
				if v, err := stage.Judge(t.Context(), testCall("c2")); err != nil || v.Decision != approver.Deny {
					t.Errorf("the next call: %+v, %v", v, err)
				}
				if _, err := x.Controls.Pause(t.Context(), nil, time.Minute, true, "Eve"); !errors.Is(err, ErrFrozen) {
					t.Errorf("a pause: %v", err)
				}
				if _, _, err := x.Controls.Enforce(t.Context(), "Eve"); err == nil && x.kv.record(controlKey()).rev == "" {
					t.Error("ending observe mode wrote a record that is not frozen")
				}
				time.Sleep(3 * time.Second)
				if n := x.count(approver.EventAlarm); n != 1 {
					t.Errorf("%d alarms", n)
				}
				c, _, err := x.Controls.Load(t.Context())
				if err != nil || c.Missing || c.Freeze.By != "approver" || !strings.Contains(c.Freeze.Reason, "record of freezes") {
					t.Errorf("it is noted as %+v, %v", c, err)
				}
				if err := x.Controls.Unfreeze(t.Context(), "Ada"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(3 * time.Second)
				if v, err := stage.Judge(t.Context(), testCall("c3")); err != nil || v.Decision != approver.Pass ||
					x.count(approver.EventAlarm) != 1 {
					t.Errorf("after it was lifted: %+v, %v, %d alarms", v, err, x.count(approver.EventAlarm))
				}
			})
		})
	}
}

func freezeNow(x *bench) error {
	_, err := x.Controls.Freeze(x.t.Context(), "Ada", "it runs wild")
	return err
}

func pauseAndEnd(x *bench) error {
	_, err := x.Controls.Pause(x.t.Context(), nil, time.Hour, true, "Ada")
	_, end := x.Controls.Pause(x.t.Context(), nil, 0, false, "Ada")
	return errors.Join(err, end)
}

// Changes of the controls by another daemon are newer, and no alarm; nor is a reading
// that is overtaken by one.
func TestHonestChangesOfControlsAreNoAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, y := newBench(t, newMemKV()), (*bench)(nil)
		y = newBench(t, x.kv)
		for range 20 {
			if err := errors.Join(pauseAndEnd(x), freezeNow(y), x.Controls.Unfreeze(t.Context(), "Ada")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
		}
		if c, _, err := y.Controls.Load(t.Context()); err != nil || c.Frozen() ||
			x.count(approver.EventAlarm)+y.count(approver.EventAlarm) != 0 {
			t.Errorf("%+v, %v, %d alarms", c, err, x.count(approver.EventAlarm)+y.count(approver.EventAlarm))
		}
		overtaken := x.Mark.Version()
		if err := pauseAndEnd(x); err != nil {
			t.Fatal(err)
		}
		if c := x.Mark.check(Controls{Version: overtaken}, overtaken); c.Missing {
			t.Error("a reading that was overtaken is taken for an older record")
		}
	})
}

// The story: five wrong codes lock whoever guesses. Who can also write to the store
// deletes the record of the tries, or puts the one of the first try back, and guesses
// on. Now the daemon knows the tries itself: the lock holds, and everything is frozen.
func TestALockThatWasTakenOutOfTheStore(t *testing.T) {
	for name, rob := range map[string]func(x *bench, key string, first memRecord){
		"deleted":           func(x *bench, key string, _ memRecord) { x.taken(func(k string) bool { return k == key }) },
		"a former one back": func(x *bench, key string, first memRecord) { x.kv.replace(key, first) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				key := lockKey(approver.Person{ID: "bob"}, approver.Reply{Channel: "telegram", Conversation: "T"})
				var first memRecord
				for i := range MaxWrongCodes {
					at, locked, err := x.lockout.try(t.Context(), key, "")
					if err != nil || !locked.IsZero() {
						t.Fatal(err, locked)
					}
					if _, err := x.lockout.tried(t.Context(), key, at, false); err != nil {
						t.Fatal(err)
					}
					if i == 0 {
						first = x.kv.record(key)
					}
				}
				rob(x, key, first)
				if until, err := x.lockout.until(t.Context(), key); err != nil || until.IsZero() ||
					x.count(approver.EventAlarm) != 0 {
					t.Errorf("within what a fail-over takes along: locked until %v, %v, %d alarms", until, err,
						x.count(approver.EventAlarm))
				}
				time.Sleep(30 * time.Second)
				if until, err := x.lockout.until(t.Context(), key); err != nil || until.IsZero() {
					t.Errorf("locked until %v, %v", until, err)
				}
				if c, _, err := x.Controls.Load(t.Context()); err != nil || !c.Frozen() || x.count(approver.EventAlarm) != 1 {
					t.Errorf("%+v, %v, %d alarms", c, err, x.count(approver.EventAlarm))
				}
				time.Sleep(WrongCodeWindow)
				if until, err := x.lockout.until(t.Context(), key); err != nil || !until.IsZero() ||
					x.count(approver.EventAlarm) != 1 {
					t.Errorf("after its time: locked until %v, %v, %d alarms", until, err, x.count(approver.EventAlarm))
				}
			})
		})
	}
}

// A daemon that knows of no record before, such as one that just joined, does not take
// an empty store for one in which nothing is frozen.
func TestAStoreWithoutARecordIsFrozen(t *testing.T) {
	for name, mark := range map[string]*ControlMark{"no mark": nil, "a new mark": NewControlMark(0), "the zero mark": {}} {
		if v, err := (FreezeStage{Store: newMemKV(), Mark: mark}).Judge(t.Context(), testCall("c1")); err != nil ||
			v.Decision != approver.Deny || !strings.Contains(v.Reason, "frozen") {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// The store has lost the last step of a yes that waits for its call, and takes nothing now:
// what is told is that, and not that there is no such grant besides.
func TestAYesThatWaitsIsNoKeptGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		call := testCall("c1")
		call.ParkAt = time.Now().Add(time.Second)
		parked := x.askAsync(t.Context(), call, approver.High)
		synctest.Wait()
		time.Sleep(2 * time.Second)
		<-parked
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeRecorded {
			t.Fatalf("%+v", out)
		}
		grants, err := x.Grants.List(t.Context())
		if err != nil || len(grants) != 1 || grants[0].scope != "" {
			t.Fatalf("%+v, %v", grants, err)
		}
		id := grants[0].ID
		x.failing(func(op, key string) bool { return op == "put" && key == approver.Key("req", id) })
		err = x.Removals.VoidLost(t.Context(), []approver.Told{{Request: id, Event: approver.EventRevoked, At: time.Now()}})
		if err == nil || errors.Is(err, approver.ErrNotFound) {
			t.Errorf("told %v", err)
		}
		x.failing(func(string, string) bool { return false })
		err = x.Removals.VoidLost(t.Context(), []approver.Told{{Request: id, Event: approver.EventRevoked, At: time.Now()}})
		if grants, listErr := x.Grants.List(t.Context()); err != nil || listErr != nil || len(grants) > 0 {
			t.Errorf("told %v; still granted: %+v, %v", err, grants, listErr)
		}
	})
}

// A fail-over loses the removal of Bob, and another daemon writes a record with the same version.
// Who was removed stays removed in this process until a newer version says something else.
func TestOfTwoRecordsWithOneVersionTheFirstCounts(t *testing.T) {
	bob := RemovedPeople{{Person: "bob", At: time.Unix(1, 0)}}
	m := NewControlMark(11)
	for _, step := range []struct {
		read Controls
		want int
	}{
		{Controls{Version: 11, Removed: bob}, 1},
		{Controls{Version: 11}, 1},
		{Controls{Version: 12}, 0},
		{Controls{Version: 12, Removed: bob}, 1},
		{Controls{Version: 11}, 1}, // read before, and looked at late
	} {
		m.check(step.read, 0)
		if got := m.Removed(); len(got) != step.want {
			t.Errorf("after %+v: %+v", step.read, got)
		}
	}
	if c := m.check(Controls{Missing: true}, m.Version()); len(c.Removed) != 1 {
		t.Errorf("the next record would lack the removal: %+v", c)
	}
}

// What is remembered of a record is used for the same bytes only, and a list in it is never shared.
func TestADecodedRecordIsUsedForItselfOnly(t *testing.T) {
	m := NewControlMark(0)
	plain := []byte(`{"version":3,"pause":{"until":"2026-01-02T03:04:05Z","by":"a"}}`)
	for range 3 {
		if c, err := m.decode(plain); err != nil || c.Version != 3 || c.Pause.By != "a" {
			t.Fatalf("%+v, %v", c, err)
		}
	}
	if c, err := m.decode([]byte(`{"version":4,"freeze":{"at":"2026-01-02T03:04:05Z","by":"b"}}`)); err != nil ||
		!c.Frozen() || c.Version != 4 {
		t.Errorf("a freeze since then: %+v, %v", c, err)
	}
	lists := []byte(`{"version":5,"holds":[{"at":"2026-01-02T03:04:05Z","by":"c"}]}`)
	for range 2 {
		c, err := m.decode(lists)
		if err != nil || len(c.Holds) != 1 || c.Holds[0].By != "c" {
			t.Fatalf("%+v, %v", c, err)
		}
		c.Holds[0].By = "changed"
	}
	for _, bad := range []string{"", "{", `{"version":"x"}`} {
		if c, err := m.decode([]byte(bad)); !errors.Is(err, approver.ErrTampered) {
			t.Errorf("%q: %+v, %v", bad, c, err)
		}
	}
}

// The controls that one step of a call has read count for its other steps, but never for longer than
// recentFor, and never when this process knows of a change.
func TestControlsThatWereReadAMomentAgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x, y := newBench(t, kv), newBench(t, kv)
		frozen := func(when string, x *bench, want bool) {
			t.Helper()
			c, now, err := x.Controls.Recent(t.Context())
			if err != nil || c.Frozen() != want || now.IsZero() {
				t.Errorf("%s: frozen %v, %v, %v", when, c.Frozen(), now, err)
			}
		}
		read := func() {
			t.Helper()
			if _, _, err := x.Controls.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		read()
		was := kv.record(controlKey())
		if _, err := y.Controls.Freeze(t.Context(), "Ada", ""); err != nil {
			t.Fatal(err)
		}
		frozen("after it was acknowledged elsewhere", x, true)
		kv.replace(controlKey(), was)
		frozen("the store lost it a moment ago", x, true)
		time.Sleep(recentFor)
		frozen("the store lost it", x, true) // which is a freeze
		if err := x.Controls.Unfreeze(t.Context(), "Ada"); err != nil {
			t.Fatal(err)
		}
		read()
		if c, ok := x.Mark.recent(); !ok || c.Frozen() {
			t.Errorf("a moment after a reading: %v, frozen %v", ok, c.Frozen())
		}
		x.Mark.hold(Freeze{At: time.Now(), By: "Ada"})
		frozen("a freeze that only this process holds", x, true)
		x.Mark.took(x.Mark.holding())
		read()
		x.Mark.check(Controls{Version: x.Mark.Version() + 1}, 0)
		if _, ok := x.Mark.recent(); ok {
			t.Error("this process knows of a newer version")
		}
		var none *ControlMark
		if _, ok := none.recent(); ok {
			t.Error("nothing was read")
		}
	})
}
