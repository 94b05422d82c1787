package approver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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
func (g *Gate) raise(ctx context.Context, call ToolCall, v Verdict, found []Verdict) (Verdict, []Finding) {
	if v.Decision == Deny || v.Weakened {
		return v, nil
	}
	needed, wanted := TierPolicy, TierPolicy
	for _, f := range found {
		needed = max(needed, f.Floor())
		if g.Evaluator != nil && f.Decision > Ask {
			wanted = max(wanted, min(f.WantTier, TierEvaluation))
		}
	}
	switch {
	case max(needed, wanted) <= g.present():
		return v, nil
	case needed >= TierPeople, g.Evaluator == nil:
		return Combine(g.toPeople(found)), nil
	}
	start := time.Now()
	said := g.judgeSafely(ctx, g.Evaluator, call)
	said.Tier = TierEvaluation // also where it crashed and said nothing
	chain := Chained([]Finding{said.Finding(time.Since(start))}, said.Chain...)
	switch {
	case said.Decision >= Warn:
		return settled(found, said), chain
	case said.Unavailable && needed <= g.present():
		// Nothing needs this tier: without one the call would go on. Now people look.
		return Combine(append(slices.Clone(found), Verdict{
			Decision: Ask, Severity: High, By: "gate", Rule: RuleMinTier, Tier: TierPeople, MinTier: TierPeople, Category: "tier", Confidence: 1, Ruled: true,
			Reason: "the security evaluation is not available, so a person has to decide", Detail: "the evaluation is not available: " + said.Detail,
		})), chain
	}
	return objected(v, found, said), chain
}

// settled is the verdict after the evaluation had no objection: what was left to it is
// no question any more. What it let go is no looser than Pass.
func settled(found []Verdict, said Verdict) Verdict {
	said.Decision, said.Args = Pass, nil
	isSettled := Verdict.Escalates
	if len(said.FailedOpen) > 0 { // nobody looked: what a rule asks about is for people, as without this tier
		isSettled = func(Verdict) bool { return false }
	}
	out := Combine(append(slices.DeleteFunc(slices.Clone(found), isSettled), said))
	if out.Decision == Ask {
		out.MinTier = TierPeople
	}
	out.FailedOpen = said.FailedOpen
	return out
}

// objected is the verdict after the evaluation blocked the call, or left it to people.
// v is the verdict before.
func objected(v Verdict, found []Verdict, said Verdict) Verdict {
	out := Combine(append(slices.Clone(found), said))
	if out.Decision != Ask {
		return out
	}
	out.By, out.Rule, out.Tier, out.Confidence = said.By, said.Rule, said.Tier, said.Confidence
	out.MinTier, out.Detail = TierPeople, cmp.Or(said.Detail, said.Reason)
	for _, f := range found { // the shortest that a rule names, whatever it decides
		if f.TTL > 0 && (out.TTL == 0 || f.TTL < out.TTL) {
			out.TTL = f.TTL
		}
	}
	if v.Decision == Ask { // what the model said comes last, so that it cannot pass for ours
		out.Detail = cmp.Or(v.Detail, v.Reason) + "; " + out.Detail
	}
	return out
}

// meanwhile adds what became stricter during the evaluation that led to v.
func (g *Gate) meanwhile(ctx context.Context, call ToolCall, v Verdict) (Verdict, []Finding) {
	var chain []Finding
	for _, s := range g.Again {
		start := time.Now()
		found := g.judgeSafely(ctx, s, call)
		if found.Decision >= Warn || found.Escalates() || found.Decision >= v.Decision {
			continue // it lets the call go, or the evaluation has looked already
		}
		open := v.FailedOpen
		v = Combine([]Verdict{v, found})
		v.FailedOpen = open
		chain = append(chain, found.Finding(time.Since(start)))
		chain[len(chain)-1].Note = "since the evaluation"
	}
	return v, chain
}

// present is the highest tier that judges every call.
func (g *Gate) present() uint8 { return min(g.Tiers, TierScreen) }

// toPeople adds a question for each verdict that would let the call go only after a
// tier that is not there.
func (g *Gate) toPeople(found []Verdict) []Verdict {
	out := slices.Clone(found)
	for _, f := range found {
		if f.Decision <= Ask || f.MinTier <= g.present() {
			continue
		}
		out = append(out, Verdict{
			Decision: Ask, Severity: High, By: f.By, Rule: RuleMinTier, Where: f.Where, Category: "tier", MinTier: TierPeople, TTL: f.TTL,
			Tier: TierPeople, Confidence: 1, Ruled: true,
			Reason: fmt.Sprintf("tier %d has to look at this before it is let through, and only people are there to do it", f.MinTier),
			Detail: fmt.Sprintf("%s lets it through only after tier %d, and only people are there to do it", nameOf(f), f.MinTier),
		})
	}
	return out
}

// nameOf is the stage, and its rule if there is one.
func nameOf(v Verdict) string {
	if v.Rule == "" {
		return v.By
	}
	return v.By + "/" + v.Rule
}

// reduced is v with the confidence that is left where a stage could not judge.
func reduced(v Verdict) Verdict {
	if len(v.FailedOpen) > 0 && v.Decision > Ask {
		v.Confidence, v.Category = OpenConfidence, CategoryFailOpen
		v.Detail = "let through because fail_mode is open: " + strings.Join(v.FailedOpen, "; ")
	}
	return v
}

// failedOpen is what an open fail mode makes of a stage that was unavailable: from
// says which stage of which tier it was.
func (g *Gate) failedOpen(call ToolCall, from Verdict, err error) (Verdict, bool) {
	by := from.By
	var gone *UnavailableError
	if !g.FailOpen || !errors.As(err, &gone) || gone.Err == nil {
		return Verdict{}, false
	}
	g.Log.Warn("FAIL OPEN: a stage could not judge a call, which goes on because fail_mode is open",
		"stage", by, "error", err, "call", call.ID, "agent", call.Agent, "session", call.Session, "uid", call.Peer.UID, "tool", call.Tool,
		"command", display.Safe(call.Command), "args", display.Safe(string(call.Args)), "dir", call.Dir, "paths", call.Paths, "urls", call.URLs, "min_tier", gone.MinTier)
	if g.OnFailOpen != nil {
		g.OnFailOpen(call, by, err)
	}
	why := display.OneLine(display.Mask(by + ": " + err.Error()))
	return Verdict{
		Decision: Pass, Severity: High, By: by, Tier: from.Tier, Category: CategoryFailOpen, Confidence: OpenConfidence, MinTier: gone.MinTier,
		FailedOpen: []string{why},
	}, true
}
