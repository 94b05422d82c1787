package gate_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"approver.example"
	"approver.example/gate"
)

type stageOf approver.Verdict

func (s stageOf) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return approver.Verdict(s), nil
}

// What was in shadow, or excepted, stays in the verdict whichever stage decides.
func TestShadowOutlivesTheStage(t *testing.T) {
	seen := stageOf{Decision: approver.Pass, Severity: approver.High, Shadow: []string{"a"}, Allowed: []string{"b by x"}}
	for _, other := range []approver.Decision{approver.Deny, approver.Ask, approver.Warn, approver.Pass, approver.Allow} {
		g := gate.Gate{Stages: []approver.Stage{seen, stageOf{Decision: other, Rule: "r", Shadow: []string{"c"}}},
			Log: slog.New(slog.DiscardHandler)}
		v, _ := g.Judge(t.Context(), approver.ToolCall{})
		if v.Decision != other || !slices.Equal(v.Shadow, []string{"a", "c"}) ||
			!slices.Equal(v.Allowed, []string{"b by x"}) {
			t.Errorf("%s: %+v", other, v)
		}
	}
}
