package agents

import (
	"strings"
	"testing"
	"time"
)

// The story: the file had half of a character, null for a list, or a key in another case. encoding/json read
// it, install put the hooks in, doctor found nothing, and Codex 0.171 ran every call unasked. With each text
// here it was seen whether a call ran.
func TestCodexReadsAsStrictlyAsItsProgram(t *testing.T) {
	hooks, err := codex.wanted("/opt/approver-hook", "", 2*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	hook := func(keys string) string { return `{"hooks":{"Stop":[{"hooks":[{` + keys + `}]}]}}` }
	command := func(more string) string { return hook(`"type":"command","command":"x",` + more) }
	tool := func(more string) string { return hook(`"type":"mcp_tool","server":"s","tool":"t",` + more) }
	nested := func(n int) string {
		return command(`"x":` + strings.Repeat("[", n) + strings.Repeat("]", n))
	}
	for text, reads := range map[string]bool{
		`{"description":5}`: false, `{"description":"\ud800"}`: false, `{"description":"\udc00"}`: false,
		"{\"description\":\"\xe9\"}": false, "{\"hooks\":{\"New\":\"\xe9\"}}": false,
		`{"description":"a","description":"b"}`: false,
		`{"hooks":{"Stop":[{"hooks":null}]}}`:   false, `{"hooks":{"Stop":[null]}}`: false,
		`{"hooks":{"Stop":[{"hooks":[null]}]}}`: false, `{"hooks":{"Stop":[{"matcher":"\ud800"}]}}`: false,
		hook(`"type":"command","command":"\ud800"`): false, hook(`"type":"command","command":null`): false,
		hook(`"Type":"command","command":"x"`): false, hook(`"type":"command","Command":"x"`): false,
		command(`"async":null`): false, command(`"x":"\ud800"`): false, command(`"\udc00":1`): false,
		command(`"commandWindows":5`): false, command(`"command_windows":5`): false,
		command(`"commandWindows":"a","command_windows":"b"`): false,
		command(`"timeout":5.0`):                              false, nested(122): false,
		hook(`"type":"mcp_tool"`): false, hook(`"type":"mcp_tool","server":5,"tool":5`): false,
		tool(`"input":5`): false, tool(`"input":null`): false, tool(`"timeout":"x"`): false, tool(`"async":5`): false,

		`{"description":null}`: true, `{"description":"\ud83d\ude00"}`: true, `{"hooks":{"New":1e999}}`: true,
		`{"hooks":{"Stop":[{"matcher":null}]}}`: true, nested(121): true, command(`"timeout":null`): true,
		command(`"statusMessage":null`): true, command(`"commandWindows":null`): true, command(`"Timeout":"x"`): true,
		tool(`"timeout":null`): true, tool(`"arguments":5`): true, hook(`"type":"prompt","prompt":5`): true,
		hook(`"type":"agent"`): true,
	} {
		_, err := codex.ReadHooks("hooks.json", []byte(text))
		if reads != (err == nil) {
			t.Errorf("%.99s: %v", text, err)
		}
		if _, err := codex.WithHooks("hooks.json", []byte(text), hooks); reads != (err == nil) {
			t.Errorf("%.99s: installed with %v", text, err)
		}
	}
}
