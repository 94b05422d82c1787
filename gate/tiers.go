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

// This file is what the tiers are to each other: how far up a call has to go, and
// what becomes of it where a tier is missing or fails. The fail-closed table is
// written here and in judgeSafely, and nowhere else.

// OpenConfidence is the confidence of a verdict that only an open fail mode let go.
const OpenConfidence = 0.5

// CategoryFailOpen marks such a verdict, for alarms.
const CategoryFailOpen = "fail-open"

// raise takes a call as far up as its floors demand: v is what the stages found
// together. Tiers that looked at it have spoken in found. It returns the verdict of
// all that looked, and what is to be added to the chain.
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
	said.Tier = approver.TierEvaluation // also where it crashed and said nothing
	chain := approver.Chained([]approver.Finding{said.Finding(time.Since(start))}, said.Chain...)
	switch {
	case said.Decision >= approver.Warn:
		return settled(found, said), chain
	case said.Unavailable && needed <= g.present():
		// Nothing needs this tier: without one the call would go on. Now people look.
		return approver.Combine(append(slices.Clone(found), approver.Verdict{
			Decision: approver.Ask, Severity: approver.High, By: "gate", Rule: approver.RuleMinTier, Tier: approver.TierPeople,
			MinTier: approver.TierPeople, Category: "tier", Confidence: 1, Ruled: true,
			Reason: "the security evaluation is not available, so a person has to decide",
			Detail: "the evaluation is not available: " + said.Detail,
		})), chain
	}
	return objected(v, found, said), chain
}

// settled is the verdict after the evaluation had no objection: what was left to it is
// no question any more. What it let go is no looser than Pass.
func settled(found []approver.Verdict, said approver.Verdict) approver.Verdict {
	said.Decision, said.Args = approver.Pass, nil
	isSettled := approver.Verdict.Escalates
	if len(said.FailedOpen) > 0 { // nobody looked: what a rule asks about is for people, as without this tier
		isSettled = func(approver.Verdict) bool { return false }
	}
	out := approver.Combine(append(slices.DeleteFunc(slices.Clone(found), isSettled), said))
	if out.Decision == approver.Ask {
		out.MinTier = approver.TierPeople
	}
	out.FailedOpen = said.FailedOpen
	return out
}

// objected is the verdict after the evaluation blocked the call, or left it to people.
// v is the verdict before.
func objected(v approver.Verdict, found []approver.Verdict, said approver.Verdict) approver.Verdict {
	out := approver.Combine(append(slices.Clone(found), said))
	if out.Decision != approver.Ask {
		return out
	}
	out.By, out.Rule, out.Tier, out.Confidence = said.By, said.Rule, said.Tier, said.Confidence
	out.MinTier, out.Detail = approver.TierPeople, cmp.Or(said.Detail, said.Reason)
	for _, f := range found { // the shortest that a rule names, whatever it decides
		if f.TTL > 0 && (out.TTL == 0 || f.TTL < out.TTL) {
			out.TTL = f.TTL
		}
	}
	if v.Decision == approver.Ask { // what the model said comes last, so that it cannot pass for ours
		out.Detail = cmp.Or(v.Detail, v.Reason) + "; " + out.Detail
	}
	return out
}

// meanwhile adds what became stricter during the evaluation that led to v.
func (g *Gate) meanwhile(
	ctx context.Context, call approver.ToolCall, v approver.Verdict,
) (approver.Verdict, []approver.Finding) {
	var chain []approver.Finding
	for _, s := range g.Again {
		start := time.Now()
		found := g.judgeSafely(ctx, s, call)
		if found.Decision >= approver.Warn || found.Escalates() || found.Decision >= v.Decision {
			continue // it lets the call go, or the evaluation has looked already
		}
		open := v.FailedOpen
		v = approver.Combine([]approver.Verdict{v, found})
		v.FailedOpen = open
		chain = append(chain, found.Finding(time.Since(start)))
		chain[len(chain)-1].Note = "since the evaluation"
	}
	return v, chain
}

// present is the highest tier that judges every call.
func (g *Gate) present() uint8 { return min(g.Tiers, approver.TierScreen) }

// toPeople adds a question for each verdict that would let the call go only after a
// tier that is not there.
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
		})
	}
	return out
}

// nameOf is the stage, and its rule if there is one.
func nameOf(v approver.Verdict) string {
	if v.Rule == "" {
		return v.By
	}
	return v.By + "/" + v.Rule
}

// reduced is v with the confidence that is left where a stage could not judge.
func reduced(v approver.Verdict) approver.Verdict {
	if len(v.FailedOpen) > 0 && v.Decision > approver.Ask {
		v.Confidence, v.Category = OpenConfidence, CategoryFailOpen
		v.Detail = "let through because fail_mode is open: " + strings.Join(v.FailedOpen, "; ")
	}
	return v
}

// failedOpen is what an open fail mode makes of a stage that was unavailable: from
// says which stage of which tier it was.
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
