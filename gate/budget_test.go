package gate

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// slow is a stage of a part that takes a time on a clock of the test's.
type slow struct {
	part  approver.Part
	takes time.Duration
	clock *time.Duration
	says  approver.Decision
}

func (s slow) Part() approver.Part { return s.part }

func (s slow) stage() approver.Stage {
	return timedStage{s, stage(func(approver.ToolCall) (approver.Verdict, error) {
		*s.clock += s.takes
		return approver.Verdict{Decision: s.says, Severity: approver.High, By: s.part.String(), Rule: "r", Confidence: 1, Appealable: true}, nil
	})}
}

type timedStage struct {
	slow
	approver.Stage
}

// lapping is a stage that does something for Reflex, and then for Intuition.
type lapping struct {
	clock       *time.Duration
	first, then time.Duration
}

func (l lapping) Judge(ctx context.Context, _ approver.ToolCall) (approver.Verdict, error) {
	*l.clock += l.first
	approver.Lap(ctx, approver.Intuition)
	*l.clock += l.then
	return approver.Verdict{Decision: approver.Pass, Severity: approver.High}, nil
}

func TestBudgets(t *testing.T) {
	const ms = time.Millisecond
	var clock time.Duration
	in := func(part approver.Part, takes time.Duration, says approver.Decision) approver.Stage {
		return slow{part, takes, &clock, says}.stage()
	}
	wait := stage(func(approver.ToolCall) (approver.Verdict, error) { // a store: not timed
		clock += time.Hour
		return approver.Verdict{Decision: approver.Pass, Severity: approver.High}, nil
	})
	laps := func(first, then time.Duration) approver.Stage {
		return timedStage{slow{part: approver.Reflex}, lapping{&clock, first, then}}
	}
	for _, c := range []struct {
		name   string
		stages []approver.Stage
		want   approver.Decision
		over   string
	}{
		{"in time", []approver.Stage{in(approver.Reflex, 10*ms, approver.Pass), in(approver.Intuition, 20*ms, approver.Pass)}, approver.Pass, ""},
		{"what waits is not measured", []approver.Stage{wait, in(approver.Reflex, ms, approver.Pass)}, approver.Pass, ""},
		{"a pass is asked about", []approver.Stage{in(approver.Reflex, 11*ms, approver.Pass)}, approver.Ask, "reflex"},
		{"so is an allow", []approver.Stage{in(approver.Reflex, 11*ms, approver.Pass), says(approver.Allow)}, approver.Ask, "reflex"},
		{"and a warning", []approver.Stage{in(approver.Intuition, 21*ms, approver.Warn)}, approver.Ask, "intuition"},
		{"two modules share their part's", []approver.Stage{in(approver.Reflex, 6*ms, approver.Pass), in(approver.Reflex, 6*ms, approver.Pass)}, approver.Ask, "reflex"},
		{"all together", []approver.Stage{in(approver.Reflex, 9*ms, approver.Pass), in(approver.Arbiter, 92*ms, approver.Pass)}, approver.Ask, "arbiter"},
		{"a stage may belong to two parts", []approver.Stage{laps(9*ms, 19*ms)}, approver.Pass, ""},
		{"of which each has its budget", []approver.Stage{laps(9*ms, 21*ms)}, approver.Ask, "intuition"},
		{"the first too", []approver.Stage{laps(11*ms, 0)}, approver.Ask, "reflex"},
		{"a denial stays one", []approver.Stage{in(approver.Reflex, 11*ms, approver.Deny)}, approver.Deny, "reflex"},
	} {
		b := &approver.Budgets{Limit: approver.DefaultBudgets(), Clock: func() time.Duration { return clock }}
		g := &Gate{Stages: c.stages, Budgets: b, Log: slog.New(slog.DiscardHandler)}
		v, _ := g.Judge(t.Context(), approver.ToolCall{})
		if v.Decision != c.want || c.want == approver.Ask && (v.Rule != approver.RuleOverBudget || !strings.Contains(v.Detail, c.over)) {
			t.Errorf("%s: %v %s: %s", c.name, v.Decision, v.Rule, v.Detail)
		}
		for part, n := range b.Over() {
			if (n == 1) != (part == c.over) {
				t.Errorf("%s: %d over %s", c.name, n, part)
			}
		}
	}
	// What takes too long makes no weak denial weaker.
	b := &approver.Budgets{Limit: approver.DefaultBudgets(), Clock: func() time.Duration { return clock }}
	g := &Gate{Weak: approver.DefaultWeak, Budgets: b, Log: slog.New(slog.DiscardHandler), Stages: []approver.Stage{
		in(approver.Reflex, 11*ms, approver.Pass), fixed(approver.Verdict{Decision: approver.Deny, Severity: approver.High, Rule: "odd", Confidence: 0.3, Appealable: true}), fixed(approver.Verdict{Decision: approver.Allow, Rule: "a", Confidence: 1}),
	}}
	if v, _ := g.Judge(t.Context(), approver.ToolCall{}); v.Decision != approver.Deny {
		t.Errorf("%+v", v)
	}
}

