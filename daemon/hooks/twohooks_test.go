package hooks

import (
	"fmt"
	"strings"
	"testing"

	"approver.example"
	"approver.example/daemon/daemontest"
	"approver.example/httpapi"
)

// saysCopilot sends the payload of one of the hooks of a call: Copilot's own, or one of Claude Code's
// that Copilot runs, too. at is when the hooks were started.
func saysCopilot(s *playedTurn, event, command, at string) httpapi.HookAnswer {
	s.n++
	flag := "copilot"
	payload := fmt.Sprintf(`{"sessionId":"s","timestamp":1795228087%s,"cwd":"/p","toolName":"bash",`+
		`"toolArgs":{"command":%q}}`, at, command)
	if event == "PreToolUse" {
		flag = "claude"
		payload = fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-21T02:28:07.%sZ",`+
			`"cwd":"/p","tool_name":"Bash","tool_input":{"command":%q}}`, at, command)
	}
	return s.d.Hook(s.Context(), httpapi.HookRequest{
		Agent: flag, CallID: fmt.Sprintf("call%d", s.n), Payload: []byte(payload), Peer: approver.Peer{Known: true, UID: 7},
	})
}

// ranCopilot sends the report of a call at one of its hooks.
func ranCopilot(s *playedTurn, command string) {
	s.n++
	s.d.Hook(s.Context(), httpapi.HookRequest{
		Agent: "copilot", CallID: fmt.Sprintf("call%d", s.n), Event: "postToolUse", Peer: approver.Peer{Known: true, UID: 7},
		Payload: fmt.Appendf(nil, `{"sessionId":"s","timestamp":1,"cwd":"/p","toolName":"bash","toolArgs":{"command":%q},`+
			`"toolResult":{"resultType":"success","textResultForLlm":"x"}}`, command),
	})
}

// The story: approver was installed for Copilot and for Claude Code, and Copilot runs the hooks of both.
// People were asked about each call twice. The second hook takes the approval of the first, once.
func TestTwoHooksOfOneCall(t *testing.T) {
	for name, c := range map[string]struct {
		play func(*playedTurn)
		want string // what people were asked
	}{
		"the same call": {func(s *playedTurn) {
			saysCopilot(s, "preToolUse", "a", "043")
			if a := saysCopilot(s, "PreToolUse", "a", "043"); !a.ExitZero || len(a.Stdout) > 0 {
				t.Errorf("the second hook is answered with %+v", a)
			}
			for range 2 {
				ranCopilot(s, "a")
				if last := s.d.Audit.(*daemontest.Ledger).Last(); last.Event != approver.EventRan {
					t.Errorf("recorded as %v: %s", last.Event, last.Note)
				}
			}
		}, "a"},
		"the same call twice in one turn": {func(s *playedTurn) {
			for _, event := range []string{"preToolUse", "preToolUse", "PreToolUse", "PreToolUse"} {
				saysCopilot(s, event, "a", "043")
			}
		}, "a,a"},
		"twice, and the second hook a third time": {func(s *playedTurn) {
			for _, event := range []string{"preToolUse", "PreToolUse", "PreToolUse"} {
				saysCopilot(s, event, "a", "043")
			}
		}, "a,a"},
		"the first hook again": {func(s *playedTurn) {
			saysCopilot(s, "preToolUse", "a", "043")
			saysCopilot(s, "preToolUse", "a", "043")
		}, "a,a"},
		"another moment": {func(s *playedTurn) {
			saysCopilot(s, "preToolUse", "a", "043")
			saysCopilot(s, "PreToolUse", "a", "044")
		}, "a,a"},
		"another command": {func(s *playedTurn) {
			saysCopilot(s, "preToolUse", "a", "043")
			saysCopilot(s, "PreToolUse", "a b", "043")
		}, "a,a b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTurn(t)
			c.play(s)
			if got := strings.Join(s.people.asked, ","); got != c.want {
				t.Errorf("people were asked %q, want %q", got, c.want)
			}
		})
	}
}

// The story: Claude Code had approver's hooks twice, from its settings and from the plugin. People said yes to
// both cards, the call ran, both hooks reported it, and the second report froze the agent: the call had run a
// second time. What runs more often than it was let go is an alarm as before.
func TestACallThatTwoHooksReport(t *testing.T) {
	for play, want := range map[string]string{
		"pre a 1; pre a 1; post a 1; post a 1":             "ran ran",
		"pre a 1; pre a 1; post a 1; post a 1; post a 1":   "ran ran alarm",
		"pre a 1; pre a 1; post a 1; restart 0; post a 1":  "ran ran",
		"pre a 1; restart 0; pre a 1; post a 1; post a 1":  "ran ran",
		"pre a 1; post a 1; post a 1":                      "ran alarm",
		"pre a 1; pre b 1; post b 1; post b 1":             "ran alarm",
		"pre a 1; pre a 1; post b 1":                       "alarm",
		"pre no 1; pre no 1; post no 1":                    "alarm",
		"pre a 1; pre a 1; post a 1; over 1; post a 1":     "ran ran",
		"pre a 1; pre a 1; restart 0; post a 1; over 1":    "ran",
		"pre a 1; pre a 1; over 1; post a 1; post a 1":     "ran ran",
		"pre a 1; pre a 1; pre b 2; post a 1; post a 1":    "ran ran",
		"pre a 1; pre a 1; post a 1; post a 1; restart 0;": "ran ran",
	} {
		t.Run(play, func(t *testing.T) {
			s := newTurn(t)
			s.d.Told.Store = openStore(t)
			ledger := s.d.Audit.(*daemontest.Ledger)
			var got []string
			for step := range strings.SplitSeq(strings.TrimSuffix(play, ";"), "; ") {
				if step == "restart 0" {
					s.d.Told.young, s.d.Told.old = nil, nil
					continue
				}
				if steps(step)(s); strings.HasPrefix(step, "post") {
					got = append(got, string(ledger.Last().Event))
				}
			}
			if got := strings.Join(got, " "); got != want {
				t.Errorf("recorded is %s, want %s", got, want)
			}
			ran := strings.Index(play, "post")
			if told := strings.Join(s.told, ", "); strings.Contains(told, "not_run") && ran < strings.Index(play, "over") {
				t.Errorf("people are told %q", told)
			}
			if told := strings.Join(s.told, ", "); want == "ran ran" && !strings.Contains(told, "call1 ran uid 7") {
				t.Errorf("people are told %q", told)
			}
		})
	}
}
