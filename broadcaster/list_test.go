package broadcaster

import (
	"errors"
	"testing"
	"testing/synctest"

	"approver.example"
)

// A request that is named by its id is answered where its cards go, by the
// people of that place, and approved only if it is HIGH.
func TestAnswerByID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		high, cat := x.askAsync(t.Context(), testCall("c1"), approver.High),
			x.askAsync(t.Context(), testCall("c2"), approver.Catastrophic)
		synctest.Wait()
		open, err := x.Requests.Open(t.Context())
		if err != nil || len(open) != 2 {
			t.Fatalf("%d open, %v", len(open), err)
		}
		if open[0].Verdict.Severity != approver.High {
			open[0], open[1] = open[1], open[0]
		}
		by := func(id, conversation, sender string, approve bool) approver.OutcomeKind {
			return x.Answers.Reply(t.Context(), approver.Reply{
				Channel: "telegram", Conversation: conversation, Sender: sender, Approve: approve, Method: approver.ByID,
				Request: id,
			}).Kind
		}
		for name, got := range map[string]approver.OutcomeKind{
			"elsewhere": by(open[0].ID, "X", "1", true), "no id": by("", "T", "1", true),
			"unknown": by("nothing", "T", "1", true),
		} {
			if got != approver.OutcomeUnknown {
				t.Errorf("%s: %v", name, got)
			}
		}
		if got := by(open[0].ID, "T", "9", true); got != approver.OutcomeRefused {
			t.Errorf("a stranger: %v", got)
		}
		if got := by(open[1].ID, "T", "1", true); got != approver.OutcomeNeedCode {
			t.Errorf("catastrophic by its id: %v", got)
		}
		if got := by(open[0].ID, "T", "1", true); got != approver.OutcomeApproved {
			t.Errorf("high by its id: %v", got)
		}
		if got := by(open[1].ID, "T", "2", false); got != approver.OutcomeDenied {
			t.Errorf("denied by its id: %v", got)
		}
		if a, b := (<-high).Decision, (<-cat).Decision; a != approver.Allow || b != approver.Deny {
			t.Errorf("%v, %v", a, b)
		}
		if open, err = x.Requests.Open(t.Context()); err != nil || len(open) != 0 {
			t.Errorf("still open: %+v, %v", open, err)
		}
	})
}

// A store that cannot list says so; nothing is taken for "nothing is open".
func TestListNeedsALister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBenchOn(t, kv, struct{ approver.KV }{kv})
		if _, err := x.Requests.Open(t.Context()); !errors.Is(err, ErrNoList) {
			t.Error(err)
		}
	})
}
