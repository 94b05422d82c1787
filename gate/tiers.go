package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file relates the tiers to each other: which tiers have to judge a call, and
// what happens to it if a tier is missing or fails. The fail-closed table is
// implemented here and in judgeSafely, and nowhere else.

// OpenConfidence is the confidence of a verdict that lets a call go only because the fail mode
// is open.
const OpenConfidence = 0.5

// CategoryFailOpen is the category of such a verdict, for alarms.
const CategoryFailOpen = "fail-open"

// raise asks the higher tiers that the verdicts in found require. v is the combination of
// found. raise returns the verdict of all tiers that judged, and the findings to add to the
// chain.
func (g *Gate) raise(
	ctx context.Context, call approver.ToolCall, v approver.Verdict, found []approver.Verdict,
) (approver.Verdict, []approver.Finding) {
	if v.Decision == approver.Deny || v.Weakened {
		return v, nil
	}
	needed, wanted := approver.TierPolicy, approver.TierPolicy
	for _, f := range found {
		needed = max(needed, f.Floor())
		if g.Evaluator != nil && f.Decision > approver.Ask {
			wanted = max(wanted, min(f.WantTier, approver.TierEvaluation))
		}
	}
	switch {
	case max(needed, wanted) <= g.present():
		return v, nil
	case needed >= approver.TierPeople, g.Evaluator == nil:
		return approver.Combine(g.toPeople(found)), nil
	}
	start := time.Now()
	said := g.judgeSafely(ctx, g.Evaluator, call)
	said.Tier = approver.TierEvaluation // even if it crashed
	chain := approver.Chained([]approver.Finding{said.Finding(time.Since(start))}, said.Chain...)
	switch {
	case said.Decision >= approver.Warn:
		return settled(found, said), chain
	case said.Unavailable && needed <= g.present():
		// Nothing requires this tier: without an evaluator the call would go on. Ask people.
		return approver.Combine(append(slices.Clone(found), approver.Verdict{
			Decision: approver.Ask, Severity: approver.High, By: "gate", Rule: approver.RuleMinTier, Tier: approver.TierPeople,
			MinTier: approver.TierPeople, Category: "tier", Confidence: 1, Ruled: true,
			Reason: "the security evaluation is not available, so a person has to decide",
			Detail: "the evaluation is not available: " + said.Detail,
			Says:   display.Summary{Why: display.Sentence("the security evaluation is not available")},
		})), chain
	}
	return objected(v, found, said), chain
}

// settled returns the verdict if the evaluation had no objection: questions that were left to
// it are dropped. Its own approval counts as Pass at most.
func settled(found []approver.Verdict, said approver.Verdict) approver.Verdict {
	said.Decision, said.Args = approver.Pass, nil
	isSettled := approver.Verdict.Escalates
	if len(said.FailedOpen) > 0 { // it did not judge: a rule's question goes to people, as without this tier
		isSettled = func(approver.Verdict) bool { return false }
	}
	out := approver.Combine(append(slices.DeleteFunc(slices.Clone(found), isSettled), said))
	if out.Decision == approver.Ask {
		out.MinTier = approver.TierPeople
	}
	out.FailedOpen = said.FailedOpen
	return out
}

// objected returns the verdict if the evaluation blocked the call or left it to people. v is
// the verdict before.
func objected(v approver.Verdict, found []approver.Verdict, said approver.Verdict) approver.Verdict {
	out := approver.Combine(append(slices.Clone(found), said))
	if out.Decision != approver.Ask {
		return out
	}
	out.By, out.Rule, out.Tier, out.Confidence = said.By, said.Rule, said.Tier, said.Confidence
	out.MinTier, out.Detail = approver.TierPeople, cmp.Or(said.Detail, said.Reason)
	for _, f := range found { // the shortest TTL of all verdicts, whatever they decide
		if f.TTL > 0 && (out.TTL == 0 || f.TTL < out.TTL) {
			out.TTL = f.TTL
		}
	}
	if !v.Says.Why.IsZero() { // a rule says what it is about; the model only that it is not sure
		out.Says.Why = v.Says.Why
	}
	if v.Decision == approver.Ask { // the model's text comes last, so that it cannot pass for approver's
		out.Detail = cmp.Or(v.Detail, v.Reason) + "; " + out.Detail
	}
	return out
}

