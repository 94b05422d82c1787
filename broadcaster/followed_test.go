package broadcaster

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A lossyLog is a log whose disk loses some lines after they were taken.
type lossyLog struct {
	*memAudit
	lmu  sync.Mutex
	lose func(approver.Record) bool
}

func (l *lossyLog) Ready() error { return nil }

func (l *lossyLog) losing(f func(approver.Record) bool) {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	l.lose = f
}

func (l *lossyLog) Follow(r approver.Record) (approver.Written, error) {
	l.lmu.Lock()
	lost := l.lose != nil && l.lose(r)
	l.lmu.Unlock()
	if lost {
		return func(context.Context, bool) error { return errors.New("the disk was full") }, nil
	}
	_, err := l.Record(context.Background(), r)
	return func(context.Context, bool) error { return nil }, err
}

func losesLines(x *bench) *lossyLog {
	l := &lossyLog{memAudit: x.audit}
	x.tune(func(o *Options) { o.Audit = l })
	return l
}

func ofEvent(e ...approver.Event) func(approver.Record) bool {
	return func(r approver.Record) bool {
		for _, x := range e {
			if r.Event == x {
				return true
			}
		}
		return false
	}
}

// Two people tap within the time that it takes to examine a call. The second one left a release that never
// ended, and the cards waited for it.
func TestTwoYesesAtOnceLeaveNothingOpen(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		synctest.Wait()
		was := x.Fingerprint
		x.tune(func(o *Options) {
			o.Fingerprint = func(ctx context.Context, call approver.ToolCall) (approver.Binding, error) {
				time.Sleep(examineWithin / 2)
				return was(ctx, call)
			}
		})
		second := make(chan approver.Outcome, 1)
		first := make(chan approver.Outcome, 1)
		go func() { first <- x.tap(x.tg, 0, "1", true) }()
		time.Sleep(examineWithin / 5)
		go func() { second <- x.tap(x.dc, 0, "d2", true) }()
		<-answer
		if a, b := <-first, <-second; a.Kind != approver.OutcomeApproved || b.Kind != approver.OutcomeTooLate {
			t.Errorf("told %+v and %+v", a, b)
		}
		time.Sleep(10 * time.Minute)
		_, card := x.tg.card(0)
		r := x.loaded(card.Request)
		x.handovers.mu.Lock()
		n := len(x.handovers.of)
		x.handovers.mu.Unlock()
		if n != 0 || card.State != approver.Consumed || !r.Closed {
			t.Errorf("10 minutes later: %d handovers; the card shows %v, one tap %v; closed %v; audit %v", n, card.State,
				card.OneTap, r.Closed, x.audit.events(r.ID))
		}
	})
}

// A slowFollow is a log that takes a moment to take a record, as audit.Log does for up to 2*MaxBehind.
type slowFollow struct {
	*memAudit
	wait atomic.Bool
}

func (l *slowFollow) Ready() error { return nil }
func (l *slowFollow) Follow(r approver.Record) (approver.Written, error) {
	if r.Event == approver.EventApproved && l.wait.Load() {
		time.Sleep(900 * time.Millisecond)
	}
	_, err := l.Record(context.Background(), r)
	return func(context.Context, bool) error { return nil }, err
}

// The log is slow to take the record of a release, and people freeze everything meanwhile. The agent was told yes.
func TestAFreezeWhileTheLogTakesARecord(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		log := &slowFollow{memAudit: x.audit}
		log.wait.Store(true)
		x.tune(func(o *Options) { o.Audit = log })
		answer := x.askAsync(t.Context(), peerCall("c1", 1000), approver.High)
		time.Sleep(time.Second)
		go x.tap(x.tg, 0, "1", true)
		time.Sleep(100 * time.Millisecond)
		_, err := x.Controls.Freeze(x.t.Context(), "op", "x")
		frozen := time.Now()
		if v := <-answer; err == nil && v.Decision == approver.Allow {
			t.Errorf("allow %v after the freeze was acknowledged", time.Since(frozen))
		}
	})
}

