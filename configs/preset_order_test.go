package configs_test

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/configs"
	"approver.example/reflexcore"
	"approver.example/shieldcore"
)

// orderedCalls are all calls of the rules' and the policies' examples and of the tables of tests.
func orderedCalls(t *testing.T) (calls []approver.ToolCall) {
	t.Helper()
	rules, err := configs.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		for _, list := range [][]reflexcore.Example{rule.Match, rule.Pass} {
			for _, x := range list {
				call := x.Call()
				call.Peer = approver.Peer{Known: true, UID: 1000}
				calls = append(calls, call)
			}
		}
	}
	for line := range strings.Lines(presetCalls + namedToolCalls + lossCalls) {
		if _, text, found := strings.Cut(strings.TrimSpace(line), "  "); found {
			calls = append(calls, exampleCall(strings.TrimSpace(text)))
		}
	}
	return calls
}

// The story: people took the permissive policy because the default asked too much, and were then
// asked about pushes to their own branches, which the default lets pass. A preset is stricter or
// milder than another on every call, or its name says nothing. The engine judges each call for all
// three policies, so that its verdict counts in each.
func TestPresetsAreInOrder(t *testing.T) {
	names := []string{"permissive", "default", "strict"}
	var policies []*shieldcore.Policy
	var engines []func(approver.ToolCall) approver.Verdict
	for _, name := range names {
		policy := preset(t, name)
		policies, engines = append(policies, policy), append(engines, verdictsOfEngine(t, policy.Warns))
	}
	calls := orderedCalls(t)
	if len(calls) < 1000 {
		t.Errorf("only %d calls", len(calls))
	}
	asked := map[string]int{}
	for _, call := range calls {
		last := approver.Verdict{Decision: approver.Allow, Severity: approver.High}
		for i, policy := range policies {
			v, err := policy.Judge(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			now := stricterOf(engines[i](call), v)
			if i > 0 && (now.Decision > last.Decision && last.Decision <= approver.Ask ||
				now.Decision == approver.Ask && last.Decision == approver.Ask && now.Severity > last.Severity) {
				t.Errorf("%s %s%s: %s says %v %v (%s), %s only %v %v (%s)", call.Tool, call.Command, call.Args, names[i-1],
					last.Decision, last.Severity, last.Rule, names[i], now.Decision, now.Severity, now.Rule)
			}
			last = now
			if now.Decision <= approver.Ask {
				asked[names[i]]++
			}
		}
	}
	if asked["strict"] > 3*asked["default"] {
		t.Errorf("strict interrupts more than three times as often as the default: %v", asked)
	}
	if asked["permissive"] >= asked["default"] {
		t.Errorf("permissive interrupts as often as the default: %v", asked)
	}
}

// stricterOf returns the stricter of two verdicts, and the more severe of two questions.
func stricterOf(a, b approver.Verdict) approver.Verdict {
	if b.Decision < a.Decision || b.Decision == a.Decision && b.Decision == approver.Ask && b.Severity < a.Severity {
		return b
	}
	return a
}

// verdictsOfEngine returns a function that judges calls by the built-in rules alone. warns says whose
// questions are warnings; nil: none.
func verdictsOfEngine(t *testing.T, warns func(rule string) bool) func(approver.ToolCall) approver.Verdict {
	t.Helper()
	engine := newEngine(t)
	engine.Warns = warns
	return func(call approver.ToolCall) approver.Verdict {
		v, err := engine.Judge(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
