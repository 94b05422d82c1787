package claudetest

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"
)

// What breaks while a call waits: nothing of it lets the call run.
var brokenScenarios = []scenario{
	{"daemon dead at the start", func(t *testing.T) {
		w := newWorld(t, "")
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
		_ = cmd.Wait()
		w.answer(t.Context(), w.first(), "approve") // nobody is there to run it
		w.pushed(0)
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

func (w *world) signal(pid int, s os.Signal) {
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
