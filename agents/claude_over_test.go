package agents

import (
	"fmt"
	"strings"
	"testing"
)

// The end of a turn's calls tells people what did not run. What is not exactly one is
// none: a list that two readers read differently could name another call.
func TestClaudeOver(t *testing.T) {
	batch := func(calls string) string {
		return `{"session_id":"s","cwd":"/p","hook_event_name":"PostToolBatch","tool_calls":` + calls + `}`
	}
	for payload, want := range map[string]string{
		batch(`[]`):                    "",
		batch(`[{"tool_use_id":"a"}]`): "a",
		batch(`[{"tool_use_id":"a","tool_name":"Bash","tool_input":{"command":"x"},"tool_response":"y"},{` +
			`"tool_use_id":"b"}]`): "a b",
		batch(`[{"tool_use_id":"a","new":{"x":[1]}}]`):                              "a",
		batch(`[{"tool_response":[{"type":"text"}],"tool_use_id":"a"}]`):            "a",
		strings.Replace(batch(`[{"tool_use_id":"a"}]`), `{`, `{"agent_id":"z",`, 1): "a",
	} {
		ev, err := Claude{}.Decode([]byte(payload))
		if got := strings.Join(ev.Over, " "); err != nil || ev.Kind != Over || got != want || ev.Call.Session != "s" ||
			ev.Call.Dir != "/p" {
			t.Errorf("%s: %+v, %v", payload, ev, err)
		}
	}
	long := `"` + strings.Repeat("x", maxID+1) + `"`
	for _, payload := range []string{
		`{"session_id":"s","cwd":"/p","hook_event_name":"PostToolBatch"}`,
		batch(`null`), batch(`{}`), batch(`"a"`), batch(`7`), batch(`["a"]`), batch(`[null]`), batch(`[7]`), batch(`[[]]`),
		batch(`[{}]`),
		batch(`[{"tool_use_id":""}]`), batch(`[{"tool_use_id":null}]`), batch(`[{"tool_use_id":7}]`),
		batch(`[{"tool_use_id":["a"]}]`),
		batch(`[{"tool_use_id":` + long + `}]`), batch(`[{"Tool_Use_Id":"a"}]`),
		batch(`[{"tool_use_id":"a","tool_use_id":"b"}]`),
		batch(`[{"tool_use_id":"a"},{"tool_use_id":"a","x":{"y":1,"y":2}}]`), batch(`[{"tool_use_id":"a"}],"tool_calls":[]`),
		batch(`[{"tool_use_id":"a"}]`) + `{}`, batch(`[{"tool_use_id":"a"},]`), batch(`[{"tool_use_id":"a"}`),
		strings.Replace(batch(`[]`), `"/p"`, `"p"`, 1), strings.Replace(batch(`[]`), `"cwd":"/p",`, ``, 1),
		strings.Replace(batch(`[]`), `"s"`, `""`, 1),
		strings.Replace(batch(`[]`), `"session_id"`, `"turn_id":"x","session_id"`, 1),
		batch(`[` + strings.TrimSuffix(strings.Repeat(`{"tool_use_id":"a"},`, maxBatch+1), ",") + `]`),
	} {
		if ev, err := (Claude{}).Decode([]byte(payload)); err == nil || ev.Kind != Unknown || ev.Over != nil {
			t.Errorf("%.200s: %s", payload, fmt.Sprintf("%+v", ev)[:100])
		}
	}
}
