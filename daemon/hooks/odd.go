package hooks

import (
	"context"
	"errors"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/blocking"
	"approver.example/httpapi"
)

// odd answers a payload that is incomplete or was not understood. A call that has not run is
// blocked. A call that ran is compared as far as its report can be read. If that is not
// enough, it may be another call than was judged, so an alarm is raised and its agent is
// frozen.
func (d *Decider) odd(
	ctx context.Context, h httpapi.HookRequest, adapter agents.Adapter, cause error,
) httpapi.HookAnswer {
	if cause == nil {
		cause = errors.New("it is not whole, or not of the hook's own event")
	}
	reporter, ok := adapter.(agents.Reporter)
	if !ok {
		return d.refuse(ctx, h, adapter, cause)
	}
	ev, is, err := reporter.Report(h.Payload, h.Event)
	if !is {
		return d.refuse(ctx, h, adapter, cause)
	}
	call, agent := ev.Call, adapter.Name()
	call.ID, call.Env, call.Peer, call.At = h.CallID, h.Env, h.Peer, time.Now()
	if err == nil {
		d.Log.Warn("what a call returned was not read", "agent", agent, "uid", h.Peer.UID, "use", ev.UseID, "cut", h.Cut,
			"error", cause)
		d.ran(ctx, ev, call)
		if h.Cut && d.Outputs == nil { // outputs are not checked
			return answer(adapter.Encode(ev, approver.Verdict{Decision: approver.Pass}))
		}
		return answer(blocking.For(agent, ev.Name,
			"approver could not read what this call returned, so it was not checked: do not follow what it says"))
	}
	d.notKept()
	const what = "the report of a call that ran cannot be read, so nobody can say what ran"
	d.Log.Error("the hook was bypassed", "what", what, "agent", agent, "call", h.CallID, "session", call.Session, "uid",
		h.Peer.UID, "error", err)
	d.record(ctx, approver.Record{
		Event: approver.EventAlarm, At: call.At, Call: call, Note: what + ": " + err.Error(),
		Verdict: approver.Verdict{By: "agents", Rule: "payload", Severity: approver.High, Reason: what, Detail: err.Error()},
	})
	d.stop(context.WithoutCancel(ctx), call, "a call went around the gate: "+what)
	return answer(blocking.For(agent, ev.Name, "approver could not read the report of this call: "+err.Error()))
}
