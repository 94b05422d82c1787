package hooks

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/daemon/logging"
	"approver.example/httpapi"
)

// The story: an agent's hook was bypassed, and half a minute later again. The second line
// had the same error, so it was held back like a store that is away, and whoever watched
// the log believed that it had been once. What was noticed and who did something is told
// each time; trouble that calls meet is still told once a minute.
func TestNoAlarmIsHeldBack(t *testing.T) {
	bad := errors.New("a key twice")
	for name, c := range map[string]struct {
		level slog.Level
		text  string
		args  []any
		told  int
	}{
		"a bypass with an error": {slog.LevelError, "the hook was bypassed",
			[]any{"what", "no report", "agent", "claude", "error", bad}, 3},
		"a bypass": {slog.LevelError, "the hook was bypassed",
			[]any{"what", "no report", "agent", "claude"}, 3},
		"the error comes first": {slog.LevelError, "the hook was bypassed", []any{"error", bad, "what", "no report"},
			3},
		"a freeze held here": {slog.LevelError, "FROZEN by this daemon alone",
			[]any{"by", "uid 7", "reason", "", "error", bad}, 3},
		"a freeze that failed": {slog.LevelError, "the freeze after a bypass failed",
			[]any{"what", "it ran", "error", bad}, 3},
		"an alarm without its record": {slog.LevelError, "an alarm is not recorded", []any{"what", "80 %", "error", bad}, 3},
		"another key of the error":    {slog.LevelWarn, "refused", []any{"by", "uid 7", "err", bad}, 3},
		"the story of a call":         {slog.LevelInfo, "denied", []any{"request", "r", "call", "c", "why", "timed out"}, 3},
		"the story, with an error":    {slog.LevelInfo, "denied", []any{"request", "r", "error", bad}, 3},
		"a wrong code":                {slog.LevelWarn, "root typed a wrong code", []any{"request", "r"}, 3},
		"somebody who was removed": {slog.LevelWarn, "refused an answer of somebody who was removed",
			[]any{"person", "ada"}, 3},
		"the store is away": {slog.LevelWarn, "the store failed", []any{"request", "r", "error", bad}, 1},
		"the audit is away": {slog.LevelError, "audit failed", []any{"call", "c", "error", bad}, 1},
	} {
		for _, format := range []configs.LogFormat{configs.LogJSON, ""} {
			var out bytes.Buffer
			log := logging.New(&out, configs.Log{Format: format}).With("part", "x")
			start := time.Now()
			for i := range 3 {
				r := slog.NewRecord(start.Add(time.Duration(i)*10*time.Second), c.level, c.text, 0)
				r.Add(c.args...)
				if err := log.Handler().Handle(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			if n := strings.Count(out.String(), "\n"); n != c.told {
				t.Errorf("%s, format %q: %d of 3 lines are told, want %d:\n%s", name, format, n, c.told, &out)
			}
		}
	}
}

// Whatever the daemon itself records as an alarm because something failed, it tells each
// time: two reports of one session that nobody can read, two results that nobody could
// check, and two agents that could not be frozen.
func TestEachAlarmOfTheDaemonIsTold(t *testing.T) {
	lines := func(t *testing.T, text string, do func(d *Decider, log *slog.Logger)) {
		t.Helper()
		var out bytes.Buffer
		d, l, _ := newDecider()
		d.Log = logging.New(&out, configs.Log{})
		d.Audit = l
		do(d, d.Log)
		if n := strings.Count(out.String(), text); n != 2 {
			t.Errorf("%d lines of %q:\n%s", n, text, &out)
		}
	}
	lines(t, "the hook was bypassed", func(d *Decider, _ *slog.Logger) {
		for _, id := range []string{"c1", "c2"} {
			d.Hook(t.Context(), httpapi.HookRequest{Agent: "claude", CallID: id, Event: "PostToolUse", Payload: []byte("rm")})
		}
	})
	lines(t, "the freeze of an agent after a bypass failed", func(d *Decider, _ *slog.Logger) {
		d.Hold = func(context.Context, broadcaster.Who, string, string) (int, error) { return 0, errors.New("away") }
		for _, agent := range []string{"claude", "codex"} {
			d.stop(t.Context(), approver.ToolCall{Agent: agent}, "it ran")
		}
	})
	lines(t, "the freeze after a bypass failed", func(d *Decider, _ *slog.Logger) {
		d.Freeze = func(context.Context, string, string) (int, error) { return 0, errors.New("away") }
		for range 2 {
			d.stop(t.Context(), approver.ToolCall{Agent: "claude"}, "it ran")
		}
	})
	lines(t, "could not be checked", func(d *Decider, log *slog.Logger) {
		o := &Outputs{audit: d.Audit, log: log}
		adapter, ok := agents.For("claude")
		if !ok {
			t.Fatal("there is no adapter")
		}
		for _, use := range []string{"u1", "u2"} {
			o.withhold(t.Context(), adapter, agents.Event{Name: "PostToolUse", UseID: use}, approver.ToolCall{Tool: "Bash"},
				errors.New("too deep"))
		}
	})
}