// twice is a stage whose second time differs from its first.
type twice struct {
	slow
	second time.Duration
	asked  *int
	panics bool
}

func (s twice) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	*s.clock += s.takes
	return approver.Verdict{Decision: s.says, Severity: approver.High}, nil
}

func (s twice) Rejudge(context.Context, approver.ToolCall) {
	*s.asked++
	*s.clock += s.second
	if s.panics {
		panic("only now")
	}
}

// The story: the daemon gave memory back to the system, and garbage was collected
// while one harmless call was looked at. It was asked about, because it "took too
// long to check". What takes too long is done once more, and the shorter time counts.
func TestGarbageIsNotTheCalls(t *testing.T) {
	const ms = time.Millisecond
	var clock time.Duration
	for _, c := range []struct {
		name          string
		first, second time.Duration
		panics        bool
		want          approver.Decision
		asked         int
	}{
		{"in time", 10 * ms, 99 * ms, false, approver.Pass, 0},
		{"garbage", 15 * ms, ms, false, approver.Pass, 1},
		{"really so long", 15 * ms, 14 * ms, false, approver.Ask, 1},
		{"longer still", 15 * ms, 90 * ms, false, approver.Ask, 1},
		{"it fails the second time", 15 * ms, ms, true, approver.Ask, 1},
	} {
		asked := 0
		b := &approver.Budgets{Limit: approver.DefaultBudgets(), Clock: func() time.Duration { return clock }}
		s := twice{slow{approver.Reflex, c.first, &clock, approver.Pass}, c.second, &asked, c.panics}
		g := &Gate{Stages: []approver.Stage{s}, Budgets: b, Log: slog.New(slog.DiscardHandler)}
		v, _ := g.Judge(t.Context(), approver.ToolCall{})
		if v.Decision != c.want || asked != c.asked || b.Over()["reflex"] != map[bool]uint64{true: 1}[c.want == approver.Ask] {
			t.Errorf("%s: %v %s, done again %d times, %v", c.name, v.Decision, v.Detail, asked, b.Over())
		}
	}
	// What another stage used up of the part's budget is not given back.
	asked := 0
	b := &approver.Budgets{Limit: approver.DefaultBudgets(), Clock: func() time.Duration { return clock }}
	g := &Gate{Budgets: b, Log: slog.New(slog.DiscardHandler), Stages: []approver.Stage{
		slow{approver.Reflex, 6 * ms, &clock, approver.Pass}.stage(), twice{slow{approver.Reflex, 6 * ms, &clock, approver.Pass}, 5 * ms, &asked, false},
	}}
	if v, _ := g.Judge(t.Context(), approver.ToolCall{}); v.Decision != approver.Ask || asked != 1 {
		t.Errorf("%v, done again %d times", v.Decision, asked)
	}
}
