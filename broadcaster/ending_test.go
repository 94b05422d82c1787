package broadcaster

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// ends lists how each of three calls ended in the audit, without what came before.
func (x *bench) ends() map[string][]approver.Event {
	out := map[string][]approver.Event{}
	for _, id := range []string{"a", "b", "c"} {
		for _, r := range x.audit.of(id) {
			switch r.Event { //nolint:exhaustive // all others are no end
			case approver.EventWithdrawn, approver.EventDenied, approver.EventExpired, approver.EventReleased:
				out[id] = append(out[id], r.Event)
			case approver.EventVerdict:
				out[id] = append(out[id], approver.Event(r.Verdict.Decision.String()))
			}
		}
	}
	return out
}

// threeThatCanLeave asks three identical calls one after the other. leave ends the
// connection of one.
func (x *bench) threeThatCanLeave(sev approver.Severity) (leave map[string]func()) {
	leave = map[string]func(){}
	for _, id := range []string{"a", "b", "c"} {
		ctx, die := context.WithCancel(x.t.Context())
		leave[id] = die
		out := x.askAsync(ctx, peerCall(id, 1000), sev)
		go func() { <-out }()
		synctest.Wait()
	}
	time.Sleep(3 * time.Second)
	return leave
}

// One of several calls left before the yes, was not shown, or never came for its yes. The
// audit had that it was asked, and then nothing of it for ever; the card counted it among
// those that the yes ran. Each call has an end of its own now, once, and the card counts
// what was released.
func TestEachCallOfACardHasAnEnd(t *testing.T) {
	const no = approver.Event("deny")
	for name, c := range map[string]struct {
		sev   approver.Severity
		do    func(x *bench, leave map[string]func())
		ends  map[string][]approver.Event
		shows string
	}{
		"all run": {approver.High, func(x *bench, _ map[string]func()) { x.tap(x.tg, 0, "1", true) },
			map[string][]approver.Event{
				"a": {approver.EventReleased}, "b": {approver.EventReleased}, "c": {approver.EventReleased},
			}, "3 identical calls, once each"},
		"one leaves long before": {approver.High, func(x *bench, leave map[string]func()) {
			leave["b"]()
			time.Sleep(20 * time.Second)
			x.tap(x.tg, 0, "1", true)
		}, map[string][]approver.Event{
			"a": {approver.EventReleased}, "b": {approver.EventWithdrawn}, "c": {approver.EventReleased},
		}, "2 identical calls, once each"},
		"the first leaves long before": {approver.High, func(x *bench, leave map[string]func()) {
			leave["a"]()
			time.Sleep(20 * time.Second)
			x.tap(x.tg, 0, "1", true)
		}, map[string][]approver.Event{
			"a": {approver.EventWithdrawn}, "b": {approver.EventReleased}, "c": {approver.EventReleased},
		}, "2 identical calls, once each"},
		"one is dead at the yes": {approver.High, func(x *bench, leave map[string]func()) {
			leave["b"]()
			synctest.Wait()
			x.tap(x.tg, 0, "1", true)
		}, map[string][]approver.Event{
			"a": {approver.EventReleased}, "b": {approver.EventWithdrawn}, "c": {approver.EventReleased},
		}, "2 of 3 identical calls released, once each"},
		"two are dead at the yes": {approver.High, func(x *bench, leave map[string]func()) {
			leave["b"]()
			leave["c"]()
			synctest.Wait()
			x.tap(x.tg, 0, "1", true)
		}, map[string][]approver.Event{
			"a": {approver.EventReleased}, "b": {approver.EventWithdrawn}, "c": {approver.EventWithdrawn},
		}, "1 of 3 identical calls released, once each"},
		"a no": {approver.High, func(x *bench, _ map[string]func()) { x.tap(x.tg, 0, "1", false) },
			map[string][]approver.Event{
				"a": {approver.EventDenied}, "b": {approver.EventDenied}, "c": {approver.EventDenied},
			}, "Denied by Alice"},
		"a no, one is dead": {approver.High, func(x *bench, leave map[string]func()) {
			leave["b"]()
			synctest.Wait()
			x.tap(x.tg, 0, "1", false)
		}, map[string][]approver.Event{
			"a": {approver.EventDenied}, "b": {approver.EventDenied}, "c": {approver.EventDenied},
		}, "Denied by Alice"},
		"silence": {approver.High, func(*bench, map[string]func()) {},
			map[string][]approver.Event{
				"a": {approver.EventExpired}, "b": {approver.EventExpired}, "c": {approver.EventExpired},
			}, "nobody answered"},
		"all leave": {approver.High, func(_ *bench, leave map[string]func()) {
			for _, die := range leave {
				die()
			}
		}, map[string][]approver.Event{
			"a": {approver.EventWithdrawn}, "b": {approver.EventWithdrawn}, "c": {approver.EventWithdrawn},
		}, "the agent stopped waiting"},
		"a freeze": {approver.High, func(x *bench, _ map[string]func()) {
			_, _ = x.Controls.Freeze(x.t.Context(), "bob", "stop")
		},
			map[string][]approver.Event{
				"a": {approver.EventDenied}, "b": {approver.EventDenied}, "c": {approver.EventDenied},
			}, "everything was frozen"},
		"catastrophic, and the others leave": {approver.Catastrophic, func(x *bench, leave map[string]func()) {
			_, card := x.tg.card(0)
			leave["b"]()
			leave["c"]()
			synctest.Wait()
			x.Answers.Reply(x.t.Context(), typed(approver.ByCode, card))
		}, map[string][]approver.Event{
			"a": {approver.EventReleased}, "b": {approver.EventWithdrawn}, "c": {approver.EventWithdrawn},
		}, "Approved once by Alice"},
		"by id without a count, and the others leave": {approver.High, func(x *bench, leave map[string]func()) {
			leave["b"]()
			leave["c"]()
			synctest.Wait()
			x.byID(0)
		}, map[string][]approver.Event{
			"a": {approver.EventReleased}, "b": {approver.EventWithdrawn}, "c": {approver.EventWithdrawn},
		}, "Approved once by Alice"},
		"the audit is full for a while": {approver.High, func(x *bench, leave map[string]func()) {
			x.audit.mu.Lock()
			x.audit.fail = approver.EventWithdrawn
			x.audit.mu.Unlock()
			leave["b"]()
			time.Sleep(20 * time.Second)
			x.audit.mu.Lock()
			x.audit.fail = ""
			x.audit.mu.Unlock()
			time.Sleep(5 * time.Second)
			x.tap(x.tg, 0, "1", true)
		}, map[string][]approver.Event{
			"a": {approver.EventReleased}, "b": {approver.EventWithdrawn}, "c": {approver.EventReleased},
		}, "2 identical calls, once each"},
		"a freeze after the first": {approver.High, func(x *bench, leave map[string]func()) {
			leave["b"]()
			leave["c"]()
			synctest.Wait()
			x.tap(x.tg, 0, "1", true)
			_, _ = x.Controls.Freeze(x.t.Context(), "bob", "stop")
			x.Ask(x.t.Context(), peerCall("b", 1000), approver.Verdict{
				Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High,
			})
		}, map[string][]approver.Event{
			"a": {approver.EventReleased}, "b": {no}, "c": {approver.EventWithdrawn},
		}, "1 of 3 identical calls released, once each"},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				leave := x.threeThatCanLeave(c.sev)
				c.do(x, leave)
				time.Sleep(aLongTime())
				got := x.ends()
				for id, want := range c.ends {
					if !slices.Equal(got[id], want) {
						t.Errorf("%s ended %v, want %v", id, got[id], want)
					}
				}
				if _, card := x.tg.card(0); !strings.Contains(card.Result, c.shows) {
					t.Errorf("the card: %q, want %q", card.Result, c.shows)
				}
				if r, _, _ := x.page(); len(r.Ended) != 0 {
					t.Errorf("still to be recorded: %+v", r.Ended)
				}
				for _, die := range leave {
					die()
				}
			})
		})
	}
}

