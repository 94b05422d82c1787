package hooks

import (
	"context"

	"approver.example"
	"approver.example/agents"
	"approver.example/broadcaster"
	"approver.example/httpapi"
)

// This file has what becomes of a call after people said yes: the agent may ask its own
// user as well, refuse the call by its own rules, or report that it ran.

// over tells people of the calls of a turn that they let go and that the agent did not
// report as run. By then it has waited for every report of the turn.
func (d *Decider) over(ctx context.Context, ev agents.Event, call approver.ToolCall) {
	if d.Became == nil {
		return
	}
	for _, id := range ev.Over {
		one := ev
		one.UseID = id
		was, err := d.Told.look(ctx, one, call.Peer)
		if err == nil && was.outcome == permitted && was.asked != "" {
			err = d.Became(ctx, call.Peer, was.asked, broadcaster.NotRun)
		}
		if err != nil {
			d.Log.Warn("it could not be noted that a call did not run", "use", id, "error", err)
		}
	}
}

// stillSaid reports whether people have said yes to this very call a moment ago, and that
// yes would still give it: nothing froze it, whoever gave it was not removed, it was not
// revoked, and the rules are the same. What cannot be known is not said.
func (d *Decider) stillSaid(ctx context.Context, ev agents.Event, call approver.ToolCall) bool {
	y, ok := d.Told.said(ev, call)
	if !ok || d.Stands == nil || y.rules != d.rulesNow() {
		return false
	}
	if err := d.Stands(ctx, y.to, call); err != nil {
		d.Log.Info("a prompt about a call that people have let go is judged anew", "call", call.ID, "why", err)
		return false
	}
	return true
}

// prompted leaves a prompt to the agent's own user, if people have said yes to that call
// a moment ago: they are not asked twice. Silence lets nothing run by itself: it is the
// agent's own rule, or its plan mode, that wants the call approved once more.
func (d *Decider) prompted(
	ctx context.Context, adapter agents.Adapter, ev agents.Event, call approver.ToolCall,
) (out httpapi.HookAnswer, done bool) {
	if ev.Kind != agents.Prompted || !d.stillSaid(ctx, ev, call) {
		return out, false
	}
	v := approver.Verdict{
		Decision: approver.Pass, By: approver.ByPeople, Severity: approver.High,
		Detail: "people have said yes to this call; that the agent's own rules or mode ask about it too is for its own user",
	}
	return d.answerRecorded(ctx, adapter, ev, call, v, "the call was stopped"), true
}
