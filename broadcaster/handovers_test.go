package broadcaster

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A farKV takes two milliseconds for each operation, as a store over a network does.
type farKV struct{ *memKV }

func (s farKV) Get(ctx context.Context, k string) ([]byte, approver.Rev, error) {
	time.Sleep(2 * time.Millisecond)
	return s.memKV.Get(ctx, k)
}

func (s farKV) PutBefore(
	ctx context.Context, before time.Time, k string, v []byte, prev, next approver.Rev, due, expires time.Time,
) error {
	time.Sleep(2 * time.Millisecond)
	return s.memKV.PutBefore(ctx, before, k, v, prev, next, due, expires)
}

func (s farKV) Now(ctx context.Context) (time.Time, error) {
	time.Sleep(2 * time.Millisecond)
	return s.memKV.Now(ctx)
}

// Alice said yes to three identical calls, and was removed some milliseconds later. All three
// were denied, but she was told "Approved: 2 of 3 identical calls released to the agent":
// the first had been refused its yes by then, and the others were counted as those that may
// still take theirs.
func TestNobodyIsToldOfAReleaseThatMayStillBeRefused(t *testing.T) {
	refused := 0
	for ms := range 40 {
		synctest.Test(t, func(t *testing.T) {
			kv := newMemKV()
			x := newBenchOn(t, kv, farKV{kv})
			var out []<-chan approver.Verdict
			for i := range 3 {
				c := testCall(fmt.Sprint("c", i))
				c.Peer = approver.Peer{Known: true, UID: 1000}
				out = append(out, x.askAsync(t.Context(), c, approver.High))
				time.Sleep(300 * time.Millisecond)
			}
			time.Sleep(5 * time.Second)
			removed := make(chan struct{})
			go func() {
				defer close(removed)
				time.Sleep(time.Duration(ms) * time.Millisecond)
				_, _ = x.Removals.Remove(t.Context(), Removal{Person: "alice", By: "uid 7"})
			}()
			o := x.tap(x.tg, -1, "1", true)
			<-removed
			ran := 0
			for _, verdict := range out {
				if v := <-verdict; v.Decision == approver.Allow {
					ran++
				}
			}
			if ran == 0 {
				refused++
				if o.Kind == approver.OutcomeApproved {
					t.Errorf("removed after %d ms: no call ran, and she was told %q", ms, o.Text)
				}
			}
		})
	}
	if refused == 0 {
		t.Error("no delay had all calls refused: the test shows nothing")
	}
}
