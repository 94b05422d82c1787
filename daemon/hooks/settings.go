package hooks

import (
	"context"
	"fmt"
	"strings"

	"approver.example"
	"approver.example/agents"
)

// settings answers an agent that asks whether changed settings are taken.
func (d *Decider) settings(ctx context.Context, ev agents.Event, call approver.ToolCall) approver.Verdict {
	weak := []string{"approver cannot look at them here"}
	var blind error
	if d.Hooks != nil {
		weak, blind = d.Hooks.Weakens(ev, call.Env)
	}
	if len(weak) == 0 {
		return approver.Verdict{
			Decision: approver.Pass, By: "agents", Rule: "settings", Severity: approver.High,
			Reason: "the hooks hold with the changed settings",
		}
	}
	what := fmt.Sprintf("changed settings of the agent were not taken, because approver's hooks would not hold with them: %s",
		strings.Join(weak, "; "))
	switch {
	case blind != nil:
		what = "changed settings of the agent were not taken, because approver cannot look at them now: " + blind.Error()
		d.Log.Warn("changed settings of the agent were not taken: they CANNOT BE LOOKED AT now", "uid", call.Peer.UID, "error", blind)
	case d.Hooks != nil:
		d.Hooks.Refused(ctx, call, what)
	}
	return approver.Verdict{By: "agents", Rule: "settings", Severity: approver.High, Reason: what, Detail: what}
}
