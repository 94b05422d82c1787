package approver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"
)

// A Stage judges calls: reflexcore and each tier of shieldcore. An error means
// that the stage is configured but could not judge.
type Stage interface {
	Judge(ctx context.Context, call ToolCall) (Verdict, error)
}

// A Gate is the only way from a call to a verdict. Every stage judges; the
// strictest finding wins; what needs people is put before them; every verdict
// is in the audit before it is returned. The zero Gate denies everything.
type Gate struct {
	// Stages judge in this order. None is a Gate that denies.
	Stages []Stage
	// Ask puts a call before people and returns Allow or Deny, recorded;
	// [Broadcaster.Ask]. Nil denies what needs people.
	Ask func(ctx context.Context, call ToolCall, why Verdict) Verdict
	// Paused says whether people have paused the asking of calls of a severity,
	// in a sentence; [Broadcaster.PausedFor]. Nil is never.
	Paused func(ctx context.Context, s Severity) (string, bool)
	// Observe says whether a rule's finding is recorded and not enforced, in a
	// sentence; [Broadcaster.Observing]. Nil is never.
	Observe func(ctx context.Context, found Verdict) (string, bool)
	// Rewrite applies a Modify's arguments to a call, so that it can be judged
	// once more. Nil denies what was modified.
	Rewrite func(call ToolCall, args json.RawMessage) (ToolCall, error)
	// Audit must not be nil.
	Audit Recorder
	// Log must not be nil.
	Log *slog.Logger
}

// Decide judges the call and returns one of Deny, Modify, Warn, Pass or Allow,
// never Ask. It blocks while people are asked, until ctx ends at the latest.
func (g *Gate) Decide(ctx context.Context, call ToolCall) Verdict {
	start := time.Now()
	v, judged := g.judge(ctx, call)
	if let, ok := g.observe(ctx, v); ok {
		// The call runs as it came, whatever a rule would have made of it.
		return g.record(ctx, Record{At: call.At, Call: call, Verdict: let, Observed: &v, Took: time.Since(start)})
	}
	call = judged
	// A change that a rule demands is not let go, nor what only some may approve:
	// whoever paused need not be one of them.
	if v.Decision == Ask && g.Paused != nil && v.Args == nil && len(v.Approvers) == 0 {
		if notice, ok := g.Paused(ctx, v.Severity); ok {
			v.Decision, v.Detail = Pass, "not asked: "+notice
			g.Log.Warn("a call that needs people was let through", "call", call.ID, "why", notice)
		}
	}
	if v.Decision == Ask {
		if g.Ask == nil {
			v = denied(v, "nobody can be asked here", "the call needs people and no way to ask them is configured")
		} else {
			return g.ask(ctx, call, v)
		}
	}
	return g.record(ctx, Record{At: call.At, Call: call, Verdict: v, Took: time.Since(start)})
}

// record returns the verdict of the record once it is durable, or a Deny.
func (g *Gate) record(ctx context.Context, r Record) Verdict {
	if g.Audit == nil {
		return denied(r.Verdict, "the decision could not be recorded", "no audit is configured")
	}
	r.Event = EventVerdict
	if _, err := g.Audit.Record(ctx, r); err != nil {
		g.Log.Error("audit failed, so the call was denied", "call", r.Call.ID, "error", err)
		return denied(r.Verdict, "the decision could not be recorded", err.Error())
	}
	return r.Verdict
}

// Judge returns what the stages say of the call, which may be Ask, and the call
// as it would run. It asks nobody and records nothing, so nothing may be released
// on the strength of it.
func (g *Gate) Judge(ctx context.Context, call ToolCall) (Verdict, ToolCall) {
	return g.judge(ctx, call)
}

// ask runs Ask. Whatever it returns that is not a clear Allow is a Deny.
func (g *Gate) ask(ctx context.Context, call ToolCall, why Verdict) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			g.Log.Error("panic while people were asked", "call", call.ID, "panic", p, "stack", string(debug.Stack()))
			v = denied(why, "approver failed while it asked people", "panic")
		}
	}()
	v = g.Ask(ctx, call, why)
	if v.Decision != Allow {
		v.Decision = Deny
		return v
	}
	v.Args = why.Args
	return v
}

