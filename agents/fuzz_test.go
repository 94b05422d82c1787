package agents

import (
	"bytes"
	"encoding/json"
	"testing"
)

// What decodes is what encoding/json reads, whatever the payload.
func FuzzClaude(f *testing.F) {
	f.Add(pre("Bash", `{"command":"ls","\u0063ommand":"rm"}`))
	f.Add(pre("Bash", `{"command":"\ud83d\ude00 \\ud800"}`))
	f.Add(pre("mcp__a__b", `{"a":[[{"b":"\""}],"]"]}`))
	fuzzDecoder(f, Claude{})
}

func FuzzQwen(f *testing.F)     { fuzzDecoder(f, qwen) }
func FuzzCursor(f *testing.F)   { fuzzDecoder(f, cursor) }
func FuzzWindsurf(f *testing.F) { fuzzDecoder(f, windsurf) }
func FuzzKiro(f *testing.F)     { fuzzDecoder(f, kiro) }
func FuzzGoose(f *testing.F)    { fuzzDecoder(f, goose) }
func FuzzCrush(f *testing.F)    { fuzzDecoder(f, crush) }

func FuzzCodex(f *testing.F)    { fuzzDecoder(f, codex) }
func FuzzGemini(f *testing.F)   { fuzzDecoder(f, gemini) }
func FuzzOpenCode(f *testing.F) { fuzzDecoder(f, opencode) }

func FuzzPi(f *testing.F) { fuzzDecoder(f, pi) }

func FuzzOpenClaw(f *testing.F) { fuzzDecoder(f, openclaw) }

func FuzzCline(f *testing.F) { fuzzDecoder(f, cline) }

func FuzzCopilot(f *testing.F) { fuzzDecoder(f, copilot) }

func FuzzDroid(f *testing.F) { fuzzDecoder(f, droid) }

func FuzzClaudeCommand(f *testing.F) {
	f.Add([]byte(`{"command":"ls","\u0063ommand":"rm"}`))
	f.Add([]byte(`{"command":"\ud83d\ude00 \\ud800"}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		payload := pre("Bash", string(input))
		if ev, err := (Claude{}).Decode(payload); err == nil {
			checkRead(t, ev, payload)
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
