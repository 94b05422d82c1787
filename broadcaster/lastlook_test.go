package broadcaster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The story: people said yes, and everything was frozen between the release and the last
// look at it. The agent was denied; the person read "released to the agent", the audit said
// "released", and after a while the card said that the agent was gone. Now everybody hears
// the same end, with the same reason: it was approved, and not given.
func TestAYesThatIsVoidAtTheLastLook(t *testing.T) {
	who := Who{Peer: approver.Peer{Known: true, UID: 1000}, Agent: "claude", Project: "/repo"}
	acts := map[string]struct {
		do    func(x *bench)
		cause approver.Cause
	}{
		"a freeze": {func(x *bench) { _, _ = x.Controls.Freeze(x.t.Context(), "op", "x") }, approver.Frozen},
		"a freeze, lifted": {func(x *bench) {
			_, _ = x.Controls.Freeze(x.t.Context(), "op", "x")
			_ = x.Controls.Unfreeze(x.t.Context(), "op")
		}, approver.Frozen},
		"a hold": {
			func(x *bench) { _, _ = x.Controls.Hold(x.t.Context(), who, "approver", "x") }, approver.Held,
		},
		"a hold of all of it": {
			func(x *bench) {
				w := who
				w.Project = "/"
				_, _ = x.Controls.Hold(x.t.Context(), w, "approver", "x")
			}, approver.Held,
		},
		"a removal": {func(x *bench) { removeAlice(x.t, x.Broadcaster) }, approver.Revoked},
	}
	for name, act := range acts {
		for _, acks := range []bool{true, false} {
			for _, sev := range []approver.Severity{approver.High, approver.Catastrophic} {
				t.Run(fmt.Sprintf("%s, acks %v, %v", name, acks, sev), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						kv := &hookKV{memKV: newMemKV()}
						x := newBenchOn(t, kv.memKV, kv)
						call := testCall("c1")
						call.Peer, call.Acks = approver.Peer{Known: true, UID: 1000}, acks
						answer := x.askAsync(t.Context(), call, sev)
						time.Sleep(time.Second)
						x.slowToExamine() // so that whoever looks last waits for the act
						var acted atomic.Bool
						kv.set(func() {
							kv.put = func(_ context.Context, key string, value []byte, do func() error) error {
								err := do()
								if strings.Contains(key, "}:req:") && strings.Contains(string(value), `"state":"consumed"`) &&
									!acted.Swap(true) {
									act.do(x)
								}
								return err
							}
						})
						msg, card := x.tg.card(0)
						out := x.Answers.Reply(t.Context(), approver.Reply{
							Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByCommand,
							Request: card.Request, Message: msg, Code: card.Code,
						})
						v := <-answer
						time.Sleep(time.Minute)
						why := act.cause.Sentence()
						if v.Decision != approver.Deny || !strings.Contains(v.Reason, why) {
							t.Errorf("the agent is told %v %q", v.Decision, v.Reason)
						}
						if out.Kind == approver.OutcomeApproved || !strings.Contains(out.Text, why) ||
							!strings.Contains(out.Text, "released nothing") {
							t.Errorf("the person is told %+v", out)
						}
						for _, ch := range []*chat{x.tg, x.dc} {
							_, card := ch.card(0)
							if card.State != approver.Withdrawn || !strings.Contains(card.Result, "not given to the agent: "+why) ||
								!strings.Contains(card.Result, "Alice") {
								t.Errorf("%s shows %v %q", ch.name, card.State, card.Result)
							}
						}
						if late := x.tap(x.dc, 0, "d2", true); !strings.Contains(late.Text, why) {
							t.Errorf("who answers later is told %+v", late)
						}
						x.wantEnd(t, []approver.Event{approver.EventApproved, approver.EventDenied}, act.cause)
					})
				})
			}
		}
	}
}

// wantEnd looks at what the audit says of the end of the only request.
func (x *bench) wantEnd(t *testing.T, want []approver.Event, cause approver.Cause) {
	t.Helper()
	var says []approver.Event
	for _, rec := range x.audit.recorded() {
		if rec.Event == approver.EventAcked && slices.Contains(want, approver.EventReleased) {
			continue // its time is over
		}
		switch rec.Event {
		case approver.EventApproved, approver.EventReleased, approver.EventDenied, approver.EventExpired,
			approver.EventVerdict, approver.EventAcked, approver.EventNotRun:
			says = append(says, rec.Event)
			if rec.Request == "" {
				t.Errorf("%s is of no request", rec.Event)
			}
			if rec.Event == want[len(want)-1] && rec.Resolution.Cause != cause {
				t.Errorf("%s because of %v, want %v", rec.Event, rec.Resolution.Cause, cause)
			}
		case approver.EventRefused:
			if rec.Reply.Sender == "1" {
				t.Errorf("the yes was refused: %s", rec.Note)
			}
		default:
		}
	}
	if !slices.Equal(says, want) {
		t.Errorf("the audit says %v, want %v", says, want)
	}
}

