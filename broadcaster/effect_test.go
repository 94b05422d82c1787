package broadcaster

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A delayedKV is a store whose answer about the controls is on its way for a while.
type delayedKV struct {
	*memKV
	far      time.Duration
	consumed atomic.Bool            // a yes was released
	act      atomic.Pointer[func()] // once, right after the next look at the controls
}

func (k *delayedKV) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	value, rev, err := k.memKV.Get(ctx, key)
	if key == controlKey() && k.consumed.Swap(false) {
		if act := k.act.Swap(nil); act != nil {
			go (*act)()
		}
		time.Sleep(k.far)
	}
	return value, rev, err
}

func (k *delayedKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	err := k.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep)
	if strings.Contains(key, "}:req:") && strings.Contains(string(value), `"state":"consumed"`) {
		k.consumed.Store(true)
	}
	return err
}

// The story: a release looked at the controls, and its answer was on its way while somebody froze
// everything, or removed the person who had said yes. They heard that it is done, and a moment later
// the call ran. Now they hear of it once every such release has its yes; one that is on its way for
// longer looks again.
func TestNothingIsReleasedOnceAFreezeIsAcknowledged(t *testing.T) {
	for name, act := range map[string]func(x *bench){
		"freeze": func(x *bench) { _, _ = x.Controls.Freeze(x.t.Context(), "op", "x") },
		"hold": func(x *bench) {
			who := Who{Peer: approver.Peer{Known: true, UID: 1000}, Agent: "claude", Project: "/repo"}
			_, _ = x.Controls.Hold(x.t.Context(), who, "op", "x")
		},
		"removal": func(x *bench) { removeAlice(x.t, x.Broadcaster) },
	} {
		for _, far := range []time.Duration{0, lookAgainAfter - 1, lookAgainAfter, lookAgainAfter + 1, time.Second} {
			t.Run(name+" "+far.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					kv := &delayedKV{memKV: newMemKV(), far: far}
					x := newBenchOn(t, kv.memKV, kv)
					acknowledged := make(chan time.Time, 1)
					call := testCall("c1")
					call.Peer = approver.Peer{Known: true, UID: 1000}
					answer := x.askAsync(t.Context(), call, approver.High)
					time.Sleep(time.Second)
					act := func() { act(x); acknowledged <- time.Now() }
					kv.act.Store(&act)
					x.tap(x.tg, 0, "1", true)
					v := <-answer
					told := time.Now()
					if at := <-acknowledged; v.Decision == approver.Allow && told.After(at) {
						t.Errorf("released %v after it was acknowledged", told.Sub(at))
					}
				})
			})
		}
	}
}
