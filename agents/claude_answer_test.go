package agents

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"approver.example"
)

func TestClaudeEncode(t *testing.T) {
	decide := Event{Kind: Decide, Agent: "claude", Name: "PreToolUse"}
	prompted := Event{Kind: Prompted, Agent: "claude", Name: "PermissionRequest"}
	ran := Event{Kind: Ran, Agent: "claude", Name: "PostToolUse"}
	args := json.RawMessage("{\n\t\"command\": \"ls <&>\"}")
	const (
		denied = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
			`"permissionDecisionReason":"why"}}`
		broken = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
			`"permissionDecisionReason":"the changed arguments are not a JSON object, so the call was stopped"}}`
	)
	for _, tt := range []struct {
		name   string
		ev     Event
		v      approver.Verdict
		stdout string
		exit   int
	}{
		{"pass", decide, approver.Verdict{Decision: approver.Pass, Reason: "why"}, "", 0},
		{"allow", decide, approver.Verdict{Decision: approver.Allow, Reason: "why"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",` +
				`"permissionDecisionReason":"why"}}`, 0},
		{"allow without a reason", decide, approver.Verdict{Decision: approver.Allow},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",` +
				`"permissionDecisionReason":"allowed by approver"}}`, 0},
		{"deny", decide, approver.Verdict{Reason: "why"}, denied, 2},
		{"ask", decide, approver.Verdict{Decision: approver.Ask, Reason: "why"}, denied, 2},
		{"no such decision", decide, approver.Verdict{Decision: 99, Reason: "why"}, denied, 2},
		{"warn", decide, approver.Verdict{Decision: approver.Warn, Reason: "why"},
			`{"systemMessage":"approver: why","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"why"}}`,
			0},
		{"warn without a reason", decide, approver.Verdict{Decision: approver.Warn},
			`{"systemMessage":"approver: take care with this ` +
				`call","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"take care with this call"}}`, 0},
		{"modify", decide, approver.Verdict{Decision: approver.Modify, Reason: "why", Args: args},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",` +
				`"permissionDecisionReason":"why","updatedInput":{"command":"ls <&>"}}}`, 0},
		{"modify to nothing", decide, approver.Verdict{Decision: approver.Modify}, broken, 2},
		{"modify to a list", decide, approver.Verdict{Decision: approver.Modify, Args: json.RawMessage("[]")}, broken, 2},
		{"modify to broken JSON", decide, approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(`{"a":`)}, broken,
			2},
		{"modify to two documents", decide, approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(`{}{}`)},
			broken, 2},
		{"modify to repeated keys", decide,
			approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(`{"a":1,"a":2}`)}, broken, 2},
		{"prompted, allow", prompted, approver.Verdict{Decision: approver.Allow, Reason: "why"},
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, 0},
		{"prompted, modify", prompted, approver.Verdict{Decision: approver.Modify, Args: args},
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{` +
				`"command":"ls <&>"}}}}`, 0},
		{"prompted, deny", prompted, approver.Verdict{Reason: "why"},
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"why"}}}`, 2},
		{"prompted, pass", prompted, approver.Verdict{Decision: approver.Pass}, "", 0},
		{"prompted, warn", prompted, approver.Verdict{Decision: approver.Warn, Reason: "why"}, "", 0},
		{"ran, allow", ran, approver.Verdict{Decision: approver.Allow}, "", 0},
		{"ran, pass", ran, approver.Verdict{Decision: approver.Pass}, "", 0},
		{"ran, deny", ran, approver.Verdict{Reason: "why"}, `{"decision":"block","reason":"why"}`, 2},
		{"ran, modify", ran, approver.Verdict{Decision: approver.Modify, Reason: "why", Args: args},
			`{"decision":"block","reason":"why"}`, 2},
		{"zero event, allow", Event{}, approver.Verdict{Decision: approver.Allow, Reason: "why"}, denied, 2},
		{"no such kind, pass", Event{Kind: 99}, approver.Verdict{Decision: approver.Pass, Reason: "why"}, denied, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Claude{}.Encode(tt.ev, tt.v)
			want := tt.stdout
			if want != "" {
				want += "\n"
			}
			if string(got.Stdout) != want || got.Exit() != tt.exit {
				t.Errorf("exit %d\n%s\nwant exit %d\n%s", got.Exit(), got.Stdout, tt.exit, want)
			}
			if (len(got.Stderr) > 0) != (tt.exit == 2) {
				t.Errorf("exit %d with stderr %q", got.Exit(), got.Stderr)
			}
		})
	}
}

func TestClaudeHookConfig(t *testing.T) {
	got, err := Claude{}.HookConfig("/usr/local/bin/approver-hook", "", 120*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	const name = "testdata/claude/golden/hook-config.golden"
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// If the times did not nest, the agent would kill the hook before people have
// had their time, and run the tool.
func TestClaudeHookConfigTimesNest(t *testing.T) {
	for ttl := minTTL; ttl <= maxTTL; ttl += 1700 * time.Millisecond {
		out, err := Claude{}.HookConfig("/h", "", ttl)
		if err != nil {
			t.Fatal(err)
		}
		var settings struct {
			Hooks map[string][]struct {
				Hooks []struct {
					Command, OnFailure string
					Timeout            int
				}
			}
		}
		if err := json.Unmarshal(out, &settings); err != nil {
			t.Fatal(err)
		}
		hook := settings.Hooks["PreToolUse"][0].Hooks[0]
		_, text, _ := strings.Cut(hook.Command, "--deadline ")
		deadline, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		timeout := time.Duration(hook.Timeout) * time.Second
		if deadline < ttl+5*time.Second || timeout < deadline+2*time.Second || float64(deadline) > 0.9*float64(timeout)+1 {
			t.Fatalf("ttl %v, deadline %v, timeout %v do not nest", ttl, deadline, timeout)
		}
		if hook.OnFailure != "block" {
			t.Fatalf("onFailure is %q", hook.OnFailure)
		}
	}
}

func TestClaudeHookConfigRefuses(t *testing.T) {
	for _, tt := range []struct {
		binary string
		ttl    time.Duration
	}{
		{"", time.Minute}, {"approver-hook", time.Minute}, {"./approver-hook", time.Minute}, {"/a\nb", time.Minute},
		{"/a\x7fb", time.Minute},
		{"/h", 0}, {"/h", -time.Minute}, {"/h", 4 * time.Second}, {"/h", 2 * time.Hour},
	} {
		if out, err := (Claude{}).HookConfig(tt.binary, "", tt.ttl); err == nil {
			t.Errorf("%q, %v: %s", tt.binary, tt.ttl, out)
		}
	}
}

// A hook that would not find the daemon's socket by itself is told it.
func TestClaudeHookConfigSocket(t *testing.T) {
	out, err := Claude{}.HookConfig("/h", "/a b/s.sock", time.Minute)
	if want := "/h --agent claude --socket '/a b/s.sock' --deadline 290s"; err != nil ||
		!bytes.Contains(out, []byte(want)) {
		t.Errorf("%v\n%s\nwant %s", err, out, want)
	}
	for _, bad := range []string{"s.sock", "/a\nb"} {
		if out, err := (Claude{}).HookConfig("/h", bad, time.Minute); err == nil {
			t.Errorf("%q: %s", bad, out)
		}
	}
}
