package broadcaster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// again asks with a call once more and returns what its courier is told.
func (x *bench) again(call approver.ToolCall) approver.Verdict {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 10*time.Minute)
	defer cancel()
	return <-x.askAsync(ctx, call, approver.High)
}

// count is how many records of an event there are.
func (x *bench) count(e approver.Event) (n int) {
	ids := map[string]bool{}
	for _, was := range x.audit.recorded() {
		if was.Event != e {
			continue
		}
		if was.Once == "" || !ids[was.Once] { // what is recorded twice counts once
			n++
		}
		ids[was.Once] = true
	}
	return n
}

// wrong reports what is not as it should be of an answer to a call that was
// released before.
func (x *bench) wrong(v approver.Verdict, want approver.Decision) {
	x.t.Helper()
	if v.Decision != want {
		x.t.Errorf("told %v (%s), want %v", v.Decision, v.Reason, want)
	}
	if got := x.count(approver.EventRepeated); (want == approver.Allow) != (got > 0) {
		x.t.Errorf("%d repetitions are in the audit, and the answer is %v", got, v.Decision)
	}
}

// restart stops the daemon for a while.
func (x *bench) restart(down time.Duration) *bench {
	x.t.Helper()
	x.stop()
	time.Sleep(down)
	next := newBench(x.t, x.kv)
	synctest.Wait()
	return next
}