// A courier that comes back for its yes after a freeze is denied: the card says that,
// and not that nobody came.
func TestAYesThatIsNotGivenAgain(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		call := testCall("c1")
		call.Peer, call.Acks = approver.Peer{Known: true, UID: 1000}, true
		x.yes(call)
		time.Sleep(time.Second)
		if _, err := x.Controls.Freeze(t.Context(), "op", "x"); err != nil {
			t.Fatal(err)
		}
		if v := x.again(call); v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
		time.Sleep(time.Minute)
		_, card := x.tg.card(0)
		if card.State != approver.Withdrawn || !strings.Contains(card.Result,
			"not given again to the agent that came back for it: everything was frozen") {
			t.Errorf("%v %q", card.State, card.Result)
		}
		recs := x.audit.recorded()
		if i := slices.IndexFunc(recs, func(r approver.Record) bool {
			return r.Event == approver.EventVerdict
		}); i < 0 || recs[i].Request == "" {
			t.Error("the denial is of no request: the log says that nobody was asked")
		}
	})
}

// store puts a record in place of whatever there is.
func (x *bench) store(t *testing.T, r Request) {
	t.Helper()
	value, err := EncodeRequest(x.Requests.sealer, r)
	if err != nil {
		t.Fatal(err)
	}
	_, rev, _ := x.Store.Get(t.Context(), approver.Key("req", r.ID))
	if err := x.Store.Put(t.Context(), approver.Key("req", r.ID), value, rev, approver.NewRev(), time.Time{},
		time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

// Nobody is told of a release before who took the yes has had the last look, neither by
// the same daemon nor by another.
func TestNobodyIsToldBeforeTheLastLook(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		t.Run(fmt.Sprint(elsewhere), func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				r := Request{
					ID: "r", State: approver.Consumed, Resolution: approver.Resolution{Approve: true},
					Release: Release{ReleasedBy: x.process, ReleasedAt: time.Now()},
				}
				if elsewhere {
					r.ReleasedBy = "another"
				}
				x.store(t, r)
				x.handovers.begin("h", "r", time.Now())
				x.handovers.begin("h", "r", time.Now()) // as where the release is tried again
				short, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, ok := x.releases.awaitHandover(short, r); ok {
					t.Error("told at once")
				}
				x.handovers.end("h")
				x.handovers.end("h")
				next, err := r.withhold(approver.Held, time.Now())
				if err != nil {
					t.Fatal(err)
				}
				x.store(t, next)
				got, ok := x.releases.awaitHandover(t.Context(), r)
				if !ok || !got.withheldFromAll(got.Also) {
					t.Errorf("%v %+v", ok, got)
				}
			})
		})
	}
}

// The story: somebody said yes half a second before the deadline, and the release took a
// second. They were told that the agent had stopped waiting, which waited; the audit said
// expired, refused and approved of one request. Now a yes in time may be released for a few
// seconds, as far as the courier's own deadline allows; and where that is not enough,
// everybody is told so, and the audit has one end.
func TestAYesJustBeforeTheDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		before, takes, courier time.Duration
		allow                  bool
	}{
		"quick":                        {500 * time.Millisecond, 0, 0, true},
		"a second":                     {500 * time.Millisecond, time.Second, 0, true},
		"four seconds":                 {500 * time.Millisecond, 4 * time.Second, 0, true},
		"too long":                     {500 * time.Millisecond, 6 * time.Second, 0, false},
		"much too long":                {500 * time.Millisecond, time.Minute, 0, false},
		"at the last moment":           {time.Millisecond, time.Second, 0, true},
		"early, and slow":              {30 * time.Second, 20 * time.Second, 0, true},
		"early, and too slow":          {30 * time.Second, 40 * time.Second, 0, false},
		"a courier with time":          {500 * time.Millisecond, time.Second, 5 * time.Minute, true},
		"a courier with 10 s":          {500 * time.Millisecond, time.Second, 10 * time.Second, false},
		"a courier with 10 s, quick":   {500 * time.Millisecond, 0, 10 * time.Second, true},
		"a courier with 10 s, in time": {3 * time.Second, 2 * time.Second, 10 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				var n atomic.Int32
				was := x.Fingerprint
				bind := func(ctx context.Context, call approver.ToolCall) (approver.Binding, error) {
					if n.Add(1) > 1 {
						time.Sleep(c.takes)
					}
					return was(ctx, call)
				}
				x.tune(func(o *Options) { o.Fingerprint = bind })
				ctx, ttl := t.Context(), DefaultTTL
				if c.courier > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.courier)
					defer cancel()
					ttl = min(ttl, c.courier-AnswerMargin)
				}
				answer := x.askAsync(ctx, testCall("c1"), approver.High)
				time.Sleep(ttl - c.before)
				out := x.tap(x.tg, 0, "1", true)
				v := <-answer
				time.Sleep(time.Minute)
				_, card := x.tg.card(0)
				if c.allow {
					if v.Decision != approver.Allow || card.State != approver.Consumed || out.Kind != approver.OutcomeApproved &&
						c.takes <= ReplyWait {
						t.Errorf("%v %q; %+v; %q", v.Decision, v.Reason, out, card.Result)
					}
					x.wantEnd(t, []approver.Event{approver.EventApproved, approver.EventReleased}, approver.ByPerson)
					return
				}
				const why = "could not release the call before its deadline"
				if v.Decision != approver.Deny || !strings.Contains(v.Reason, why) && ctx.Err() == nil {
					t.Errorf("the agent is told %v %q", v.Decision, v.Reason)
				}
				if !strings.Contains(card.Result, why) || !strings.Contains(card.Result, "approved by Alice") {
					t.Errorf("the card says %q", card.Result)
				}
				if out.Kind != approver.OutcomeRecorded && !strings.Contains(out.Text, why) {
					t.Errorf("the person is told %+v", out)
				}
				x.wantEnd(t, []approver.Event{approver.EventExpired}, approver.Unreleased)
			})
		})
	}
}

