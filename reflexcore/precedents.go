package reflexcore

import (
	"context"
	"fmt"
	"slices"

	"approver.example"
	"approver.example/display"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/precedent"
)

// RulePrecedent is the rule that asks about a call that resembles a denied one.
const RulePrecedent = "precedent"

// Answered remembers the answer if a person said yes or no to a call of an agent. Timeouts, failures
// and requests of approver itself are no precedents.
func (e *Engine) Answered(ctx context.Context, r approver.Record) error {
	yes := r.Resolution.Approve
	switch {
	case e.Precedents == nil || r.Resolution.Cause != approver.ByPerson || r.Call.Control != "":
		return nil
	case r.Event == approver.EventDenied && !yes, r.Event == approver.EventApproved && yes:
	default:
		return nil
	}
	rule := r.Verdict.By
	if r.Verdict.Rule != "" {
		rule += "/" + r.Verdict.Rule
	}
	who := r.Resolution.Person.Name
	if who == "" {
		who = r.Resolution.Person.ID
	}
	return e.Precedents.Answered(ctx, e.precedentKey(r.Call), r.Call,
		precedent.Answer{At: r.Resolution.At, Yes: yes, By: who, Rule: rule, Category: r.Verdict.Category})
}

func (e *Engine) precedentKey(call approver.ToolCall) precedent.Key {
	return precedent.Key{Peer: call.Peer, Project: gitrepo.Project(e.analyzer.Files, call.Dir)}
}

// matchPrecedents turns the verdict into a question if no rule stops the call and a person denied a
// similar one. It never makes a verdict milder. If the precedents cannot be read, it asks.
func (e *Engine) matchPrecedents(ctx context.Context, j *judgment, v approver.Verdict) approver.Verdict {
	if e.Precedents == nil || v.Decision <= approver.Modify && !v.Escalates() || j.readsNoSecrets() {
		return v
	}
	like, similarity, err := e.Precedents.Near(ctx, e.precedentKey(j.call.ToolCall), j.call.ToolCall)
	asks := approver.Verdict{
		Decision: approver.Ask, Severity: approver.High, By: By, Rule: RulePrecedent, Category: "precedent",
		Confidence:   min(1, similarity),
		Irreversible: v.Irreversible, Shadow: v.Shadow, Allowed: v.Allowed, Chain: v.Chain,
	}
	switch {
	case err != nil:
		asks.Confidence = 1
		asks.Reason, asks.Detail = "what people said no to before cannot be read, so they are asked",
			effect.Short(err.Error())
		asks.Says.Why.Text = whyNoPrecedents
	case similarity == 0:
		return v
	default:
		day := like.At.UTC().Format("2006-01-02")
		asks.Reason = "people said no to a call like this on " + day
		asks.Says.Why = display.Phrase{Text: whyPrecedent, Args: []string{day}}
		if like.Category != "" {
			asks.Reason += " (" + like.Category + ")"
		}
		asks.Detail = fmt.Sprintf("%s said no on %s to a call like this, which %s had asked about; similarity %.2f", like.By,
			day, like.Rule, similarity)
	}
	if v.Rule != "" { // what would have warned
		asks.Chain = appendBounded(slices.Clip(asks.Chain), matchedToo(v))
	}
	return asks
}

// readsNoSecrets reports whether all known effects are reads of data that is not secret. Such calls
// are frequent, look alike and change nothing.
func (j *judgment) readsNoSecrets() bool {
	if j.call.ToolCall.Command == "" && len(j.call.Effects) == 0 {
		return false // a tool of which nothing is known
	}
	return !slices.ContainsFunc(j.call.Effects,
		func(e effect.Effect) bool { return e.Kind != effect.Read || e.Taint&effect.Secret != 0 })
}
