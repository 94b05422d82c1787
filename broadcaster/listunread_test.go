package broadcaster

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// One record in the store was damaged. approver grants list showed nothing at all, pending
// and status failed, and no text said how to be rid of it. Now the others are listed, the
// error names the one, and revoking it takes it away; a sound record is not taken away so.
func TestAnUnreadableRequestHidesNoOther(t *testing.T) {
	for name, value := range map[string]string{
		"no record": "{", "empty": "", "of a later version": `{"version":99}`, "not sealed": `{"id":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				x := newBench(t, kv)
				waiting := x.askAsync(t.Context(), testCall("c1"), approver.High)
				synctest.Wait()
				const broken = "0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11"
				now, err := kv.Now(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := kv.Put(t.Context(), approver.Key("req", broken), []byte(value), "", approver.NewRev(),
					now.Add(time.Hour), now.Add(48*time.Hour)); err != nil {
					t.Fatal(err)
				}
				open, err := x.Requests.Open(t.Context())
				if len(open) != 1 || !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), broken) {
					t.Fatalf("%d open, %v", len(open), err)
				}
				if _, err := x.Grants.List(t.Context()); !errors.Is(err, ErrIncomplete) {
					t.Errorf("grants: %v", err)
				}
				if err := x.Grants.Revoke(t.Context(), open[0].ID, "uid 1"); !errors.Is(err, ErrNoGrant) {
					t.Errorf("a sound request that is no grant: %v", err)
				}
				if err := x.Grants.Revoke(t.Context(), broken, "uid 1"); err != nil {
					t.Errorf("the broken one: %v", err)
				}
				time.Sleep(time.Second)
				if open, err = x.Requests.Open(t.Context()); len(open) != 1 || err != nil {
					t.Errorf("afterwards: %d open, %v", len(open), err)
				}
				x.Answers.Reply(t.Context(), approver.Reply{
					Channel: "telegram", Conversation: "T", Sender: "1", Method: approver.ByID, Request: open[0].ID,
				})
				<-waiting
			})
		})
	}
}
