package audit

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The story: a store was away for longer than an agent waits. Each call was denied when
// its time was over, and its record was refused because of that very time: two denied
// calls were in no audit. Now what releases nothing is recorded although nobody waits, and
// what would let a call go is not.
func TestADenialOutlivesItsCall(t *testing.T) {
	deny, pass := approver.Verdict{Reason: "no"}, approver.Verdict{Decision: approver.Pass}
	over := map[string]func(context.Context) (context.Context, context.CancelFunc){
		"the agent left": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		},
		"its time is over": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithDeadline(ctx, time.Unix(1, 0))
		},
	}
	for name, end := range over {
		o, _ := options(t)
		l := open(t, o)
		for _, c := range []struct {
			r     approver.Record
			taken bool
		}{
			{approver.Record{Event: approver.EventVerdict, Verdict: deny}, true},
			{approver.Record{Event: approver.EventDenied}, true},
			{approver.Record{Event: approver.EventExpired}, true},
			{approver.Record{Event: approver.EventWithdrawn}, true},
			{approver.Record{Event: approver.EventRefused}, true},
			{approver.Record{Event: approver.EventRan}, true},
			{approver.Record{Event: approver.EventResult}, true},
			{approver.Record{Event: approver.EventAlarm}, true},
			{approver.Record{Event: approver.EventFrozen}, true},
			{approver.Record{Event: approver.EventVerdict, Verdict: pass}, false},
			{approver.Record{Event: approver.EventVerdict, Verdict: approver.Verdict{Decision: approver.Allow}}, false},
			{approver.Record{Event: approver.EventVerdict, Verdict: approver.Verdict{Decision: approver.Warn}}, false},
			{approver.Record{Event: approver.EventVerdict, Verdict: approver.Verdict{Decision: approver.Modify}}, false},
			{approver.Record{Event: approver.EventApproved}, false},
			{approver.Record{Event: approver.EventReleased}, false},
			{approver.Record{Event: approver.EventGranted}, false},
			{approver.Record{Event: approver.EventGrantUsed}, false},
			{approver.Record{Event: approver.EventUnfrozen}, false},
			{approver.Record{}, false},
		} {
			ctx, cancel := end(t.Context())
			before := l.Head().Seq
			_, err := l.Record(ctx, c.r)
			cancel()
			if taken := err == nil && l.Head().Seq > before; taken != c.taken {
				t.Errorf("%s, %s %s: recorded %v: %v", name, c.r.Event, c.r.Verdict.Decision, taken, err)
			}
		}
		closeLog(t, l)
	}
}

// A disk that does not answer holds a denial up for some seconds and no longer, whether
// the call's time was over before or ends meanwhile.
func TestADenialDoesNotWaitForEver(t *testing.T) {
	for _, left := range []time.Duration{-time.Second, 0, time.Second, time.Minute} {
		o, _ := options(t)
		synctest.Test(t, func(t *testing.T) {
			o := o
			hangs := make(chan struct{})
			var stuck atomic.Bool
			o.sync = func(*os.File) error {
				if stuck.Load() {
					<-hangs
				}
				return nil
			}
			l := open(t, o)
			stuck.Store(true)
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			began := time.Now()
			_, err := l.Record(ctx, note("held up"))
			if took := time.Since(began); err == nil || took != max(left, 0)+stopGrace {
				t.Errorf("%v left: %v after %v", left, err, took)
			}
			close(hangs)
			closeLog(t, l)
		})
	}
}

// The alarm of an outage says how many denied calls have no record.
func TestAnOutageSaysHowManyCallsItLacks(t *testing.T) {
	for calls, want := range map[int]string{0: "denied: ", 1: "denied (1 of them is not in the audit): ",
		7: "denied (7 of them are not in the audit): "} {
		o, _ := options(t)
		synctest.Test(t, func(t *testing.T) {
			d := &disk{}
			o := o
			o.sync = d.sync
			l := open(t, o)
			record(t, l, note("before"))
			d.breaks(syscall.ENOSPC)
			if _, err := l.Record(t.Context(), approver.Record{Event: approver.EventAsked}); !errors.Is(err, ErrFailed) {
				t.Fatal(err)
			}
			for range calls {
				if _, err := l.Record(t.Context(), note("lost")); !errors.Is(err, ErrFailed) {
					t.Fatal(err)
				}
			}
			d.breaks(nil)
			time.Sleep(2 * healMost)
			record(t, l, note("again"))
			if a := l.Alarms(); len(a) != 1 || !strings.Contains(a[0], want) {
				t.Errorf("%d calls: %q", calls, a)
			}
			closeLog(t, l)
		})
	}
}
