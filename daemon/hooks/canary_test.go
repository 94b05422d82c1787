package hooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/broadcaster"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/judges"
)

// The story: the hook is only asked about Write, and somebody runs approver doctor.
// The test call runs, and its report comes to the daemon like that of any call that
// went around the gate. It must not stop the agents of everybody. A command that only
// looks like it must: else an agent would hide its calls behind the form.
func TestACanaryThatRanIsNoAlarm(t *testing.T) {
	ctx := t.Context()
	for command, want := range map[string]approver.Event{daemontest.CanaryCommand: approver.EventRan,
		daemontest.AlmostCanary: approver.EventAlarm} {
		d, l, _ := newDecider()
		frozen := 0
		d.Freeze = func(context.Context, string, string) (int, error) { frozen++; return 0, nil }
		if a := send(ctx, d, "PostToolUse", command, "toolu_1"); !a.ExitZero {
			t.Errorf("%s: the report was answered with %q", command, a.Stderr)
		}
		if got := l.Last().Event; got != want {
			t.Errorf("%s: recorded as %v", command, got)
		}
		if (frozen > 0) != (want == approver.EventAlarm) {
			t.Errorf("%s: frozen %d times", command, frozen)
		}
	}
}

// The daemon denies a canary before anything else is looked at, and whatever mode it
// is in: people who observe or paused still learn whether the hook works.
func TestACanaryIsDeniedInEveryMode(t *testing.T) {
	d, l, s := newDecider()
	d.Gate.Stages = []approver.Stage{canary.Stage{Next: s}}
	d.Gate.Observe = func(context.Context, approver.Verdict) (string, bool) { return "observing", true }
	d.Gate.Paused = func(context.Context, approver.Severity) (string, bool) { return "paused", true }
	if a := send(t.Context(), d, "PreToolUse", daemontest.CanaryCommand, "toolu_1"); a.ExitZero || len(a.Stderr) == 0 {
		t.Errorf("answered with %q", a.Stdout)
	}
	if got := l.Last(); got.Event != approver.EventVerdict || got.Verdict.By != "hook-test" ||
		got.Verdict.Decision != approver.Deny {
		t.Errorf("recorded as %+v", got)
	}
	if a := send(t.Context(), d, "PreToolUse", "ls", "toolu_2"); !a.ExitZero {
		t.Errorf("ls was answered with %q", a.Stderr)
	}
	if stages := (&judges.Judges{}).Stages(nil, nil); stages[0] != (canary.Stage{Next: broadcaster.FreezeStage{}}) {
		t.Errorf("the daemon judges first by %T", stages[0])
	}
}

// The container of a call is what the daemon finds for the files that the hook sees.
func TestTheContainerOfACall(t *testing.T) {
	d, _, _ := newDecider()
	d.Container = func(root string) *approver.Container { return &approver.Container{Mounts: []string{"/" + root}} }
	var got []approver.ToolCall
	d.Began = func(call approver.ToolCall) { got = append(got, call) }
	send(t.Context(), d, "PreToolUse", "ls", "toolu_1")
	if len(got) != 1 || got[0].Container == nil || !slices.Equal(got[0].Container.Mounts, []string{"/"}) {
		t.Errorf("%+v", got)
	}
}

// A newcomer's cards said of ten variables "is unset (was set)", such as ANTHROPIC_BASE_URL:
// the first call of his user had been that of the hook test, whose Claude has an environment
// of its own. What a session began with is what an agent's own call brings; anything that is
// not the test to the byte is one.
func TestTheHookTestIsNoBeginning(t *testing.T) {
	d, _, _ := newDecider()
	var began []string
	d.Began = func(call approver.ToolCall) { began = append(began, call.Command) }
	for i, command := range []string{daemontest.CanaryCommand,
		strings.Replace(daemontest.CanaryCommand, "0123", "9123", 1), "ls", daemontest.AlmostCanary,
		daemontest.CanaryCommand + " ", daemontest.CanaryCommand, "/bin/mkdir /tmp/x"} {
		send(t.Context(), d, "PreToolUse", command, fmt.Sprint("toolu_", i))
	}
	if want := []string{"ls", daemontest.AlmostCanary, daemontest.CanaryCommand + " ",
		"/bin/mkdir /tmp/x"}; !slices.Equal(began, want) {
		t.Errorf("sessions began with %q", began)
	}
}
