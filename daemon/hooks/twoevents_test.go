package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"approver.example"
	"approver.example/daemon/daemontest"
	"approver.example/gate"
	"approver.example/httpapi"
)

// saysCursor sends a payload of an agent that sends two events about one call.
func saysCursor(s *playedTurn, event, more string) httpapi.HookAnswer {
	s.n++
	payload := fmt.Sprintf(`{"conversation_id":"c","generation_id":"g","hook_event_name":%q,"workspace_roots":["/p"],%s}`,
		event, more)
	return s.d.Hook(s.Context(), httpapi.HookRequest{
		Agent: "cursor", CallID: fmt.Sprintf("call%d", s.n), Event: event, Payload: []byte(payload),
		Peer: approver.Peer{Known: true, UID: 7},
	})
}

func shellCall(command, id string) string {
	return fmt.Sprintf(`"tool_name":"Shell","tool_input":{"command":%q,"description":"x"},"tool_use_id":%q,`+
		`"tool_output":"{}"`, command, id)
}

// The story: an agent sends one event for every tool, and another one for the shell. People were asked
// about each command twice. The second event shows less of the call, and has no id of it; the report
// is that of the first.
func TestTwoEventsAboutOneCall(t *testing.T) {
	for name, c := range map[string]struct {
		play func(*playedTurn) httpapi.HookAnswer
		want string // what people were asked
	}{
		"the same call": {func(s *playedTurn) httpapi.HookAnswer {
			saysCursor(s, "preToolUse", shellCall("a", "1"))
			return saysCursor(s, "beforeShellExecution", `"command":"a","cwd":"/p"`)
		}, "a"},
		"the second event alone": {func(s *playedTurn) httpapi.HookAnswer {
			return saysCursor(s, "beforeShellExecution", `"command":"a","cwd":"/p"`)
		}, "a"},
		"another command": {func(s *playedTurn) httpapi.HookAnswer {
			saysCursor(s, "preToolUse", shellCall("a", "1"))
			return saysCursor(s, "beforeShellExecution", `"command":"a b","cwd":"/p"`)
		}, "a,a b"},
		"another folder": {func(s *playedTurn) httpapi.HookAnswer {
			saysCursor(s, "preToolUse", shellCall("a", "1"))
			return saysCursor(s, "beforeShellExecution", `"command":"a","cwd":"/q"`)
		}, "a,a"},
		"the call itself comes again": {func(s *playedTurn) httpapi.HookAnswer {
			saysCursor(s, "preToolUse", shellCall("a", "1"))
			return saysCursor(s, "preToolUse", shellCall("a", "2"))
		}, "a,a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTurn(t)
			a := c.play(s)
			if got := strings.Join(s.people.asked, ","); got != c.want {
				t.Errorf("people were asked %q, want %q", got, c.want)
			}
			if !a.ExitZero || string(a.Stdout) != `{"permission":"allow"}`+"\n" {
				t.Errorf("answered with %+v", a)
			}
			saysCursor(s, "postToolUse", shellCall("a", "1"))
			if last := s.d.Audit.(*daemontest.Ledger).Last(); strings.HasPrefix(name, "the same") &&
				last.Event != approver.EventRan {
				t.Errorf("recorded as %v: %s", last.Event, last.Note)
			}
		})
	}
}

// changing is a stage that wants other arguments.
type changing struct{ args string }

func (c changing) Judge(_ context.Context, call approver.ToolCall) (approver.Verdict, error) {
	if call.Command == "b" {
		return approver.Verdict{Decision: approver.Pass}, nil
	}
	return approver.Verdict{Decision: approver.Modify, By: "policy", Reason: "change", Args: json.RawMessage(c.args)}, nil
}

// The story: an agent reads a denial only with exit code 0. A change that it cannot make was such a
// denial, and was noted as a permission: the changed call then ran without an alarm.
func TestADenialWithExitCodeZero(t *testing.T) {
	s := newTurn(t)
	stages := []approver.Stage{changing{`{"command":"b"}`}}
	s.d.Gate = &gate.Gate{Stages: stages, Fresh: stages, Rewrite: Rewrite, Audit: s.d.Audit, Log: s.d.Log}
	a := saysCursor(s, "preToolUse", shellCall("a", "1")) // without the description
	if !a.ExitZero || !strings.Contains(string(a.Stdout), `"deny"`) {
		t.Fatalf("answered with %+v", a)
	}
	// The change is recorded, and that the agent was told no.
	last := s.d.Audit.(*daemontest.Ledger).Last()
	if last.Verdict.Decision != approver.Deny || !strings.Contains(last.Verdict.Reason, "other arguments") {
		t.Errorf("the answer is recorded as %v: %s", last.Verdict.Decision, last.Verdict.Reason)
	}
	saysCursor(s, "postToolUse", `"tool_name":"Shell","tool_input":{"command":"b"},"tool_use_id":"1","tool_output":"{}"`)
	if last = s.d.Audit.(*daemontest.Ledger).Last(); last.Event != approver.EventAlarm {
		t.Errorf("recorded as %v: %s", last.Event, last.Note)
	}
}
