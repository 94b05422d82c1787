package approver

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
)

// fixedStage is a stage with an answer, which counts how often it is asked.
type fixedStage struct {
	v     Verdict
	err   error
	asked int
}

func (s *fixedStage) Judge(context.Context, ToolCall) (Verdict, error) {
	s.asked++
	return s.v, s.err
}

// tiered is a gate of tier 1 with the given findings and an evaluator.
func tiered(evaluator *fixedStage, found ...Verdict) *Gate {
	g := &Gate{Tiers: TierScreen, Log: slog.New(slog.DiscardHandler)}
	if evaluator != nil {
		g.Evaluator = evaluator
	}
	for _, v := range found {
		g.Stages = append(g.Stages, &fixedStage{v: v})
	}
	return g
}

var (
	letGo     = Verdict{Decision: Pass, By: "policy", Severity: High}
	floorTwo  = Verdict{Decision: Allow, By: "policy", Rule: "push", Severity: High, MinTier: TierEvaluation, Confidence: 1}
	escalated = Verdict{Decision: Ask, By: "heuristics", Rule: "XP-005", Tier: TierScreen, Severity: High, MinTier: TierEvaluation, Reason: "a download is run", Detail: "curl | sh"}
	people    = Verdict{Decision: Ask, By: "reflex", Rule: "force_push", Severity: High, Reason: "history is lost"}
	saysAllow = Verdict{Decision: Pass, By: "evaluator", Rule: "allow", Tier: TierEvaluation, Severity: High, Confidence: 0.9}
	saysBlock = Verdict{Decision: Deny, By: "evaluator", Rule: "block", Tier: TierEvaluation, Severity: High, Confidence: 0.9}
	saysAsk   = Verdict{Decision: Ask, By: "evaluator", Rule: "escalate", Tier: TierEvaluation, Severity: High, Detail: "not sure; claimed by the model: x"}
)

func with(v Verdict, change func(*Verdict)) Verdict {
	change(&v)
	return v
}

