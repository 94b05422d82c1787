package approver

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// slow is a stage of a part that takes a time on a clock of the test's.
type slow struct {
	part  Part
	takes time.Duration
	clock *time.Duration
	says  Decision
}

func (s slow) Part() Part { return s.part }

func (s slow) stage() Stage {
	return timedStage{s, stage(func(ToolCall) (Verdict, error) {
		*s.clock += s.takes
		return Verdict{Decision: s.says, Severity: High, By: s.part.String(), Rule: "r", Confidence: 1, Appealable: true}, nil
	})}
}

type timedStage struct {
	slow
	Stage
}

// lapping is a stage that does something for Reflex, and then for Intuition.
type lapping struct {
	clock       *time.Duration
	first, then time.Duration
}

func (l lapping) Judge(ctx context.Context, _ ToolCall) (Verdict, error) {
	*l.clock += l.first
	Lap(ctx, Intuition)
	*l.clock += l.then
	return Verdict{Decision: Pass, Severity: High}, nil
}

func TestBudgets(t *testing.T) {
	const ms = time.Millisecond
	var clock time.Duration
	in := func(part Part, takes time.Duration, says Decision) Stage {
		return slow{part, takes, &clock, says}.stage()
	}
	wait := stage(func(ToolCall) (Verdict, error) { // a store: not timed
		clock += time.Hour
		return Verdict{Decision: Pass, Severity: High}, nil
	})
	laps := func(first, then time.Duration) Stage {
		return timedStage{slow{part: Reflex}, lapping{&clock, first, then}}
	}
	for _, c := range []struct {
		name   string
		stages []Stage
		want   Decision
		over   string
	}{
		{"in time", []Stage{in(Reflex, 10*ms, Pass), in(Intuition, 20*ms, Pass)}, Pass, ""},
		{"what waits is not measured", []Stage{wait, in(Reflex, ms, Pass)}, Pass, ""},
		{"a pass is asked about", []Stage{in(Reflex, 11*ms, Pass)}, Ask, "reflex"},
		{"so is an allow", []Stage{in(Reflex, 11*ms, Pass), says(Allow)}, Ask, "reflex"},
		{"and a warning", []Stage{in(Intuition, 21*ms, Warn)}, Ask, "intuition"},
		{"two modules share their part's", []Stage{in(Reflex, 6*ms, Pass), in(Reflex, 6*ms, Pass)}, Ask, "reflex"},
		{"all together", []Stage{in(Reflex, 9*ms, Pass), in(Arbiter, 92*ms, Pass)}, Ask, "arbiter"},
		{"a stage may belong to two parts", []Stage{laps(9*ms, 19*ms)}, Pass, ""},
		{"of which each has its budget", []Stage{laps(9*ms, 21*ms)}, Ask, "intuition"},
		{"the first too", []Stage{laps(11*ms, 0)}, Ask, "reflex"},
		{"a denial stays one", []Stage{in(Reflex, 11*ms, Deny)}, Deny, "reflex"},
	} {
		b := &Budgets{Limit: DefaultBudgets(), Clock: func() time.Duration { return clock }}
		g := &Gate{Stages: c.stages, Budgets: b, Log: slog.New(slog.DiscardHandler)}
		v, _ := g.Judge(t.Context(), ToolCall{})
		if v.Decision != c.want || c.want == Ask && (v.Rule != RuleOverBudget || !strings.Contains(v.Detail, c.over)) {
			t.Errorf("%s: %v %s: %s", c.name, v.Decision, v.Rule, v.Detail)
		}
		for part, n := range b.Over() {
			if (n == 1) != (part == c.over) {
				t.Errorf("%s: %d over %s", c.name, n, part)
			}
		}
	}
	// What takes too long makes no weak denial weaker.
	b := &Budgets{Limit: DefaultBudgets(), Clock: func() time.Duration { return clock }}
	g := &Gate{Weak: DefaultWeak, Budgets: b, Log: slog.New(slog.DiscardHandler), Stages: []Stage{
		in(Reflex, 11*ms, Pass), fixed(Verdict{Decision: Deny, Severity: High, Rule: "odd", Confidence: 0.3, Appealable: true}), fixed(Verdict{Decision: Allow, Rule: "a", Confidence: 1}),
	}}
	if v, _ := g.Judge(t.Context(), ToolCall{}); v.Decision != Deny {
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

func (s twice) Judge(context.Context, ToolCall) (Verdict, error) {
	*s.clock += s.takes
	return Verdict{Decision: s.says, Severity: High}, nil
}

func (s twice) Rejudge(context.Context, ToolCall) {
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
		want          Decision
		asked         int
	}{
		{"in time", 10 * ms, 99 * ms, false, Pass, 0},
		{"garbage", 15 * ms, ms, false, Pass, 1},
		{"really so long", 15 * ms, 14 * ms, false, Ask, 1},
		{"longer still", 15 * ms, 90 * ms, false, Ask, 1},
		{"it fails the second time", 15 * ms, ms, true, Ask, 1},
	} {
		asked := 0
		b := &Budgets{Limit: DefaultBudgets(), Clock: func() time.Duration { return clock }}
		s := twice{slow{Reflex, c.first, &clock, Pass}, c.second, &asked, c.panics}
		g := &Gate{Stages: []Stage{s}, Budgets: b, Log: slog.New(slog.DiscardHandler)}
		v, _ := g.Judge(t.Context(), ToolCall{})
		if v.Decision != c.want || asked != c.asked || b.Over()["reflex"] != map[bool]uint64{true: 1}[c.want == Ask] {
			t.Errorf("%s: %v %s, done again %d times, %v", c.name, v.Decision, v.Detail, asked, b.Over())
		}
	}
	// What another stage used up of the part's budget is not given back.
	asked := 0
	b := &Budgets{Limit: DefaultBudgets(), Clock: func() time.Duration { return clock }}
	g := &Gate{Budgets: b, Log: slog.New(slog.DiscardHandler), Stages: []Stage{
		slow{Reflex, 6 * ms, &clock, Pass}.stage(), twice{slow{Reflex, 6 * ms, &clock, Pass}, 5 * ms, &asked, false},
	}}
	if v, _ := g.Judge(t.Context(), ToolCall{}); v.Decision != Ask || asked != 1 {
		t.Errorf("%v, done again %d times", v.Decision, asked)
	}
}
