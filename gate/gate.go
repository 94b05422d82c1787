package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"approver.example"
	"approver.example/display"
	"approver.example/internal/timing"
)

// A Gate is the only way from a call to a verdict. Every stage judges; the
// strictest finding wins; what needs people is put before them; every verdict
// is in the audit before it is returned, but see Pass. The zero Gate denies everything.
type Gate struct {
	// Stages judge in this order. A Gate without stages denies.
	Stages []approver.Stage
	// Ask asks people about a call and returns Allow or Deny, already recorded;
	// broadcaster.Broadcaster.Ask. Nil denies what needs people.
	Ask func(ctx context.Context, call approver.ToolCall, why approver.Verdict) approver.Verdict
	// Paused reports whether people have paused questions about calls of a severity, and
	// returns a sentence that says so; broadcaster.Controller.PausedFor. Nil means never.
	Paused func(ctx context.Context, s approver.Severity) (string, bool)
	// Observe reports whether a rule's finding is only recorded and not enforced, and returns
	// a sentence that says so; broadcaster.Controller.Observing. Nil means never.
	Observe func(ctx context.Context, found approver.Verdict) (string, bool)
	// Rewrite applies a Modify's arguments to a call, so that it can be judged
	// once more. Nil denies calls that would have to be modified.
	Rewrite func(call approver.ToolCall, args json.RawMessage) (approver.ToolCall, error)
	// Sum says in words for people what a call would do. It is called only for what they are asked about.
	// Nil says nothing.
	Sum func(call approver.ToolCall) display.Summary
	// Times counts how long judging takes. Nil counts nothing.
	Times *timing.Times
	// Appeals lets people be asked about a denial if its rule allows that. Nil means never.
	Appeals *Appeals
	// Weak is a confidence. A denial that may be appealed becomes a question if its confidence
	// is lower and a strong approval contradicts it. Zero means never.
	Weak float64
	// Tiers is the highest tier among Stages, and so the highest floor that they
	// satisfy: approver.TierPolicy or approver.TierScreen.
	Tiers uint8
	// Evaluator is approver.TierEvaluation. It is asked about calls that nothing denies and
	// that only it may let go. If it is nil, people are asked.
	Evaluator approver.Stage
	// Again are the stages that judge again after an evaluation, which may take a
	// minute: people may have frozen everything or changed the policy meanwhile. They
	// must not record calls.
	Again []approver.Stage
	// Fresh are the stages that judge a call that has run already. They must not record
	// calls. Without any, such a call is denied.
	Fresh []approver.Stage
	// FailOpen lets a call go on that a stage could not judge, in the cases of the fail-closed
	// table (docs/shield.md). Each use is logged, and flagged in the audit.
	FailOpen bool
	// OnFailOpen is called for each such stage. It may be nil.
	OnFailOpen func(call approver.ToolCall, stage string, err error)
	// Turns, if set, shares the processors fairly among users.
	Turns *Turns
	// Audit must not be nil.
	Audit approver.Recorder
	// Pass, if set, records a verdict that lets a call run in place of Audit, if no rule asked or denied,
	// no model settled the question and no failure stood against the call: the record may become durable
	// a little later. After an error the call is denied. See audit.Log.Pass.
	Pass func(ctx context.Context, r approver.Record) error
	// Log must not be nil.
	Log *slog.Logger
}

