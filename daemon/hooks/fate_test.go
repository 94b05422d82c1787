package hooks

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/daemontest"
	"approver.example/httpapi"
)

// yesSayers is a stage that asks, and to whom everybody says yes but to what is denied.
type yesSayers struct{ asked []string }

func (p *yesSayers) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return approver.Verdict{Decision: approver.Ask, By: "policy", Severity: approver.High, Reason: "ask"}, nil
}

func (p *yesSayers) ask(_ context.Context, call approver.ToolCall, v approver.Verdict) approver.Verdict {
	p.asked = append(p.asked, call.Command)
	if strings.Contains(call.Command, "no") {
		return approver.Verdict{By: approver.ByPeople, Reason: "denied by Ada"}
	}
	return approver.Verdict{Decision: approver.Allow, By: approver.ByPeople, Severity: v.Severity,
		Reason: "approved by Ada"}
}

// A turn is a session of the agent with people behind its hook.
type playedTurn struct {
	*testing.T
	d      *Decider
	people *yesSayers
	told   []string // what people are told afterwards
	n      int
}

func newTurn(t *testing.T) *playedTurn {
	p := &yesSayers{}
	d, _, _ := newDecider()
	d.Gate.Stages, d.Gate.Ask = []approver.Stage{p}, p.ask
	d.Stands = func(context.Context, approver.Yes, approver.ToolCall) error { return nil }
	s := &playedTurn{T: t, d: d, people: p}
	d.Became = func(_ context.Context, peer approver.Peer, call string, f broadcaster.Fate) error {
		word, _ := f.MarshalText()
		s.told = append(s.told, fmt.Sprintf("%s %s uid %d", call, word, peer.UID))
		return nil
	}
	return s
}

func (s *playedTurn) send(event, more string) httpapi.HookAnswer {
	s.n++
	payload := `{"session_id":"s","cwd":"/p","hook_event_name":"` + event + `",` + more + `}`
	return s.d.Hook(s.Context(), httpapi.HookRequest{
		Agent: "claude", CallID: fmt.Sprintf("call%d", s.n), Payload: []byte(payload),
		Peer: approver.Peer{Known: true, UID: 7},
	})
}

func toolCall(command, id string) string {
	return fmt.Sprintf(`"tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":%q,"tool_response":{}`, command, id)
}

func (s *playedTurn) pre(command, id string) httpapi.HookAnswer {
	return s.send("PreToolUse", toolCall(command, id))
}

func (s *playedTurn) post(command, id string) httpapi.HookAnswer {
	return s.send("PostToolUse", toolCall(command, id))
}

func (s *playedTurn) over(ids ...string) httpapi.HookAnswer {
	var calls []string
	for _, id := range ids {
		calls = append(calls, fmt.Sprintf(`{"tool_use_id":%q,"tool_name":"Bash","tool_response":"x"}`, id))
	}
	a := s.send("PostToolBatch", `"tool_calls":[`+strings.Join(calls, ",")+`]`)
	if !a.ExitZero || len(a.Stdout)+len(a.Stderr) > 0 {
		s.Errorf("the end of a turn is answered with %+v", a)
	}
	return a
}

func (s *playedTurn) prompt(command string) httpapi.HookAnswer {
	return s.send("PermissionRequest", fmt.Sprintf(`"tool_name":"Bash","tool_input":{"command":%q}`, command))
}

// promptOf is a prompt about the command a in another session, or of another user.
func (s *playedTurn) promptOf(session string, uid uint32) httpapi.HookAnswer {
	return s.d.Hook(s.Context(), httpapi.HookRequest{
		Agent: "claude", CallID: "x", Peer: approver.Peer{Known: true, UID: uid},
		Payload: []byte(`{"session_id":"` + session + `","cwd":"/p","hook_event_name":"PermissionRequest",` +
			`"tool_name":"Bash","tool_input":{"command":"a"}}`),
	})
}

// steps plays events with a command and an id, such as "pre a 1; prompt a; post a 1; over 1", and returns
// the answer to the last one.
func steps(line string) func(*playedTurn) httpapi.HookAnswer {
	return func(s *playedTurn) (last httpapi.HookAnswer) {
		for step := range strings.SplitSeq(line, "; ") {
			switch w := strings.Fields(step); w[0] {
			case "pre":
				last = s.pre(w[1], w[2])
			case "prompt":
				last = s.prompt(w[1])
			case "fail":
				last = s.send("PostToolUseFailure", strings.Replace(toolCall(w[1], w[2]), `"tool_response":{}`,
					`"error":"Exit code 3\nno"`, 1))
			case "post":
				last = s.post(w[1], w[2])
			case "over":
				last = s.over(w[1:]...)
			default:
				s.Fatalf("the step %q is not known", step)
			}
		}
		return last
	}
}

