package evaluator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/shieldcore/evaluator"
)

// saying answers with one verdict after the other, and then with the last.
type saying struct {
	verdicts []approver.Verdict
	err      error
	asked    int
}

func (s *saying) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	s.asked++
	v := s.verdicts[0]
	if len(s.verdicts) > 1 {
		s.verdicts = s.verdicts[1:]
	}
	return v, s.err
}

// The story: a model objects. The agent sends the same call until it does not.
func TestObjectionsAreRemembered(t *testing.T) {
	allows := approver.Verdict{Decision: approver.Pass, By: evaluator.By, Rule: evaluator.RuleAllow,
		Severity: approver.High}
	command := func(args string) approver.ToolCall {
		return approver.ToolCall{Tool: "Bash", Command: "x", Args: json.RawMessage(args)}
	}
	tool := func(args string) approver.ToolCall {
		return approver.ToolCall{Tool: "mcp__x__y", Args: json.RawMessage(args)}
	}
	for name, tt := range map[string]struct {
		first       approver.Verdict
		err         error
		call, again approver.ToolCall
		after       time.Duration
		want        approver.Decision
	}{
		"a block": {first: approver.Verdict{Rule: evaluator.RuleBlock}, call: command(`{}`),
			again: command(`{}`), want: approver.Deny},
		"an escalation": {first: approver.Verdict{Decision: approver.Ask, Rule: evaluator.RuleEscalate},
			call: command(`{}`), again: command(`{}`), want: approver.Ask},
		"a canary": {first: approver.Verdict{Category: evaluator.CategoryCanary}, call: command(`{}`),
			again: command(`{}`), want: approver.Deny},
		"with another description": {first: approver.Verdict{Rule: evaluator.RuleBlock},
			call: command(`{"description":"a"}`), again: command(`{"description":"b"}`), want: approver.Deny},
		"by another agent elsewhere": {first: approver.Verdict{Rule: evaluator.RuleBlock}, call: command(`{}`),
			again: approver.ToolCall{Tool: "Bash", Command: "x", Agent: "other", Dir: "/d", Session: "s"}, want: approver.Deny},
		"an answer that was none": {first: approver.Verdict{Category: evaluator.CategoryAnswer}, call: command(`{}`),
			again: command(`{}`), want: approver.Pass},
		"an error": {first: approver.Verdict{Rule: evaluator.RuleBlock}, err: errors.New("gone"),
			call: command(`{}`), again: command(`{}`), want: approver.Pass},
		"another call": {first: approver.Verdict{Rule: evaluator.RuleBlock}, call: tool(`{"a":1}`),
			again: tool(`{"a":2}`), want: approver.Pass},
		"the same arguments": {first: approver.Verdict{Rule: evaluator.RuleBlock}, call: tool(`{"a":1}`),
			again: tool(`{ "a": 1 }`), want: approver.Deny},
		"just before the end": {first: approver.Verdict{Rule: evaluator.RuleBlock}, call: command(`{}`), again: command(`{}`),
			after: evaluator.RememberFor - 1, want: approver.Deny},
		"after a time": {first: approver.Verdict{Rule: evaluator.RuleBlock}, call: command(`{}`), again: command(`{}`),
			after: evaluator.RememberFor, want: approver.Pass},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &saying{verdicts: []approver.Verdict{tt.first, allows}, err: tt.err}
			r := &evaluator.Remembering{Stage: s}
			_, _ = r.Judge(t.Context(), tt.call)
			s.err = nil
			time.Sleep(tt.after)
			v, err := r.Judge(t.Context(), tt.again)
			if err != nil || v.Decision != tt.want || v.Decision < approver.Pass != (s.asked == 1) ||
				s.asked == 1 && !strings.Contains(v.Detail, "the same call") {
				t.Errorf("%s: asked %d times: %+v, %v", name, s.asked, v, err)
			}
		})
	}
	var none *evaluator.Remembering
	for _, r := range []*evaluator.Remembering{none, {}} {
		if v, err := r.Judge(t.Context(), command(`{}`)); err != nil || v.Decision != approver.Deny {
			t.Errorf("the zero value: %+v, %v", v, err)
		}
	}
}

// Consent is not remembered, and many objections do not fill the memory.
func TestConsentIsNotRemembered(t *testing.T) {
	s := &saying{verdicts: []approver.Verdict{{Decision: approver.Pass, Rule: evaluator.RuleAllow},
		{Rule: evaluator.RuleBlock}}}
	r := &evaluator.Remembering{Stage: s}
	if v, _ := r.Judge(t.Context(), bash("x")); v.Decision != approver.Pass {
		t.Errorf("%+v", v)
	}
	if v, _ := r.Judge(t.Context(), bash("x")); v.Decision != approver.Deny {
		t.Errorf("%+v", v)
	}
	for i := range 4000 {
		_, _ = r.Judge(t.Context(), bash(fmt.Sprint("y", i)))
	}
	s.verdicts = []approver.Verdict{{Decision: approver.Pass}}
	if v, _ := r.Judge(t.Context(), bash("x")); v.Decision != approver.Deny {
		t.Errorf("4000 others, and it is forgotten: %+v", v)
	}
}
