package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/gate"
)

// observed is a gate over a bench that counts its questions.
func observed(x *bench, asked *int, stages ...approver.Stage) *gate.Gate {
	return &gate.Gate{
		Stages: append([]approver.Stage{FreezeStage{Store: x.kv}}, stages...), Audit: x.audit,
		Log:     slog.New(slog.DiscardHandler),
		Observe: x.Controls.Observing, Paused: x.Controls.PausedFor,
		Ask: func(context.Context, approver.ToolCall, approver.Verdict) approver.Verdict {
			*asked++
			return approver.Verdict{Decision: approver.Allow, By: "people"}
		},
		Rewrite: func(call approver.ToolCall, args json.RawMessage) (approver.ToolCall, error) {
			call.Args = args
			return call, nil
		},
	}
}

func ruleSays(v approver.Verdict) approver.Stage {
	return stageFunc(func() approver.Verdict { return v })
}

func (m *memAudit) newest() approver.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[len(m.records)-1]
}

// Whatever a rule finds goes on to the agent's own permission flow, nobody is
// asked, and the audit says what it would have been. Never is it an allow: that
// would skip the agent's own question.
func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		rule := approver.Verdict{By: "policy", Rule: "r", Severity: approver.High, Reason: "why", Approvers: []string{"ada"}}
		once := stage(func(c approver.ToolCall) (approver.Verdict, error) {
			if string(c.Args) == `"safer"` {
				return approver.Verdict{Decision: approver.Pass}, nil
			}
			return approver.Verdict{Decision: approver.Modify, By: "policy", Rule: "r", Args: json.RawMessage(`"safer"`)}, nil
		})
		if _, err := x.Controls.Observe(t.Context(), nil, time.Hour, "Ada"); err != nil {
			t.Fatal(err)
		}
		for d := approver.Deny; d <= approver.Allow; d++ {
			for _, severity := range []approver.Severity{approver.High, approver.Catastrophic} {
				asked := 0
				found := rule
				found.Decision, found.Severity = d, severity
				g := observed(x, &asked, ruleSays(found))
				if d == approver.Modify {
					g = observed(x, &asked, once)
				}
				call := testCall("c1")
				call.Args = json.RawMessage(`"as it came"`)
				v := g.Decide(t.Context(), call)
				if v.Decision != approver.Pass || v.Args != nil || v.Reason != "" || asked != 0 {
					t.Errorf("%v: the agent is told %+v, %d questions", d, v, asked)
				}
				r := x.audit.newest()
				if d == approver.Pass {
					if r.Observed != nil {
						t.Errorf("a pass is no finding: %+v", r.Observed)
					}
					continue
				}
				if r.Event != approver.EventVerdict || r.Observed == nil || r.Observed.Decision != d || r.Observed.Rule != "r" ||
					d != approver.Modify && r.Observed.Severity != severity {
					t.Errorf("%v is recorded as %+v", d, r)
				}
				if string(r.Call.Args) != `"as it came"` || !strings.HasPrefix(r.Verdict.Detail, "OBSERVING until") {
					t.Errorf("%v: recorded the call %s and %q", d, r.Call.Args, r.Verdict.Detail)
				}
			}
		}
	})
}

// Observe mode is no fail-open: what approver itself could not do blocks as ever.
func TestObserveIsNoFailOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBench(t, kv)
		if _, err := x.Controls.Observe(t.Context(), nil, time.Hour, "Ada"); err != nil {
			t.Fatal(err)
		}
		ask := ruleSays(approver.Verdict{
			Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High, Channels: []string{"slack"},
		})
		for name, stages := range map[string][]approver.Stage{
			"no policy": {ruleSays(approver.Verdict{By: "policy", Reason: "approver has no policy"})},
			"a stage fails": {stage(func(approver.ToolCall) (approver.Verdict, error) {
				return approver.Verdict{Decision: approver.Pass, By: "policy", Rule: "r"}, errors.New("x")
			})},
			"a stage fails late": {
				ask, stage(func(approver.ToolCall) (approver.Verdict, error) { return approver.Verdict{}, errors.New("x") }),
			},
			"a stage panics":     {stage(func(approver.ToolCall) (approver.Verdict, error) { panic("x") })},
			"a stage is nil":     {nil},
			"nonsense":           {ruleSays(approver.Verdict{Decision: 9, By: "policy", Rule: "r"})},
			"modify for nothing": {ruleSays(approver.Verdict{Decision: approver.Modify, By: "policy", Rule: "r"})},
		} {
			asked := 0
			if v := observed(x, &asked, stages...).Decide(t.Context(), testCall("c1")); v.Decision != approver.Deny ||
				asked != 0 {
				t.Errorf("%s: %+v", name, v)
			}
		}
		none := &gate.Gate{Observe: x.Controls.Observing, Audit: x.audit, Log: slog.New(slog.DiscardHandler)}
		if v := none.Decide(t.Context(), testCall("c1")); v.Decision != approver.Deny {
			t.Errorf("without stages: %+v", v)
		}
		asked := 0
		x.audit.failing(approver.EventVerdict)
		if v := observed(x, &asked, ask).Decide(t.Context(), testCall("c1")); v.Decision != approver.Deny {
			t.Errorf("without a record: %+v", v)
		}
		x.audit.failing("")
		g := observed(x, &asked, ask)
		g.Stages = g.Stages[1:] // the freeze's own look at the store would deny first
		kv.failing(func(op, key string) error {
			if op == "get" && key == controlKey() {
				return errors.New("no store")
			}
			return nil
		})
		time.Sleep(recentFor) // what was read before does not count any more
		if g.Decide(t.Context(), testCall("c1")); asked != 1 {
			t.Errorf("a mode that cannot be read asked %d times", asked)
		}
		g = observed(x, &asked, ask)
		if v := g.Decide(t.Context(), testCall("c1")); v.Decision != approver.Deny || asked != 1 {
			t.Errorf("without a store: %+v", v)
		}
	})
}

