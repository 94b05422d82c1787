package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// recorded is a PreToolUse body as Claude Code sends it, recorded from a real
// run.
//
//go:embed payload.json
var recorded []byte

// payload is the recorded body with another command and id in it.
func payload(command, description string, n int) []byte {
	var body map[string]any
	if err := json.Unmarshal(recorded, &body); err != nil {
		panic(fmt.Sprintf("the embedded payload is not JSON: %v", err))
	}
	body["tool_input"] = map[string]any{"command": command, "description": description}
	body["tool_use_id"] = fmt.Sprintf("toolu_demo%08d", n)
	out, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return out
}
