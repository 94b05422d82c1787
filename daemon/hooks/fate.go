package hooks

import (
	"cmp"
	"context"

	"approver.example"
	"approver.example/agents"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/httpapi"
)

// This file handles what happens to a call after people approved it: the agent may ask its own
// user as well, refuse the call by its own rules, or report that it ran.

// over tells people, at the end of a turn, which of the calls that they approved the agent did
// not report as run. By then all reports of the turn have arrived.
func (d *Decider) over(ctx context.Context, ev agents.Event, call approver.ToolCall) {
	for _, id := range ev.Over {
		one := ev
		one.UseID = id
		was, err := d.Told.over(ctx, one, call.Peer)
		asks := cmp.Or(was.about, promptKey(ev, call, was.content)) // zero for a call that ran
		d.waiting.over(keyOf(one, call.Peer), asks)
		d.Told.spent(asks, was.asked)
		if d.Became == nil {
			continue
		}
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
	return ok && d.stands(ctx, y, call)
}

// stands reports whether an approval still holds.
func (d *Decider) stands(ctx context.Context, y promptYes, call approver.ToolCall) bool {
	if d.Stands == nil || y.rules != d.rulesNow() {
		return false
	}
	if err := d.Stands(ctx, y.to, call); err != nil {
		d.Log.Info("a call that people have let go is judged anew", "call", call.ID, "why", err)
		return false
	}
	return true
}

// prompted answers a prompt about a call that people have approved a moment ago, so that they are
// not asked twice. If people are asked what the agent asks, their yes is the answer. Otherwise, and in
// plan mode, the prompt is left to the agent's own user: no answer from approver lets nothing run by
// itself.
func (d *Decider) prompted(
	ctx context.Context, adapter agents.Adapter, ev agents.Event, call approver.ToolCall,
) (out httpapi.HookAnswer, done bool) {
	if ev.Kind != agents.Prompted || !d.stillSaid(ctx, ev, call) {
		return out, false
	}
	if d.Prompts != nil && ev.Prompt != nil && ev.Prompt.Asks && ev.Mode != "plan" &&
		d.Agents[ev.Agent].Asks() != configs.PromptsNever {
		v := approver.Verdict{
			Decision: approver.Allow, By: approver.ByPeople, Rule: "prompt", Severity: approver.High,
			Reason: "people have said yes to this call a moment ago",
			Detail: "people have said yes to this call a moment ago, which answers the agent's own question too",
		}
		out = d.answerRecorded(ctx, adapter, ev, call, v, "the call was stopped")
		d.noteTold(ev, call, v, map[bool]outcome{true: permitted, false: denied}[out.ExitZero])
		return out, true
	}
	v := approver.Verdict{
		Decision: approver.Pass, By: approver.ByPeople, Severity: approver.High,
		Detail: "people have said yes to this call; that the agent's own rules or mode ask about it too is for its own user",
	}
	return d.answerRecorded(ctx, adapter, ev, call, v, "the call was stopped"), true
}

// again answers the second hook of a call that people approved at the first. An agent that reads the
// hooks of another one, too, runs both for each call, and people would be asked twice. The answer lets
// nothing run by itself: the first hook's does.
func (d *Decider) again(
	ctx context.Context, adapter agents.Adapter, ev agents.Event, call approver.ToolCall,
) (out httpapi.HookAnswer, done bool) {
	y, ok := d.Told.twin(ev, call)
	if !ok || !d.stands(ctx, y, call) {
		return out, false
	}
	v := approver.Verdict{
		Decision: approver.Pass, By: approver.ByPeople, Severity: approver.High,
		Detail: "people have said yes to this call at another hook of it",
	}
	out = d.answerRecorded(ctx, adapter, ev, call, v, "the call was stopped")
	now := use{outcome: denied, content: ev.Content, lasting: true, by: call.ID}
	if out.ExitZero {
		now.outcome = permitted
	}
	d.Told.note(ev, call.Peer, now)
	d.keep(ctx, ev, call, now)
	return out, true
}