// The store is away while an answer is to be stored, and a file of the call changes. The call ran as it was then.
func TestFilesThatChangeWhileAnAnswerWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &hookKV{memKV: newMemKV()}
		x := newBenchOn(t, kv.memKV, kv)
		x.files = map[string]string{"/repo/run.sh": "aa"}
		answer := x.askAsync(t.Context(), peerCall("c1", 1000), approver.High)
		time.Sleep(time.Second)
		var away atomic.Bool
		away.Store(true)
		kv.set(func() {
			kv.put = func(_ context.Context, key string, _ []byte, do func() error) error {
				if away.Load() && strings.Contains(key, "}:req:") {
					return approver.ErrAway
				}
				return do()
			}
		})
		var changed atomic.Bool
		synctest.Wait()
		was := x.Fingerprint
		x.tune(func(o *Options) {
			o.Fingerprint = func(ctx context.Context, call approver.ToolCall) (approver.Binding, error) {
				b, err := was(ctx, call)
				if changed.Load() {
					b.Fingerprint += "changed"
				}
				return b, err
			}
		})
		told := make(chan approver.Outcome, 1)
		go func() { told <- x.tap(x.tg, 0, "1", true) }()
		time.Sleep(time.Second)
		changed.Store(true)
		time.Sleep(10 * time.Second)
		away.Store(false)
		v := <-answer
		if v.Decision == approver.Allow {
			t.Errorf("the agent is told %v %q, 10 s after the file changed; person: %+v", v.Decision, v.Reason, <-told)
		}
	})
}

// The disk loses the lines of a release, and the daemon is off for days. The store had forgotten the request by
// then, and nobody could say that it ran.
func TestAReleaseThatTheLogLacksIsNotForgotten(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		l := losesLines(x)
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		l.losing(func(approver.Record) bool { return true })
		x.tap(x.tg, 0, "1", true)
		v := <-answer
		x.stop()
		time.Sleep(3 * 24 * time.Hour)
		y := newBench(t, x.kv)
		time.Sleep(time.Hour)
		t.Log(v.Decision)
		if v.Decision == approver.Allow && len(y.audit.all(approver.EventReleased)) == 0 {
			t.Errorf("the release is never in the log")
		}
	})
}

// The log lost the line of a question a minute ago. The release that came now was taken back for it, after the log
// had it: released and denied.
func TestAnOldLossDeniesNoRelease(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		l := losesLines(x)
		x.tune(func(o *Options) { o.SyncRelease = true })
		l.losing(ofEvent(approver.EventAsked))
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		l.losing(nil) // well again
		time.Sleep(time.Minute)
		x.tap(x.tg, 0, "1", true)
		v := <-answer
		time.Sleep(time.Minute)
		if v.Decision == approver.Deny && len(x.audit.all(approver.EventReleased)) > 0 {
			t.Errorf("the agent was denied, and the log says released")
		}
	})
}

// The log loses the line of a yes that waits for its call, which then never comes. The yes was in no log.
func TestAWaitingYesIsInTheLog(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		l := losesLines(x)
		<-x.askAsync(t.Context(), parkedCall("c1", 0), approver.High)
		time.Sleep(time.Second)
		l.losing(ofEvent(approver.EventGranted))
		out := x.tap(x.tg, 0, "1", true)
		time.Sleep(time.Second)
		l.losing(nil)
		id := x.audit.recorded()[0].Request
		t.Log(out.Text, x.loaded(id).Granted())
		time.Sleep(30 * time.Minute)
		if len(x.audit.all(approver.EventGranted)) == 0 {
			t.Errorf("30 minutes after the disk is well, the yes is not in the log")
		}
		time.Sleep(48 * time.Hour)
		if len(x.audit.all(approver.EventGranted)) == 0 {
			t.Errorf("the yes is never in the log")
		}
	})
}

