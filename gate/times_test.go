package gate

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/internal/timing"
)

// A timed stage belongs to a part, and takes a time.
type timed struct {
	part  timing.Part
	takes time.Duration
	says  approver.Decision
}

func (s timed) Part() timing.Part { return s.part }

func (s timed) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	time.Sleep(s.takes)
	return approver.Verdict{Decision: s.says, Severity: approver.High, Rule: "r", Confidence: 1}, nil
}

// How long judging takes is counted, and changes no verdict: what a call costs is bounded in
// steps, and a busy machine makes no honest call a suspect.
func TestTimes(t *testing.T) {
	const ms = time.Millisecond
	wait := stage(func(approver.ToolCall) (approver.Verdict, error) { // a store: not measured
		time.Sleep(time.Hour)
		return approver.Verdict{Decision: approver.Pass, Severity: approver.High}, nil
	})
	for _, c := range []struct {
		name   string
		stages []approver.Stage
		want   approver.Decision
		over   string
	}{
		{"in time", []approver.Stage{timed{timing.Reflex, 10 * ms, approver.Pass}}, approver.Pass, ""},
		{"what waits is not measured", []approver.Stage{wait, timed{timing.Reflex, ms, approver.Pass}}, approver.Pass, ""},
		{"a pass stays one", []approver.Stage{timed{timing.Reflex, 11 * ms, approver.Pass}}, approver.Pass, "reflex"},
		{"so does an allow", []approver.Stage{timed{timing.Reflex, 11 * ms, approver.Pass}, says(approver.Allow)},
			approver.Allow, "reflex"},
		{"two modules share their part's", []approver.Stage{
			timed{timing.Reflex, 6 * ms, approver.Pass}, timed{timing.Reflex, 6 * ms, approver.Pass},
		}, approver.Pass, "reflex"},
		{"all together", []approver.Stage{
			timed{timing.Reflex, 9 * ms, approver.Pass}, timed{timing.Arbiter, 92 * ms, approver.Pass},
		}, approver.Pass, "arbiter"},
		{"a denial stays one", []approver.Stage{timed{timing.Reflex, 11 * ms, approver.Deny}}, approver.Deny, "reflex"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			times := &timing.Times{Limits: timing.DefaultLimits()}
			g := &Gate{Stages: c.stages, Times: times, Log: slog.New(slog.NewTextHandler(&log, nil))}
			for range 2 { // within a minute
				if v, _ := g.Judge(t.Context(), approver.ToolCall{ID: "a"}); v.Decision != c.want || v.By == "gate" {
					t.Errorf("%s: %v by %s", c.name, v.Decision, v.By)
				}
			}
			for part, n := range times.Over() {
				if (n == 2) != (part == c.over) {
					t.Errorf("%s: %d over %s", c.name, n, part)
				}
			}
			said := strings.Count(log.String(), "judging a call took longer than its budget")
			if want := map[bool]int{true: 1}[c.over != ""]; said != want {
				t.Errorf("%s: it is said %d times", c.name, said)
			}
		})
	}
}
