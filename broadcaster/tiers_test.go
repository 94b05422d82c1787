package broadcaster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/gate"
)

// fixedStage is a stage with an answer, which counts how often it is asked.
type fixedStage struct {
	v     approver.Verdict
	err   error
	asked int
}

func (s *fixedStage) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	s.asked++
	return s.v, s.err
}

// tiered is a gate of tier 1 with the given findings and an evaluator.
func tiered(evaluator *fixedStage, found ...approver.Verdict) *gate.Gate {
	g := &gate.Gate{Tiers: approver.TierScreen, Log: slog.New(slog.DiscardHandler)}
	if evaluator != nil {
		g.Evaluator = evaluator
	}
	for _, v := range found {
		g.Stages = append(g.Stages, &fixedStage{v: v})
	}
	return g
}

var (
	letGo    = approver.Verdict{Decision: approver.Pass, By: "policy", Severity: approver.High}
	floorTwo = approver.Verdict{
		Decision: approver.Allow, By: "policy", Rule: "push", Severity: approver.High, MinTier: approver.TierEvaluation,
		Confidence: 1,
	}
	escalated = approver.Verdict{Decision: approver.Ask, By: "heuristics", Rule: "XP-005", Tier: approver.TierScreen,
		Severity: approver.High, MinTier: approver.TierEvaluation, Reason: "a download is run", Detail: "curl | sh"}
	people = approver.Verdict{
		Decision: approver.Ask, By: "reflex", Rule: "force_push", Severity: approver.High, Reason: "history is lost",
	}
	saysAllow = approver.Verdict{
		Decision: approver.Pass, By: "evaluator", Rule: "allow", Tier: approver.TierEvaluation, Severity: approver.High,
		Confidence: 0.9,
	}
	saysBlock = approver.Verdict{
		Decision: approver.Deny, By: "evaluator", Rule: "block", Tier: approver.TierEvaluation, Severity: approver.High,
		Confidence: 0.9,
	}
	saysAsk = approver.Verdict{Decision: approver.Ask, By: "evaluator", Rule: "escalate", Tier: approver.TierEvaluation,
		Severity: approver.High, Detail: "not sure; claimed by the model: x"}
)

func with(v approver.Verdict, change func(*approver.Verdict)) approver.Verdict {
	change(&v)
	return v
}

