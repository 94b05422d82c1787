package agents

import (
	"encoding/json"
	"testing"
)

// A call whose arguments are missing, or are no object, is refused for every tool: nobody could say what
// the agent makes of them.
func TestArgumentsAreAnObject(t *testing.T) {
	for _, a := range adapters {
		eachRecorded(t, a.Name(), func(t *testing.T, _ string, payload []byte) {
			ev, err := a.Decode(payload)
			var o map[string]json.RawMessage
			if err != nil || ev.Kind != Decide || json.Unmarshal(payload, &o) != nil {
				return
			}
			for _, key := range []string{"tool_input", "toolArgs", "input"} {
				if _, there := o[key]; !there || ev.Native == "apply_patch" { // its argument may be a text
					continue
				}
				for _, value := range []string{"null", "[]", `["ls"]`, "5", `"x"`, ""} {
					if a.Name() == "goose" && (value == "null" || value == "") {
						continue // it leaves out arguments that a tool does not have
					}
					other := map[string]json.RawMessage{}
					for k, v := range o {
						other[k] = v
					}
					for _, tool := range []string{"tool_name", "toolName", "tool"} {
						if _, named := o[tool]; named {
							other[tool] = json.RawMessage(`"mcp__x__unknown"`)
						}
					}
					if other[key] = json.RawMessage(value); value == "" {
						delete(other, key)
					}
					text, err := json.Marshal(other)
					if err != nil {
						t.Fatal(err)
					}
					if got, err := a.Decode(text); err == nil {
						t.Errorf("%s is taken for %s of %s", value, key, got.Call.Tool)
					}
				}
			}
		})
	}
}
