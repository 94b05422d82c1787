package judges

import (
	"cmp"
	"context"
	"slices"

	"approver.example"
	"approver.example/configs"
	"approver.example/internal/timing"
	"approver.example/reflexcore"
	"approver.example/shieldcore/heuristics"
)

// A heuristicStage judges by the heuristics as the layers of rules left them: one that is
// disabled finds nothing, one in shadow is only recorded, and an exception drops what it finds.
// What a rule of the engine says too is one finding with it, and an exception from either holds
// for both.
type heuristicStage struct {
	texts *heuristics.Engine
	rules func() *reflexcore.Rules // those in force; nil for none but the built-in ones
}

// Judge implements [approver.Stage].
func (s heuristicStage) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	return s.JudgeAfter(ctx, call, nil)
}

// JudgeAfter implements [approver.Informed].
func (s heuristicStage) JudgeAfter(
	_ context.Context, call approver.ToolCall, before []approver.Verdict,
) (approver.Verdict, error) {
	var rules *reflexcore.Rules
	if s.rules != nil {
		rules = s.rules()
	}
	engine := reflexSaid(before)
	return s.texts.JudgeBy(call, func(hit heuristics.Hit) heuristics.Fate {
		rule, disabled := rules.Heuristic(hit.Rule)
		switch {
		case disabled:
			return heuristics.Fate{Gone: true}
		case rule == nil:
			return heuristics.Fate{}
		case rule.Shadow:
			return heuristics.Fate{Shadow: true}
		}
		if a := rule.Excepts(&call, hit.Paths); a != nil {
			return heuristics.Fate{Allowed: a.String()}
		}
		return throughTwins(rule, hit, engine)
	})
}

// throughTwins says what becomes of a finding because of what its twins found: with one that
// counts it is one finding; if all were dropped by exceptions, so is this.
func throughTwins(rule *reflexcore.Rule, hit heuristics.Hit, engine *approver.Verdict) (f heuristics.Fate) {
	if engine == nil {
		return f
	}
	if isSettled(rule, engine) || engine.Trial && len(rule.Twins) > 0 && !rule.Final() {
		return heuristics.Fate{Gone: true}
	}
	if rule.Final() {
		return asTwins(rule, hit, engine)
	}
	if as := warnedTwin(rule, engine); as != "" {
		return heuristics.Fate{As: as, Covered: true}
	}
	return asTwins(rule, hit, engine)
}

// warnedTwin returns a twin of which the policy makes a warning, if it makes one of all twins that found
// something: people decided about them, and the heuristic says the same.
func warnedTwin(rule *reflexcore.Rule, engine *approver.Verdict) (as string) {
	for _, found := range engine.Found {
		switch {
		case !found.Counts || !slices.Contains(rule.Twins, found.Rule):
		case !found.Warned:
			return ""
		default:
			as = found.Rule
		}
	}
	return as
}

// asTwins makes one finding of those of a heuristic and of its twins.
func asTwins(rule *reflexcore.Rule, hit heuristics.Hit, engine *approver.Verdict) (f heuristics.Fate) {
	allowed := ""
	for _, found := range engine.Found {
		switch {
		case !slices.Contains(rule.Twins, found.Rule):
		case !found.Counts:
			allowed = cmp.Or(found.Allowed, allowed)
		case f.As == "" || found.Rule == engine.Rule: // the one that decides, if it is among them
			f = heuristics.Fate{As: found.Rule, Covered: covers(engine, hit)}
		}
	}
	if f.As == "" && !rule.Final() {
		f.Allowed = allowed
	}
	return f
}

// isSettled reports whether a twin that looks closer than a pattern can has found something, and no
// other twin.
func isSettled(rule *reflexcore.Rule, engine *approver.Verdict) (settled bool) {
	for _, found := range engine.Found {
		switch {
		case !found.Counts || !slices.Contains(rule.Twins, found.Rule):
		case slices.Contains(rule.Settled, found.Rule):
			settled = true
		default:
			return false
		}
	}
	return settled
}

// covers reports whether a verdict is at least as strict as a finding, so that without the
// finding the same comes of the call.
func covers(v *approver.Verdict, hit heuristics.Hit) bool {
	switch hit.Decision {
	case approver.Deny:
		return v.Decision == approver.Deny && !v.Appealable
	case approver.Ask:
		return v.Decision <= approver.Ask && v.Severity <= hit.Severity
	case approver.Modify, approver.Warn, approver.Pass, approver.Allow:
	}
	return true
}

// reflexSaid returns what the reflex engine said; nil if it has not judged.
func reflexSaid(before []approver.Verdict) *approver.Verdict {
	for i := range before {
		if before[i].By == reflexcore.By {
			return &before[i]
		}
	}
	return nil
}

// Part is that of the heuristics.
func (s heuristicStage) Part() timing.Part { return s.texts.Part() }

// heuristicsIn returns the function by which the engine asks which heuristics find something.
func heuristicsIn(call approver.ToolCall) []string {
	texts, err := configs.Heuristics()
	if err != nil {
		return nil // the daemon does not start with such an error
	}
	return texts.Finds(call)
}
