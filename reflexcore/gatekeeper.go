package reflexcore

import (
	"slices"

	"approver.example"
	"approver.example/internal/timing"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
)

// This file is the gatekeeper: what is made of all that the modules of the engine
// found of one call. How verdicts combine is written in the package approver; here
// is what only the engine knows: which rules matched beside the one that decides,
// and how hard the call is to take back.

// gatekeep completes the verdict of the strictest finding.
func (j *judgment) gatekeep(v approver.Verdict) approver.Verdict {
	v.Irreversible = approver.Irreversibility{}
	destroys, lost := -1, func(i int) bool { return !j.wasMade(&j.call.Effects[i]) || j.movedIn(i) }
	if len(j.call.Effects) == len(j.places) {
		v.Irreversible, destroys = irreversible(j.call.Effects, j.places, lost)
	}
	j.others(&v)
	j.floors(&v)
	score := v.Irreversible.Score
	// What people made an exception for is not asked about by another name; for
	// what else the call does, they made none.
	excepted := slices.ContainsFunc(j.findings, func(f finding) bool { return f.allowed != nil && f.effect == destroys })
	if destroys >= 0 && score >= AskFrom && !excepted &&
		(v.Decision > approver.Ask || v.Escalates() && j.losesMore(lost)) {
		if v.Decision == approver.Ask {
			v.Chain = appendBounded(v.Chain, matchedToo(v))
		}
		v = approver.Verdict{
			Decision: approver.Ask, Severity: approver.High, By: By, Rule: RuleIrreversible, Category: "destructive",
			Confidence: 0.8, Irreversible: v.Irreversible, Chain: v.Chain,
			Shadow: v.Shadow, Allowed: v.Allowed,
			Reason: "it does what cannot be taken back (" + v.Irreversible.Why + ")",
		}
	}
	if score >= TypeFrom && v.Decision <= approver.Ask {
		v.Severity = approver.Catastrophic
	}
	return v
}

// losesMore reports whether a call that rules leave to the evaluation also destroys
// for good what none of these rules is about. A rule of the project is about nothing
// here: it would take the call from people by asking about it.
func (j *judgment) losesMore(lost func(int) bool) bool {
	left, destroys := irreversible(j.call.Effects, j.places, func(i int) bool {
		return lost(i) && !slices.ContainsFunc(j.findings,
			func(f finding) bool { return f.enforced() && f.effect == i && f.rule.Layer != ProjectLayer })
	})
	return destroys >= 0 && left.Score >= AskFrom
}

// floors says which tier has to look at the call. What only rules found that leave it
// to the evaluation is left to it. A delete of what may be lost for good is looked at
// by the evaluation if there is one, although no rule asks.
func (j *judgment) floors(v *approver.Verdict) {
	switch {
	case v.Decision == approver.Ask && j.complete:
		for i := range j.findings {
			if f := &j.findings[i]; f.enforced() && f.rule.Decision <= approver.Ask &&
				f.rule.MinTier != approver.TierEvaluation {
				return
			}
		}
		v.MinTier = approver.TierEvaluation
	case v.Decision > approver.Ask && j.mayLose():
		v.WantTier = approver.TierEvaluation
	}
}

// mayLose reports whether the call deletes something that is not sure to come back.
func (j *judgment) mayLose() bool {
	if len(j.call.Effects) != len(j.places) {
		return true
	}
	for i := range j.call.Effects {
		e := &j.call.Effects[i]
		if e.Kind == effect.Delete && j.places[i]&(places.Temp|places.Build|places.Recoverable) == 0 &&
			(!j.wasMade(e) || j.movedIn(i)) {
			return true
		}
	}
	return false
}

// RuleIrreversible is the name of the rule that asks about what no other rule
// found and cannot be taken back.
const RuleIrreversible = "irreversible"

// others is what the rules that matched beside the deciding one add: the chain,
// and for a denial whether it may be appealed, and how sure all of them are.
func (j *judgment) others(v *approver.Verdict) {
	if len(j.findings) == 0 {
		return
	}
	type way struct {
		rule     *Rule
		enforced bool
	}
	seen := make(map[way]bool, min(len(j.findings), 8)) // of many findings most are of one rule
	var stops []approver.Verdict
	for i := range j.findings {
		f := &j.findings[i]
		r, as := f.rule, way{f.rule, f.enforced()}
		if seen[as] {
			continue
		}
		seen[as] = true
		if !as.enforced {
			note := "in shadow"
			if f.allowed != nil {
				note = "an exception drops it"
			}
			v.Chain = appendBounded(v.Chain,
				approver.Finding{By: By, Rule: r.ID, Decision: r.Decision, Severity: r.Severity, Confidence: r.Confidence,
					Shadow: true, Note: note})
			continue
		}
		if v.Decision == approver.Deny {
			stops = append(stops, approver.Verdict{
				Decision: r.Decision, Severity: r.Severity, Confidence: r.Confidence, Appealable: r.Appealable,
			})
		}
		if r.ID != v.Rule {
			v.Chain = appendBounded(v.Chain,
				approver.Finding{By: By, Rule: r.ID, Decision: r.Decision, Severity: r.Severity, Confidence: r.Confidence,
					Note: "matched too"})
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

// matchedToo is a verdict that another one outranks.
func matchedToo(v approver.Verdict) approver.Finding {
	return approver.Finding{
		By: v.By, Rule: v.Rule, Decision: v.Decision, Severity: v.Severity, Confidence: v.Confidence, Note: "matched too",
	}
}

// maxOthers bounds the rules beside the deciding one that are kept.
const maxOthers = 12

// Part is [timing.Reflex]: the engine looks at the call by itself.
func (e *Engine) Part() timing.Part { return timing.Reflex }