// Decide judges the call and returns one of Deny, Modify, Warn, Pass or Allow,
// never Ask. It blocks while people are asked, until ctx ends at the latest.
func (g *Gate) Decide(ctx context.Context, call approver.ToolCall) approver.Verdict {
	start := time.Now()
	v, judged := g.judge(ctx, call)
	v.Unasked = v.Decision != approver.Ask && v.Args == nil && !v.Evaluated && len(v.FailedOpen) == 0 &&
		v.Irreversible.Score == 0
	if let, ok := g.observe(ctx, v); ok {
		// The call runs unmodified, even if a rule would have changed it.
		return g.record(ctx, approver.Record{At: call.At, Call: call, Verdict: let, Observed: &v, Took: time.Since(start)})
	}
	call = judged
	// A pause does not cover a call that a rule changes, nor one that only some may approve:
	// whoever paused need not be one of them.
	// Nor does it cover a denial that became a question because of a strong approval.
	unopposed := v.Decision > approver.Ask && !v.Evaluated && len(v.FailedOpen) == 0
	if v.Decision == approver.Ask && g.Paused != nil && v.Args == nil && len(v.Approvers) == 0 && !v.Weakened {
		if notice, ok := g.Paused(ctx, v.Severity); ok {
			v.Decision, v.Detail = approver.Pass, "not asked: "+notice
			what := "a call that needs people was let through"
			if v.Prompt {
				what = "an agent's own question was left to its own dialog"
			}
			g.Log.Warn(what, "call", call.ID, "why", notice)
		}
	}
	if v.Decision == approver.Ask {
		if g.Ask == nil {
			v = v.Blocked("nobody can be asked here", "the call needs people and no way to ask them is configured")
		} else {
			return g.ask(ctx, call, v)
		}
	}
	if v.Decision == approver.Deny && v.Appealable && g.Appeals != nil {
		return g.denial(ctx, call, v, time.Since(start))
	}
	r := approver.Record{At: call.At, Call: call, Verdict: v, Took: time.Since(start)}
	if unopposed && g.Pass != nil {
		return g.recordBy(ctx, r, g.Pass)
	}
	return g.record(ctx, r)
}

// storeAway is what an agent is told while the store does not answer: the call itself is not
// the problem.
const storeAway = "approver's store does not answer, so the call was blocked, whatever it is: the user can see why " +
	"with approver status"

// record returns the verdict of the record once it is durable, or a Deny.
func (g *Gate) record(ctx context.Context, r approver.Record) approver.Verdict {
	return g.recordBy(ctx, r, func(ctx context.Context, r approver.Record) error {
		_, err := g.Audit.Record(ctx, r)
		return err
	})
}

// recordBy returns the verdict of the record once take has taken it, or a Deny.
func (g *Gate) recordBy(
	ctx context.Context, r approver.Record, take func(context.Context, approver.Record) error,
) approver.Verdict {
	if g.Audit == nil {
		return r.Verdict.Blocked("the decision could not be recorded", "no audit is configured")
	}
	r.Event = approver.EventVerdict
	err := take(ctx, r)
	if err == nil {
		return r.Verdict
	}
	over := ctx.Err() != nil
	was := r.Verdict.Decision
	switch {
	case over:
		r.Verdict = r.Verdict.Blocked("the agent's time was over before there was an answer, so the call was blocked",
			err.Error())
	case errors.Is(err, approver.ErrAway):
		r.Verdict = r.Verdict.Blocked(storeAway, err.Error())
	default:
		r.Verdict = r.Verdict.Blocked("the decision could not be recorded", err.Error())
	}
	if was != approver.Deny { // the outcome differs from what was to be recorded
		r.Observed = nil
		if _, again := g.Audit.Record(ctx, r); again == nil && over {
			return r.Verdict
		}
	}
	g.Log.Error("audit failed, so the call was denied", "call", r.Call.ID, "error", err)
	return r.Verdict
}

// Judge returns the stages' verdict on the call, which may be Ask, and the call as it would
// run. It asks nobody and records nothing, so nothing may be released because of it.
func (g *Gate) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, approver.ToolCall) {
	return g.judge(ctx, call)
}

// Afresh returns the Fresh stages' verdict on a call that has run, as it ran. It asks neither
// people nor a model, and remembers nothing. Pass, Warn or Allow means that the call would
// have gone on, Ask or Deny that it would not. A call whose verdict was Alone gets the same
// verdict, unless the rules, or what the call is about, have changed.
func (g *Gate) Afresh(ctx context.Context, call approver.ToolCall) approver.Verdict {
	again := Gate{Stages: g.Fresh, Tiers: g.Tiers, Log: g.Log}
	v, _ := again.judge(ctx, call)
	return v
}

// ask calls Ask. Any result other than Allow becomes a Deny.
func (g *Gate) ask(ctx context.Context, call approver.ToolCall, why approver.Verdict) (v approver.Verdict) {
	defer func() {
		if p := recover(); p != nil {
			g.Log.Error("panic while people were asked", "call", call.ID, "panic", p, "stack", string(debug.Stack()))
			v = why.Blocked("approver failed while it asked people", "panic")
		}
	}()
	why = g.summed(call, why)
	v = g.Ask(ctx, call, why)
	if v.Decision != approver.Allow {
		v.Decision = approver.Deny
		return v
	}
	v.Args = why.Args
	if edit := v.Yes().Resolution.Edit; edit != nil {
		if v.Args = edit.Args; why.Args != nil || v.Args == nil { // nobody can change what a rule changed
			return why.Blocked("the changed command could not be told to the agent", "an edit of a call that a rule changed")
		}
	}
	return v
}

