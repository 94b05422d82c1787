package reflexcore

import (
	"testing"

	"approver.example"
	"approver.example/internal/match"
)

// judgeInPart judges a command that is searched only in part, by one rule with the pattern a+b.
func judgeInPart(t *testing.T, rule Rule) (approver.Verdict, error) {
	t.Helper()
	rule.ID, rule.Category, rule.Reason, rule.Pattern = "a", "bulk", "r", "a+b"
	rule.Severity, rule.Confidence = approver.High, 1
	set, err := Compile([]Rule{rule})
	if err != nil {
		t.Fatal(err)
	}
	if set.patterns, err = match.New([]match.Pattern{{ID: "a", Expr: "a+b"}, {ID: "b", Expr: "x.*y.*z.*z"}},
		match.Limits{BuildWork: -1, MatchWork: 60}); err != nil {
		t.Fatal(err)
	}
	set.ofMatch = append(set.ofMatch, set.ofMatch[0])
	e, err := NewWith(set, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return e.Judge(t.Context(),
		approver.ToolCall{Tool: "Bash", Command: "echo aab xxxxxxxxxxyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyzzz"})
}

// A command whose text could not be searched to its end is asked about, also if a
// rule that was found merely warns, or is in shadow.
func TestAWarningHidesNoComplexity(t *testing.T) {
	for _, shadow := range []bool{false, true} {
		v, err := judgeInPart(t, Rule{Decision: approver.Warn, Shadow: shadow})
		if err != nil || v.Rule != "too_complex" || v.Decision != approver.Ask || v.Severity != approver.Catastrophic {
			t.Errorf("in shadow %v: %+v, %v", shadow, v, err)
		}
	}
}

// What is only partly searched takes the typed code, though what was found would
// take a button.
func TestAQuestionHidesNoComplexity(t *testing.T) {
	v, err := judgeInPart(t, Rule{Decision: approver.Ask})
	if err != nil || v.Decision != approver.Ask || v.Severity != approver.Catastrophic {
		t.Errorf("%+v, %v", v, err)
	}
}
