package blocking

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"approver.example/agents/facts"
)

func TestFor(t *testing.T) {
	const claude = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
		`"permissionDecisionReason":"no \"rm\""}}` + "\n"
	for _, tt := range []struct{ agent, event, want string }{
		{"claude", "PreToolUse", claude},
		{"claude", "", claude},
		{"claude", "SomethingNew", claude},
		{"claude", "PermissionRequest",
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no \"rm\""}}}` +
				"\n"},
		{"claude", "PostToolUse", `{"decision":"block","reason":"no \"rm\""}` + "\n"},
		{"claude", "PostToolUseFailure",
			`{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"no \"rm\""}}` + "\n"},
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

// The story: the daemon was dead, the hook of Cline answered in the dialect of
// Claude Code with exit code 2, and Cline ran the call: it reads a document of its
// own, and only where the exit code is 0. Cursor shows a raw document that comes
// with exit code 2. Windsurf knows no document. Each has a row of its own now.
func TestForOtherDialects(t *testing.T) {
	const flat = `{"permission":"deny","user_message":"no \"rm\""}` + "\n"
	const cancel = `{"cancel":true,"errorMessage":"no \"rm\""}` + "\n"
	for _, tt := range []struct {
		agent, event, want string
		exit               int
	}{
		{"cursor", "", flat, 0},
		{"cursor", "preToolUse", flat, 0},
		{"cursor", "beforeShellExecution", flat, 0},
		{"cursor", "beforeMCPExecution", flat, 0},
		{"cursor", "beforeReadFile", flat, 0},
		{"cursor", "beforeTabFileRead", flat, 0},
		{"cursor", "subagentStart", flat, 0},
		{"cursor", "beforeSubmitPrompt", `{"continue":false,"user_message":"no \"rm\""}` + "\n", 0},
		{"cursor", "SomethingNew", flat, 0},
		{"windsurf", "", "", 2},
		{"windsurf", "pre_run_command", "", 2},
		{"windsurf", "pre_write_code", "", 2},
		{"windsurf", "pre_read_code", "", 2},
		{"windsurf", "pre_mcp_tool_use", "", 2},
		{"cline", "", cancel, 0},
		{"cline", "PreToolUse", cancel, 0},
		{"cline", "TaskStart", cancel, 0},
	} {
		got := For(tt.agent, tt.event, "no \"rm\"")
		if string(got.Stdout) != tt.want || string(got.Stderr) != "no \"rm\"\n" || got.Exit() != tt.exit {
			t.Errorf("%s %s: stdout %s, stderr %q, exit %d", tt.agent, tt.event, got.Stdout, got.Stderr, got.Exit())
		}
	}
}

// Exit code 0 and no document is "go on" to every agent, so no row may lead there.
func TestNoRowPermits(t *testing.T) {
	for _, agent := range facts.All() {
		for _, event := range agent.Events {
			a := For(agent.Name, event.Name, "because")
			if a.Exit() == 0 && !json.Valid(a.Stdout) || len(a.Stderr) == 0 {
				t.Errorf("%s %s: %+v", agent.Name, event.Name, a)
			}
		}
	}
}

func TestKnown(t *testing.T) {
	for agent, want := range map[string]bool{
		"claude": true, "codex": true, "qwen": true, "droid": true, "gemini": true, "copilot": true, "cursor": true,
		"windsurf": true, "cline": true, "goose": true, "crush": true, "kiro": true, "opencode": true, "pi": true,
		"": false, "Claude": false, "claud": false, "amp": false,
	} {
		if Known(agent) != want {
			t.Errorf("Known(%q) is %v", agent, !want)
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
	for _, s := range []string{"", "plain", `"\/`, "\b\f\n\r\t\x00\x1f\x7f", "é \u2028\u2029 \U0001F600", "\xff\xc3",
		"<&>"} {
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
	f.Add("cursor", "beforeShellExecution", "because")
	f.Add("windsurf", "pre_run_command", "because")
	f.Add("cline", "", "because")
	f.Fuzz(func(t *testing.T, agent, event, reason string) {
		a := For(agent, event, reason)
		body, ok := bytes.CutSuffix(a.Stdout, []byte("\n"))
		if len(a.Stdout) > 0 && (!ok || !json.Valid(body)) || bytes.ContainsAny(body, "\n\r") {
			t.Errorf("stdout is not one line of JSON: %q", a.Stdout)
		}
		text, ok := bytes.CutSuffix(a.Stderr, []byte("\n"))
		if !ok || len(text) == 0 || !utf8.Valid(text) || bytes.ContainsAny(text, "\n\r\x00") || len(text) > MaxLine {
			t.Errorf("stderr %q", a.Stderr)
		}
		if a.Exit() == 0 && len(a.Stdout) == 0 {
			t.Error("exit code 0 and nothing said")
		}
		if len(a.Stdout) > 0 && !bytes.Contains(a.Stdout, AppendQuoted(nil, string(text))) {
			t.Errorf("exit %d, stdout %s", a.Exit(), a.Stdout)
		}
	})
}
