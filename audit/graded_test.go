package audit

import (
	"strings"
	"testing"

	"approver.example"
)

// Everything was frozen, and the listing said "CATASTROPHIC" of each ls: a denial that no
// rule gave has the zero severity, which is the worst, and was shown as a finding. Now a
// severity is listed only where a rule gave one; the record stays as it was.
func TestNoSeverityWithoutAFinding(t *testing.T) {
	deny := func(by, rule string) *LineVerdict {
		return &LineVerdict{Decision: approver.Deny, By: by, Rule: rule, Severity: "CATASTROPHIC"}
	}
	for name, tt := range map[string]struct {
		verdict *LineVerdict
		want    bool
	}{
		"a freeze":          {deny("freeze", "frozen"), false},
		"asking failed":     {deny("gate", ""), false},
		"nobody there":      {deny("people", ""), false},
		"the zero verdict":  {&LineVerdict{Severity: "CATASTROPHIC"}, false},
		"the evaluator":     {deny("evaluator", "block"), false},
		"a bad answer":      {deny("evaluator", ""), false},
		"a rule":            {deny("reflex", "rm-root"), true},
		"the policy":        {deny("policy", "no-prod"), true},
		"a classifier":      {deny("classifier", "injection"), true},
		"people were asked": {&LineVerdict{Decision: approver.Ask, By: "policy", Severity: "CATASTROPHIC"}, true},
		"the evaluator asks": {&LineVerdict{Decision: approver.Ask, By: "evaluator", Rule: "escalate",
			Severity: "CATASTROPHIC"}, true},
		"a request's event": {nil, true},
	} {
		l := Line{Event: approver.EventVerdict, Decision: Blocked, Severity: "CATASTROPHIC", Summary: "ls",
			Verdict: tt.verdict}
		if got := l.Human(); strings.Contains(got, "CATASTROPHIC") != tt.want || !strings.Contains(got, "ls") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
