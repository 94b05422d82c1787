package reflexcore

import (
	"slices"

	"approver.example"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/memory"
)

// This file is what becomes of a call by its information flow, and what is remembered
// of that.

// decideFlow adds what the matrix says to the verdict of the rules.
func (w *work) decideFlow(v approver.Verdict) approver.Verdict {
	f := &w.flows
	best := -1
	for i := range f.found {
		if f.found[i].Action != flow.Allow && (best < 0 || f.found[i].Action < f.found[best].Action) {
			best = i
		}
	}
	if best < 0 {
		return v
	}
	found := f.found[best]
	says := approver.Verdict{
		Decision: approver.Ask, Severity: approver.High, By: By, Rule: "flow." + found.Sink.String(), Category: "information-flow", Confidence: 0.7,
		Irreversible: v.Irreversible, Reason: w.flowReason(found), Detail: "the matrix of information flow says " + found.Action.String() + " at " + found.Cell(),
	}
	if found.Action == flow.Block {
		says.Decision, says.Confidence, says.Appealable = approver.Deny, 0.9, true
	}
	if f.err != nil {
		says.Detail += "; what the session has seen is not known: " + f.err.Error()
	}
	note := approver.Finding{By: By, Rule: says.Rule, Decision: says.Decision, Severity: says.Severity, Confidence: says.Confidence, Note: found.Cell()}
	switch {
	case f.policy.Mode != flow.Enforce:
		note.Shadow = true
		v.Shadow = add(v.Shadow, says.Rule)
		v.Chain = appendBounded(v.Chain, note)
		return v
	case v.Decision < says.Decision || v.Decision == says.Decision && !v.Escalates(): // the rule tells more
		v.Chain = appendBounded(v.Chain, note)
		return v
	}
	says.Chain, says.Shadow, says.Allowed = v.Chain, v.Shadow, v.Allowed
	if v.Rule != "" {
		says.Chain = appendBounded(says.Chain, approver.Finding{By: By, Rule: v.Rule, Decision: v.Decision, Severity: v.Severity, Confidence: v.Confidence, Note: "matched too"})
	}
	if says.Irreversible.Score >= TypeFrom || v.Decision == approver.Ask && v.Severity == approver.Catastrophic {
		says.Severity = approver.Catastrophic
	}
	return says
}

// flowReason is one sentence for the agent.
func (w *work) flowReason(f flow.Finding) string {
	does := map[flow.Sink]string{
		flow.External: "leaves this machine", flow.Exec: "becomes code", flow.Memory: "gets into an agent's memory", flow.WorkspaceWrite: "is written to a file", flow.Read: "comes before the model",
	}[f.Sink]
	if f.Basis == flow.Session {
		text := "the session has read " + f.Label.String() + " data, and this "
		if f.Sink == flow.External {
			return text + "goes to a destination that it has not used before: leave it out, or let a person send it"
		}
		return text + map[flow.Sink]string{flow.Exec: "runs code", flow.Memory: "writes what an agent will read in later sessions", flow.WorkspaceWrite: "writes a file"}[f.Sink] + ": leave it out, or let a person do it"
	}
	return "data that is " + f.Label.String() + " " + does + ": do it without that data"
}

// rememberFlow remembers what the call brings before the model and the destinations
// that it uses, and labels what it leaves. An error means that the call must not run.
func (e *Engine) rememberFlow(w *work, v approver.Verdict) error {
	f := &w.flows
	if f.policy == nil || w.a.Past == nil {
		return nil
	}
	reads := f.reads
	if !f.policy.Counts(reads) {
		reads = flow.Public
	}
	// A destination counts as used if nothing could have been carried there.
	var to []string
	if f.out && v.Decision > approver.Ask && f.policy.Judge(w.seen(), flow.External, flow.Session).Action == flow.Allow {
		to = e.destinations(w)
	}
	err := f.err
	if err == nil {
		err = w.a.Past.See(reads, to)
	}
	if files := append(onlyLabels(w.leaves()), e.repositoryLabel(w)...); err == nil && len(files) > 0 {
		err = w.a.Past.Leave(files)
	}
	if f.policy.Mode != flow.Enforce {
		return nil // audit stops nothing
	}
	return err
}

// onlyLabels are the files that nothing but a label is left in.
func onlyLabels(files []memory.File) []memory.File {
	return slices.DeleteFunc(files, func(f memory.File) bool { return f.Taint&^(effect.Labels|effect.File) != 0 })
}

// usedFlow remembers the destinations of a call that ran: if it needed people, they
// let it.
func (e *Engine) usedFlow(w *work) {
	if w.flows.out && w.a.Past != nil {
		_ = w.a.Past.See(flow.Public, e.destinations(w)) // not knowing them asks once more
	}
}
