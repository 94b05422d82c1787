package blocking

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFor(t *testing.T) {
	const claude = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no \"rm\""}}` + "\n"
	for _, tt := range []struct{ agent, event, want string }{
		{"claude", "PreToolUse", claude},
		{"claude", "", claude},
		{"claude", "SomethingNew", claude},
		{"claude", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no \"rm\""}}}` + "\n"},
		{"claude", "PostToolUse", `{"decision":"block","reason":"no \"rm\""}` + "\n"},
		{"claude", "PostToolUseFailure", `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"no \"rm\""}}` + "\n"},
		{"claude", "ConfigChange", `{"decision":"block","reason":"no \"rm\""}` + "\n"},
		{"codex", "PreToolUse", claude},
		{"qwen", "PreToolUse", claude},
		{"droid", "PreToolUse", claude},
		{"gemini", "BeforeTool", `{"decision":"deny","reason":"no \"rm\""}` + "\n"},
		{"gemini", "PreToolUse", `{"decision":"deny","reason":"no \"rm\""}` + "\n"},
		{"copilot", "preToolUse", `{"permissionDecision":"deny","permissionDecisionReason":"no \"rm\""}` + "\n"},
		{"copilot", "permissionRequest", `{"behavior":"deny","message":"no \"rm\""}` + "\n"},
		{"", "", claude},
		{"nobody", "PostToolUse", claude},
	} {
		got := For(tt.agent, tt.event, "no \"rm\"")
		if string(got.Stdout) != tt.want {
			t.Errorf("%s %s: stdout\n%s\nwant\n%s", tt.agent, tt.event, got.Stdout, tt.want)
		}
		if string(got.Stderr) != "no \"rm\"\n" || got.Exit() != 2 {
			t.Errorf("%s %s: stderr %q, exit %d", tt.agent, tt.event, got.Stderr, got.Exit())
		}
	}
}

// An empty exit 2 lets the tool run in codex, gemini and qwen; an empty reason
// in the document does in codex.
func TestReasonIsNeverEmpty(t *testing.T) {
	for _, reason := range []string{"", " ", "\n\t\r", "\x00\x01", "\u2028"} {
		a := For("codex", "PreToolUse", reason)
		if string(a.Stderr) != NoReason+"\n" || !bytes.Contains(a.Stdout, []byte(NoReason)) {
			t.Errorf("reason %q: stdout %s, stderr %q", reason, a.Stdout, a.Stderr)
		}
	}
}

func TestZeroAnswerBlocks(t *testing.T) {
	if got := (Answer{}).Exit(); got != 2 {
		t.Errorf("the zero answer exits with %d", got)
	}
	if got := (Answer{ExitZero: true}).Exit(); got != 0 {
		t.Errorf("exit %d, want 0", got)
	}
}

func TestLine(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain", "plain"},
		{"  two\n\nlines\t", "two lines"},
		{"a\x00b\x1b[31m\x7fc\u0085d\u2029e", "a b [31m c d e"},
		{"bad \xff byte", "bad \uFFFD byte"},
		{strings.Repeat("x", MaxLine+1), strings.Repeat("x", MaxLine)},
		{strings.Repeat("x", MaxLine-1) + "é", strings.Repeat("x", MaxLine-1)},
	} {
		if got := Line(tt.in); got != tt.want {
			t.Errorf("Line(%.20q) = %.40q, want %.40q", tt.in, got, tt.want)
		}
	}
}

func quoted(t *testing.T, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func FuzzAppendQuoted(f *testing.F) {
	for _, s := range []string{"", "plain", `"\/`, "\b\f\n\r\t\x00\x1f\x7f", "é \u2028\u2029 \U0001F600", "\xff\xc3", "<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := AppendQuoted(nil, s), quoted(t, s); !bytes.Equal(got, want) {
			t.Errorf("AppendQuoted(%q) = %s, encoding/json writes %s", s, got, want)
		}
	})
}

func FuzzFor(f *testing.F) {
	f.Add("claude", "PreToolUse", "because")
	f.Add("codex", "\n", "\xff\n\u2028")
	f.Add("", "", strings.Repeat("é", MaxLine))
	f.Fuzz(func(t *testing.T, agent, event, reason string) {
		a := For(agent, event, reason)
		body, ok := bytes.CutSuffix(a.Stdout, []byte("\n"))
		if !ok || !json.Valid(body) || bytes.ContainsAny(body, "\n\r") {
			t.Errorf("stdout is not one line of JSON: %q", a.Stdout)
		}
		text, ok := bytes.CutSuffix(a.Stderr, []byte("\n"))
		if !ok || len(text) == 0 || !utf8.Valid(text) || bytes.ContainsAny(text, "\n\r\x00") || len(text) > MaxLine {
			t.Errorf("stderr %q", a.Stderr)
		}
		if a.Exit() != 2 || !bytes.Contains(a.Stdout, AppendQuoted(nil, string(text))) {
			t.Errorf("exit %d, stdout %s", a.Exit(), a.Stdout)
		}
	})
}
