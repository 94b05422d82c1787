package judging

import (
	"bytes"
	"encoding/json"
	"testing"
)

// Whatever comes in, each line that is not empty gets one line of JSON, in order:
// a decision that is known, or an error with the line's number, which is counted.
func FuzzJudgeLines(f *testing.F) {
	for _, in := range []string{
		`{"id":1,"tool":"Bash","command":"git status"}`,
		`{"id":{"a":[1]},"tool":"Write","args":{"file_path":"/x","content":"y"},"cwd":"/"}`,
		"{{{\n\n" + `{"tool":"Bash","command":"rm -rf /"}` + "\r\n", `{"tool":"Read","args":{"file_path":"\u0000"}}`,
		`{"tool":"Bash","args":null}`, "null", `{"tool":"x","tool":"y"}`,
		`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash","tool_input":{"command":"git push ` +
			`-f"},"tool_use_id":"t1"}`,
	} {
		f.Add([]byte(in))
	}
	judges := []*Judge{testJudge(f, ""), testJudge(f, "claude")}
	known := map[string]bool{"deny": true, "ask": true, "modify": true, "warn": true, "pass": true, "allow": true}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, j := range judges {
			var out bytes.Buffer
			bad, err := j.Stream(t.Context(), bytes.NewReader(in), &out)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			for line := range bytes.SplitSeq(in, []byte("\n")) {
				if len(bytes.TrimSpace(line)) > 0 {
					want++
				}
			}
			errors, last := 0, 0
			for line := range bytes.Lines(out.Bytes()) {
				var got struct {
					Decision, Error string
					Line            int
				}
				want--
				switch err := json.Unmarshal(line, &got); {
				case err != nil:
					t.Fatalf("%q: %v", line, err)
				case got.Error != "" && got.Line > last && got.Decision == "":
					errors, last = errors+1, got.Line
				case got.Error != "" || !known[got.Decision]:
					t.Fatalf("%q", line)
				}
			}
			if want != 0 || errors != bad {
				t.Fatalf("%d lines too few, %d of %d errors told", want, errors, bad)
			}
		}
	})
}
