package reflexcore_test

import (
	"testing"

	"approver.example"
	"approver.example/configs"
)

// Each built-in rule finds its own examples, and leaves those alone that only look
// like them.
func TestRulesFindTheirExamples(t *testing.T) {
	rules, err := configs.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	e := engine(t)
	for _, r := range rules {
		for _, x := range r.Match {
			found := false
			for _, f := range e.Explain(x.Call()).Findings {
				found = found || f.Rule == r.ID
			}
			if !found {
				t.Errorf("%s: %s does not find its own example %+v", r.Where, r.ID, x)
			}
		}
		for _, x := range r.Pass {
			if v := e.Explain(x.Call()).Verdict; v.Decision != approver.Pass {
				t.Errorf("%s: %s: %+v should pass, and is %s by %s", r.Where, r.ID, x, v.Decision, v.Rule)
			}
		}
	}
}