// A card arrives between a release and the last look at it, which finds a freeze. The log had the release already.
func TestALateCardSaysNothingOfARelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &hookKV{memKV: newMemKV()}
		x := newBenchOn(t, kv.memKV, kv)
		slow := make(chan struct{})
		x.dc.onPost(func(context.Context) error { <-slow; return nil })
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.slowToExamine()
		var acted atomic.Bool
		kv.set(func() {
			kv.put = func(_ context.Context, key string, value []byte, do func() error) error {
				err := do()
				if strings.Contains(key, "}:req:") && strings.Contains(string(value), `"state":"consumed"`) &&
					!acted.Swap(true) {
					close(slow)
					time.Sleep(100 * time.Millisecond)
					_, _ = x.Controls.Freeze(t.Context(), "op", "x")
				}
				return err
			}
		})
		x.tap(x.tg, 0, "1", true)
		v := <-answer
		time.Sleep(time.Minute)
		if v.Decision == approver.Deny && len(x.audit.all(approver.EventReleased)) > 0 {
			t.Errorf("the agent was denied, and the log says released")
		}
	})
}

// A call takes its share of a yes, and people freeze everything before it has it. The log said that it was released.
func TestASharedReleaseIsSaidAfterTheLastLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &hookKV{memKV: newMemKV()}
		x := newBenchOn(t, kv.memKV, kv)
		a := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
		synctest.Wait()
		b := x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
		time.Sleep(5 * time.Second)
		var acted atomic.Bool
		kv.set(func() {
			kv.put = func(_ context.Context, key string, value []byte, do func() error) error {
				err := do()
				if strings.Contains(key, "}:req:") && strings.Contains(string(value), `"taken"`) &&
					!acted.Swap(true) {
					time.Sleep(100 * time.Millisecond) // the store is a little slow
					_, _ = x.Controls.Freeze(t.Context(), "op", "x")
				}
				return err
			}
		})
		x.tap(x.tg, 0, "1", true)
		va, vb := <-a, <-b
		time.Sleep(time.Minute)
		t.Log(va.Decision, vb.Decision)
		if vb.Decision == approver.Deny {
			for _, r := range x.audit.of("b") {
				if r.Event == approver.EventReleased {
					t.Errorf("b was denied, and the log says released")
				}
			}
		}
	})
}

// The store goes away between the taking of a shared yes and the last look: the call is denied. The log said later
// that it was released.
func TestASharedReleaseThatFailedIsNotSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &hookKV{memKV: newMemKV()}
		x := newBenchOn(t, kv.memKV, kv)
		a := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
		synctest.Wait()
		b := x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
		time.Sleep(5 * time.Second)
		var acted atomic.Bool
		kv.set(func() {
			kv.put = func(_ context.Context, key string, value []byte, do func() error) error {
				err := do()
				if strings.Contains(key, "}:req:") && strings.Contains(string(value), `"taken"`) && !acted.Swap(true) {
					kv.failing(func(string, string) error { return errors.New("away") })
					time.AfterFunc(20*time.Second, func() { kv.failing(nil) })
				}
				return err
			}
		})
		x.tap(x.tg, 0, "1", true)
		va, vb := <-a, <-b
		time.Sleep(5 * time.Minute)
		t.Log(va.Decision, vb.Decision, vb.Reason)
		if vb.Decision == approver.Deny {
			for _, r := range x.audit.of("b") {
				if r.Event == approver.EventReleased {
					t.Errorf("b was denied, and the log says released")
				}
			}
		}
	})
}

// A daemon whose log fails starts on a store where a yes waits that another one has recorded. It took that back.
func TestADaemonWithoutALogTakesNoYesBack(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		<-x.askAsync(t.Context(), parkedCall("c1", 0), approver.High)
		time.Sleep(time.Second)
		x.tap(x.tg, 0, "1", true)
		time.Sleep(time.Minute)
		y := newBench(t, x.kv)
		synctest.Wait()
		y.audit.mu.Lock()
		y.audit.records = nil
		y.audit.mu.Unlock()
		y.audit.failing(approver.EventGranted)
		y.history.mu.Lock()
		clear(y.history.of) // as at its start
		y.history.mu.Unlock()
		y.releases.resumeGrants(t.Context())
		time.Sleep(time.Minute)
		r := x.loaded(x.audit.recorded()[0].Request)
		if !r.Granted() {
			t.Errorf("the yes that is in the log of x is %v %v", r.State, r.Resolution.Cause)
		}
	})
}
