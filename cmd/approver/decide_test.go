package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/httpapi"
)

// A ledger is an audit in memory.
type ledger struct {
	mu      sync.Mutex
	records []approver.Record
}

func (l *ledger) Record(_ context.Context, r approver.Record) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r)
	return "", nil
}

func (l *ledger) last() approver.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.records[len(l.records)-1]
}

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

// newDecider returns a decider that has run for age.
func newDecider(age time.Duration) (*decider, *ledger, stage) {
	l, s := &ledger{}, stage{make(chan struct{}, 1)}
	log := slog.New(slog.DiscardHandler)
	return &decider{
		gate: &approver.Gate{Stages: []approver.Stage{s}, Audit: l, Log: log}, audit: l, log: log, started: time.Now().Add(-age),
	}, l, s
}

func send(ctx context.Context, d *decider, event, command, id string) httpapi.HookAnswer {
	payload := fmt.Sprintf(`{"session_id":"s","cwd":"/p","hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":%q,"tool_response":{},"error":"exit 1"}`,
		event, command, id)
	return d.hook(ctx, httpapi.HookRequest{Agent: "claude", CallID: "c", Payload: []byte(payload)})
}

// The story: people deny a call, and it runs all the same, because somebody has
// changed the hook or the agent ignores it. The report of that is the one sign.
// It must be an alarm, from the first minute on and whatever else was sent under
// the same id before.
func TestRanAlarms(t *testing.T) {
	const young, settled = 0, settleIn + time.Minute
	type step struct{ event, command string }
	pre := func(command string) step { return step{"PreToolUse", command} }
	prompt := func(command string) step { return step{"PermissionRequest", command} }
	for name, test := range map[string]struct {
		age    time.Duration
		before []step
		report string
		alarm  string // empty: none
	}{
		"permitted":                          {settled, []step{pre("ls")}, "PostToolUse", ""},
		"permitted, and prompted":            {settled, []step{pre("ls"), prompt("ls")}, "PostToolUse", ""},
		"denied":                             {settled, []step{pre("deny")}, "PostToolUse", "it ran although it was denied"},
		"denied, just started":               {young, []step{pre("deny")}, "PostToolUse", "it ran although it was denied"},
		"denied, and failed":                 {young, []step{pre("deny")}, "PostToolUseFailure", "it failed: it ran although it was denied"},
		"denied at the prompt":               {young, []step{pre("ls"), prompt("deny")}, "PostToolUse", "it ran although it was denied"},
		"denied, then something harmless":    {young, []step{pre("deny"), pre("ls")}, "PostToolUse", "it ran although it was denied"},
		"never decided":                      {settled, nil, "PostToolUse", "it ran without a verdict"},
		"decided by the process before":      {young, nil, "PostToolUse", ""},
		"reported twice":                     {settled, []step{pre("ls"), {"PostToolUse", "ls"}}, "PostToolUse", "it ran without a verdict"},
		"reported twice, and failed at last": {settled, []step{pre("ls"), {"PostToolUse", "ls"}}, "PostToolUseFailure", "it ran without a verdict"},
	} {
		t.Run(name, func(t *testing.T) {
			d, l, _ := newDecider(test.age)
			for _, s := range test.before {
				send(t.Context(), d, s.event, s.command, "toolu_1")
			}
			send(t.Context(), d, "PreToolUse", "ls", "toolu_2")
			send(t.Context(), d, "PreToolUse", "deny", "toolu_3")
			if a := send(t.Context(), d, test.report, "ls", "toolu_1"); !a.ExitZero || len(a.Stdout) != 0 {
				t.Errorf("the agent is told %+v of what ran", a)
			}
			got := l.last()
			if want := map[bool]approver.Event{true: approver.EventRan, false: approver.EventAlarm}[test.alarm == ""]; got.Event != want {
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
	d, l, s := newDecider(0)
	ctx, hangUp := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		send(ctx, d, "PreToolUse", "wait", "toolu_1")
	}()
	<-s.waits
	send(t.Context(), d, "PostToolUse", "wait", "toolu_1")
	if got := l.last(); got.Event != approver.EventAlarm || !strings.HasSuffix(got.Note, "it ran before it was answered") {
		t.Errorf("recorded as %s with %q", got.Event, got.Note)
	}
	hangUp()
	<-done
	send(t.Context(), d, "PreToolUse", "ls", "toolu_1")
	send(t.Context(), d, "PostToolUse", "ls", "toolu_1")
	if got := l.last(); got.Event != approver.EventRan {
		t.Errorf("the call that came back is recorded as %s with %q", got.Event, got.Note)
	}
}

// At its deadline a courier is told no, so what runs then was denied.
func TestRanAfterTheDeadline(t *testing.T) {
	d, l, _ := newDecider(0)
	ctx, done := context.WithTimeout(t.Context(), time.Millisecond)
	defer done()
	send(t.Context(), d, "PreToolUse", "ls", "toolu_1")
	send(ctx, d, "PermissionRequest", "wait", "toolu_1")
	send(t.Context(), d, "PostToolUse", "wait", "toolu_1")
	if got := l.last(); got.Event != approver.EventAlarm || !strings.HasSuffix(got.Note, "although it was denied") {
		t.Errorf("recorded as %s with %q", got.Event, got.Note)
	}
}

// The story: an agent sends calls without end and ids of any length, to fill the
// memory or to have its denied call forgotten. Memory is bounded, the newest
// calls are known, and a call that is forgotten is an alarm as one never decided.
func TestOutcomesAreBounded(t *testing.T) {
	var o outcomes
	use := func(i int) agents.Event { return agents.Event{Agent: "claude", UseID: fmt.Sprint("toolu_", i)} }
	const n = 4 * maxOutcomes
	for i := range n {
		o.note(use(i), denied)
		if all := len(o.young) + len(o.old); all > maxOutcomes {
			t.Fatalf("%d calls are remembered", all)
		}
	}
	for i := n - maxOutcomes/2; i < n; i++ {
		if got := o.take(use(i)); got != denied {
			t.Fatalf("call %d of %d is forgotten: %d", i, n, got)
		}
	}
	if got := o.take(use(0)); got != 0 {
		t.Errorf("the oldest call is still known: %d", got)
	}
	if all := len(o.young) + len(o.old); all > maxOutcomes/2 {
		t.Errorf("%d calls are remembered after half of them ran", all)
	}
}

// A call that is noted again when the halves change keeps its denial, and
// is gone from both when it ran.
func TestOutcomeMovesBetweenHalves(t *testing.T) {
	var o outcomes
	use := agents.Event{Agent: "claude", UseID: "toolu_x"}
	o.note(use, denied)
	for i := range maxOutcomes - 1 { // fills both halves: the next new one forgets the old
		o.note(agents.Event{Agent: "claude", UseID: fmt.Sprint(i)}, permitted)
	}
	o.note(use, permitted)
	if got := o.take(use); got != denied {
		t.Errorf("the outcome is %d, want the denial", got)
	}
	if got := o.take(use); got != 0 {
		t.Errorf("taken twice: %d", got)
	}
	o.note(use, permitted)
	for i := range maxOutcomes / 2 { // now it is in the old half
		o.note(agents.Event{Agent: "claude", UseID: fmt.Sprint("more ", i)}, permitted)
	}
	o.note(use, denied) // and in the young one
	if first, second := o.take(use), o.take(use); first != denied || second != 0 {
		t.Errorf("taken as %d and then as %d", first, second)
	}
	o.note(agents.Event{Agent: "claude"}, denied)
	if got := o.take(agents.Event{Agent: "claude"}); got != 0 {
		t.Errorf("a call without an id is remembered: %d", got)
	}
	o.note(agents.Event{Agent: "a", UseID: "bc"}, denied)
	if got := o.take(agents.Event{Agent: "ab", UseID: "c"}); got != 0 {
		t.Errorf("another agent's call is taken: %d", got)
	}
}