// A freeze stops observed calls too, and ends the observing: when it is lifted,
// rules are enforced until people say otherwise.
func TestAFreezeEndsObserving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		asked := 0
		g := observed(x, &asked, ruleSays(approver.Verdict{By: "policy", Rule: "r"}))
		if _, err := x.Controls.Observe(t.Context(), nil, time.Hour, "Ada"); err != nil {
			t.Fatal(err)
		}
		if v := g.Decide(t.Context(), testCall("c1")); v.Decision != approver.Pass {
			t.Fatalf("%+v", v)
		}
		// Even a record that says both.
		both := Controls{Freeze: Freeze{At: time.Now()}, Observe: Observe{Until: time.Now().Add(time.Hour)}}
		if both.Observing(time.Now()) || !strings.HasPrefix(both.Notice(time.Now()), "FROZEN") {
			t.Error("a frozen record is observed")
		}
		if _, err := x.Controls.Freeze(t.Context(), "uid 7", "stop"); err != nil {
			t.Fatal(err)
		}
		if v := g.Decide(t.Context(), testCall("c1")); v.Decision != approver.Deny || v.Rule != "frozen" {
			t.Errorf("in a freeze: %+v", v)
		}
		if _, err := x.Controls.Observe(t.Context(), nil, time.Hour, "Ada"); !errors.Is(err, ErrFrozen) {
			t.Errorf("observing a freeze: %v", err)
		}
		if err := x.Controls.Unfreeze(t.Context(), "uid 7"); err != nil {
			t.Fatal(err)
		}
		if v := g.Decide(t.Context(), testCall("c1")); v.Decision != approver.Deny || v.Rule != "r" {
			t.Errorf("after it: %+v", v)
		}
	})
}

// Observing ends by itself to the second, by the store's clock, or at once when
// somebody says so; on every replica.
func TestObserveEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x, y := newBench(t, kv), newBench(t, kv)
		asked := 0
		g, h := observed(x, &asked, ruleSays(approver.Verdict{By: "policy", Rule: "r"})),
			observed(y, &asked, ruleSays(approver.Verdict{By: "policy", Rule: "r"}))
		decide := func(want approver.Decision, when string) {
			t.Helper()
			for i, g := range []*gate.Gate{g, h} {
				if v := g.Decide(t.Context(), testCall("c1")); v.Decision != want {
					t.Errorf("%s, replica %d: %v", when, i, v.Decision)
				}
			}
		}
		decide(approver.Deny, "before")
		for _, d := range []time.Duration{-1, 0, MinObserve - 1, MaxObserve + 1} {
			if _, err := x.Controls.Observe(t.Context(), nil, d, "Ada"); err == nil {
				t.Errorf("observing for %v", d)
			}
		}
		decide(approver.Deny, "after what is not possible")
		o, err := x.Controls.Observe(t.Context(), nil, MinObserve, "Ada")
		if err != nil || !o.Until.Equal(o.Since.Add(MinObserve)) {
			t.Fatalf("%+v, %v", o, err)
		}
		decide(approver.Pass, "at once")
		time.Sleep(MinObserve - time.Second)
		decide(approver.Pass, "in the last second")
		time.Sleep(time.Second)
		decide(approver.Deny, "at its end")
		if last, ended, err := x.Controls.Enforce(t.Context(), "uid 7"); ended || err != nil || !last.Since.Equal(o.Since) {
			t.Errorf("ended twice: %+v %v %v", last, ended, err)
		}
		if _, err := x.Controls.Observe(t.Context(), nil, time.Hour, "Ada"); err != nil {
			t.Fatal(err)
		}
		decide(approver.Pass, "anew")
		if _, ended, err := y.Controls.Enforce(t.Context(), "uid 7"); !ended || err != nil {
			t.Errorf("%v %v", ended, err)
		}
		decide(approver.Deny, "after enforce, given at the other replica")
		if got := slices.Concat(x.audit.events(""), y.audit.events("")); !slices.Contains(got, approver.EventObserving) ||
			!slices.Contains(got, approver.EventEnforcing) {
			t.Errorf("the audits have %v", got)
		}
	})
}