// summed returns the verdict with a summary of the call, which people are asked about.
func (g *Gate) summed(call approver.ToolCall, why approver.Verdict) approver.Verdict {
	if g.Sum != nil {
		why.Says = why.Says.Or(g.Sum(call))
	}
	return why
}

// judge runs the stages, and runs them again if the call was modified.
func (g *Gate) judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, approver.ToolCall) {
	v := g.strictest(ctx, call)
	if v.Args == nil || v.Decision == approver.Deny {
		return v, call
	}
	if g.Rewrite == nil {
		return v.Blocked("the call would have to be changed, which this agent cannot do", "modify without a rewrite"), call
	}
	changed, err := g.Rewrite(call, v.Args)
	if err != nil {
		return v.Blocked("the call could not be changed as a rule demands", err.Error()), call
	}
	again := g.strictest(ctx, changed)
	again.Chain = approver.Chained(slices.Clone(v.Chain), again.Chain...)
	again.Appealable = false // the agent's own call is another one
	if again.Args != nil {
		return again.Blocked("the call was changed twice", "a modified call was modified again"), changed
	}
	first, open := v, slices.Concat(v.FailedOpen, again.FailedOpen)
	if approver.Stricter(&again, &v) {
		again.Args = v.Args
		v = again
	}
	v.Chain = again.Chain
	if first.Decision == approver.Ask && again.Decision == approver.Ask {
		v = approver.Narrowed(v, first, again)
	}
	v.FailedOpen = open
	return reduced(v), changed
}

// strictest asks the stages and combines their verdicts. It stops at a denial that cannot be
// appealed, because no later stage could change that.
func (g *Gate) strictest(ctx context.Context, call approver.ToolCall) approver.Verdict {
	if len(g.Stages) == 0 {
		return approver.Verdict{Reason: "approver has no rules", Detail: "no stage is configured", By: "gate"}
	}
	found := make([]approver.Verdict, 0, len(g.Stages))
	chain := make([]approver.Finding, 0, 2*len(g.Stages))
	var shadow, allowed, open []string
	var same []approver.Same
	var spent timing.Limits
	mine := turn{of: g.Turns, uid: call.Peer.UID}
	defer mine.give()
	for _, s := range g.Stages {
		start := time.Now()
		if in, ok := s.(approver.Informed); ok {
			s = told{in, found}
		}
		v := g.inTurn(ctx, s, call, &mine, &spent)
		same = append(same, v.Same...)
		shadow, allowed, open = append(shadow, v.Shadow...), append(allowed, v.Allowed...), append(open, v.FailedOpen...)
		chain = approver.Chained(approver.Chained(chain, v.Finding(time.Since(start))), v.Chain...)
		found = append(found, v)
		if v.Decision == approver.Deny && !v.Appealable {
			break
		}
	}
	mine.give()
	chain = united(chain, same)
	combining := time.Now()
	v := approver.Combine(onceCounted(found))
	spent[timing.Coherence] = time.Since(combining)
	g.measured(call, &spent)
	if w := approver.Weighed(v, found, g.Weak); w.Weakened {
		chain = approver.Chained(chain,
			approver.Finding{By: "gate", Decision: approver.Ask, Severity: w.Severity, Confidence: v.Confidence,
				Note: "a weak denial against a strong approval: people are asked"})
		v = w
	}
	v, more := g.raise(ctx, call, v, found)
	if len(more) > 0 {
		var late []approver.Finding
		v, late = g.meanwhile(ctx, call, v)
		more = append(more, late...)
		v.Evaluated = true
	}
	chain = approver.Chained(chain, more...)
	// these hold whichever stage decided
	v.Chain, v.Shadow, v.Allowed, v.FailedOpen = chain, shadow, allowed, append(open, v.FailedOpen...)
	v.Found, v.Same = nil, nil
	return reduced(v)
}

// told is an Informed stage with what the stages before it said.
type told struct {
	approver.Informed
	before []approver.Verdict
}

