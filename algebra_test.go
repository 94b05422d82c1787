package approver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
)

// anyVerdict makes a verdict as a stage may return it, odd ones too.
func anyVerdict(r *rand.Rand) Verdict {
	v := Verdict{
		Decision: Decision(r.IntN(int(Allow) + 1)), Severity: Severity(r.IntN(2)), By: "s", Appealable: r.IntN(2) == 0,
		Confidence: []float64{0, 0.2, 0.5, 0.69, 0.7, 0.9, 1, -1, 7}[r.IntN(9)], Irreversible: Irreversibility{Score: uint8(r.IntN(101))},
	}
	if r.IntN(4) > 0 {
		v.Rule = fmt.Sprintf("r%d", r.IntN(100))
	}
	if v.Decision == Modify {
		v.Args = json.RawMessage(`1`)
	}
	return v
}

// rank orders decisions by what they let happen: Pass and Allow release.
func rank(d Decision) int {
	if d == Allow {
		return int(Pass)
	}
	return int(d)
}

// What several parts say together is never looser than the strictest of them. The
// one exception is a weak denial against a strong approval, which is asked about.
func TestCombineIsNeverLooserThanItsStrictestPart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	weakened := 0
	for range 200_000 {
		found := make([]Verdict, 1+r.IntN(5))
		strict, severity, score := Allow, High, uint8(0)
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
			case Deny:
				denials++
				appealable = appealable && v.Appealable
				failed = failed || !sure
				severity = min(severity, v.Severity)
			case Ask:
				severity = min(severity, v.Severity)
			case Modify:
				appealable = false
			case Allow:
				approval = approval || v.Rule != "" && sure && v.Confidence >= StrongApproval
			case Warn, Pass:
			}
			if v.Decision <= Ask && sure {
				doubt *= 1 - v.Confidence
			}
		}
		got := Combine(found)
		if rank(got.Decision) != rank(strict) || got.Irreversible.Score != score {
			t.Fatalf("%+v is %+v, the strictest is %v, the greatest score %d", found, got, strict, score)
		}
		if got.Decision <= Ask && got.Severity != severity {
			t.Fatalf("%+v is %v, not %v", found, got.Severity, severity)
		}
		if got.Appealable && got.Decision == Deny && !appealable {
			t.Fatalf("%+v may be appealed: %+v", found, got)
		}
		asked := Weighed(got, found, DefaultWeak)
		may := denials > 0 && appealable && severity == High && !failed && doubt < 1 && 1-doubt < DefaultWeak && approval
		if asked.Weakened != may || asked.Weakened != (rank(asked.Decision) > rank(strict)) || asked.Weakened && asked.Decision != Ask {
			t.Fatalf("%+v is weighed to %+v, expected weak: %v", found, asked, may)
		}
		if asked.Weakened {
			weakened++
		}
	}
	if weakened < 100 {
		t.Errorf("only %d denials were weak: the test proves little", weakened)
	}
	if v := Combine(nil); v.Decision != Deny || v.Appealable {
		t.Errorf("nothing combines to %+v", v)
	}
}

func fixed(v Verdict) Stage { return stage(func(ToolCall) (Verdict, error) { return v, nil }) }

