package hooks

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/daemon/daemontest"
	"approver.example/gate"
	"approver.example/httpapi"
)

// A stage judges by the command: "deny" and "wait" are words of it.
type stage struct{ waits chan struct{} }

func (s stage) Judge(ctx context.Context, c approver.ToolCall) (approver.Verdict, error) {
	switch {
	case strings.Contains(c.Command, "deny"):
		return approver.Verdict{Reason: "a rule"}, nil
	case strings.Contains(c.Command, "wait"):
		s.waits <- struct{}{}
		<-ctx.Done()
		return approver.Verdict{Reason: "nobody answered"}, nil
	}
	return approver.Verdict{Decision: approver.Pass, Severity: approver.High}, nil
}

func newDecider() (*Decider, *daemontest.Ledger, stage) {
	l, s := &daemontest.Ledger{}, stage{make(chan struct{}, 1)}
	log := slog.New(slog.DiscardHandler)
	return &Decider{
		Gate: &gate.Gate{Stages: []approver.Stage{s}, Fresh: []approver.Stage{s}, Audit: l, Log: log}, Audit: l, Log: log,
	}, l, s
}

func send(ctx context.Context, d *Decider, event, command, id string) httpapi.HookAnswer {
	payload := fmt.Sprintf(`{"session_id":"s","cwd":"/p","hook_event_name":%q,"tool_name":"Bash","tool_input":{`+
		`"command":%q},"tool_use_id":%q,"tool_response":{},"error":"exit 1"}`,
		event, command, id)
	return d.Hook(ctx, httpapi.HookRequest{Agent: "claude", CallID: "c", Payload: []byte(payload)})
}

// The story: people deny a call, and it runs all the same, because somebody has
// changed the hook or the agent ignores it. The report of that is the one sign.
// It must be an alarm, from the first second on and whatever else was sent under
// the same id before. A call of which nothing is known is judged by what it did.
func TestRanAlarms(t *testing.T) {
	type step struct{ event, command string }
	pre := func(command string) step { return step{"PreToolUse", command} }
	post := func(command string) step { return step{"PostToolUse", command} }
	failed := func(command string) step { return step{"PostToolUseFailure", command} }
	prompt := func(command string) step { return step{"PermissionRequest", command} }
	for name, test := range map[string]struct {
		before []step
		report step
		alarm  string // empty: none
	}{
		"permitted":               {[]step{pre("ls")}, post("ls"), ""},
		"permitted, and prompted": {[]step{pre("ls"), prompt("ls")}, post("ls"), ""},
		"denied":                  {[]step{pre("deny")}, post("deny"), "it ran although it was denied"},
		"denied, and failed": {[]step{pre("deny")}, failed("deny"),
			"it failed: it ran although it was denied"},
		"denied at the prompt": {[]step{pre("ls"), prompt("deny")}, post("ls"),
			"it ran although it was denied"},
		"denied, then something harmless": {[]step{pre("deny"), pre("ls")}, post("ls"), "it ran although it was denied"},
		"something else":                  {[]step{pre("ls")}, post("ls -l"), "what ran is not what was judged"},
		"something else that failed":      {[]step{pre("ls")}, failed("rm x"), "what ran is not what was judged"},
		"something that is denied":        {[]step{pre("ls")}, post("deny"), "what ran is not what was judged"},
		"the first of two": {[]step{pre("ls"), pre("ls -l")}, post("ls"),
			"what ran is not what was judged"},
		"never decided":                 {nil, post("ls"), "it ran without a verdict here; judged afresh: pass"},
		"never decided, and denied now": {nil, post("deny"), "it ran without a verdict; judged afresh: deny"},
		"reported twice": {[]step{pre("ls"), post("ls")}, post("ls"),
			"it ran without a verdict here; judged afresh: pass"},
		"reported twice, and failed at last": {[]step{pre("ls"), post("ls")}, failed("deny"),
			"it ran without a verdict; judged afresh: deny"},
	} {
		t.Run(name, func(t *testing.T) {
			d, l, _ := newDecider()
			for _, s := range test.before {
				send(t.Context(), d, s.event, s.command, "toolu_1")
			}
			send(t.Context(), d, "PreToolUse", "ls", "toolu_2")
			send(t.Context(), d, "PreToolUse", "deny", "toolu_3")
			if a := send(t.Context(), d, test.report.event, test.report.command, "toolu_1"); !a.ExitZero || len(a.Stdout) != 0 {
				t.Errorf("the agent is told %+v of what ran", a)
			}
			got := l.Last()
			if want := map[bool]approver.Event{true: approver.EventRan,
				false: approver.EventAlarm}[test.alarm == "" || strings.HasSuffix(test.alarm, ": pass")]; got.Event != want {
				t.Errorf("recorded as %s with %q, want %s", got.Event, got.Note, want)
			}
			if !strings.HasPrefix(got.Note, "tool_use_id toolu_1") || !strings.HasSuffix(got.Note, test.alarm) {
				t.Errorf("the note is %q, want it to end with %q", got.Note, test.alarm)
			}
		})
	}
}

