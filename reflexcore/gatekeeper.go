package reflexcore

import (
	"slices"

	"approver.example"
	"approver.example/internal/timing"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
)

// This file is the gatekeeper: it completes the verdict of the strictest finding. Package approver
// says how verdicts of stages combine. Here is what only the engine knows: which other rules
// matched, and how hard the call is to undo.

// gatekeep completes the verdict of the strictest finding.
func (j *judgment) gatekeep(v approver.Verdict) approver.Verdict {
	v.Irreversible = approver.Irreversibility{}
	destroys, lost := -1, func(i int) bool { return !j.wasMade(&j.call.Effects[i]) || j.movedIn(i) }
	if len(j.call.Effects) == len(j.places) {
		v.Irreversible, destroys = irreversible(j.call.Effects, j.places, lost)
	}
	j.addOtherFindings(&v)
	j.setTiers(&v)
	score := v.Irreversible.Score
	if onlyWarned := j.onlyWarned(); destroys >= 0 && onlyWarned != nil {
		var left approver.Irreversibility
		left, destroys = irreversible(j.call.Effects, j.places, func(i int) bool { return lost(i) && !onlyWarned[i] })
		score = left.Score
	}
	// An exception also covers the same effect here. It does not cover the other effects of the call.
	excepted := slices.ContainsFunc(j.findings, func(f finding) bool { return f.allowed != nil && f.effect == destroys })
	if destroys >= 0 && score >= AskFrom && !excepted &&
		(v.Decision > approver.Ask || v.Escalates() && j.destroysMore(lost)) {
		if v.Decision == approver.Ask {
			v.Chain = appendBounded(v.Chain, matchedToo(v))
		}
		v = approver.Verdict{
			Decision: approver.Ask, Severity: approver.High, By: By, Rule: RuleIrreversible, Category: "destructive",
			Confidence: 0.8, Irreversible: v.Irreversible, Chain: v.Chain,
			Shadow: v.Shadow, Allowed: v.Allowed,
			Reason: "it does what cannot be taken back (" + v.Irreversible.Why + ")",
		}
		v.Says.Why.Text, j.about = whyIrreversible, destroys
	}
	if score >= TypeFrom && v.Decision <= approver.Ask {
		v.Severity = approver.Catastrophic
	}
	return v
}

// onlyWarned are the effects of which the policy wants no more than a warning.
func (j *judgment) onlyWarned() map[int]bool {
	var out map[int]bool
	for i := range j.findings {
		if f := &j.findings[i]; f.warns && f.effect >= 0 {
			if out == nil {
				out = map[int]bool{}
			}
			out[f.effect] = true
		}
	}
	return out
}

// destroysMore reports whether a call that rules leave to the evaluation also destroys something for
// good that none of these rules found. Rules of the project do not count: otherwise a project could
// keep a call from people by asking about it.
func (j *judgment) destroysMore(lost func(int) bool) bool {
	left, destroys := irreversible(j.call.Effects, j.places, func(i int) bool {
		return lost(i) && !slices.ContainsFunc(j.findings,
			func(f finding) bool { return f.enforced() && f.effect == i && f.rule.Layer != ProjectLayer })
	})
	return destroys >= 0 && left.Score >= AskFrom
}

// setTiers says which tier must look at the call. A question goes to the evaluation if every rule
// that found it allows that. A delete that may lose something for good goes to the evaluation, if
// there is one, even if no rule asks.
func (j *judgment) setTiers(v *approver.Verdict) {
	switch {
	case v.Decision == approver.Ask && j.complete:
		for i := range j.findings {
			if f := &j.findings[i]; f.enforced() && f.decision() <= approver.Ask &&
				f.rule.MinTier != approver.TierEvaluation {
				return
			}
		}
		v.MinTier = approver.TierEvaluation
	case v.Decision > approver.Ask && j.mayLose():
		v.WantTier = approver.TierEvaluation
	}
}

// mayLose reports whether the call deletes something that may not be recoverable.
func (j *judgment) mayLose() bool {
	if len(j.call.Effects) != len(j.places) {
		return true
	}
	for i := range j.call.Effects {
		e := &j.call.Effects[i]
		if e.Kind == effect.Delete && j.places[i]&(places.Temp|places.Build|places.Recoverable|places.Container) == 0 &&
			(!j.wasMade(e) || j.movedIn(i)) {
			return true
		}
	}
	return false
}

// RuleIrreversible is the rule that asks about a call that cannot be undone and that no other rule
// found.
const RuleIrreversible = "irreversible"

// addOtherFindings adds the rules that matched beside the deciding one. They go into the chain. For
// a denial they also decide its severity, its confidence, and whether it may be appealed.
func (j *judgment) addOtherFindings(v *approver.Verdict) {
	if len(j.findings) == 0 {
		return
	}
	type way struct {
		rule     *Rule
		enforced bool
	}
	seen := make(map[way]bool, min(len(j.findings), 8)) // of many findings most are of one rule
	var stops []approver.Verdict
	if v.Decision == approver.Deny {
		stops = make([]approver.Verdict, 0, min(len(j.findings), 4))
	}
	for i := range j.findings {
		f := &j.findings[i]
		r, as := f.rule, way{f.rule, f.enforced()}
		if seen[as] {
			continue
		}
		seen[as] = true
		found := approver.Finding{By: By, Rule: r.ID, Decision: f.decision(), Severity: r.Severity,
			Confidence: r.Confidence, Note: "matched too"}
		if !as.enforced {
			found.Shadow, found.Note = true, "in shadow"
			if f.allowed != nil {
				found.Note = "an exception drops it"
			}
			v.Chain = appendBounded(v.Chain, found)
			continue
		}
		if v.Decision == approver.Deny {
			stops = append(stops, approver.Verdict{
				Decision: f.decision(), Severity: r.Severity, Confidence: r.Confidence, Appealable: r.Appealable,
			})
		}
		if r.ID != v.Rule {
			v.Chain = appendBounded(v.Chain, found)
		}
	}
	if v.Decision != approver.Deny {
		return
	}
	all := approver.Combine(stops)
	v.Appealable, v.Confidence, v.Severity = all.Appealable, all.Confidence, all.Severity
}

func appendBounded(chain []approver.Finding, f approver.Finding) []approver.Finding {
	if len(chain) >= maxOthers {
		return chain
	}
	return append(chain, f)
}

// matchedToo returns the finding of a verdict that is outranked by another.
func matchedToo(v approver.Verdict) approver.Finding {
	return approver.Finding{
		By: v.By, Rule: v.Rule, Decision: v.Decision, Severity: v.Severity, Confidence: v.Confidence, Note: "matched too",
	}
}

// maxOthers limits the findings in the chain.
const maxOthers = 12

// Part returns [timing.Reflex]: the engine judges the call without other stages.
func (e *Engine) Part() timing.Part { return timing.Reflex }
