package broadcaster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// Every platform was down, and nobody could answer. Root read the call in a terminal,
// typed the code, and said yes. The cards that were still being tried gave up because the
// call had its answer, nobody had been shown one, and so the answered call was denied:
// "no approval channel could be reached".
func TestRootsYesOutlivesCardsThatNeverCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := always(step{err: busy(time.Second)})
		x := newRetried(t, newMemKV(), down, down)
		x.tune(func(o *Options) { o.Audit = slowAudit{o.Audit} })
		x.Approvers.Set(approver.People{{Channel: "elsewhere", ID: "9"}: {ID: "carol"}})
		verdict := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		open, err := x.Requests.Open(t.Context())
		if err != nil || len(open) != 1 {
			t.Fatalf("open: %d, %v", len(open), err)
		}
		if out := x.Answers.OwnerApproves(t.Context(), open[0].ID, 1); out.Kind != approver.OutcomeApproved &&
			out.Kind != approver.OutcomeRecorded {
			t.Errorf("root is told %+v", out)
		}
		if v := <-verdict; v.Decision != approver.Allow {
			t.Errorf("the agent is told %v: %s", v.Decision, v.Reason)
		}
	})
}

// A slowAudit takes a moment for each record, as a disk does.
type slowAudit struct{ approver.Recorder }

func (a slowAudit) Record(ctx context.Context, r approver.Record) (string, error) {
	time.Sleep(50 * time.Millisecond)
	return a.Recorder.Record(ctx, r)
}