// A courier that hangs up is told nothing: what runs meanwhile is an alarm, but
// the same call may come back and be permitted.
func TestRanWithoutAnAnswer(t *testing.T) {
	d, l, s := newDecider()
	ctx, hangUp := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		send(ctx, d, "PreToolUse", "wait", "toolu_1")
	}()
	<-s.waits
	send(t.Context(), d, "PostToolUse", "wait", "toolu_1")
	if got := l.Last(); got.Event != approver.EventAlarm || !strings.HasSuffix(got.Note, "it ran before it was answered") {
		t.Errorf("recorded as %s with %q", got.Event, got.Note)
	}
	hangUp()
	<-done
	send(t.Context(), d, "PreToolUse", "ls", "toolu_1")
	send(t.Context(), d, "PostToolUse", "ls", "toolu_1")
	if got := l.Last(); got.Event != approver.EventRan {
		t.Errorf("the call that came back is recorded as %s with %q", got.Event, got.Note)
	}
}

// At its deadline a courier is told no, so what runs then was denied.
func TestRanAfterTheDeadline(t *testing.T) {
	d, l, _ := newDecider()
	ctx, done := context.WithTimeout(t.Context(), time.Millisecond)
	defer done()
	send(t.Context(), d, "PreToolUse", "ls", "toolu_1")
	send(ctx, d, "PermissionRequest", "wait", "toolu_1")
	send(t.Context(), d, "PostToolUse", "wait", "toolu_1")
	if got := l.Last(); got.Event != approver.EventAlarm || !strings.HasSuffix(got.Note, "although it was denied") {
		t.Errorf("recorded as %s with %q", got.Event, got.Note)
	}
}

func take(o *Outcomes, ev agents.Event) outcome {
	u, _ := o.take(context.Background(), ev, approver.Peer{}, "c")
	return u.outcome
}

// The story: an agent sends calls without end and ids of any length, to fill the
// memory or to have its denied call forgotten. Memory is bounded, the newest
// calls are known, and a call that is forgotten is judged afresh as one never decided.
func TestOutcomesAreBounded(t *testing.T) {
	var o Outcomes
	event := func(i int) agents.Event { return agents.Event{Agent: "claude", UseID: fmt.Sprint("toolu_", i)} }
	const n = 4 * maxOutcomes
	for i := range n {
		o.note(event(i), approver.Peer{}, use{outcome: denied})
		if all := len(o.young) + len(o.old); all > maxOutcomes {
			t.Fatalf("%d calls are remembered", all)
		}
	}
	for i := n - maxOutcomes/2; i < n; i++ {
		if got := take(&o, event(i)); got != denied {
			t.Fatalf("call %d of %d is forgotten: %d", i, n, got)
		}
	}
	if got := take(&o, event(0)); got != 0 {
		t.Errorf("the oldest call is still known: %d", got)
	}
	if all := len(o.young) + len(o.old); all > maxOutcomes/2 {
		t.Errorf("%d calls are remembered after half of them ran", all)
	}
}

// A call that is noted again when the halves change keeps its denial, and
// is gone from both when it ran.
func TestOutcomeMovesBetweenHalves(t *testing.T) {
	var o Outcomes
	ev := agents.Event{Agent: "claude", UseID: "toolu_x"}
	o.note(ev, approver.Peer{}, use{outcome: denied})
	for i := range maxOutcomes - 1 { // fills both halves: the next new one forgets the old
		o.note(agents.Event{Agent: "claude", UseID: fmt.Sprint(i)}, approver.Peer{}, use{outcome: permitted})
	}
	o.note(ev, approver.Peer{}, use{outcome: permitted})
	if got := take(&o, ev); got != denied {
		t.Errorf("the outcome is %d, want the denial", got)
	}
	if got := take(&o, ev); got != 0 {
		t.Errorf("taken twice: %d", got)
	}
	o.note(ev, approver.Peer{}, use{outcome: permitted})
	for i := range maxOutcomes / 2 { // now it is in the old half
		o.note(agents.Event{Agent: "claude", UseID: fmt.Sprint("more ", i)}, approver.Peer{}, use{outcome: permitted})
	}
	o.note(ev, approver.Peer{}, use{outcome: denied}) // and in the young one
	if first, second := take(&o, ev), take(&o, ev); first != denied || second != 0 {
		t.Errorf("taken as %d and then as %d", first, second)
	}
	o.note(agents.Event{Agent: "claude"}, approver.Peer{}, use{outcome: denied})
	if got := take(&o, agents.Event{Agent: "claude"}); got != 0 {
		t.Errorf("a call without an id is remembered: %d", got)
	}
	o.note(agents.Event{Agent: "a", UseID: "bc"}, approver.Peer{}, use{outcome: denied})
	if got := take(&o, agents.Event{Agent: "ab", UseID: "c"}); got != 0 {
		t.Errorf("another agent's call is taken: %d", got)
	}
}
