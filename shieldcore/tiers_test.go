package shieldcore_test

import (
	"context"
	"log/slog"
	"testing"

	"approver.example"
	"approver.example/gate"
	"approver.example/shieldcore"
)

// looks is a tier that lets everything go, and counts.
type looks struct{ n int }

func (l *looks) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	l.n++
	return approver.Verdict{Decision: approver.Pass, By: "evaluator", Tier: 2}, nil
}

// What has to be looked at by a tier goes on if that tier is there, and to people
// if it is not: 3 always does. A rule that asks is for people, unless it leaves the
// call to the evaluation.
func TestAFloorWithoutItsTierAsksPeople(t *testing.T) {
	const ask, allow = approver.Ask, approver.Allow
	for _, tt := range []struct {
		decision, floor string
		want            [3]approver.Decision // with tiers up to 0, 1 and 2
		evaluated       bool                 // where there is a tier 2
	}{
		{"allow", "0", [3]approver.Decision{allow, allow, allow}, false},
		{"allow", "1", [3]approver.Decision{ask, allow, allow}, false},
		{"allow", "2", [3]approver.Decision{ask, ask, allow}, true},
		{"allow", "3", [3]approver.Decision{ask, ask, ask}, false},
		{"ask, severity: high", "0", [3]approver.Decision{ask, ask, ask}, false},
		{"ask, severity: high", "1", [3]approver.Decision{ask, ask, ask}, false},
		{"ask, severity: high", "2", [3]approver.Decision{ask, ask, allow}, true},
		{"ask, severity: high", "3", [3]approver.Decision{ask, ask, ask}, false},
		{"ask, severity: high, approvers: [ada]", "2", [3]approver.Decision{ask, ask, ask}, false},
		{"ask, severity: catastrophic", "2", [3]approver.Decision{ask, ask, ask}, false},
	} {
		for tiers, want := range tt.want {
			texts := []string{"version: 1\ntools: {known: [Bash]}\nrules: [{name: a, command: git, decision: " + tt.decision +
				", min_tier: " + tt.floor + "}]\n"}
			if tt.decision == "allow" {
				texts = append(texts, "version: 1\ntools: {known: [Bash]}\ndefault: {decision: pass, min_tier: "+tt.floor+"}\n")
			}
			for _, text := range texts {
				live, evaluator := &shieldcore.Live{}, &looks{}
				live.Set(mustLoad(t, text))
				g := &gate.Gate{Stages: []approver.Stage{live}, Log: slog.New(slog.DiscardHandler), Tiers: uint8(min(tiers, 1))}
				if tiers == 2 {
					g.Evaluator = evaluator
				}
				v, _ := g.Judge(t.Context(), approver.ToolCall{Tool: "Bash", Command: "git"})
				lets := v.Decision == approver.Allow || v.Decision == approver.Pass
				if lets != (want == allow) || !lets && v.Decision != ask {
					t.Errorf("%s, min_tier %s, tiers up to %d: %+v", tt.decision, tt.floor, tiers, v)
				}
				if (evaluator.n > 0) != (tt.evaluated && tiers == 2) {
					t.Errorf("%s, min_tier %s, tiers up to %d: evaluated %d times", tt.decision, tt.floor, tiers, evaluator.n)
				}
			}
		}
	}
}
