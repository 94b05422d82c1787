package hooks

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
	"approver.example/agents"
	"approver.example/daemon/daemontest"
	"approver.example/httpapi"
)

// editing are people who change the command of a call. They say how many calls they were asked about.
func editing(command string, asked *int) func(context.Context, approver.ToolCall, approver.Verdict) approver.Verdict {
	return func(_ context.Context, call approver.ToolCall, v approver.Verdict) approver.Verdict {
		*asked++
		changed, _ := call.WithCommand(command)
		v.Decision, v.By = approver.Allow, approver.ByPeople
		v.Approval = &approver.Yes{Request: "r", Resolution: approver.Resolution{
			Approve: true, Edit: &approver.Edit{Command: command, Args: changed.Args},
		}}
		return v
	}
}

// The story: people approved another command than the agent had asked about. The agent is told that one;
// if it runs the one that it had asked about, it went around the gate.
func TestWhatRunsIsWhatPeopleChangedItTo(t *testing.T) {
	for ran, want := range map[string]string{"git push fix": "", "git push --force": "what ran is not what was judged"} {
		s := newTurn(t)
		asked := 0
		s.d.Gate.Ask, s.d.Gate.Rewrite = editing("git push fix", &asked), Rewrite
		a := s.send("PreToolUse", toolCall("git push --force", "toolu_1"))
		if !a.ExitZero || !strings.Contains(string(a.Stdout), `"updatedInput":{"command":"git push fix"}`) ||
			!strings.Contains(string(a.Stdout), `"permissionDecision":"allow"`) {
			t.Fatalf("answered with %s %s", a.Stdout, a.Stderr)
		}
		s.send("PostToolUse", toolCall(ran, "toolu_1"))
		last := s.d.Audit.(*daemontest.Ledger).Last()
		if alarm := last.Event == approver.EventAlarm; alarm != (want != "") || !strings.HasSuffix(last.Note, want) {
			t.Errorf("%s ran: recorded as %v: %s", ran, last.Event, last.Note)
		}
	}
}

// The yes is to the changed command. The agent's own question about the first one is asked anew, and so is
// another hook of it.
func TestAnEditIsNoYesToWhatWasAsked(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		asked   int
	}{"the first command": {"git push --force", 2}, "the changed one": {"git push fix", 1}} {
		s := newTurn(t)
		asked := 0
		s.d.Gate.Ask, s.d.Gate.Rewrite = editing("git push fix", &asked), Rewrite
		s.send("PreToolUse", toolCall("git push --force", "toolu_1"))
		s.send("PermissionRequest", toolCall(c.command, "toolu_1"))
		if asked != c.asked {
			t.Errorf("%s: people were asked %d times", name, asked)
		}
	}
	s := newTurn(t)
	asked := 0
	s.d.Gate.Ask, s.d.Gate.Rewrite = editing("b", &asked), Rewrite
	saysCopilot(s, "preToolUse", "a", "043")
	saysCopilot(s, "PreToolUse", "a", "043")
	// In one of its forms Copilot gives its calls ids.
	s.d.Hook(t.Context(), httpapi.HookRequest{Agent: "claude", CallID: "x", Peer: approver.Peer{Known: true, UID: 7},
		Payload: []byte(`{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-21T02:28:07.044Z",` +
			`"cwd":"/p",` +
			`"tool_name":"Bash","tool_input":{"command":"a"},"tool_use_id":"u"}`)})
	saysCopilot(s, "preToolUse", "a", "044")
	if asked != 4 {
		t.Errorf("of two hooks, people were asked at %d", asked)
	}
}

// Whether an agent runs changed commands is known before people are asked.
func TestWhoRunsChangedCommands(t *testing.T) {
	for payload, want := range map[string]bool{
		`{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"a"},` +
			`"tool_use_id":"1"}`: true,
		`{}`: false,
	} {
		call := approver.ToolCall{Agent: "claude", Tool: "Bash", Args: json.RawMessage(`{"command":"a"}`),
			Raw: []byte(payload)}
		if got := Changes(call); got != want {
			t.Errorf("%s: %t", payload, got)
		}
	}
	windsurf := approver.ToolCall{Agent: "windsurf", Tool: "Bash", Args: json.RawMessage(`{"command":"a"}`), Raw: []byte(
		`{"agent_action_name":"pre_run_command","trajectory_id":"t","execution_id":"e","tool_info":{"command_line":"a",` +
			`"cwd":"/p"}}`)}
	if Changes(windsurf) || Changes(approver.ToolCall{Agent: "nobody"}) {
		t.Error("an agent that cannot does")
	}
}

// What is known before people are asked is what a change does, in every recorded payload: else a card would say that
// the changed command ran, and the call would be stopped.
func TestChangesIsWhatARewriteDoes(t *testing.T) {
	files, err := filepath.Glob("../../agents/testdata/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[bool]int{}
	for _, file := range files {
		agent := filepath.Base(filepath.Dir(file))
		adapter, ok := agents.For(agent)
		payload, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		ev, err := adapter.Decode(payload)
		if err != nil || len(ev.Call.Args) == 0 {
			continue
		}
		call := ev.Call
		call.Agent, call.Raw = agent, payload
		want := false
		if ev, err := adapter.Rewrite(payload, call.Args); err == nil {
			told := adapter.Encode(ev, approver.Verdict{Decision: approver.Modify, Args: call.Args})
			want = told.Exit() == 0 && !told.Blocks
		}
		seen[want]++
		if got := Changes(call); got != want {
			t.Errorf("%s: %t, and a change gives %t", file, got, want)
		}
	}
	if seen[true] < 50 || seen[false] < 50 {
		t.Errorf("payloads that can be changed, and others: %v", seen)
	}
}
