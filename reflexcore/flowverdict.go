package reflexcore

import (
	"approver.example"
	"approver.example/display"
	"approver.example/reflexcore/flow"
)

// This file applies the information flow policy to the verdict.

// decideFlow combines the verdict of the rules with what the matrix says.
func (j *judgment) decideFlow(v approver.Verdict) approver.Verdict {
	f := &j.flows
	best := -1
	for i := range f.Findings {
		if f.Findings[i].Action != flow.Allow && (best < 0 || f.Findings[i].Action < f.Findings[best].Action) {
			best = i
		}
	}
	if best < 0 {
		return v
	}
	found := f.Findings[best]
	says := approver.Verdict{
		Decision: approver.Ask, Severity: approver.High, By: By, Rule: "flow." + found.Sink.String(),
		Category: "information-flow", Confidence: 0.7,
		Irreversible: v.Irreversible, Reason: flowReason(found),
		Detail: "the matrix of information flow says " + found.Action.String() + " at " + found.Cell(),
	}
	if found.Action == flow.Block {
		says.Decision, says.Confidence, says.Appealable = approver.Deny, 0.9, true
	}
	if f.Err != nil {
		says.Detail += "; what the session has seen is not known: " + f.Err.Error()
	}
	note := matchedToo(says)
	note.Note = found.Cell()
	switch {
	case f.Policy.Mode != flow.Enforce:
		note.Shadow = true
		v.Shadow = appendNew(v.Shadow, says.Rule)
		v.Chain = appendBounded(v.Chain, note)
		return v
	case v.Decision < says.Decision || v.Decision == says.Decision && !v.Escalates(): // the rule tells more
		v.Chain = appendBounded(v.Chain, note)
		return v
	}
	says.Chain, says.Shadow, says.Allowed = v.Chain, v.Shadow, v.Allowed
	says.Says.Why, j.about = display.Phrase{Text: whyFlow[found.Sink], Args: []string{found.Label.String()}}, found.Effect
	if v.Rule != "" {
		says.Chain = appendBounded(says.Chain, matchedToo(v))
	}
	if says.Irreversible.Score >= TypeFrom || v.Decision == approver.Ask && v.Severity == approver.Catastrophic {
		says.Severity = approver.Catastrophic
	}
	return says
}

// flowReason returns one sentence for the agent.
func flowReason(f flow.Finding) string {
	does := map[flow.Sink]string{
		flow.External: "leaves this machine", flow.Exec: "becomes code", flow.Memory: "gets into an agent's memory",
		flow.WorkspaceWrite: "is written to a file", flow.Read: "comes before the model",
	}[f.Sink]
	if f.Basis == flow.Session {
		text := "the session has read " + f.Label.String() + " data, and this "
		if f.Sink == flow.External {
			return text + "goes to a destination that it has not used before: leave it out, or let a person send it"
		}
		return text + map[flow.Sink]string{flow.Exec: "runs code",
			flow.Memory: "writes what an agent will read in later sessions", flow.WorkspaceWrite: "writes a file"}[f.Sink] +
			": leave it out, or let a person do it"
	}
	return "data that is " + f.Label.String() + " " + does + ": do it without that data"
}