// The story: the connection of one of several calls ended, its courier came back, and that one ended,
// too. The audit had one event with two times, and took the second for a repeat of the first; where the
// call was taken off for another reason then, audit verify and doctor said DIFFERS of an honest life. Each
// time that a call leaves is an event of its own.
func TestACallThatLeavesTwice(t *testing.T) {
	for name, again := range map[string]string{"one of them": "b", "the first": "a"} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				leave := x.threeThatCanLeave(approver.High)
				leave[again]()
				time.Sleep(20 * time.Second)
				ctx, die := context.WithCancel(t.Context())
				back := x.askAsync(ctx, peerCall(again, 1000), approver.High)
				time.Sleep(5 * time.Second)
				die()
				<-back
				time.Sleep(20 * time.Second)
				x.tap(x.tg, 0, "1", true)
				time.Sleep(aLongTime())
				if got := x.ends()[again]; !slices.Equal(got, []approver.Event{approver.EventWithdrawn, approver.EventWithdrawn}) {
					t.Errorf("it ended %v", got)
				}
				at := map[string]time.Time{}
				for _, r := range x.audit.of(again) {
					if was, found := at[r.Once]; r.Event == approver.EventWithdrawn && found {
						t.Errorf("%s was at %v and at %v", r.Once, was, r.At)
					}
					at[r.Once] = r.At
				}
				for _, die := range leave {
					die()
				}
			})
		})
	}
}

