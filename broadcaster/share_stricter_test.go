package broadcaster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A call waited for the answer to a HIGH question, and its courier went. After the yes the
// agent sent its id again, where the call was CATASTROPHIC by then, or for Bob alone to
// approve, or another one by its arguments: it was given the yes to the milder question.
func TestASharedYesIsNotOneToAStricterQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		why  approver.Verdict
		runs bool
	}{
		"the same":     {approver.Verdict{Severity: approver.High}, true},
		"catastrophic": {approver.Verdict{Severity: approver.Catastrophic}, false},
		"for bob":      {approver.Verdict{Severity: approver.High, Approvers: []string{"bob"}}, false},
		"in discord":   {approver.Verdict{Severity: approver.High, Channels: []string{"discord"}}, false},
		"other args": {
			approver.Verdict{Severity: approver.High, Args: []byte(`{"command":"git push --dry-run"}`)}, false,
		},
		"of no severity": {approver.Verdict{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				ctx, die := context.WithCancel(t.Context())
				a := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
				synctest.Wait()
				b := x.askAsync(ctx, peerCall("b", 1000), approver.High)
				time.Sleep(5 * time.Second)
				die()
				<-b
				x.tap(x.tg, 0, "1", true)
				if v := <-a; v.Decision != approver.Allow {
					t.Fatalf("%+v", v)
				}
				time.Sleep(2 * time.Second)
				again, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				why := c.why
				why.Decision, why.By, why.Rule = approver.Ask, "policy", "r"
				if v := x.Ask(again, peerCall("b", 1000), why); (v.Decision == approver.Allow) != c.runs {
					t.Errorf("%v: %s", v.Decision, v.Reason)
				}
			})
		})
	}
}
