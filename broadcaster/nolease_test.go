package broadcaster

import (
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The story: three replicas stand behind a balancer, and Telegram brings each update to one of them. Two of them
// waited for a lease and refused what was brought. With an empty name each receives, and says so.
func TestAChannelWithoutALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, lease := newMemKV(), &oneLease{}
		for _, name := range []string{"a", "b", "c"} {
			b, w := wiredAs(t, kv, lease, name, "room", "ada", &wire{each: true})
			time.Sleep(10 * approver.LeaseTTL)
			s := b.Channels.State("wire")
			if w.runs != 1 || s.Solo || !s.Hearing().Here || s.Hearing().Elsewhere {
				t.Errorf("process %s: %d runs, %+v", name, w.runs, s)
			}
		}
	})
}