// The audit says that one of several calls was withdrawn, while its request is open. A
// start that took that for the end of the request would find that the store has forgotten
// it, and freeze everything.
func TestACallThatLeavesIsNoEndOfItsRequest(t *testing.T) {
	for name, c := range map[string]struct {
		told approver.Told
		want bool
	}{
		"the request": {approver.Told{Request: "r", Event: approver.EventWithdrawn, Once: "r:withdrawn"}, true},
		"one call": {
			approver.Told{Request: "r", Event: approver.EventWithdrawn, Once: "r:withdrawn:b"}, false,
		},
		"without a mark":           {approver.Told{Request: "r", Event: approver.EventWithdrawn}, true},
		"one call of what is over": {approver.Told{Request: "r", Event: approver.EventDenied, Once: "r:denied:b"}, true},
		"another request's": {
			approver.Told{Request: "r", Event: approver.EventWithdrawn, Once: "r2:withdrawn:b"}, true,
		},
	} {
		all := map[string]approver.Told{}
		if c.told.Tell(all); (len(all) == 1) != c.want {
			t.Errorf("%s: %v", name, all)
		}
	}
}

// A caller that leaves and comes anew under another id, again and again, must not make the
// record of the request grow: those whose end the audit does not have yet count, too.
func TestEndedCallsAreBounded(t *testing.T) {
	r := Request{
		CallID: "first", State: approver.Pending, Due: at(100), Verdict: approver.Verdict{Severity: approver.High},
	}
	for i := range 10 * maxCallers {
		id := string(rune('A' + i))
		next, err := r.AddCaller(Caller{CallID: id, Holder: id}, at(0))
		if err != nil {
			break
		}
		if next, err = next.Leave(id, at(0), 0); err != nil {
			t.Fatal(err)
		}
		if r, err = next.Withdraw(at(1)); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.Ended) != maxCallers || len(r.Also) != 0 {
		t.Fatalf("%d ended, %d wait", len(r.Ended), len(r.Also))
	}
	if r.Ended = r.Ended.without(r.Ended[1:]); len(r.Ended) != 1 {
		t.Fatalf("%+v", r.Ended)
	}
	if _, err := r.AddCaller(Caller{CallID: "again", Holder: "again"}, at(1)); err != nil {
		t.Error(err)
	}
}
