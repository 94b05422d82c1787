package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"approver.example"
)

// anyVerdict makes a verdict as a stage may return it, odd ones too.
func anyVerdict(r *rand.Rand) approver.Verdict {
	v := approver.Verdict{
		Decision: approver.Decision(r.IntN(int(approver.Allow) + 1)), Severity: approver.Severity(r.IntN(2)), By: "s",
		Appealable:   r.IntN(2) == 0,
		Confidence:   []float64{0, 0.2, 0.5, 0.69, 0.7, 0.9, 1, -1, 7}[r.IntN(9)],
		Irreversible: approver.Irreversibility{Score: uint8(r.IntN(101))},
	}
	if r.IntN(4) > 0 {
		v.Rule = fmt.Sprintf("r%d", r.IntN(100))
	}
	if v.Decision == approver.Modify {
		v.Args = json.RawMessage(`1`)
	}
	return v
}

// rank orders decisions by what they let happen: Pass and Allow release.
func rank(d approver.Decision) int {
	if d == approver.Allow {
		return int(approver.Pass)
	}
	return int(d)
}

// What several parts say together is never looser than the strictest of them. The
// one exception is a weak denial against a strong approval, which is asked about.
func TestCombineIsNeverLooserThanItsStrictestPart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	weakened := 0
	for range 200_000 {
		found := make([]approver.Verdict, 1+r.IntN(5))
		strict, severity, score := approver.Allow, approver.High, uint8(0)
		denials, appealable, doubt, failed, approval := 0, true, 1.0, false, false
		for i := range found {
			v := anyVerdict(r)
			found[i] = v
			if rank(v.Decision) < rank(strict) {
				strict = v.Decision
			}
			score = max(score, v.Irreversible.Score)
			sure := v.Confidence > 0 && v.Confidence <= 1
			switch v.Decision {
			case approver.Deny:
				denials++
				appealable = appealable && v.Appealable
				failed = failed || !sure
				severity = min(severity, v.Severity)
			case approver.Ask:
				severity = min(severity, v.Severity)
			case approver.Modify:
				appealable = false
			case approver.Allow:
				approval = approval || v.Rule != "" && sure && v.Confidence >= approver.StrongApproval
			case approver.Warn, approver.Pass:
			}
			if v.Decision <= approver.Ask && sure {
				doubt *= 1 - v.Confidence
			}
		}
		got := approver.Combine(found)
		if rank(got.Decision) != rank(strict) || got.Irreversible.Score != score {
			t.Fatalf("%+v is %+v, the strictest is %v, the greatest score %d", found, got, strict, score)
		}
		if got.Decision <= approver.Ask && got.Severity != severity {
			t.Fatalf("%+v is %v, not %v", found, got.Severity, severity)
		}
		if got.Appealable && got.Decision == approver.Deny && !appealable {
			t.Fatalf("%+v may be appealed: %+v", found, got)
		}
		asked := approver.Weighed(got, found, approver.DefaultWeak)
		may := denials > 0 && appealable && severity == approver.High && !failed && doubt < 1 &&
			1-doubt < approver.DefaultWeak && approval
		if asked.Weakened != may || asked.Weakened != (rank(asked.Decision) > rank(strict)) ||
			asked.Weakened && asked.Decision != approver.Ask {
			t.Fatalf("%+v is weighed to %+v, expected weak: %v", found, asked, may)
		}
		if asked.Weakened {
			weakened++
		}
	}
	if weakened < 100 {
		t.Errorf("only %d denials were weak: the test proves little", weakened)
	}
	if v := approver.Combine(nil); v.Decision != approver.Deny || v.Appealable {
		t.Errorf("nothing combines to %+v", v)
	}
}

func fixed(v approver.Verdict) approver.Stage {
	return stage(func(approver.ToolCall) (approver.Verdict, error) { return v, nil })
}

