package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// awayKV is a store that is away from time to time.
type awayKV struct {
	*memKV
	back atomic.Int64 // until then, in nanoseconds
}

var errStoreAway = errors.New("dial tcp: connection refused")

func newAwayKV() *awayKV {
	a := &awayKV{memKV: newMemKV()}
	a.fail = func(string, string) error {
		if time.Now().UnixNano() < a.back.Load() {
			return errStoreAway
		}
		return nil
	}
	return a
}

func (a *awayKV) goFor(d time.Duration) { a.back.Store(time.Now().Add(d).UnixNano()) }

// The story: Redis failed over, which took 1.5 seconds. Somebody tapped in that time, was
// told at once to try again, and did not: they had put the phone away. The call was denied,
// because "nobody answered". Now an answer waits for the store as a new call does. Every
// way to answer does, and a wait is not counted as a wrong code.
func TestAnAnswerWaitsForTheStore(t *testing.T) {
	ways := map[string]func(approver.Reply, string, approver.Card) approver.Reply{
		"a tap": func(r approver.Reply, id string, c approver.Card) approver.Reply {
			r.Method, r.Request, r.Message = approver.ByTap, c.Request, id
			return r
		},
		"typed to it": func(r approver.Reply, id string, c approver.Card) approver.Reply {
			r.Method, r.Request, r.Message = approver.ByTyped, c.Request, id
			return r
		},
		"plain": func(r approver.Reply, id string, c approver.Card) approver.Reply {
			r.Method, r.Request, r.Message = approver.ByPlain, c.Request, id
			return r
		},
		"by id": func(r approver.Reply, _ string, c approver.Card) approver.Reply {
			r.Method, r.Request = approver.ByID, c.Request
			return r
		},
		"a code": func(r approver.Reply, _ string, c approver.Card) approver.Reply {
			r.Method, r.Code = approver.ByCode, c.Code
			return r
		},
		"a command": func(r approver.Reply, _ string, c approver.Card) approver.Reply {
			r.Method, r.Code = approver.ByCommand, c.Code
			return r
		},
	}
	for way, of := range ways {
		for _, approve := range []bool{true, false} {
			for _, away := range []time.Duration{
				100 * time.Millisecond, 1500 * time.Millisecond, 4 * time.Second, 14 * time.Second,
			} {
				t.Run(fmt.Sprintf("%s, %v, away %v", way, approve, away), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						kv := newAwayKV()
						x := newBenchOn(t, kv.memKV, kv)
						answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
						time.Sleep(time.Second)
						id, card := x.tg.card(0)
						rep := of(approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: approve}, id, card)
						kv.goFor(away)
						out := x.Answers.Reply(t.Context(), rep)
						want := map[bool]approver.OutcomeKind{true: approver.OutcomeApproved, false: approver.OutcomeDenied}[approve]
						if v := <-answer; out.Kind != want || (v.Decision == approver.Allow) != approve {
							t.Errorf("%+v; %v %s", out, v.Decision, v.Reason)
						}
						if s, _, _, err := x.lockout.load(t.Context(), lockKey(approver.Person{ID: "alice"}, rep)); err != nil ||
							len(s.At) != 0 {
							t.Errorf("%d wrong codes are counted, %v", len(s.At), err)
						}
					})
				})
			}
		}
	}
}

// The store goes away in the midst of an answer, at each of its steps.
func TestTheStoreGoesAwayUnderAnAnswer(t *testing.T) {
	for step := range 12 {
		t.Run(fmt.Sprint("at step ", step), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newAwayKV()
				x := newBenchOn(t, kv.memKV, kv)
				answer := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
				time.Sleep(time.Second)
				_, card := x.tg.card(0)
				away, left, armed := kv.fail, step, true
				kv.mu.Lock()
				kv.fail = func(op, key string) error {
					if left--; armed && left < 0 {
						armed = false
						kv.goFor(3 * time.Second)
					}
					return away(op, key)
				}
				kv.mu.Unlock()
				out := x.Answers.Reply(t.Context(), typed(approver.ByCode, card))
				if v := <-answer; v.Decision != approver.Allow || out.Kind != approver.OutcomeApproved &&
					out.Kind != approver.OutcomeRecorded {
					t.Errorf("%+v; %v %s", out, v.Decision, v.Reason)
				}
			})
		})
	}
}

// Whoever answers in time while the store is away until after the deadline hears that, and
// not that nobody answered. If it is away for longer than an answer waits, they hear that it does not count
// yet. Nothing late ever counts.
func TestAnAnswerThatComesTooLateForTheStore(t *testing.T) {
	for name, c := range map[string]struct {
		before time.Duration // the deadline
		away   time.Duration
		want   string
		takes  time.Duration
	}{
		"back after the deadline": {
			2 * time.Second, 5 * time.Second, "Too late: your answer could not be entered before the deadline", 5 * time.Second,
		},
		"back long after it": {
			2 * time.Second, 13 * time.Second, "Too late: your answer could not be entered before the deadline",
			13 * time.Second,
		},
		"away for long":                {time.Minute, 70 * time.Second, "this answer may not count yet", StorePatience},
		"it came after the deadline":   {-time.Second, 0, "Too late: nobody answered", 0},
		"after it, and the store away": {-time.Second, 3 * time.Second, "Too late: nobody answered", 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newAwayKV()
				x := newBenchOn(t, kv.memKV, kv)
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				id, card := x.tg.card(0)
				time.Sleep(time.Until(card.Due) - c.before)
				kv.goFor(c.away)
				began := time.Now()
				out := x.Answers.Reply(t.Context(), approver.Reply{
					Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByTap, Request: card.Request,
					Message: id,
				})
				took := time.Since(began)
				if !strings.Contains(out.Text, c.want) || took < c.takes || took > c.takes+2*time.Second ||
					out.Kind == approver.OutcomeApproved || out.Kind == approver.OutcomeRecorded {
					t.Errorf("after %v: %+v", took, out)
				}
				if v := <-answer; v.Decision == approver.Allow {
					t.Error("it is allowed")
				}
			})
		})
	}
}

