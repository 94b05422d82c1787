package agents

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"approver.example"
)

// What decodes is what encoding/json reads, and whatever the payload, the answer
// is silence or one line of JSON, and a deny blocks.
func FuzzClaude(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*.json")
	for _, file := range files {
		payload, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload)
	}
	f.Add(pre("Bash", `{"command":"ls","\u0063ommand":"rm"}`))
	f.Add(pre("Bash", `{"command":"\ud83d\ude00 \\ud800"}`))
	f.Add(pre("mcp__a__b", `{"a":[[{"b":"\""}],"]"]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		ev, err := Claude{}.Decode(payload)
		if (err != nil) != (ev.Kind == Unknown) {
			t.Fatalf("kind %v with error %v", ev.Kind, err)
		}
		if ev.Kind == Decide {
			checkRead(t, ev, payload)
		}
		for d := approver.Deny; d <= approver.Allow; d++ {
			a := Claude{}.Encode(ev, approver.Verdict{Decision: d, Reason: string(payload), Args: payload})
			if len(a.Stdout) > 0 &&
				(!json.Valid(a.Stdout) || bytes.Count(a.Stdout, []byte("\n")) != 1 || a.Stdout[len(a.Stdout)-1] != '\n') {
				t.Errorf("%v: stdout %q", d, a.Stdout)
			}
			if d <= approver.Ask && ev.Kind != Notice && ev.Kind != Over && (a.Exit() != 2 || len(a.Stderr) < 2) {
				t.Errorf("%v does not block: %+v", d, a)
			}
		}
	})
}

func checkRead(t *testing.T, ev Event, payload []byte) {
	t.Helper()
	var want struct {
		Tool  string `json:"tool_name"`
		Input map[string]any
		Raw   json.RawMessage `json:"tool_input"`
	}
	if err := json.Unmarshal(payload, &want); err != nil {
		t.Fatalf("decoded what is no JSON: %v", err)
	}
	if err := json.Unmarshal(want.Raw, &want.Input); err != nil {
		t.Fatal(err)
	}
	// encoding/json also takes keys in another case, which we do not.
	if ev.Call.Tool == want.Tool && ev.Call.Tool == "Bash" && ev.Call.Command != want.Input["command"] {
		t.Errorf("command %q, encoding/json reads %q", ev.Call.Command, want.Input["command"])
	}
}

func FuzzWellFormed(f *testing.F) {
	for _, s := range []string{`"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\\ude00"`, `"\\ud83d"`, `"\uD83Dx"`,
		`"\ud83d\ud83d"`, `"\ude00\ude00"`, `"\ud83dx\ude00"`, `"\ud83d\n0000"`, `"\u0041"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s string
		if json.Unmarshal(data, &s) != nil {
			return
		}
		// encoding/json turns half a pair into U+FFFD, so writing the text again
		// and counting replacement characters tells the same.
		written := bytes.Count(data, []byte("\uFFFD")) + countEscaped(data)
		read := 0
		for i, r := range s {
			if r == '\uFFFD' && len(s) >= i+3 && s[i:i+3] == "\uFFFD" {
				read++
			}
		}
		invalid := bytes.ToValidUTF8(data, nil)
		if len(invalid) != len(data) {
			return
		}
		if got, want := wellFormed(data), read == written; got != want {
			t.Errorf("wellFormed(%s) = %v, want %v", data, got, want)
		}
	})
}

// countEscaped counts the escapes that mean U+FFFD itself.
func countEscaped(data []byte) int {
	n := 0
	for i := 0; i < len(data); i++ {
		if data[i] == '\\' {
			if i+6 <= len(data) && bytes.EqualFold(data[i:i+6], []byte(`\ufffd`)) {
				n++
			}
			i++
		}
	}
	return n
}