// The story: an approved call's yes lay in the store for a day. Whoever sent the same
// call id and the same call again was told yes each time: after the courier had its
// answer, after a restart, after a freeze, and no line of the audit said so. Now a
// yes is read again for 15 seconds, until its courier acknowledges it, never after
// a freeze, and each time is in the audit before it is told.
func TestWaysToReadAYesTwice(t *testing.T) {
	asUser := func(uid uint32) approver.ToolCall {
		c := testCall("c1")
		c.Peer = approver.Peer{Known: true, UID: uid}
		return c
	}
	call := asUser(1000)
	ack := func(x *bench) {
		if err := x.Reports.Acknowledge(x.t.Context(), call.Peer, "c1"); err != nil {
			x.t.Error(err)
		}
	}
	freeze := func(x *bench) {
		time.Sleep(time.Second)
		if _, err := x.Controls.Freeze(x.t.Context(), "Ada", "test"); err != nil {
			x.t.Error(err)
		}
	}
	unfreeze := func(x *bench) {
		time.Sleep(time.Second)
		if err := x.Controls.Unfreeze(x.t.Context(), "Ada"); err != nil {
			x.t.Error(err)
		}
	}
	type way struct {
		name string
		do   func(x *bench) approver.Verdict
		want approver.Decision
	}
	after := func(d time.Duration, then ...func(*bench)) func(*bench) approver.Verdict {
		return func(x *bench) approver.Verdict {
			for _, f := range then {
				f(x)
			}
			time.Sleep(d)
			return x.again(call)
		}
	}
	later := func(d, down, up time.Duration, then ...func(*bench)) func(*bench) approver.Verdict {
		return func(x *bench) approver.Verdict {
			time.Sleep(d)
			next := x.restart(down)
			for _, f := range then {
				f(next)
			}
			time.Sleep(up)
			v := next.again(call)
			x.audit.join(next.audit)
			return v
		}
	}
	for _, w := range []way{
		{"at once", after(0), approver.Allow},
		{"after 14 s", after(14 * time.Second), approver.Allow},
		{"after 15 s", after(15 * time.Second), approver.Deny},
		{"after 16 s", after(16 * time.Second), approver.Deny},
		{"after 4 min, within the courier's deadline", after(4 * time.Minute), approver.Deny},
		{"after an hour", after(time.Hour), approver.Deny},
		{"after it was acknowledged", after(0, ack), approver.Deny},
		{"after it was acknowledged twice", after(0, ack, ack), approver.Deny},
		{
			"acknowledged, and the daemon restarts", func(x *bench) approver.Verdict {
				ack(x)
				return later(0, 0, 0)(x)
			}, approver.Deny,
		},
		{"acknowledged to the next daemon", later(0, 0, 0, ack), approver.Deny},
		{"the daemon restarts at once", later(0, 0, 0), approver.Allow},
		{"the daemon is away for a minute", later(5*time.Second, time.Minute, 14*time.Second), approver.Allow},
		{"and asked 16 s after it is back", later(5*time.Second, time.Minute, 16*time.Second), approver.Deny},
		{"the daemon restarts after the time", later(17*time.Second, time.Second, 0), approver.Deny},
		{"the daemon is away for a day", later(time.Second, 24*time.Hour, 0), approver.Deny},
		{"during a freeze", after(0, freeze), approver.Deny},
		{"after a freeze", after(0, freeze, unfreeze), approver.Deny},
		{"after a freeze, by the next daemon", later(0, 0, 0, freeze, unfreeze), approver.Deny},
		{
			"frozen, restarted, lifted", func(x *bench) approver.Verdict {
				freeze(x)
				return later(0, 0, 0, unfreeze)(x)
			}, approver.Deny,
		},
		{"by another user", func(x *bench) approver.Verdict { return x.again(asUser(1001)) }, approver.Deny},
		{
			"by nobody that the kernel knows", func(x *bench) approver.Verdict { return x.again(testCall("c1")) }, approver.Deny,
		},
		{"another command", func(x *bench) approver.Verdict {
			c := call
			c.Command, c.Args = "rm -rf /", []byte(`{"command":"rm -rf /"}`)
			return x.again(c)
		}, approver.Deny},
		{"another agent", func(x *bench) approver.Verdict { c := call; c.Agent = "codex"; return x.again(c) }, approver.Deny},
		{"another folder", func(x *bench) approver.Verdict { c := call; c.Dir = "/prod"; return x.again(c) }, approver.Deny},
		{"another policy", func(x *bench) approver.Verdict { x.fpChange = "2"; return x.again(call) }, approver.Deny},
		{
			"another file", func(x *bench) approver.Verdict {
				x.files = map[string]string{"deploy.sh": "2"}
				return x.again(call)
			}, approver.Deny,
		},
		{"the audit does not take it", func(x *bench) approver.Verdict {
			x.audit.failing(approver.EventRepeated)
			return x.again(call)
		}, approver.Deny},
		{"the controls cannot be read", func(x *bench) approver.Verdict {
			x.failing(func(op, key string) bool { return op == "get" && key == controlKey() })
			return x.again(call)
		}, approver.Deny},
		{"the store is away for ten seconds", func(x *bench) approver.Verdict {
			time.Sleep(10 * time.Second)
			x.failing(func(string, string) bool { return true })
			time.Sleep(10 * time.Second)
			x.failing(func(string, string) bool { return false })
			time.Sleep(14 * time.Second)
			return x.again(call)
		}, approver.Allow},
		{"and asked 16 s after it is back", func(x *bench) approver.Verdict {
			time.Sleep(10 * time.Second)
			x.failing(func(string, string) bool { return true })
			time.Sleep(10 * time.Second)
			x.failing(func(string, string) bool { return false })
			time.Sleep(16 * time.Second)
			return x.again(call)
		}, approver.Deny},
		{"the store is away when the time is over already", func(x *bench) approver.Verdict {
			time.Sleep(20 * time.Second)
			x.failing(func(string, string) bool { return true })
			time.Sleep(10 * time.Second)
			x.failing(func(string, string) bool { return false })
			time.Sleep(time.Second)
			return x.again(call)
		}, approver.Deny},
		{"a record of before there was such a time", func(x *bench) approver.Verdict {
			_, card := x.tg.card(0)
			if _, err := x.Requests.change(x.t.Context(), card.Request, func(r Request, _ time.Time) (Request, error) {
				r.ReleasedAt = time.Time{}
				return r, nil
			}); err != nil {
				x.t.Error(err)
			}
			return later(0, 0, 0)(x)
		}, approver.Deny},
		{"another replica", func(x *bench) approver.Verdict {
			y := newBench(x.t, x.kv)
			v := y.again(call)
			x.audit.join(y.audit)
			return v
		}, approver.Allow},
		{"another replica, acknowledged to the first", func(x *bench) approver.Verdict {
			y := newBench(x.t, x.kv)
			ack(x)
			return y.again(call)
		}, approver.Deny},
		{"a replica that starts after the time", func(x *bench) approver.Verdict {
			time.Sleep(17 * time.Second)
			return newBench(x.t, x.kv).again(call)
		}, approver.Deny},
	} {
		t.Run(w.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				time.Sleep(time.Minute)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				first := x.askAsync(ctx, call, approver.High)
				synctest.Wait()
				x.tap(x.tg, 0, "1", true)
				if v := <-first; v.Decision != approver.Allow {
					t.Fatalf("%+v", v)
				}
				x.wrong(w.do(x), w.want)
				if n := x.tg.count(); n != 1 {
					t.Errorf("%d cards", n)
				}
			})
		})
	}
}

