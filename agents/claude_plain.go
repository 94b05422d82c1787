package agents

import "encoding/json"

// Plain is the event of a call that somebody writes down by hand, with the names of tools and
// arguments that the first agent has.
func Plain(session, dir, tool string, args map[string]json.RawMessage) (Event, error) {
	payload, err := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "session_id": session, "cwd": dir,
		"tool_name": tool, "tool_input": args, "tool_use_id": "judge",
	})
	if err != nil {
		return Event{}, err
	}
	return Claude{}.Decode(payload)
}
