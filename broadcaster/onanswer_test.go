package broadcaster

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"approver.example"
)

// Whoever learns from answers hears of each yes and no of a person, once it is in the audit;
// and of nothing that silence or an audit that fails decides.
func TestOnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		answer, yes, failing bool
		want                 []approver.Event
	}{
		"a yes":               {answer: true, yes: true, want: []approver.Event{approver.EventApproved}},
		"a no":                {answer: true, want: []approver.Event{approver.EventDenied}},
		"silence":             {},
		"an audit that fails": {answer: true, yes: true, failing: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			defer x.stop()
			var heard []approver.Event
			x.OnAnswer = func(_ context.Context, r approver.Record) {
				heard = append(heard, r.Event)
				if n := x.count(r.Event); n != 1 {
					t.Errorf("%s: %d records", name, n)
				}
			}
			answer := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
			synctest.Wait()
			if c.failing {
				x.audit.failing(approver.EventApproved)
			}
			if c.answer {
				x.tap(x.tg, 0, "1", c.yes)
			}
			<-answer
			synctest.Wait()
			if !slices.Equal(heard, c.want) {
				t.Errorf("%s: heard %v, want %v", name, heard, c.want)
			}
		})
	}
}
