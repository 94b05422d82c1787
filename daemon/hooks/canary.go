package hooks

import (
	"context"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/canary"
)

// isOf reports whether the record of what an agent was told is one of the canary that
// ran, or there is none: under the id of another call, the form of a canary is what
// that call was changed into.
func isOf(was use, ev agents.Event) bool {
	return was.outcome == 0 || was.outcome < taken && was.outcome != permitted && was.content == ev.Content
}

// canaryRan records that a canary ran. It did nothing, and whoever started it is told
// that the hook does not work: nobody is alarmed, and nothing is frozen.
func (d *Decider) canaryRan(ctx context.Context, ev agents.Event, call approver.ToolCall) {
	d.Log.Warn("a test of the hook ran: the hook does not stop calls", "agent", ev.Agent, "session", call.Session)
	rec := approver.Record{
		Event: approver.EventRan, At: time.Now(), Call: call, Note: "tool_use_id " + ev.UseID + ": a test of the hook, which did not stop it",
		Verdict: approver.Verdict{Decision: approver.Pass, Severity: approver.High, By: canary.By},
	}
	if _, err := d.Audit.Record(ctx, rec); err != nil {
		d.Log.Error("audit failed", "error", err)
	}
}