// judge runs the stages, and once more if the call was modified.
func (g *Gate) judge(ctx context.Context, call ToolCall) (Verdict, ToolCall) {
	v := g.strictest(ctx, call)
	if v.Args == nil || v.Decision == Deny {
		return v, call
	}
	if g.Rewrite == nil {
		return denied(v, "the call would have to be changed, which this agent cannot do", "modify without a rewrite"), call
	}
	changed, err := g.Rewrite(call, v.Args)
	if err != nil {
		return denied(v, "the call could not be changed as a rule demands", err.Error()), call
	}
	again := g.strictest(ctx, changed)
	if again.Args != nil {
		return denied(again, "the call was changed twice", "a modified call was modified again"), changed
	}
	first := v
	if stricter(again, v) {
		again.Args = v.Args
		v = again
	}
	if first.Decision == Ask && again.Decision == Ask {
		v = narrowed(v, first, again)
	}
	return v, changed
}

// strictest combines the stages: any Deny denies; else any Ask asks and keeps a
// Modify's arguments; else Modify, Warn, Allow; all Pass is Pass.
func (g *Gate) strictest(ctx context.Context, call ToolCall) Verdict {
	if len(g.Stages) == 0 {
		return Verdict{Reason: "approver has no rules", Detail: "no stage is configured", By: "gate"}
	}
	best := Verdict{Decision: Pass, Severity: High}
	var args json.RawMessage
	var asks []Verdict
	for _, s := range g.Stages {
		v := g.judgeSafely(ctx, s, call)
		if v.Decision == Deny {
			return v
		}
		if v.Decision == Modify {
			args = v.Args
		}
		if v.Decision == Ask {
			asks = append(asks, v)
		}
		if stricter(v, best) {
			best = v
		}
	}
	if best.Decision == Ask {
		best = narrowed(best, asks...)
	}
	if best.Decision == Ask || best.Decision == Modify {
		best.Args = args
	}
	if best.Decision == Modify && args == nil {
		return denied(best, "the call would have to be changed, but no change was given", "modify without arguments")
	}
	return best
}

// narrowed returns v with the people, the channels, the tier and the time on which
// all that ask agree. If they name nobody in common, nobody can be asked.
func narrowed(v Verdict, asks ...Verdict) Verdict {
	v.Channels, v.Approvers, v.TTL = nil, nil, 0
	nobody := false
	for _, ask := range asks {
		v.MinTier = max(v.MinTier, ask.MinTier)
		if ask.TTL > 0 && (v.TTL == 0 || ask.TTL < v.TTL) {
			v.TTL = ask.TTL // the shortest that a rule names
		}
		for of, more := range map[*[]string][]string{&v.Channels: ask.Channels, &v.Approvers: ask.Approvers} {
			switch {
			case len(more) == 0:
			case len(*of) == 0:
				*of = more
			default:
				*of = slices.DeleteFunc(slices.Clone(*of), func(name string) bool { return !slices.Contains(more, name) })
				nobody = nobody || len(*of) == 0
			}
		}
	}
	if nobody {
		return denied(v, "nobody may decide this", "the rules that ask name no person or no channel in common")
	}
	return v
}

// stricter reports whether v outranks best. Allow outranks only Pass: it is an
// opinion where Pass has none, and every other finding beats it.
func stricter(v, best Verdict) bool {
	switch {
	case best.Decision == Pass && v.Decision == Allow:
		return true
	case best.Decision == Allow && v.Decision == Pass:
		return false
	case v.Decision == Ask && best.Decision == Ask:
		// Of equals the later counts: a rule that people wrote says more than the
		// engine before it.
		return v.Severity <= best.Severity
	}
	return v.Decision < best.Decision
}

// judgeSafely is where it is written what a failing stage means: a configured
// stage that errs, panics or answers nonsense blocks.
func (g *Gate) judgeSafely(ctx context.Context, s Stage, call ToolCall) (v Verdict) {
	fail := func(err error) Verdict {
		g.Log.Error("a stage failed, so the call was denied", "call", call.ID, "error", err)
		return denied(Verdict{By: "gate"}, "a safety check failed, so the call was blocked", err.Error())
	}
	defer func() {
		if p := recover(); p != nil {
			v = fail(fmt.Errorf("panic in a stage: %v\n%s", p, debug.Stack()))
		}
	}()
	if s == nil {
		return fail(errors.New("a stage is nil"))
	}
	v, err := s.Judge(ctx, call)
	if err != nil {
		return fail(err)
	}
	if v.Decision > Allow {
		return fail(fmt.Errorf("a stage returned the unknown decision %d", v.Decision))
	}
	v.ruled = v.Rule != ""
	return v
}

// denied turns a verdict into a Deny that keeps saying which rule it was.
func denied(v Verdict, reason, detail string) Verdict {
	v.Decision, v.Severity, v.Args, v.ruled = Deny, Catastrophic, nil, false
	v.Reason, v.Detail = reason, detail
	return v
}