// meanwhile adds verdicts that became stricter during the evaluation that led to v.
func (g *Gate) meanwhile(
	ctx context.Context, call approver.ToolCall, v approver.Verdict,
) (approver.Verdict, []approver.Finding) {
	var chain []approver.Finding
	for _, s := range g.Again {
		start := time.Now()
		found := g.judgeSafely(ctx, s, call)
		if found.Decision >= approver.Warn || found.Escalates() || found.Decision >= v.Decision {
			continue // it lets the call go, or the evaluation has decided that already
		}
		open := v.FailedOpen
		v = approver.Combine([]approver.Verdict{v, found})
		v.FailedOpen = open
		chain = append(chain, found.Finding(time.Since(start)))
		chain[len(chain)-1].Note = "since the evaluation"
	}
	return v, chain
}

// present returns the highest tier that judges every call.
func (g *Gate) present() uint8 { return min(g.Tiers, approver.TierScreen) }

// toPeople adds a question for each verdict that would let the call go only after a tier that
// does not exist here.
func (g *Gate) toPeople(found []approver.Verdict) []approver.Verdict {
	out := slices.Clone(found)
	for _, f := range found {
		if f.Decision <= approver.Ask || f.MinTier <= g.present() {
			continue
		}
		out = append(out, approver.Verdict{
			Decision: approver.Ask, Severity: approver.High, By: f.By, Rule: approver.RuleMinTier, Where: f.Where,
			Category: "tier", MinTier: approver.TierPeople, TTL: f.TTL,
			Tier: approver.TierPeople, Confidence: 1, Ruled: true,
			Reason: fmt.Sprintf("tier %d has to look at this before it is let through, and only people are there to do it",
				f.MinTier),
			Detail: fmt.Sprintf("%s lets it through only after tier %d, and only people are there to do it", nameOf(f),
				f.MinTier),
			Says: display.Summary{Why: display.Sentence("a rule wants it looked at closely, and only people can do that")},
		})
	}
	return out
}

// nameOf returns the name of the stage, and its rule if there is one.
func nameOf(v approver.Verdict) string {
	if v.Rule == "" {
		return v.By
	}
	return v.By + "/" + v.Rule
}

// reduced lowers the confidence of v if a stage could not judge and the call goes on.
func reduced(v approver.Verdict) approver.Verdict {
	if len(v.FailedOpen) > 0 && v.Decision > approver.Ask {
		v.Confidence, v.Category = OpenConfidence, CategoryFailOpen
		v.Detail = "let through because fail_mode is open: " + strings.Join(v.FailedOpen, "; ")
	}
	return v
}

// failedOpen returns the verdict for a stage that was unavailable if the fail mode is open and
// covers that case. from says which stage of which tier it was.
func (g *Gate) failedOpen(call approver.ToolCall, from approver.Verdict, err error) (approver.Verdict, bool) {
	by := from.By
	var gone *approver.UnavailableError
	if !g.FailOpen || !errors.As(err, &gone) || gone.Err == nil {
		return approver.Verdict{}, false
	}
	g.Log.Warn("FAIL OPEN: a stage could not judge a call, which goes on because fail_mode is open",
		"stage", by, "error", err, "call", call.ID, "agent", call.Agent, "session", call.Session, "uid", call.Peer.UID,
		"tool", call.Tool,
		"command", display.Safe(call.Command), "args", display.Safe(string(call.Args)), "dir", call.Dir, "paths", call.Paths,
		"urls", call.URLs, "min_tier", gone.MinTier)
	if g.OnFailOpen != nil {
		g.OnFailOpen(call, by, err)
	}
	why := display.OneLine(display.Mask(by + ": " + err.Error()))
	return approver.Verdict{
		Decision: approver.Pass, Severity: approver.High, By: by, Tier: from.Tier, Category: CategoryFailOpen,
		Confidence: OpenConfidence, MinTier: gone.MinTier,
		FailedOpen: []string{why},
	}, true
}
