package approver

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// A Part is one step of the way from a call to what needs people, with a budget of
// its own.
type Part uint8

// The parts, in their order. Arbiter is all of them together.
const (
	Reflex    Part = iota // what the call itself says: rules, structure
	Intuition             // what calls before it say: loops, memory
	Coherence             // whether all that was said fits together: the combination
	Arbiter               // the whole deterministic path, before people or a model
	parts
)

var partNames = [parts]string{"reflex", "intuition", "coherence", "arbiter"}

// String returns the word; an unknown value is "arbiter".
func (p Part) String() string {
	if p < parts {
		return partNames[p]
	}
	return partNames[Arbiter]
}

// A Timed stage belongs to a part: it computes, and waits for nobody. Others are not
// measured: a store, a model and people take their own time.
type Timed interface{ Part() Part }

// A Rejudger can do the work of its part once more, without any effect. A collection
// of garbage and pages that come back count as processor time too, and fall on
// whoever runs just then: what took too long is done a second time, and the shorter
// time counts. Work that really is too long is so both times.
type Rejudger interface {
	Timed
	Rejudge(ctx context.Context, call ToolCall)
}

// RuleOverBudget asks about a call that took too long to judge.
const RuleOverBudget = "over_budget"

// Budgets bound what each part may take of one call, in processor time of the
// thread that judges: that another process has the processor makes no honest call
// a suspect. Where the system does not tell it, it is the time on the clock. The
// work of the engine is bounded by itself; this is for what such bounds miss. A part
// that took more has the call asked about, and is counted. A budget of zero is none.
// The limits must not be changed while they are in use.
type Budgets struct {
	Limit [parts]time.Duration
	// Clock is for tests; nil is processor time.
	Clock func() time.Duration

	over [parts]atomic.Uint64
}

// DefaultBudgets are what counts where nothing is configured.
func DefaultBudgets() [parts]time.Duration {
	return [parts]time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond}
}

// Over counts the calls that went over each budget since the start, by the names
// of the parts.
func (b *Budgets) Over() map[string]uint64 {
	out := map[string]uint64{}
	for p := range parts {
		out[p.String()] = b.over[p].Load()
	}
	return out
}

// A Stopwatch measures the parts of one call.
type Stopwatch struct {
	Budgets *Budgets
	part    Part // what the time counts for now
	began   time.Duration
	spent   [parts]time.Duration
}

type stopwatchKey struct{}

// Lap says that what a stage does from now on belongs to another part. Outside of a
// Gate with budgets it does nothing.
func Lap(ctx context.Context, p Part) {
	if w, ok := ctx.Value(stopwatchKey{}).(*Stopwatch); ok {
		w.count()
		w.part = p
	}
}

func (w *Stopwatch) now() time.Duration {
	if w.Budgets.Clock != nil {
		return w.Budgets.Clock()
	}
	return processorTime()
}

// Begin begins to measure a part; end must follow. Without budgets nothing is
// measured.
func (w *Stopwatch) Begin(p Part) {
	if w.Budgets == nil {
		return
	}
	runtime.LockOSThread() // the time is the thread's
	w.part, w.began = p, w.now()
}

// count adds the time since it was last counted to its part, and to the whole.
func (w *Stopwatch) count() {
	now := w.now()
	took := now - w.began
	w.began = now
	w.spent[Arbiter] += took
	if w.part < Arbiter {
		w.spent[w.part] += took
	}
}

// End ends the measuring.
func (w *Stopwatch) End() {
	if w.Budgets == nil {
		return
	}
	w.count()
	runtime.UnlockOSThread()
}

// Verdicts are one question for each part that is over its budget.
func (w *Stopwatch) Verdicts() (out []Verdict) {
	if w.Budgets == nil {
		return nil
	}
	for p := range parts {
		limit := w.Budgets.Limit[p]
		if limit <= 0 || w.spent[p] <= limit {
			continue
		}
		w.Budgets.over[p].Add(1)
		out = append(out, Verdict{
			Decision: Ask, Severity: High, By: "gate", Rule: RuleOverBudget, Category: "evasion", Confidence: 1, Ruled: true,
			Reason: "it took too long to check: split it into simple calls",
			Detail: fmt.Sprintf("%s took %v of processor time, more than its budget of %v", p, w.spent[p].Round(time.Microsecond), limit),
		})
	}
	return out
}

// Timed asks a stage, and measures it if it belongs to a part.
func (w *Stopwatch) Timed(ctx context.Context, s Stage, call ToolCall, judge func(context.Context) Verdict) Verdict {
	t, ok := s.(Timed)
	if !ok || w.Budgets == nil {
		return judge(ctx)
	}
	before := w.spent
	v := w.measure(ctx, t.Part(), judge)
	w.remeasure(ctx, s, call, before)
	return v
}

func (w *Stopwatch) measure(ctx context.Context, p Part, judge func(context.Context) Verdict) Verdict {
	w.Begin(p)
	defer w.End()
	return judge(context.WithValue(ctx, stopwatchKey{}, w))
}

// remeasure has a stage that took its part over the budget do that part's work once
// more, and keeps the shorter time.
func (w *Stopwatch) remeasure(ctx context.Context, s Stage, call ToolCall, before [parts]time.Duration) {
	r, ok := s.(Rejudger)
	if !ok {
		return
	}
	p := r.Part()
	limit, first := w.Budgets.Limit[p], w.spent[p]-before[p]
	if p >= Arbiter || limit <= 0 || w.spent[p] <= limit || before[p] > limit {
		return
	}
	// What fails only now says nothing of the time: the first one counts.
	defer func() { _ = recover() }()
	second := Stopwatch{Budgets: w.Budgets}
	second.measure(ctx, p, func(context.Context) Verdict { r.Rejudge(ctx, call); return Verdict{} })
	if saved := first - second.spent[p]; saved > 0 {
		w.spent[p] -= saved
		w.spent[Arbiter] -= saved
	}
}
