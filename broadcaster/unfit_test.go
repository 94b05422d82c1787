package broadcaster

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// An unfitKV is a store that may say that nothing new may be entrusted to it.
type unfitKV struct {
	*memKV
	is atomic.Bool
}

func (k *unfitKV) Fitness() (unfit, lossy error) {
	if k.is.Load() {
		return errors.New("it evicts"), nil
	}
	return nil, errors.New("it loses more than before")
}

// The story: Redis was set to evict while approver ran, and approver went on to put questions into it
// that could vanish, where its start would have refused. Now nobody is asked anything new; what waits is
// answered, and once the setting is mended people are asked again.
func TestNothingNewIsEntrustedToAnUnfitStore(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		kv := &unfitKV{memKV: x.kv}
		synctest.Wait()
		x.tune(func(o *Options) { o.Store = kv })
		waiting := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		kv.is.Store(true)
		v := <-x.askAsync(t.Context(), testCall("c2"), approver.High)
		if v.Decision != approver.Deny || !strings.Contains(v.Detail, "it evicts") || x.tg.count() != 1 {
			t.Errorf("%v, %q, %q, %d cards", v.Decision, v.Reason, v.Detail, x.tg.count())
		}
		x.tap(x.tg, 0, "1", true)
		if v := <-waiting; v.Decision != approver.Allow {
			t.Errorf("what waited got %v %q", v.Decision, v.Reason)
		}
		kv.is.Store(false)
		again := x.askAsync(t.Context(), testCall("c3"), approver.High)
		time.Sleep(time.Second)
		x.tap(x.tg, -1, "1", true)
		if v := <-again; v.Decision != approver.Allow {
			t.Errorf("once it is mended: %v %q", v.Decision, v.Reason)
		}
	})
}
