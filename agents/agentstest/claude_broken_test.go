package agentstest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What breaks while a call waits: nothing of it lets the call run.
var brokenScenarios = []scenario{
	{"daemon dead at the start", func(t *testing.T) {
		w := newClaude(t, "")
		w.install()
		w.claude(bash(force))
		w.pushed(0)
		w.told(0, "approver is not running")
	}},
	{"daemon killed while it waits, never back", func(t *testing.T) {
		w := start(t, always(""))
		w.replaced("--deadline 290s", "--deadline 8s")
		wait := w.started(t.Context(), bash(force))
		w.waiting(1)
		w.kill()
		wait()
		w.pushed(0)
		w.told(0, "approver stopped while it had the call")
	}},
	{"daemon killed while it waits, and back", func(t *testing.T) {
		w := start(t, always(""))
		wait := w.started(t.Context(), bash(force))
		w.waiting(1)
		w.kill()
		w.serve()
		time.Sleep(3 * time.Second) // the courier comes back with the same call
		w.answer(t.Context(), w.first(), "approve")
		wait()
		w.pushed(1)
		w.askedTimes(1)
	}},
	{"daemon stopped while it waits", func(t *testing.T) {
		w := start(t, always(""))
		w.replaced("--deadline 290s", "--deadline 8s")
		wait := w.started(t.Context(), bash(force))
		w.waiting(1)
		w.signal(w.daemon.Process.Pid, syscall.SIGSTOP)
		wait()
		w.signal(w.daemon.Process.Pid, syscall.SIGCONT)
		w.pushed(0)
	}},
	{"hook killed while it waits", func(t *testing.T) {
		w := start(t, always(""))
		wait := w.started(t.Context(), bash(force))
		w.waiting(1)
		for _, pid := range w.ours("approver-hook") {
			w.signal(pid, syscall.SIGKILL)
		}
		wait()
		w.pushed(0)
		w.until("the question is withdrawn", func() bool { return w.open() == 0 })
		w.answer(t.Context(), w.first(), "approve")
		w.pushed(0)
	}},
	{"hook times out", func(t *testing.T) {
		w := start(t, always(""))
		w.settings(func(s map[string]any) { hookOf(s)["timeout"] = 4 })
		w.claude(bash(force))
		w.pushed(0)
	}},
	{"claude killed while it waits", func(t *testing.T) {
		w := start(t, always(""))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := w.begin(ctx, bash(force))
		w.waiting(1)
		w.signal(cmd.Process.Pid, syscall.SIGKILL)
		killed := time.Now()
		_ = cmd.Wait()
		w.until("the question is withdrawn", func() bool { return strings.Contains(w.audit(), `"event":"withdrawn"`) })
		// a quarter of a second and the grace of 3 s, on an idle machine
		if took := time.Since(killed); took > 20*time.Second {
			t.Errorf("it was withdrawn after %v", took)
		}
		w.until("its hook is gone", func() bool { return len(w.ours("approver-hook")) == 0 })
		if told := w.answer(t.Context(), w.first(), "approve"); !strings.Contains(told, "the agent stopped waiting") {
			t.Errorf("a late yes is told %q", told)
		}
		if strings.Contains(w.audit(), `"event":"released"`) {
			t.Error("it was released to nobody")
		}
		w.pushed(0)
	}},
	{"claude refuses by its own rule what people approved", func(t *testing.T) {
		w := start(t, always("approve"))
		w.settings(func(s map[string]any) { s["permissions"] = map[string]any{"deny": []string{"Bash(git push:*)"}} })
		w.claude(bash(force), bash("touch made"))
		w.pushed(0)
		w.askedTimes(1)
		w.notRun(1)
	}},
	{"claude refuses in plan mode what people approved", func(t *testing.T) {
		w := start(t, always("approve"))
		w.mode = "plan"
		w.claude(bash(force))
		w.pushed(0)
		w.askedTimes(1)
		w.notRun(1)
	}},
	{"what ran is not said to be refused", func(t *testing.T) {
		w := start(t, always("approve"))
		w.claude(bash(force), bash("git push --force nowhere main"), bash("touch made"))
		w.pushed(1)
		w.askedTimes(2)
		w.notRun(0)
	}},
	{"daemon dead behind a call", func(t *testing.T) {
		w := start(t, always("approve"))
		w.write("work/kill.sh", "#!/bin/sh\nkill -9 $(cat pid)\n", 0o755)
		w.write("work/pid", fmt.Sprint(w.daemon.Process.Pid), 0o644)
		w.claude(bash("./kill.sh; " + force))
		w.pushed(1)
		if said := w.said(0, 0); strings.Contains(said, "the call was stopped") {
			t.Errorf("the model was told %q", said)
		}
	}},
	{"claude ended while it waits", func(t *testing.T) {
		w := start(t, always(""))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := w.begin(ctx, bash(force))
		w.waiting(1)
		w.signal(cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
		w.until("the question is withdrawn", func() bool { return w.open() == 0 })
		w.pushed(0)
	}},
}

// notRun asserts of how many calls the audit says that they did not run.
func (w *claudeWorld) notRun(times int) {
	w.Helper()
	count := func() int { return strings.Count(w.audit(), `"event":"not_run"`) }
	if times > 0 {
		w.until("people are told that it did not run", func() bool { return count() >= times })
	}
	if got := count(); got != times {
		w.Errorf("%d calls are said not to have run, not %d", got, times)
	}
}

func (w *claudeWorld) signal(pid int, s os.Signal) {
	w.Helper()
	if err := syscall.Kill(pid, s.(syscall.Signal)); err != nil {
		w.Fatal(err)
	}
}

// hookOf is the entry before tools.
func hookOf(s map[string]any) map[string]any {
	hooks := s["hooks"].(map[string]any)["PreToolUse"].([]any)
	return hooks[0].(map[string]any)["hooks"].([]any)[0].(map[string]any)
}