func TestWhoLooksAtACall(t *testing.T) {
	for name, tt := range map[string]struct {
		found     []Verdict
		evaluator *Verdict // nil: none
		want      Decision
		asked     bool
	}{
		"nothing found":                              {[]Verdict{letGo}, &saysBlock, Pass, false},
		"a floor, and the evaluation allows":         {[]Verdict{letGo, floorTwo}, &saysAllow, Allow, true},
		"a floor, and the evaluation blocks":         {[]Verdict{letGo, floorTwo}, &saysBlock, Deny, true},
		"a floor, and the evaluation escalates":      {[]Verdict{letGo, floorTwo}, &saysAsk, Ask, true},
		"a floor without an evaluator":               {[]Verdict{letGo, floorTwo}, nil, Ask, false},
		"escalated, and the evaluation allows":       {[]Verdict{escalated, letGo}, &saysAllow, Pass, true},
		"escalated, and the evaluation blocks":       {[]Verdict{escalated, letGo}, &saysBlock, Deny, true},
		"escalated, and the evaluation escalates":    {[]Verdict{escalated, letGo}, &saysAsk, Ask, true},
		"escalated without an evaluator":             {[]Verdict{escalated, letGo}, nil, Ask, false},
		"a rule that means people too":               {[]Verdict{escalated, people, floorTwo}, &saysAllow, Ask, false},
		"an escalation that is catastrophic":         {[]Verdict{with(escalated, func(v *Verdict) { v.Severity = Catastrophic })}, &saysAllow, Ask, false},
		"an escalation that names people":            {[]Verdict{with(escalated, func(v *Verdict) { v.Approvers = []string{"ada"} })}, &saysAllow, Ask, false},
		"an ask with a floor of tier 1":              {[]Verdict{with(escalated, func(v *Verdict) { v.MinTier = TierScreen })}, &saysAllow, Ask, false},
		"a floor of people":                          {[]Verdict{with(floorTwo, func(v *Verdict) { v.MinTier = TierPeople })}, &saysAllow, Ask, false},
		"a floor beyond people":                      {[]Verdict{with(floorTwo, func(v *Verdict) { v.MinTier = 9 })}, &saysAllow, Ask, false},
		"denied":                                     {[]Verdict{{By: "x"}, floorTwo}, &saysAllow, Deny, false},
		"denied, to be appealed":                     {[]Verdict{{By: "x", Appealable: true, Confidence: 1}, floorTwo}, &saysAllow, Deny, false},
		"wanted, and there is one":                   {[]Verdict{with(letGo, func(v *Verdict) { v.WantTier = TierEvaluation })}, &saysBlock, Deny, true},
		"wanted, and there is none":                  {[]Verdict{with(letGo, func(v *Verdict) { v.WantTier = TierEvaluation })}, nil, Pass, false},
		"an evaluation that says Allow lets go only": {[]Verdict{escalated}, &Verdict{Decision: Allow, By: "evaluator"}, Pass, true},
		"an evaluation that answers nonsense":        {[]Verdict{escalated}, &Verdict{Decision: 99}, Deny, true},
		"an evaluation that answers nothing":         {[]Verdict{escalated}, &Verdict{}, Deny, true},
	} {
		t.Run(name, func(t *testing.T) {
			var e *fixedStage
			if tt.evaluator != nil {
				e = &fixedStage{v: *tt.evaluator}
			}
			v, _ := tiered(e, tt.found...).Judge(t.Context(), ToolCall{})
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
	frozen := Verdict{By: "freeze", Rule: "frozen", Reason: "approver is frozen"}
	for name, tt := range map[string]struct {
		said, again Verdict
		err         error
		want        Decision
	}{
		"nothing":                  {said: saysAllow, again: letGo, want: Pass},
		"a freeze":                 {said: saysAllow, again: frozen, want: Deny},
		"a freeze, and a question": {said: saysAsk, again: frozen, want: Deny},
		"a policy that asks":       {said: saysAllow, again: people, want: Ask},
		"a policy that escalates":  {said: saysAllow, again: escalated, want: Pass},
		"a policy that allows":     {said: saysBlock, again: floorTwo, want: Deny},
		"a failure":                {said: saysAllow, err: errors.New("gone"), want: Deny},
	} {
		again := &fixedStage{v: tt.again, err: tt.err}
		g := tiered(&fixedStage{v: tt.said}, escalated)
		g.Again = []Stage{again}
		v, _ := g.Judge(t.Context(), ToolCall{})
		if v.Decision != tt.want || again.asked != 1 {
			t.Errorf("%s: asked %d times, %+v", name, again.asked, v)
		}
		g.Evaluator = nil
		if _, _ = g.Judge(t.Context(), ToolCall{}); again.asked != 1 {
			t.Errorf("%s: judged again without an evaluation", name)
		}
	}
}

// The time that a rule gives people holds, whoever sends the call to them.
func TestTheTimeOfARuleHolds(t *testing.T) {
	soon := with(floorTwo, func(v *Verdict) { v.TTL = 5 * time.Second })
	for name, e := range map[string]*fixedStage{"the evaluation asks": {v: saysAsk}, "there is none": nil} {
		if v, _ := tiered(e, soon, letGo).Judge(t.Context(), ToolCall{}); v.Decision != Ask || v.TTL != 5*time.Second {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// A modified call that nobody could judge is flagged, at whichever judgement that was.
func TestAModifiedCallThatFailsOpenIsFlagged(t *testing.T) {
	for name, fails := range map[string]int{"the call": 1, "the modified call": 2} {
		n := 0
		g := &Gate{
			Tiers: TierScreen, FailOpen: true, Log: slog.New(slog.DiscardHandler),
			Rewrite: func(c ToolCall, _ json.RawMessage) (ToolCall, error) { c.Command = "changed"; return c, nil },
			Stages: []Stage{stage(func(c ToolCall) (Verdict, error) {
				if c.Command == "changed" {
					return letGo, nil
				}
				return Verdict{Decision: Modify, By: "x", Rule: "r", Severity: High, Args: json.RawMessage(`{}`)}, nil
			}), stage(func(ToolCall) (Verdict, error) {
				if n++; n == fails {
					return Verdict{By: "gone"}, &UnavailableError{Err: errors.New("gone")}
				}
				return letGo, nil
			})},
		}
		v, _ := g.Judge(t.Context(), ToolCall{})
		if v.Decision != Modify || len(v.FailedOpen) != 1 || v.Category != CategoryFailOpen {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// An open fail mode lets go what only has to be looked at. What a rule asks about
// goes to people, as it does where there is no evaluator: whoever spends its budget
// gets no further than without it.
func TestAnOpenFailModeAsksPeople(t *testing.T) {
	for name, tt := range map[string]struct {
		found        Verdict
		want, closed Decision
	}{
		"a rule that escalates": {escalated, Ask, Deny}, "a floor": {floorTwo, Allow, Deny},
		// Without the evaluation it would go on, so there is no reason to block it.
		"wanted": {with(letGo, func(v *Verdict) { v.WantTier = TierEvaluation }), Pass, Ask},
	} {
		g := tiered(&fixedStage{err: &UnavailableError{Err: errors.New("the budget is spent")}}, tt.found)
		g.FailOpen = true
		if v, _ := g.Judge(t.Context(), ToolCall{}); v.Decision != tt.want || len(v.FailedOpen) != 1 {
			t.Errorf("%s: %+v", name, v)
		}
		g.FailOpen = false
		if v, _ := g.Judge(t.Context(), ToolCall{}); v.Decision != tt.closed {
			t.Errorf("%s, closed: %+v", name, v)
		}
	}
}

// A gate that is told of tiers that it does not have believes none above the first.
func TestTiersThatAreNotThere(t *testing.T) {
	g := tiered(nil, floorTwo)
	g.Tiers = 9
	if v, _ := g.Judge(t.Context(), ToolCall{}); v.Decision != Ask || v.Rule != RuleMinTier {
		t.Errorf("%+v", v)
	}
	g = tiered(nil, with(floorTwo, func(v *Verdict) { v.MinTier = TierScreen }))
	g.Tiers = TierPolicy
	if v, _ := g.Judge(t.Context(), ToolCall{}); v.Decision != Ask {
		t.Errorf("a floor of tier 1 without tier 1: %+v", v)
	}
}

// The card says why the call came up, and what the model says last.
func TestThePersonHearsBothTiers(t *testing.T) {
	v, _ := tiered(&fixedStage{v: saysAsk}, escalated).Judge(t.Context(), ToolCall{})
	if v.MinTier != TierPeople || v.Detail != "curl | sh; not sure; claimed by the model: x" || v.Severity != High {
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
	gone := &UnavailableError{Err: errors.New("gone")}
	for name, tt := range map[string]struct {
		err          error
		v            Verdict
		closed, open Decision
	}{
		"unavailable":           {gone, Verdict{}, Deny, Pass},
		"unavailable, wrapped":  {fmt.Errorf("x: %w", gone), Verdict{}, Deny, Pass},
		"an empty one":          {&UnavailableError{}, Verdict{}, Deny, Deny},
		"another error":         {errors.New("wrong"), Verdict{Decision: Allow}, Deny, Deny},
		"it says so itself":     {nil, Verdict{Decision: Deny, FailedOpen: []string{"x"}}, Deny, Deny},
		"people have to look":   {&UnavailableError{Err: errors.New("gone"), MinTier: TierEvaluation}, Verdict{}, Deny, Ask},
		"it let the call go on": {nil, Verdict{Decision: Allow, FailedOpen: []string{"forged"}, Confidence: 1}, Allow, Allow},
	} {
		for mode, want := range map[bool]Decision{false: tt.closed, true: tt.open} {
			var text bytes.Buffer
			told := 0
			g := &Gate{
				Stages: []Stage{&fixedStage{v: tt.v, err: tt.err}}, Tiers: TierScreen, FailOpen: mode, Log: slog.New(slog.NewTextHandler(&text, nil)),
				OnFailOpen: func(ToolCall, string, error) { told++ },
			}
			v, _ := g.Judge(t.Context(), ToolCall{ID: "c7", Command: "git push"})
			if v.Decision != want {
				t.Errorf("%s, open %v: %+v", name, mode, v)
			}
			opened := mode && tt.err != nil && tt.open != Deny
			if (len(v.FailedOpen) > 0) != opened || (told > 0) != opened || strings.Contains(text.String(), "FAIL OPEN") != opened {
				t.Errorf("%s, open %v: flagged %q, told %d, logged %q", name, mode, v.FailedOpen, told, text.String())
			}
			if opened && v.Decision == Pass && (v.Confidence != OpenConfidence || v.Category != CategoryFailOpen) {
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
		var found []Verdict
		for range 1 + r.IntN(4) {
			found = append(found, Verdict{
				Decision: Decision(r.IntN(6)), Severity: Severity(r.IntN(2)), MinTier: uint8(r.IntN(4)), WantTier: uint8(r.IntN(3)), By: "x", Rule: "r",
				Confidence: r.Float64(), Appealable: r.IntN(2) == 0, Args: nil,
			})
		}
		e := &fixedStage{v: Verdict{Decision: Decision(r.IntN(6)), Severity: High, By: "evaluator"}}
		with, _ := tiered(e, found...).Judge(t.Context(), ToolCall{})
		without, _ := tiered(nil, found...).Judge(t.Context(), ToolCall{})
		firm, floor := Pass, uint8(0)
		for _, v := range found {
			floor = max(floor, v.Floor())
			if v.Decision == Deny || v.Decision == Ask && !v.Escalates() {
				firm = min(firm, v.Decision)
			}
		}
		switch {
		case firm < Pass && with.Decision > firm:
			t.Fatalf("%+v became %+v", found, with)
		case floor >= TierPeople && with.Decision > Ask:
			t.Fatalf("a floor of people in %+v became %+v", found, with)
		case floor >= TierEvaluation && without.Decision > Ask:
			t.Fatalf("without the evaluation %+v became %+v", found, without)
		case e.asked > 0 && e.v.Decision <= Ask && with.Decision > e.v.Decision:
			t.Fatalf("the evaluation said %v: %+v", e.v.Decision, with)
		}
	}
}
