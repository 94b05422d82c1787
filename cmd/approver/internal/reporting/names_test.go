package reporting

import (
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/daemon/daemontest"
)

// A week's decision rested on a zero: report printed reflex/git_force_push, took only
// git_force_push, and said of every other name that no rule asked anything. And it counted
// the calls of approver's own hook test as denied.
func TestReportTakesTheNamesThatItPrints(t *testing.T) {
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	was := approver.Record{Event: approver.EventVerdict, At: at,
		Call: approver.ToolCall{ID: "1", Agent: "claude", Session: "s", Tool: "Bash", Command: "git push --force"}}
	was.Verdict = approver.Verdict{Decision: approver.Ask, Severity: approver.High, By: "reflex", Rule: "git_force_push"}
	own := was
	own.Call.ID, own.Call.Command = "2", daemontest.CanaryCommand
	own.Verdict = approver.Verdict{Decision: approver.Deny, Severity: approver.High, By: canary.By}
	dir := daemontest.Recorded(t, was, own)
	for rule, want := range map[string]int{
		"": 1, "reflex/git_force_push": 1, "git_force_push": 1, "git.force_push": 0, "heuristics/git_force_push": 0,
		"reflex": 0, "reflex/": 0, "policy/git_force_push": 0, "hook-test": 0,
	} {
		r, err := Cmd{Rule: rule}.read(t.Context(), dir, at.Add(-time.Hour), time.Now().Add(time.Hour))
		if err != nil || r.Calls != want || r.Denies != 0 {
			t.Fatalf("%q: %+v, %v", rule, r, err)
		}
		r.about = Cmd{Rule: rule}.about()
		var out strings.Builder
		if err := r.print(t.Context(), &out, ""); err != nil {
			t.Fatal(err)
		}
		if none := strings.Contains(out.String(), "No call here is of rule "+rule+
			".\nRules that asked or denied something in this time: reflex/git_force_push\n"); none != (want == 0) {
			t.Errorf("%q:\n%s", rule, out.String())
		}
	}
}
