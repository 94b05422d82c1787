package hooks

import (
	"encoding/json"
	"fmt"

	"approver.example"
	"approver.example/agents"
)

// Rewrite applies a Modify's arguments to a call, for the second judgement.
func Rewrite(call approver.ToolCall, args json.RawMessage) (approver.ToolCall, error) {
	ev, err := rewritten(call, args)
	if err != nil {
		return call, err
	}
	changed := ev.Call
	changed.ID, changed.Env, changed.Peer, changed.At = call.ID, call.Env, call.Peer, call.At
	changed.ParkAt, changed.Acks = call.ParkAt, call.Acks
	return changed, nil
}

// rewritten is the event of a call with other arguments.
func rewritten(call approver.ToolCall, args json.RawMessage) (ev agents.Event, err error) {
	adapter, ok := agents.For(call.Agent)
	if !ok {
		return ev, fmt.Errorf("unknown agent %q", call.Agent)
	}
	return adapter.Rewrite(call.Raw, args)
}
