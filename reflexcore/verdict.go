package reflexcore

import (
	"fmt"
	"slices"

	"approver.example"
	"approver.example/reflexcore/effect"
)

// This file is stage 10: the verdict and its reason.

// verdict returns the verdict of the strictest finding.
func (j *judgment) verdict() (v approver.Verdict) {
	var best *finding
	for i := range j.findings {
		f := &j.findings[i]
		switch {
		case f.rule.Shadow:
			v.Shadow = appendNew(v.Shadow, f.rule.ID)
		case f.allowed != nil:
			v.Allowed = appendNew(v.Allowed, f.rule.ID+" by "+f.allowed.String())
		case best == nil || stricter(f, best):
			best = f
		}
	}
	j.about = -1
	v.By, v.Trial = By, j.isTrial()
	j.complete = j.complete && !j.call.Links.Spent()
	if !j.complete && (best == nil || best.decision() > approver.Ask) {
		v.Decision, v.Severity, v.Rule, v.Category, v.Confidence = approver.Ask, approver.Catastrophic, "too_complex",
			"evasion", 0.5
		v.Reason = "the command is too complex to be checked: split it into simple commands"
		v.Says.Why.Text = whyComplex
		return v
	}
	if best == nil {
		v.Decision, v.Severity = approver.Pass, approver.High
		return v
	}
	r := best.rule
	v.Decision, v.Severity, v.Confidence = best.decision(), best.severity(), r.Confidence
	v.Rule, v.Where, v.Category = r.ID, r.Where, r.Category
	v.Reason, v.Detail = j.reason(r, *best), j.detail(*best)
	v.Says.Why, j.about = whyOf(r), best.effect
	if !j.complete && v.Decision == approver.Ask {
		v.Severity = approver.Catastrophic // what was found is not all that there may be
	}
	return v
}

// isTrial reports whether all that a command does is to say what it would do, and every word of it is known.
func (j *judgment) isTrial() bool {
	r := &j.call.Result
	return r.Trials > 0 && r.Trials+r.Shows == r.Commands && j.complete && r.Over == "" && r.Odd == 0 &&
		r.Partial+r.Opaque+r.Unlisted == 0 &&
		!slices.ContainsFunc(j.call.Effects, func(e effect.Effect) bool { return e.Kind != effect.Read })
}

// appendNew appends a text that is not in the list yet.
func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// reason returns one sentence for the agent: what was found, and what to do instead.
func (j *judgment) reason(r *Rule, f finding) string {
	text := r.Reason
	if r.Layer == ProjectLayer {
		text = "a rule of the project says: " + text // these are not approver's words
	}
	if t := j.tripOf(f); t != nil {
		text = t.what
	}
	if f.effect >= 0 {
		if e := &j.call.Effects[f.effect]; e.Target != "" && e.Taint&effect.Secret == 0 {
			text += " (" + effect.Short(effect.Show(e.Target)+j.besides(f.effect)) + ")"
		}
		text += j.loadedBy(f.effect)
	}
	if r.Cure != "" {
		text += ": " + r.Cure
	}
	return text
}

// maxBesides limits the names that a reason has besides the first.
const maxBesides = 4

// besides names what the same program deletes elsewhere in the same way, besides the effect at i.
func (j *judgment) besides(i int) string {
	e, more, left := &j.call.Effects[i], "", 0
	if e.Kind != effect.RemoteDelete {
		return ""
	}
	for k := range j.call.Effects {
		o := &j.call.Effects[k]
		if o.Target == e.Target || o.Target == "" || o.Kind != e.Kind || o.By != e.By || o.Bits != e.Bits ||
			o.What != e.What || o.Taint != e.Taint {
			continue
		}
		if left++; left <= maxBesides {
			more += ", " + effect.Show(o.Target)
		}
	}
	if left > maxBesides {
		more += fmt.Sprintf(" and %d more", left-maxBesides)
	}
	return more
}

// detail returns what led to the finding, for people.
func (j *judgment) detail(f finding) string {
	if f.effect < 0 {
		if t := j.tripOf(f); t != nil {
			return effect.Short(t.partsText())
		}
		if f.layer >= 0 {
			return "found in text that was encoded as " + j.call.Layers[f.layer].Via
		}
		return ""
	}
	e := &j.call.Effects[f.effect]
	text := e.By + ": " + e.String()
	for _, said := range j.call.Said {
		if said.Effect == f.effect {
			text += ": " + said.Text
		}
	}
	for _, source := range j.sources(f.effect) {
		text += fmt.Sprintf("; from %s (%s)", j.call.Effects[source], j.call.Effects[source].By)
	}
	return effect.Short(text)
}

// sources returns the indices of the effects that tainted an effect.
func (j *judgment) sources(i int) []int {
	var out []int
	taint := j.call.Effects[i].Taint
	for k := range j.call.Effects[:i] {
		e := &j.call.Effects[k]
		switch {
		case e.Kind == effect.Read && taint&e.Taint&effect.Secret != 0,
			e.Kind == effect.NetIn && taint&effect.Network != 0 && e.Target != j.call.Effects[i].Target:
			out = append(out, k)
		}
	}
	return out
}

// loadedBy names the loaded file that an effect comes from.
func (j *judgment) loadedBy(i int) string {
	for _, l := range j.call.Loaded {
		if i >= l.From && i < l.To && j.call.Effects[i].Target != l.File {
			return ", in " + effect.Short(effect.Show(l.File))
		}
	}
	return ""
}