// failing lets operations of the store fail.
func (x *bench) failing(which func(op, key string) bool) {
	x.kv.failing(func(op, key string) error {
		if which(op, key) {
			return errors.New("no store")
		}
		return nil
	})
}

// Eight couriers with one call id are eight readings of one yes: the first is the
// release, and each further one is in the audit. After the acknowledgment there is
// none, however many come at once.
func TestEightReadOneYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		eight := func() (yes int) {
			var all sync.WaitGroup
			var mu sync.Mutex
			for range 8 {
				all.Go(func() {
					if v := x.again(testCall("c1")); v.Decision == approver.Allow {
						mu.Lock()
						yes++
						mu.Unlock()
					}
				})
			}
			synctest.Wait()
			if x.count(approver.EventReleased) == 0 {
				x.tap(x.tg, 0, "1", true)
			}
			all.Wait()
			return yes
		}
		if yes := eight(); yes == 0 || x.count(approver.EventRepeated) != yes-1 || x.count(approver.EventReleased) != 1 {
			t.Errorf("%d were told yes; the audit has %d releases and %d repetitions", yes, x.count(approver.EventReleased),
				x.count(approver.EventRepeated))
		}
		before := x.count(approver.EventRepeated)
		if err := x.Reports.Acknowledge(t.Context(), approver.Peer{}, "c1"); err != nil {
			t.Error(err)
		}
		if yes := eight(); yes != 0 || x.count(approver.EventRepeated) != before {
			t.Errorf("after the acknowledgment %d were told yes", yes)
		}
	})
}

// A yes that waited for a parked call is read again by that call alone, under the
// same rules.
func TestAParkedYesIsReadTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		parked := testCall("c1")
		parked.ParkAt = time.Now().Add(time.Second)
		if v := x.again(parked); v.Decision != approver.Deny || !strings.Contains(v.Reason, "Waiting for approval") {
			t.Fatalf("%+v", v)
		}
		x.tap(x.tg, 0, "1", true)
		for _, step := range []struct {
			wait time.Duration
			id   string
			want approver.Decision
		}{{0, "c2", approver.Allow}, {14 * time.Second, "c2", approver.Allow}, {0, "c1", approver.Deny},
			{2 * time.Second, "c2", approver.Deny}, {time.Hour, "c2", approver.Deny}} {
			time.Sleep(step.wait)
			if v := x.again(testCall(step.id)); v.Decision != step.want {
				t.Errorf("%s after %v: %+v", step.id, step.wait, v)
			}
		}
		if n := x.count(approver.EventRepeated); n != 1 {
			t.Errorf("%d repetitions are in the audit", n)
		}
	})
}