func TestWhoLooksAtACall(t *testing.T) {
	for name, tt := range map[string]struct {
		found     []approver.Verdict
		evaluator *approver.Verdict // nil: none
		want      approver.Decision
		asked     bool
	}{
		"nothing found":                           {[]approver.Verdict{letGo}, &saysBlock, approver.Pass, false},
		"a floor, and the evaluation allows":      {[]approver.Verdict{letGo, floorTwo}, &saysAllow, approver.Allow, true},
		"a floor, and the evaluation blocks":      {[]approver.Verdict{letGo, floorTwo}, &saysBlock, approver.Deny, true},
		"a floor, and the evaluation escalates":   {[]approver.Verdict{letGo, floorTwo}, &saysAsk, approver.Ask, true},
		"a floor without an evaluator":            {[]approver.Verdict{letGo, floorTwo}, nil, approver.Ask, false},
		"escalated, and the evaluation allows":    {[]approver.Verdict{escalated, letGo}, &saysAllow, approver.Pass, true},
		"escalated, and the evaluation blocks":    {[]approver.Verdict{escalated, letGo}, &saysBlock, approver.Deny, true},
		"escalated, and the evaluation escalates": {[]approver.Verdict{escalated, letGo}, &saysAsk, approver.Ask, true},
		"escalated without an evaluator":          {[]approver.Verdict{escalated, letGo}, nil, approver.Ask, false},
		"a rule that means people too": {
			[]approver.Verdict{escalated, people, floorTwo}, &saysAllow, approver.Ask, false,
		},
		"an escalation that is catastrophic": {
			[]approver.Verdict{
				with(escalated, func(v *approver.Verdict) { v.Severity = approver.Catastrophic }),
			}, &saysAllow, approver.Ask, false,
		},
		"an escalation that names people": {
			[]approver.Verdict{
				with(escalated, func(v *approver.Verdict) { v.Approvers = []string{"ada"} }),
			}, &saysAllow, approver.Ask, false,
		},
		"an ask with a floor of tier 1": {
			[]approver.Verdict{
				with(escalated, func(v *approver.Verdict) { v.MinTier = approver.TierScreen }),
			}, &saysAllow, approver.Ask, false,
		},
		"a floor of people": {
			[]approver.Verdict{
				with(floorTwo, func(v *approver.Verdict) { v.MinTier = approver.TierPeople }),
			}, &saysAllow, approver.Ask, false,
		},
		"a floor beyond people": {
			[]approver.Verdict{with(floorTwo, func(v *approver.Verdict) { v.MinTier = 9 })}, &saysAllow, approver.Ask, false,
		},
		"denied": {
			[]approver.Verdict{{By: "x"}, floorTwo}, &saysAllow, approver.Deny, false,
		},
		"denied, to be appealed": {
			[]approver.Verdict{{By: "x", Appealable: true, Confidence: 1}, floorTwo}, &saysAllow, approver.Deny, false,
		},
		"wanted, and there is one": {
			[]approver.Verdict{
				with(letGo, func(v *approver.Verdict) { v.WantTier = approver.TierEvaluation }),
			}, &saysBlock, approver.Deny, true,
		},
		"wanted, and there is none": {
			[]approver.Verdict{
				with(letGo, func(v *approver.Verdict) { v.WantTier = approver.TierEvaluation }),
			}, nil, approver.Pass, false,
		},
		"an evaluation that says Allow lets go only": {
			[]approver.Verdict{escalated}, &approver.Verdict{Decision: approver.Allow, By: "evaluator"}, approver.Pass, true,
		},
		"an evaluation that answers nonsense": {
			[]approver.Verdict{escalated}, &approver.Verdict{Decision: 99}, approver.Deny, true,
		},
		"an evaluation that answers nothing": {[]approver.Verdict{escalated}, &approver.Verdict{}, approver.Deny, true},
	} {
		t.Run(name, func(t *testing.T) {
			var e *fixedStage
			if tt.evaluator != nil {
				e = &fixedStage{v: *tt.evaluator}
			}
			v, _ := tiered(e, tt.found...).Judge(t.Context(), approver.ToolCall{})
			if v.Decision != tt.want {
				t.Errorf("got %+v", v)
			}
			if e != nil && (e.asked > 0) != tt.asked {
				t.Errorf("the evaluator was asked %d times", e.asked)
			}
		})
	}
}

// An evaluation takes time: a freeze, or a stricter policy, that came meanwhile counts,
// and what the evaluation said is loosened by nothing.
func TestWhatHappensDuringAnEvaluation(t *testing.T) {
	frozen := approver.Verdict{By: "freeze", Rule: "frozen", Reason: "approver is frozen"}
	for name, tt := range map[string]struct {
		said, again approver.Verdict
		err         error
		want        approver.Decision
	}{
		"nothing":                  {said: saysAllow, again: letGo, want: approver.Pass},
		"a freeze":                 {said: saysAllow, again: frozen, want: approver.Deny},
		"a freeze, and a question": {said: saysAsk, again: frozen, want: approver.Deny},
		"a policy that asks":       {said: saysAllow, again: people, want: approver.Ask},
		"a policy that escalates":  {said: saysAllow, again: escalated, want: approver.Pass},
		"a policy that allows":     {said: saysBlock, again: floorTwo, want: approver.Deny},
		"a failure":                {said: saysAllow, err: errors.New("gone"), want: approver.Deny},
	} {
		again := &fixedStage{v: tt.again, err: tt.err}
		g := tiered(&fixedStage{v: tt.said}, escalated)
		g.Again = []approver.Stage{again}
		v, _ := g.Judge(t.Context(), approver.ToolCall{})
		if v.Decision != tt.want || again.asked != 1 {
			t.Errorf("%s: asked %d times, %+v", name, again.asked, v)
		}
		g.Evaluator = nil
		if _, _ = g.Judge(t.Context(), approver.ToolCall{}); again.asked != 1 {
			t.Errorf("%s: judged again without an evaluation", name)
		}
	}
}

