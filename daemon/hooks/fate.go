package hooks

import (
	"context"

	"approver.example"
	"approver.example/agents"
	"approver.example/broadcaster"
	"approver.example/httpapi"
)

// This file handles what happens to a call after people approved it: the agent may ask its own
// user as well, refuse the call by its own rules, or report that it ran.

// over tells people, at the end of a turn, which of the calls that they approved the agent did
// not report as run. By then all reports of the turn have arrived.
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

// stillSaid reports whether people have approved this very call a moment ago and that approval
// still holds: nothing froze it, the approver was not removed, it was not revoked, and the
// rules are the same. If any of this is not known, it reports false.
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

// prompted leaves a prompt to the agent's own user if people have approved that call a moment
// ago, so that they are not asked twice. No answer from approver lets nothing run by itself:
// it is the agent's own rule, or its plan mode, that wants another approval.
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