func TestGateWeakDenial(t *testing.T) {
	weak := Verdict{Decision: Deny, Severity: High, By: "reflex", Rule: "odd", Confidence: 0.5, Appealable: true, Reason: "it looks odd"}
	allow := Verdict{Decision: Allow, Severity: High, By: "policy", Rule: "deploy", Confidence: 1}
	with := func(change func(*Verdict)) Verdict { v := weak; change(&v); return v }
	for _, c := range []struct {
		name   string
		below  float64
		stages []Stage
		want   Decision
	}{
		{"a weak denial against a strong approval", DefaultWeak, []Stage{fixed(weak), fixed(allow)}, Ask},
		{"whatever the order", DefaultWeak, []Stage{fixed(allow), fixed(weak)}, Ask},
		{"with nothing that speaks for it", DefaultWeak, []Stage{fixed(weak), says(Pass)}, Deny},
		{"an allow of no rule is no approval", DefaultWeak, []Stage{fixed(weak), says(Allow)}, Deny},
		{"a hesitant allow is none", DefaultWeak, []Stage{fixed(weak), fixed(Verdict{Decision: Allow, Rule: "x", Confidence: 0.8})}, Deny},
		{"not configured", 0, []Stage{fixed(weak), fixed(allow)}, Deny},
		{"at the bound it is strong", 0.5, []Stage{fixed(weak), fixed(allow)}, Deny},
		{"a denial without a confidence is strong", DefaultWeak, []Stage{fixed(with(func(v *Verdict) { v.Confidence = 0 })), fixed(allow)}, Deny},
		{"a catastrophic one never weakens", DefaultWeak, []Stage{fixed(with(func(v *Verdict) { v.Severity = Catastrophic })), fixed(allow)}, Deny},
		{"one that may not be appealed never weakens", DefaultWeak, []Stage{fixed(with(func(v *Verdict) { v.Appealable = false })), fixed(allow)}, Deny},
		{"two that deny are sure together", DefaultWeak, []Stage{fixed(weak), fixed(weak), fixed(allow)}, Deny},
		{"a failure beside it denies", DefaultWeak, []Stage{fixed(weak), nil, fixed(allow)}, Deny},
		{"a change that a rule demands is not put aside", DefaultWeak, []Stage{fixed(weak), fixed(allow), modifies(`1`)}, Deny},
		{"a sure question makes it sure", DefaultWeak, []Stage{fixed(weak), fixed(allow), fixed(Verdict{Decision: Ask, Severity: High, Rule: "q", Confidence: 0.9})}, Deny},
	} {
		g := &Gate{Stages: c.stages, Weak: c.below, Log: slog.New(slog.DiscardHandler)}
		v, _ := g.Judge(t.Context(), ToolCall{})
		if v.Decision != c.want {
			t.Errorf("%s: %v, want %v", c.name, v.Decision, c.want)
		}
		if c.want == Ask && (v.Rule != "odd" || !strings.Contains(v.Detail, "policy/deploy")) {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

// Somebody had paused the asking. A denial that is only asked about because a rule
// speaks for the call must not run unasked by that.
func TestPauseDoesNotReleaseAWeakDenial(t *testing.T) {
	asked := false
	g := &Gate{
		Stages: []Stage{
			fixed(Verdict{Decision: Deny, Severity: High, Rule: "odd", Confidence: 0.5, Appealable: true}), fixed(Verdict{Decision: Allow, Rule: "deploy", Confidence: 1}),
		},
		Weak: DefaultWeak, Audit: &memAudit{}, Log: slog.New(slog.DiscardHandler),
		Paused: func(context.Context, Severity) (string, bool) { return "paused", true },
		Ask: func(_ context.Context, _ ToolCall, v Verdict) Verdict {
			asked = true
			return Verdict{}
		},
	}
	if v := g.Decide(t.Context(), ToolCall{ID: "c"}); v.Decision != Deny || !asked {
		t.Errorf("%v, asked: %v", v.Decision, asked)
	}
}

func TestChainTellsWhoSaidWhat(t *testing.T) {
	inner := []Finding{{By: "reflex", Rule: "other", Decision: Warn, Note: "matched too"}}
	g := &Gate{Weak: DefaultWeak, Log: slog.New(slog.DiscardHandler), Stages: []Stage{
		fixed(Verdict{Decision: Deny, Severity: High, By: "reflex", Rule: "odd", Confidence: 0.5, Appealable: true, Chain: inner}),
		fixed(Verdict{Decision: Allow, Severity: High, By: "policy", Rule: "deploy", Confidence: 1}),
	}}
	v, _ := g.Judge(t.Context(), ToolCall{})
	var got []string
	for _, f := range v.Chain {
		f.Took = 0
		got = append(got, f.String())
	}
	want := "T0 reflex/odd deny HIGH 0.50 | T0 reflex/other warn: matched too | T0 policy/deploy allow 1.00 | T0 gate ask HIGH 0.50: a weak denial against a strong approval: people are asked"
	if strings.Join(got, " | ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " | "), want)
	}
	// What can be denied and not appealed is not put to the rest.
	g.Stages = []Stage{says(Deny), stage(func(ToolCall) (Verdict, error) { t.Error("asked for nothing"); return Verdict{}, nil })}
	if v, _ = g.Judge(t.Context(), ToolCall{}); len(v.Chain) != 1 {
		t.Errorf("%v", v.Chain)
	}
	many := Chained(nil, make([]Finding, MaxChain+3)...)
	if len(many) != MaxChain || many[MaxChain-1].Note != "and 3 more" {
		t.Errorf("%d, %+v", len(many), many[len(many)-1])
	}
}