// Judge implements [approver.Stage].
func (t told) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	return t.JudgeAfter(ctx, call, t.before)
}

// inTurn asks a stage. A stage that computes waits for a turn of the call's user, and keeps it for the
// next one. If no turn comes, that does not count as a failing stage, so it never lets a call go on.
func (g *Gate) inTurn(
	ctx context.Context, s approver.Stage, call approver.ToolCall, mine *turn, spent *timing.Limits,
) approver.Verdict {
	computing, ok := s.(timing.Computing)
	if t, is := s.(told); is {
		computing, ok = t.Informed.(timing.Computing)
	}
	if !ok {
		mine.give()
		return g.judgeSafely(ctx, s, call)
	}
	if err := mine.take(ctx); err != nil {
		return approver.Verdict{By: "gate"}.Blocked("approver was too busy to check the call, so it was blocked: try it "+
			"again", "no turn for it: "+err.Error())
	}
	start := time.Now()
	v := g.judgeSafely(ctx, s, call)
	spent[computing.Part()] += time.Since(start)
	return v
}

// measured counts how long the parts took for one call. A call that took too long is only
// logged: the work is bounded in steps, and on a busy machine any call may take long.
func (g *Gate) measured(call approver.ToolCall, spent *timing.Limits) {
	if g.Times == nil {
		return
	}
	spent[timing.Arbiter] += spent[timing.Reflex] + spent[timing.Coherence]
	for _, part := range []timing.Part{timing.Reflex, timing.Coherence, timing.Arbiter} {
		if g.Times.Took(part, spent[part]) && g.Times.MayLog(time.Now()) {
			g.Log.Warn("judging a call took longer than its budget",
				"part", part.String(), "took", spent[part], "budget", g.Times.Limits[part], "call", call.ID)
		}
	}
}

// judgeSafely defines what a failing stage means: a configured stage that returns an error,
// panics or returns an invalid decision blocks.
func (g *Gate) judgeSafely(ctx context.Context, s approver.Stage, call approver.ToolCall) (v approver.Verdict) {
	fail := func(err error) approver.Verdict {
		level := slog.LevelError
		if errors.Is(err, context.Canceled) && ctx.Err() != nil || errors.Is(err, approver.ErrTold) {
			level = slog.LevelDebug // the agent or the daemon was stopped, or the error is logged already
		}
		g.Log.Log(ctx, level, "a stage failed, so the call was denied", "call", call.ID, "error", err)
		failed := "a safety check failed, so the call was blocked"
		if errors.Is(err, approver.ErrAway) {
			failed = storeAway
		}
		d := approver.Verdict{By: "gate", Tier: v.Tier}.Blocked(cmp.Or(v.Reason, failed), err.Error())
		var gone *approver.UnavailableError
		d.Unavailable = errors.As(err, &gone)
		return d
	}
	defer func() {
		if p := recover(); p != nil {
			v = approver.Verdict{}
			v = fail(fmt.Errorf("panic in a stage: %v\n%s", p, debug.Stack()))
		}
	}()
	if s == nil {
		return fail(errors.New("a stage is nil"))
	}
	v, err := s.Judge(ctx, call)
	if err != nil {
		if open, ok := g.failedOpen(call, v, err); ok {
			return open
		}
		return fail(err)
	}
	if v.Decision > approver.Allow {
		return fail(fmt.Errorf("a stage returned the unknown decision %d", v.Decision))
	}
	v.Ruled = v.Rule != ""
	v.Weakened, v.Unavailable, v.Unasked, v.Evaluated, v.FailedOpen = false, false, false, false, nil
	return v
}

// observe returns the verdict on a call in observe mode, and whether it applies. Only the
// finding of a rule is replaced, and only by Pass, so that the agent's own permission flow
// decides. A failure of approver itself and a freeze still block, and an Allow skips none of
// the agent's own questions.
func (g *Gate) observe(ctx context.Context, found approver.Verdict) (approver.Verdict, bool) {
	if g.Observe == nil || !found.Ruled || found.Decision == approver.Pass || found.By == approver.FreezeBy {
		return found, false
	}
	notice, ok := g.Observe(ctx, found)
	if !ok {
		return found, false
	}
	return approver.Verdict{Decision: approver.Pass, By: "gate", Rule: "observe", Severity: approver.High, Detail: notice},
		true
}
