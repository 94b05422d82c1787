package broadcaster

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The story: an agent was told to come back with its call, and the same call of another session came first
// and took the yes. The audit said that the call of the first session was released, which had been stopped,
// and named the one that ran nowhere. The same held for identical calls that had waited for one answer.
func TestTheRecordNamesTheCallThatWasReleased(t *testing.T) {
	of := func(c approver.ToolCall, session string) approver.ToolCall {
		c.Session = session
		return c
	}
	for name, c := range map[string]struct {
		play func(x *bench)
		want []string // of each event about the answer: call and session
	}{
		"parked": {func(x *bench) {
			<-x.askAsync(x.t.Context(), of(parkedCall("c1", 0), "S1"), approver.High)
			time.Sleep(time.Minute)
			x.tap(x.tg, 0, "1", true)
			<-x.askAsync(x.t.Context(), of(parkedCall("c2", 0), "S2"), approver.High)
		}, []string{"granted c1 S1", "approved c2 S2", "released c2 S2", "acked c2 S2"}},
		"the first has left": {func(x *bench) {
			first, leave := context.WithCancel(x.t.Context())
			x.askAsync(first, of(peerCall("c1", 1000), "S1"), approver.High)
			time.Sleep(2 * time.Second)
			second := x.askAsync(x.t.Context(), of(peerCall("c2", 1000), "S2"), approver.High)
			time.Sleep(2 * time.Second)
			leave()
			time.Sleep(WithdrawGrace + 2*time.Second)
			x.tap(x.tg, x.tg.count()-1, "1", true)
			<-second
		}, []string{"withdrawn c1 S1", "approved c2 S2", "released c2 S2", "acked c2 S2"}},
		"denied": {func(x *bench) {
			one := x.askAsync(x.t.Context(), of(peerCall("c1", 1000), "S1"), approver.High)
			time.Sleep(2 * time.Second)
			two := x.askAsync(x.t.Context(), of(peerCall("c2", 1000), "S2"), approver.High)
			time.Sleep(2 * time.Second)
			x.tap(x.tg, 0, "1", false)
			<-one
			<-two
		}, []string{"denied c1 S1", "denied c2 S2"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				x.tune(func(o *Options) { o.TTL = time.Hour })
				c.play(x)
				time.Sleep(time.Minute)
				synctest.Wait()
				var got []string
				x.audit.mu.Lock()
				for _, r := range x.audit.records {
					switch r.Event {
					case approver.EventAsked, approver.EventPosted, approver.EventParked:
					default:
						got = append(got, string(r.Event)+" "+r.Call.ID+" "+r.Call.Session)
					}
				}
				x.audit.mu.Unlock()
				slices.Sort(got)
				slices.Sort(c.want)
				if !slices.Equal(got, c.want) {
					t.Errorf("recorded is %q, want %q", got, c.want)
				}
			})
		})
	}
}