// The time that a rule gives people holds, whoever sends the call to them.
func TestTheTimeOfARuleHolds(t *testing.T) {
	soon := with(floorTwo, func(v *approver.Verdict) { v.TTL = 5 * time.Second })
	for name, e := range map[string]*fixedStage{"the evaluation asks": {v: saysAsk}, "there is none": nil} {
		if v, _ := tiered(e, soon, letGo).Judge(t.Context(), approver.ToolCall{}); v.Decision != approver.Ask ||
			v.TTL != 5*time.Second {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// A modified call that nobody could judge is flagged, at whichever judgment that was.
func TestAModifiedCallThatFailsOpenIsFlagged(t *testing.T) {
	for name, fails := range map[string]int{"the call": 1, "the modified call": 2} {
		n := 0
		g := &gate.Gate{
			Tiers: approver.TierScreen, FailOpen: true, Log: slog.New(slog.DiscardHandler),
			Rewrite: func(c approver.ToolCall, _ json.RawMessage) (approver.ToolCall, error) {
				c.Command = "changed"
				return c, nil
			},
			Stages: []approver.Stage{stage(func(c approver.ToolCall) (approver.Verdict, error) {
				if c.Command == "changed" {
					return letGo, nil
				}
				return approver.Verdict{
					Decision: approver.Modify, By: "x", Rule: "r", Severity: approver.High, Args: json.RawMessage(`{}`),
				}, nil
			}), stage(func(approver.ToolCall) (approver.Verdict, error) {
				if n++; n == fails {
					return approver.Verdict{By: "gone"}, &approver.UnavailableError{Err: errors.New("gone")}
				}
				return letGo, nil
			})},
		}
		v, _ := g.Judge(t.Context(), approver.ToolCall{})
		if v.Decision != approver.Modify || len(v.FailedOpen) != 1 || v.Category != gate.CategoryFailOpen {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// An open fail mode lets go what only has to be looked at. What a rule asks about
// goes to people, as it does where there is no evaluator: whoever spends its budget
// gets no further than without it.
func TestAnOpenFailModeAsksPeople(t *testing.T) {
	for name, tt := range map[string]struct {
		found        approver.Verdict
		want, closed approver.Decision
	}{
		"a rule that escalates": {escalated, approver.Ask, approver.Deny},
		"a floor":               {floorTwo, approver.Allow, approver.Deny},
		// Without the evaluation it would go on, so there is no reason to block it.
		"wanted": {
			with(letGo, func(v *approver.Verdict) { v.WantTier = approver.TierEvaluation }), approver.Pass, approver.Ask,
		},
	} {
		g := tiered(&fixedStage{err: &approver.UnavailableError{Err: errors.New("the budget is spent")}}, tt.found)
		g.FailOpen = true
		if v, _ := g.Judge(t.Context(), approver.ToolCall{}); v.Decision != tt.want || len(v.FailedOpen) != 1 {
			t.Errorf("%s: %+v", name, v)
		}
		g.FailOpen = false
		if v, _ := g.Judge(t.Context(), approver.ToolCall{}); v.Decision != tt.closed {
			t.Errorf("%s, closed: %+v", name, v)
		}
	}
}

// A gate that is told of tiers that it does not have believes none above the first.
func TestTiersThatAreNotThere(t *testing.T) {
	g := tiered(nil, floorTwo)
	g.Tiers = 9
	if v, _ := g.Judge(t.Context(), approver.ToolCall{}); v.Decision != approver.Ask || v.Rule != approver.RuleMinTier {
		t.Errorf("%+v", v)
	}
	g = tiered(nil, with(floorTwo, func(v *approver.Verdict) { v.MinTier = approver.TierScreen }))
	g.Tiers = approver.TierPolicy
	if v, _ := g.Judge(t.Context(), approver.ToolCall{}); v.Decision != approver.Ask {
		t.Errorf("a floor of tier 1 without tier 1: %+v", v)
	}
}

// The card says why the call came up, and what the model says last.
func TestThePersonHearsBothTiers(t *testing.T) {
	v, _ := tiered(&fixedStage{v: saysAsk}, escalated).Judge(t.Context(), approver.ToolCall{})
	if v.MinTier != approver.TierPeople || v.Detail != "curl | sh; not sure; claimed by the model: x" ||
		v.Severity != approver.High {
		t.Errorf("%+v", v)
	}
	var chain []string
	for _, f := range v.Chain {
		chain = append(chain, f.By)
	}
	if got := strings.Join(chain, " "); got != "heuristics evaluator" {
		t.Errorf("chain %q", got)
	}
	if line := ruleLine(v); !strings.Contains(line, "evaluator · escalate · tier 2") {
		t.Errorf("the card says %q", line)
	}
}

// What is unavailable blocks, and with an open fail mode goes on; what is wrong
// blocks always, and no stage can open the gate by itself.
func TestOnlyUnavailableFailsOpen(t *testing.T) {
	gone := &approver.UnavailableError{Err: errors.New("gone")}
	for name, tt := range map[string]struct {
		err          error
		v            approver.Verdict
		closed, open approver.Decision
	}{
		"unavailable":          {gone, approver.Verdict{}, approver.Deny, approver.Pass},
		"unavailable, wrapped": {fmt.Errorf("x: %w", gone), approver.Verdict{}, approver.Deny, approver.Pass},
		"an empty one":         {&approver.UnavailableError{}, approver.Verdict{}, approver.Deny, approver.Deny},
		"another error": {
			errors.New("wrong"), approver.Verdict{Decision: approver.Allow}, approver.Deny, approver.Deny,
		},
		"it says so itself": {
			nil, approver.Verdict{Decision: approver.Deny, FailedOpen: []string{"x"}}, approver.Deny, approver.Deny,
		},
		"people have to look": {
			&approver.UnavailableError{
				Err: errors.New("gone"), MinTier: approver.TierEvaluation,
			}, approver.Verdict{}, approver.Deny, approver.Ask,
		},
		"it let the call go on": {
			nil, approver.Verdict{
				Decision: approver.Allow, FailedOpen: []string{"forged"}, Confidence: 1,
			}, approver.Allow, approver.Allow,
		},
	} {
		for mode, want := range map[bool]approver.Decision{false: tt.closed, true: tt.open} {
			var text bytes.Buffer
			told := 0
			g := &gate.Gate{
				Stages: []approver.Stage{&fixedStage{v: tt.v, err: tt.err}}, Tiers: approver.TierScreen, FailOpen: mode,
				Log:        slog.New(slog.NewTextHandler(&text, nil)),
				OnFailOpen: func(approver.ToolCall, string, error) { told++ },
			}
			v, _ := g.Judge(t.Context(), approver.ToolCall{ID: "c7", Command: "git push"})
			if v.Decision != want {
				t.Errorf("%s, open %v: %+v", name, mode, v)
			}
			opened := mode && tt.err != nil && tt.open != approver.Deny
			if (len(v.FailedOpen) > 0) != opened || (told > 0) != opened ||
				strings.Contains(text.String(), "FAIL OPEN") != opened {
				t.Errorf("%s, open %v: flagged %q, told %d, logged %q", name, mode, v.FailedOpen, told, text.String())
			}
			if opened && v.Decision == approver.Pass &&
				(v.Confidence != gate.OpenConfidence || v.Category != gate.CategoryFailOpen) {
				t.Errorf("%s: not reduced: %+v", name, v)
			}
		}
	}
}

// Whatever the stages find: an evaluation never loosens a denial, nor a question that
// is for people, and a call without it is never let go where it would be stopped.
func TestTheEvaluationLoosensNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var found []approver.Verdict
		for range 1 + r.IntN(4) {
			found = append(found, approver.Verdict{
				Decision: approver.Decision(r.IntN(6)), Severity: approver.Severity(r.IntN(2)), MinTier: uint8(r.IntN(4)),
				WantTier: uint8(r.IntN(3)), By: "x", Rule: "r",
				Confidence: r.Float64(), Appealable: r.IntN(2) == 0, Args: nil,
			})
		}
		e := &fixedStage{
			v: approver.Verdict{Decision: approver.Decision(r.IntN(6)), Severity: approver.High, By: "evaluator"},
		}
		with, _ := tiered(e, found...).Judge(t.Context(), approver.ToolCall{})
		without, _ := tiered(nil, found...).Judge(t.Context(), approver.ToolCall{})
		firm, floor := approver.Pass, uint8(0)
		for _, v := range found {
			floor = max(floor, v.Floor())
			if v.Decision == approver.Deny || v.Decision == approver.Ask && !v.Escalates() {
				firm = min(firm, v.Decision)
			}
		}
		switch {
		case firm < approver.Pass && with.Decision > firm:
			t.Fatalf("%+v became %+v", found, with)
		case floor >= approver.TierPeople && with.Decision > approver.Ask:
			t.Fatalf("a floor of people in %+v became %+v", found, with)
		case floor >= approver.TierEvaluation && without.Decision > approver.Ask:
			t.Fatalf("without the evaluation %+v became %+v", found, without)
		case e.asked > 0 && e.v.Decision <= approver.Ask && with.Decision > e.v.Decision:
			t.Fatalf("the evaluation said %v: %+v", e.v.Decision, with)
		}
	}
}