func TestGateWeakDenial(t *testing.T) {
	weak := approver.Verdict{Decision: approver.Deny, Severity: approver.High, By: "reflex", Rule: "odd", Confidence: 0.5,
		Appealable: true, Reason: "it looks odd"}
	allow := approver.Verdict{Decision: approver.Allow, Severity: approver.High, By: "policy", Rule: "deploy",
		Confidence: 1}
	with := func(change func(*approver.Verdict)) approver.Verdict { v := weak; change(&v); return v }
	for _, c := range []struct {
		name   string
		below  float64
		stages []approver.Stage
		want   approver.Decision
	}{
		{"a weak denial against a strong approval", approver.DefaultWeak, []approver.Stage{fixed(weak), fixed(allow)},
			approver.Ask},
		{"whatever the order", approver.DefaultWeak, []approver.Stage{fixed(allow), fixed(weak)}, approver.Ask},
		{"with nothing that speaks for it", approver.DefaultWeak, []approver.Stage{fixed(weak), says(approver.Pass)},
			approver.Deny},
		{"an allow of no rule is no approval", approver.DefaultWeak, []approver.Stage{fixed(weak), says(approver.Allow)},
			approver.Deny},
		{"a hesitant allow is none", approver.DefaultWeak,
			[]approver.Stage{fixed(weak), fixed(approver.Verdict{Decision: approver.Allow, Rule: "x", Confidence: 0.8})},
			approver.Deny},
		{"not configured", 0, []approver.Stage{fixed(weak), fixed(allow)}, approver.Deny},
		{"at the bound it is strong", 0.5, []approver.Stage{fixed(weak), fixed(allow)}, approver.Deny},
		{"a denial without a confidence is strong", approver.DefaultWeak,
			[]approver.Stage{fixed(with(func(v *approver.Verdict) { v.Confidence = 0 })), fixed(allow)}, approver.Deny},
		{"a catastrophic one never weakens", approver.DefaultWeak,
			[]approver.Stage{fixed(with(func(v *approver.Verdict) { v.Severity = approver.Catastrophic })), fixed(allow)},
			approver.Deny},
		{"one that may not be appealed never weakens", approver.DefaultWeak,
			[]approver.Stage{fixed(with(func(v *approver.Verdict) { v.Appealable = false })), fixed(allow)}, approver.Deny},
		{"two that deny are sure together", approver.DefaultWeak, []approver.Stage{fixed(weak), fixed(weak), fixed(allow)},
			approver.Deny},
		{"a failure beside it denies", approver.DefaultWeak, []approver.Stage{fixed(weak), nil, fixed(allow)}, approver.Deny},
		{"a change that a rule demands is not put aside", approver.DefaultWeak,
			[]approver.Stage{fixed(weak), fixed(allow), modifies(`1`)}, approver.Deny},
		{"a sure question makes it sure", approver.DefaultWeak,
			[]approver.Stage{fixed(weak), fixed(allow),
				fixed(approver.Verdict{Decision: approver.Ask, Severity: approver.High, Rule: "q", Confidence: 0.9})},
			approver.Deny},
	} {
		g := &Gate{Stages: c.stages, Weak: c.below, Log: slog.New(slog.DiscardHandler)}
		v, _ := g.Judge(t.Context(), approver.ToolCall{})
		if v.Decision != c.want {
			t.Errorf("%s: %v, want %v", c.name, v.Decision, c.want)
		}
		if c.want == approver.Ask && (v.Rule != "odd" || !strings.Contains(v.Detail, "policy/deploy")) {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

// Somebody had paused the asking. A denial that is only asked about because a rule
// speaks for the call must not run unasked by that.
func TestPauseDoesNotReleaseAWeakDenial(t *testing.T) {
	asked := false
	g := &Gate{
		Stages: []approver.Stage{
			fixed(approver.Verdict{Decision: approver.Deny, Severity: approver.High, Rule: "odd", Confidence: 0.5,
				Appealable: true}), fixed(approver.Verdict{Decision: approver.Allow, Rule: "deploy", Confidence: 1}),
		},
		Weak: approver.DefaultWeak, Audit: &memAudit{}, Log: slog.New(slog.DiscardHandler),
		Paused: func(context.Context, approver.Severity) (string, bool) { return "paused", true },
		Ask: func(_ context.Context, _ approver.ToolCall, v approver.Verdict) approver.Verdict {
			asked = true
			return approver.Verdict{}
		},
	}
	if v := g.Decide(t.Context(), approver.ToolCall{ID: "c"}); v.Decision != approver.Deny || !asked {
		t.Errorf("%v, asked: %v", v.Decision, asked)
	}
}

// During a pause an agent's own question is not put before people, and the log does not say that anything was
// let through: the agent's dialog decides.
func TestPauseLeavesAnAgentsQuestionToItsDialog(t *testing.T) {
	for own, want := range map[bool]string{true: "left to its own dialog", false: "was let through"} {
		var log strings.Builder
		g := &Gate{
			Stages: []approver.Stage{
				fixed(approver.Verdict{Decision: approver.Ask, Severity: approver.High, Rule: "prompt", Prompt: own}),
			},
			Audit: &memAudit{}, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Paused: func(context.Context, approver.Severity) (string, bool) { return "paused", true },
		}
		if v := g.Decide(t.Context(), approver.ToolCall{ID: "c"}); v.Decision != approver.Pass ||
			!strings.Contains(log.String(), want) {
			t.Errorf("%t: %v, %s", own, v.Decision, log.String())
		}
	}
}

func TestChainTellsWhoSaidWhat(t *testing.T) {
	inner := []approver.Finding{{By: "reflex", Rule: "other", Decision: approver.Warn, Note: "matched too"}}
	g := &Gate{Weak: approver.DefaultWeak, Log: slog.New(slog.DiscardHandler), Stages: []approver.Stage{
		fixed(approver.Verdict{Decision: approver.Deny, Severity: approver.High, By: "reflex", Rule: "odd", Confidence: 0.5,
			Appealable: true, Chain: inner}),
		fixed(approver.Verdict{Decision: approver.Allow, Severity: approver.High, By: "policy", Rule: "deploy",
			Confidence: 1}),
	}}
	v, _ := g.Judge(t.Context(), approver.ToolCall{})
	var got []string
	for _, f := range v.Chain {
		f.Took = 0
		got = append(got, f.String())
	}
	want := "T0 reflex/odd deny HIGH 0.50 | T0 reflex/other warn: matched too | T0 policy/deploy allow 1.00 | T0 gate " +
		"ask HIGH 0.50: a weak denial against a strong approval: people are asked"
	if strings.Join(got, " | ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " | "), want)
	}
	// What can be denied and not appealed is not put to the rest.
	g.Stages = []approver.Stage{says(approver.Deny), stage(func(approver.ToolCall) (approver.Verdict, error) {
		t.Error("asked for nothing")
		return approver.Verdict{}, nil
	})}
	if v, _ = g.Judge(t.Context(), approver.ToolCall{}); len(v.Chain) != 1 {
		t.Errorf("%v", v.Chain)
	}
	many := approver.Chained(nil, make([]approver.Finding, approver.MaxChain+3)...)
	if len(many) != approver.MaxChain || many[approver.MaxChain-1].Note != "and 3 more" {
		t.Errorf("%d, %+v", len(many), many[len(many)-1])
	}
}
