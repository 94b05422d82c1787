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

// The story: the commit of a yes was held up for a little more than examinedFor, as by a store that was
// away. So the call was examined again, after the last look, and that took a while. Somebody froze
// everything meanwhile, heard that it is done, and then the call ran. The look is the last thing now.
func TestAFreezeDuringTheSecondExamination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := newMemKV()
		kv := &awaitedKV{memKV: mem}
		x := newBenchOn(t, mem, kv)
		bind := x.Fingerprint
		acknowledged := make(chan time.Time, 1)
		x.tune(func(o *Options) {
			o.Fingerprint = func(ctx context.Context, c approver.ToolCall) (approver.Binding, error) {
				if kv.consumed.Load() && kv.once.CompareAndSwap(false, true) {
					go func() {
						_, err := x.Controls.Freeze(t.Context(), "op", "x")
						if err != nil {
							t.Error(err)
						}
						acknowledged <- time.Now()
					}()
					time.Sleep(300 * time.Millisecond) // hashes files
				}
				return bind(ctx, c)
			}
		})
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		go x.tap(x.tg, 0, "1", true)
		v := <-answer
		told := time.Now()
		var at time.Time
		select {
		case at = <-acknowledged:
		case <-time.After(time.Minute):
			t.Fatal("no second examination")
		}
		t.Logf("verdict %v, told %v after the acknowledgment", v.Decision, told.Sub(at))
		if v.Decision == approver.Allow && told.After(at) {
			t.Errorf("released %v after the freeze was acknowledged", told.Sub(at))
		}
	})
}

// An awaitedKV holds up the commit of a release, or some looks at the controls.
type awaitedKV struct {
	*memKV
	consumed, once atomic.Bool
	slow           atomic.Pointer[slowLooks]
}

// slowLooks are looks whose answers are on their way for long.
type slowLooks struct {
	left atomic.Int64
	act  func() // once, during the last of them
}

func (k *awaitedKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	released := strings.Contains(key, "}:req:") && strings.Contains(string(value), `"state":"consumed"`)
	if released && !k.consumed.Swap(true) && k.slow.Load() == nil {
		time.Sleep(examinedFor + 100*time.Millisecond)
	}
	return k.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep)
}

func (k *awaitedKV) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	value, rev, err := k.memKV.Get(ctx, key)
	if slow := k.slow.Load(); key == controlKey() && slow != nil {
		if left := slow.left.Add(-1); left >= 0 {
			if left == 0 {
				go slow.act()
			}
			time.Sleep(300 * time.Millisecond)
		}
	}
	return value, rev, err
}

// The same of a yes that lasts: its last look was as old as it was.
func TestAFreezeDuringTheUseOfAGrant(t *testing.T) {
	for looks := int64(1); looks <= maxLooks; looks++ { // the first is before the use is stored
		synctest.Test(t, func(t *testing.T) {
			mem := newMemKV()
			kv := &awaitedKV{memKV: mem}
			kv.consumed.Store(true)
			x := newBenchOn(t, mem, kv)
			first := x.askAsync(t.Context(), testCall("c1"), approver.High)
			synctest.Wait()
			if out := x.command(0, "/approve CODE 60m"); out.Kind != approver.OutcomeApproved {
				t.Fatalf("%+v", out)
			}
			<-first
			time.Sleep(time.Minute + 2*recentFor) // not when something else looks
			acknowledged := make(chan time.Time, 1)
			slow := &slowLooks{act: func() {
				_, _ = x.Controls.Freeze(x.t.Context(), "op", "x")
				acknowledged <- time.Now()
			}}
			slow.left.Store(looks)
			kv.slow.Store(slow)
			v := <-x.askAsync(t.Context(), testCall("c2"), approver.High)
			told := time.Now()
			if at := <-acknowledged; v.Decision == approver.Allow && told.After(at) {
				t.Errorf("%d slow looks: released %v after the freeze was acknowledged", looks, told.Sub(at))
			}
		})
	}
}