// Who has nothing to do with a call acknowledges nothing, and nothing is
// acknowledged before it was released.
func TestAcknowledgingWhatIsNotOnesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		call := testCall("c1")
		call.Peer = approver.Peer{Known: true, UID: 1000}
		first := x.askAsync(t.Context(), call, approver.High)
		synctest.Wait()
		if err := x.Reports.Acknowledge(t.Context(), call.Peer, "c1"); !errors.Is(err, ErrTooSoon) {
			t.Errorf("before it was answered: %v", err)
		}
		x.tap(x.tg, 0, "1", true)
		<-first
		for name, peer := range map[string]approver.Peer{
			"another user": {Known: true, UID: 1001}, "nobody": {}, "root": {Known: true},
		} {
			if err := x.Reports.Acknowledge(t.Context(), peer, "c1"); !errors.Is(err, ErrNotBound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := x.Reports.Acknowledge(t.Context(), call.Peer, "unknown"); err != nil {
			t.Errorf("a call that nobody was asked about: %v", err)
		}
		x.wrong(x.again(call), approver.Allow)
	})
}

// The disk of the audit was full for a moment when a courier said that it had its answer, or
// when the time for that was over. The request knew it and the audit never heard of it, so
// that a store of before would have given the yes once more, unnoticed. The record is made
// when the audit is back.
func TestAnAcknowledgmentIsRecordedLater(t *testing.T) {
	for name, c := range map[string]struct {
		acks  bool          // the courier says it
		after time.Duration // how long after the release
		want  []string      // the records
	}{
		"the courier":       {true, 0, []string{":acked"}},
		"nobody":            {false, 0, []string{":acked"}},
		"the courier, late": {true, time.Minute, []string{":acked", ":acked:late"}},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				call := peerCall("a", 1000)
				call.Acks = true
				one := x.askAsync(t.Context(), call, approver.High)
				time.Sleep(time.Second)
				x.tap(x.tg, 0, "1", true)
				<-one
				time.Sleep(c.after)
				x.audit.failing(approver.EventAcked)
				if c.acks {
					if err := x.Reports.Acknowledge(t.Context(), call.Peer, "a"); err != nil {
						t.Errorf("it is kept: %v", err)
					}
				}
				time.Sleep(RepeatFor + 5*time.Second)
				x.audit.failing("")
				time.Sleep(time.Minute)
				var got []string
				for _, r := range x.audit.recorded() {
					if r.Event == approver.EventAcked {
						_, once, _ := strings.Cut(r.Once, ":")
						got = append(got, ":"+once)
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%q, want %q; events %v", got, c.want, x.audit.events(""))
				}
			})
		})
	}
}

// The record of one request could not be read any more, and its courier's acknowledgment
// waited for it. All that couriers told later waited behind it, for ever.
func TestANoteThatNeverFitsHoldsUpNoOther(t *testing.T) {
	for _, junk := range []string{"", "\x00\x01", "[]", `{"v":99}`} {
		story(t, func(t *testing.T, x *bench) {
			var ids []string
			call := func(id string) approver.ToolCall {
				c := peerCall(id, 1000)
				c.Command, c.Args, c.Acks = "echo "+id, []byte(`{"command":"echo `+id+`"}`), true
				return c
			}
			for _, id := range []string{"a", "b"} {
				v := x.askAsync(t.Context(), call(id), approver.High)
				time.Sleep(time.Second)
				_, card := x.tg.card(-1)
				ids = append(ids, card.Request)
				x.tap(x.tg, -1, "1", true)
				if v := <-v; v.Decision != approver.Allow {
					t.Fatal(v)
				}
			}
			x.kv.failing(func(string, string) error { return approver.ErrAway })
			for _, id := range []string{"a", "b"} {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				if err := x.Reports.Acknowledge(ctx, call(id).Peer, id); err != nil {
					t.Errorf("%s: %v", id, err)
				}
				cancel()
			}
			x.kv.replace(approver.Key("req", ids[0]), memRecord{[]byte(junk), approver.NewRev()})
			x.kv.failing(nil)
			time.Sleep(time.Minute)
			if r, _, err := x.Requests.load(t.Context(), ids[1]); err != nil || r.Acked.IsZero() ||
				x.Reports.pending.has("b") || x.Reports.pending.has("a") {
				t.Errorf("record %q: acknowledged %v, %v; notes of a %v, of b %v", junk, r.Acked, err, x.Reports.pending.has("a"),
					x.Reports.pending.has("b"))
			}
		})
	}
}