// A wrong code, a stranger, an unknown request and an answer that came second are told at
// once, as ever: nothing of that is a store that is away.
func TestOnlyTheStoreIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		rep  approver.Reply
		want approver.OutcomeKind
	}{
		"a stranger": {approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "9", Approve: true, Method: approver.ByTap, Request: "r",
			Message: "m",
		}, approver.OutcomeRefused},
		"an unknown card": {approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByTap, Request: "r",
			Message: "m",
		}, approver.OutcomeUnknown},
		"an unknown id": {approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByID, Request: "r",
		}, approver.OutcomeUnknown},
		"no form": {
			approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true}, approver.OutcomeRefused,
		},
		"a code elsewhere": {
			approver.Reply{
				Channel: "telegram", Conversation: "U", Sender: "1", Approve: true, Method: approver.ByCode,
			}, approver.OutcomeUnknown,
		},
		"one who is late": {
			approver.Reply{
				Channel: "telegram", Conversation: "T", Sender: "2", Approve: true, Method: approver.ByTap,
			}, approver.OutcomeTooLate,
		},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				id, card := x.tg.card(0)
				if c.rep.Method == approver.ByCode {
					c.rep.Code = card.Code
				}
				if c.rep.Request == "" && c.rep.Method == approver.ByTap {
					c.rep.Request, c.rep.Message = card.Request, id
				}
				if c.want == approver.OutcomeTooLate {
					x.tap(x.dc, 0, "d1", false)
				}
				began := time.Now()
				if out := x.Answers.Reply(t.Context(), c.rep); out.Kind != c.want || time.Since(began) > time.Second {
					t.Errorf("after %v: %+v", time.Since(began), out)
				}
				if c.want != approver.OutcomeTooLate {
					x.tap(x.dc, 0, "d1", false)
				}
				<-answer
			})
		})
	}
}

// The story: Redis was away for longer than an answer waits, and somebody had said yes in that time, well before
// the deadline. The store was back 15 seconds before it, and the agent heard that nobody had answered. Now such
// an answer is kept and entered once the store is back. So is one whose channel had given up, and a no.
func TestAYesInTimeCountsIfTheStoreIsBackInTime(t *testing.T) {
	for name, c := range map[string]struct {
		away, later, bound time.Duration // the answer comes later, and its channel gives up after bound
		approve            bool
	}{
		"for longer than an answer waits": {away: 40 * time.Second, bound: time.Minute, approve: true},
		"a no":                            {away: 40 * time.Second, bound: time.Minute},
		"its channel gives up":            {away: 10 * time.Second, bound: 3 * time.Second, approve: true},
		"nearly until the deadline":       {away: DefaultTTL - 16*time.Second, bound: 30 * time.Second, approve: true},
		"it comes later": {
			away: DefaultTTL - 16*time.Second, later: time.Minute, bound: 30 * time.Second, approve: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newAwayKV()
				x := newBenchOn(t, kv.memKV, kv)
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				id, card := x.tg.card(0)
				kv.goFor(c.away)
				time.Sleep(c.later)
				ctx, cancel := context.WithTimeout(t.Context(), c.bound)
				defer cancel()
				out := x.tg.reply(ctx, approver.Reply{
					Channel: "telegram", Conversation: "T", Sender: "1", Approve: c.approve, Method: approver.ByTap,
					Request: card.Request, Message: id,
				})
				if out.Kind != approver.OutcomeRefused || !strings.Contains(out.Text, "may not count yet") {
					t.Errorf("the person hears %+v", out)
				}
				v := <-answer
				if (v.Decision == approver.Allow) != c.approve || !c.approve && !strings.Contains(v.Reason, "denied by Alice") {
					t.Errorf("the agent hears %v %q", v.Decision, v.Reason)
				}
				time.Sleep(time.Minute)
				if slices.Contains(x.audit.events(card.Request), approver.EventRefused) {
					t.Errorf("the audit has %v", x.audit.events(card.Request))
				}
			})
		})
	}
}

// Who changes their mind while the store is away is taken by their last word, also if the first one is kept, or
// is still being entered.
func TestTheLastWordCountsOfAnswersThatAreKept(t *testing.T) {
	for i := range 4 {
		last, apart := i%2 == 0, time.Duration(5+i/2*15)*time.Second
		synctest.Test(t, func(t *testing.T) {
			kv := newAwayKV()
			x := newBenchOn(t, kv.memKV, kv)
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			time.Sleep(time.Second)
			id, card := x.tg.card(0)
			kv.goFor(50 * time.Second)
			for _, approve := range []bool{!last, last} {
				go x.tg.reply(t.Context(), approver.Reply{
					Channel: "telegram", Conversation: "T", Sender: "1", Approve: approve, Method: approver.ByTap,
					Request: card.Request, Message: id,
				})
				time.Sleep(apart)
			}
			if v := <-answer; (v.Decision == approver.Allow) != last {
				t.Errorf("the last word is %v, the agent hears %v %q", last, v.Decision, v.Reason)
			}
		})
	}
}