// The story: people said yes, and Claude Code refused the call by a rule of its own. No
// event says that of the call; but the turn's calls are over, and no report of this one
// came. Of what ran, what people denied, and what nobody was asked about nothing is told.
func TestACallThatDidNotRun(t *testing.T) {
	for name, c := range map[string]struct {
		play func(*playedTurn) httpapi.HookAnswer
		want string
	}{
		"refused":          {steps("pre a 1; over 1"), "call1 not_run uid 7"},
		"it ran":           {steps("pre a 1; post a 1; over 1"), "call1 ran uid 7"},
		"it failed":        {steps("pre a 1; fail a 1; over 1"), "call1 failed 3 uid 7"},
		"denied by people": {steps("pre no 1; over 1"), ""},
		"never asked":      {steps("over 1"), ""},
		"an empty turn":    {steps("pre a 1; over"), ""},
		"one of two": {steps("pre a 1; pre b 2; post b 2; over 1 2"),
			"call2 ran uid 7, call1 not_run uid 7"},
		"another turn is over":          {steps("pre a 1; over 2"), ""},
		"it ran after all":              {steps("pre a 1; over 1; post a 1"), "call1 not_run uid 7, call1 ran uid 7"},
		"another call ran under its id": {steps("pre a 1; post b 1"), ""},
		"the same id twice in the turn": {steps("pre a 1; over 1 1"), "call1 not_run uid 7, call1 not_run uid 7"},
		"a harmless call of the session": {func(s *playedTurn) httpapi.HookAnswer {
			s.d.Gate.Stages = nil
			return steps("pre a 1; over 1")(s)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTurn(t)
			c.play(s)
			if got := strings.Join(s.told, ", "); got != c.want {
				t.Errorf("people are told %q, want %q", got, c.want)
			}
		})
	}
}

// The record of a yes is in the store: a daemon that was started since knows it too, and
// still no alarm comes from a run that is reported later.
func TestACallThatDidNotRunAfterARestart(t *testing.T) {
	s := newTurn(t)
	s.d.Told.Store = openStore(t)
	s.pre("a", "1")
	s.d.Told.young = nil
	s.over("1")
	s.post("a", "1")
	if got := strings.Join(s.told, ", "); got != "call1 not_run uid 7, call1 ran uid 7" {
		t.Errorf("people are told %q", got)
	}
	if last := s.d.Audit.(*daemontest.Ledger).Last(); last.Event != approver.EventRan {
		t.Errorf("recorded as %s: %s", last.Event, last.Note)
	}
}

// The story: with a hook at PermissionRequest too, people were asked about one call by
// PreToolUse, said yes, and were asked about it once more because Claude Code's own rule
// or plan mode wants it approved. That prompt is for its own user: the hook is silent,
// which runs nothing by itself. Whatever differs in anything is asked about.
func TestOneCallIsAskedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		play func(*playedTurn) httpapi.HookAnswer
		want string // what people were asked
	}{
		"the same call":        {steps("pre a 1; prompt a"), "a"},
		"prompted twice":       {steps("pre a 1; prompt a; prompt a"), "a"},
		"never decided before": {steps("prompt a"), "a"},
		"another call": {func(s *playedTurn) httpapi.HookAnswer { s.pre("a", "1"); return s.prompt("a b") },
			"a,a b"},
		"one that was denied":         {steps("pre no 1; prompt no"), "no,no"},
		"denied after it was allowed": {steps("pre a 1; prompt no"), "a,no"},
		"a minute later": {func(s *playedTurn) httpapi.HookAnswer {
			s.pre("a", "1")
			for key := range s.d.Told.prompts {
				s.d.Told.prompts[key] = promptYes{at: time.Now().Add(-promptWait)}
			}
			return s.prompt("a")
		}, "a,a"},
		"another session": {func(s *playedTurn) httpapi.HookAnswer {
			s.pre("a", "1")
			return s.promptOf("z", 7)
		}, "a,a"},
		"another user": {func(s *playedTurn) httpapi.HookAnswer {
			s.pre("a", "1")
			return s.promptOf("s", 8)
		}, "a,a"},
		"another tool": {func(s *playedTurn) httpapi.HookAnswer {
			s.pre("a", "1")
			return s.send("PermissionRequest", `"tool_name":"PowerShell","tool_input":{"command":"a"}`)
		}, "a,a"},
		"in the background too": {func(s *playedTurn) httpapi.HookAnswer {
			s.pre("a", "1")
			return s.send("PermissionRequest", `"tool_name":"Bash","tool_input":{"command":"a","run_in_background":true}`)
		}, "a,a"},
		"another description": {func(s *playedTurn) httpapi.HookAnswer {
			s.pre("a", "1")
			return s.send("PermissionRequest", `"tool_name":"Bash","tool_input":{"command":"a","description":"words"}`)
		}, "a"},
		"the call itself comes again": {steps("pre a 1; pre a 2"), "a,a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTurn(t)
			a := c.play(s)
			if got := strings.Join(s.people.asked, ","); got != c.want {
				t.Errorf("people were asked %q, want %q", got, c.want)
			}
			silent := a.ExitZero && len(a.Stdout) == 0
			if once := c.want == "a" && name != "never decided before"; silent != once {
				t.Errorf("the prompt is answered with %+v", a)
			}
		})
	}
	// What cannot be recorded is not silent either.
	s := newTurn(t)
	s.pre("a", "1")
	s.d.Audit = noAudit{}
	if a := s.prompt("a"); a.ExitZero && len(a.Stdout) == 0 {
		t.Errorf("without a record: %+v", a)
	}
}

type noAudit struct{}

func (noAudit) Record(context.Context, approver.Record) (string, error) {
	return "", fmt.Errorf("the disk is full")
}
