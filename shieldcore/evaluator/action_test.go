package evaluator

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"approver.example"
)

// Whatever a call holds, it becomes one line of JSON within the limit, or an
// error.
func FuzzDescribe(f *testing.F) {
	f.Add("Bash", "ls -l", []byte(`{"command":"ls -l","description":"x"}`), "/a", 1024)
	f.Add("x", "", []byte(`{"a":[{"b":"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}],"n":1e999}`), "\u202e", 2000)
	f.Add("\xff\x00", "\n\u2028", []byte(strings.Repeat(`"\"`, 600)), "", 1024)
	f.Add("x", strings.Repeat("\"\\", 2000), []byte(nil), strings.Repeat("日", 900), 1025)
	f.Fuzz(func(t *testing.T, tool, command string, args []byte, path string, limit int) {
		limit = minPayload + limit&0xfff
		line, cut,
			err := describe(approver.ToolCall{Tool: tool, Command: command, Args: args, Paths: []string{path}, Claimed: command},
			limit, func(s string) string { return s })
		if err != nil {
			if line != nil {
				t.Fatalf("%v and %s", err, line)
			}
			return
		}
		if len(line) > limit || !json.Valid(line) || bytes.ContainsAny(line, "\n\r\u2028\u2029") {
			t.Fatalf("%d of %d bytes: %s", len(line), limit, line)
		}
		if missing := bytes.Contains(line, []byte(`"bytes_missing":`)); cut && !missing {
			t.Fatalf("cut without a word: %s", line)
		}
	})
}