// A yes that the agent itself did not take is no fault of approver's.
func TestWhyAYesExpires(t *testing.T) {
	for name, c := range map[string]struct {
		r    Request
		want approver.Cause
	}{
		"its courier waits":   {Request{State: approver.Approved}, approver.Unreleased},
		"its courier is gone": {Request{State: approver.Approved, WithdrawAt: at(9)}, approver.AgentGone},
		"it was parked":       {Request{State: approver.Approved, Parked: true}, approver.AgentGone},
		"nobody answered":     {Request{State: approver.Pending}, approver.TimedOut},
	} {
		c.r.Due = at(10)
		if r, err := c.r.Expire(at(11)); err != nil || r.State != approver.Expired || r.Resolution.Cause != c.want {
			t.Errorf("%s: %v, %+v", name, err, r.Resolution)
		}
	}
}

// The story: one agent went around the gate and was frozen. The card of its open request,
// the agent and who answered late read that everything was frozen, and looked for who did
// that. Now they read that it was this agent.
func TestOneFrozenAgentIsNotEverything(t *testing.T) {
	who := Who{Peer: approver.Peer{Known: true, UID: 1000}, Agent: "claude", Project: "/repo", Session: "s"}
	for name, c := range map[string]struct {
		act  func(x *bench)
		want string
	}{
		"one agent": {
			func(x *bench) {
				_, _ = x.Controls.Hold(x.t.Context(), who, "approver", "x")
			}, "every call of this agent was frozen",
		},
		"everything": {func(x *bench) { _, _ = x.Controls.Freeze(x.t.Context(), "op", "x") }, "everything was frozen"},
	} {
		for _, say := range []string{"nothing", "a yes before"} {
			t.Run(name+", "+say, func(t *testing.T) {
				story(t, func(t *testing.T, x *bench) {
					call := testCall("c1")
					call.Peer = approver.Peer{Known: true, UID: 1000}
					var n atomic.Int32
					was := x.Fingerprint
					bind := func(ctx context.Context, call approver.ToolCall) (approver.Binding, error) {
						if n.Add(1) > 1 {
							time.Sleep(time.Second)
						}
						return was(ctx, call)
					}
					x.tune(func(o *Options) { o.Fingerprint = bind })
					answer := x.askAsync(t.Context(), call, approver.High)
					time.Sleep(time.Second)
					if say == "a yes before" {
						go x.tap(x.tg, 0, "1", true)
						time.Sleep(100 * time.Millisecond)
					}
					c.act(x)
					v := <-answer
					time.Sleep(10 * time.Second)
					_, card := x.tg.card(0)
					late := x.tap(x.dc, 0, "d2", true)
					for _, text := range []string{v.Reason, card.Result, late.Text} {
						if !strings.Contains(text, c.want) {
							t.Errorf("%q, want %q", text, c.want)
						}
					}
				})
			})
		}
	}
	for err, want := range map[error]string{
		errHeld: "this agent", errBurned: "everything",
		fmt.Errorf("redis: get: %w: %w", context.DeadlineExceeded, approver.ErrAway): "store does not answer",
		context.DeadlineExceeded:                                    "the hook stopped waiting",
		approver.UnbindableError("more than 20000 files: split it"): "split it",
	} {
		if text := publicCause(fmt.Errorf("in a chain: %w", err)); !strings.Contains(text, want) {
			t.Errorf("%q", text)
		}
	}
}
