package reflexcore

import (
	"fmt"
	"slices"

	"approver.example"
	"approver.example/reflexcore/effect"
)

// This file is stage 10: what becomes of a call, and why.

// verdict is stage 10: the strictest finding counts.
func (e *Engine) verdict(w *work) (v approver.Verdict) {
	var best *finding
	for i := range w.findings {
		f := &w.findings[i]
		switch {
		case f.rule.Shadow:
			v.Shadow = add(v.Shadow, f.rule.ID)
		case f.allowed != nil:
			v.Allowed = add(v.Allowed, f.rule.ID+" by "+f.allowed.String())
		case best == nil || stricter(f, best):
			best = f
		}
	}
	v.By = By
	if !w.complete && (best == nil || best.rule.Decision > approver.Ask) {
		v.Decision, v.Severity, v.Rule, v.Category, v.Confidence = approver.Ask, approver.Catastrophic, "too_complex", "evasion", 0.5
		v.Reason = "the command is too complex to be checked: split it into simple commands"
		return v
	}
	if best == nil {
		v.Decision, v.Severity = approver.Pass, approver.High
		return v
	}
	r := best.rule
	v.Decision, v.Severity, v.Rule, v.Where, v.Category, v.Confidence = r.Decision, r.Severity, r.ID, r.Where, r.Category, r.Confidence
	v.Reason, v.Detail = w.reason(r, *best), w.detail(*best)
	if !w.complete && v.Decision == approver.Ask {
		v.Severity = approver.Catastrophic // what was found is not all that there may be
	}
	return v
}

// add appends a text that is not in the list yet.
func add(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// reason is one sentence for the agent: what was seen, and what to do instead.
func (w *work) reason(r *Rule, f finding) string {
	text := r.Reason
	if r.Layer == ProjectLayer {
		text = "a rule of the project says: " + text // these are not approver's words
	}
	if t := w.tripOf(f); t != nil {
		text = t.what
	}
	if f.effect >= 0 {
		if e := &w.a.Effects[f.effect]; e.Target != "" && e.Taint&effect.Secret == 0 {
			text += " (" + effect.Short(effect.Show(e.Target)) + ")"
		}
		text += w.loadedBy(f.effect)
	}
	if r.Cure != "" {
		text += ": " + r.Cure
	}
	return text
}

// detail is for people: what leads to the finding.
func (w *work) detail(f finding) string {
	if f.effect < 0 {
		if t := w.tripOf(f); t != nil {
			return effect.Short(t.partsText())
		}
		if f.layer >= 0 {
			return "found in text that was encoded as " + w.a.Layers[f.layer].Via
		}
		return ""
	}
	e := &w.a.Effects[f.effect]
	text := e.By + ": " + e.String()
	for _, source := range w.sources(f.effect) {
		text += fmt.Sprintf("; from %s (%s)", w.a.Effects[source], w.a.Effects[source].By)
	}
	return effect.Short(text)
}

// sources are the effects that the taint of an effect came from.
func (w *work) sources(i int) []int {
	var out []int
	taint := w.a.Effects[i].Taint
	for j := range w.a.Effects[:i] {
		e := &w.a.Effects[j]
		switch {
		case e.Kind == effect.Read && taint&e.Taint&effect.Secret != 0, e.Kind == effect.NetIn && taint&effect.Network != 0 && e.Target != w.a.Effects[i].Target:
			out = append(out, j)
		}
	}
	return out
}

// loadedBy says which file an effect comes from.
func (w *work) loadedBy(i int) string {
	for _, l := range w.a.Loaded {
		if i >= l.From && i < l.To && w.a.Effects[i].Target != l.File {
			return ", in " + effect.Short(effect.Show(l.File))
		}
	}
	return ""
}