// A loosening that cannot be recorded does not happen; a tightening happens.
func TestObserveIsRecordedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		x.audit.failing(approver.EventObserving)
		if _, err := x.Controls.Observe(t.Context(), nil, time.Hour, "Ada"); err == nil {
			t.Error("observing without a record")
		}
		if _, ok := x.Controls.Observing(t.Context(), approver.Verdict{}); ok {
			t.Error("it observes")
		}
		x.audit.failing(approver.EventEnforcing)
		if _, err := x.Controls.Observe(t.Context(), nil, time.Hour, "Ada"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := x.Controls.Enforce(t.Context(), "Ada"); err == nil {
			t.Error("the missing record is not told")
		}
		if _, ok := x.Controls.Observing(t.Context(), approver.Verdict{}); ok {
			t.Error("it observes still")
		}
	})
}

// Only an installation of which nothing is known begins in observe mode without
// people: not one that was observed, frozen or paused before.
func TestBeginObserving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		if _, err := BeginObserving(t.Context(), kv, MaxObserve+1, "init"); err == nil {
			t.Error("longer than is possible")
		}
		if _, err := BeginObserving(t.Context(), kv, time.Hour, "init"); err != nil {
			t.Fatal(err)
		}
		x := newBench(t, kv)
		if _, ok := x.Controls.Observing(t.Context(), approver.Verdict{}); !ok {
			t.Error("it does not observe")
		}
		if _, _, err := x.Controls.Enforce(t.Context(), "Ada"); err != nil {
			t.Fatal(err)
		}
		if _, err := BeginObserving(t.Context(), kv, time.Hour, "init"); !errors.Is(err, approver.ErrConflict) {
			t.Errorf("begun twice: %v", err)
		}
		if _, ok := x.Controls.Observing(t.Context(), approver.Verdict{}); ok {
			t.Error("it observes again")
		}
	})
}

// The story: people said yes to a parked call, and the yes waits. An observed call of
// the same content does not use it up.
func TestObservedCallsUseNoGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		x.tune(func(o *Options) { o.TTL = time.Hour })
		if v := <-x.askAsync(t.Context(), parkedCall("c1", time.Second), approver.High); !strings.HasPrefix(v.Reason,
			"Waiting") {
			t.Fatalf("not parked: %+v", v)
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeRecorded {
			t.Fatalf("told %+v", out)
		}
		synctest.Wait()
		before := recordsOf(x.kv)
		if _, err := x.Controls.Observe(t.Context(), nil, time.Hour, "Ada"); err != nil {
			t.Fatal(err)
		}
		g := &gate.Gate{
			Stages: []approver.Stage{
				ruleSays(approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High}),
			}, Audit: x.audit,
			Log: slog.New(slog.DiscardHandler), Observe: x.Controls.Observing, Ask: x.Ask,
		}
		again := parkedCall("c2", 0)
		if v := g.Decide(t.Context(), again); v.Decision != approver.Pass {
			t.Fatalf("%+v", v)
		}
		synctest.Wait()
		after := recordsOf(x.kv)
		delete(before, controlKey())
		delete(after, controlKey())
		if !reflect.DeepEqual(before, after) {
			t.Error("an observed call changed a record of the store")
		}
		if _, _, err := x.Controls.Enforce(t.Context(), "Ada"); err != nil {
			t.Fatal(err)
		}
		if v := g.Decide(t.Context(), again); v.Decision != approver.Allow {
			t.Errorf("the yes that waited: %+v", v)
		}
	})
}

func recordsOf(kv *memKV) map[string]approver.Rev {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	out := map[string]approver.Rev{}
	for key, r := range kv.records {
		out[key] = r.rev
	}
	return out
}
