package broadcaster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// all lists the records of an event.
func (a *memAudit) all(e approver.Event) (out []approver.Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.records {
		if r.Event == e {
			out = append(out, r)
		}
	}
	return out
}

// acking is a call whose courier acknowledges its answer.
func acking(id string) approver.ToolCall {
	c := peerCall(id, 1000)
	c.Acks = true
	return c
}

// Three identical calls were released by one yes, two of them ran, and the courier of one
// died. The card then said that nobody took the answer and that most likely nothing ran.
// It now claims only what holds for all of them, and a report of each call counts.
func TestAFateOfOneCallIsNotThatOfAll(t *testing.T) {
	me := approver.Peer{Known: true, UID: 1000}
	const nothing = ""
	for name, c := range map[string]struct {
		ack, ran, idle []string // the calls that were acknowledged, and reported
		claims         string
		records        int
	}{
		"one is not acknowledged":    {[]string{"b", "c"}, []string{"b", "c"}, nil, nothing, 0},
		"none is acknowledged":       {nil, nil, nil, nothing, 0},
		"the first did not run":      {[]string{"a", "b", "c"}, []string{"b"}, []string{"a"}, nothing, 1},
		"another did not run":        {[]string{"a", "b", "c"}, []string{"a", "b"}, []string{"c"}, nothing, 1},
		"two did not run":            {[]string{"a", "b", "c"}, []string{"a"}, []string{"b", "c"}, nothing, 2},
		"none ran":                   {[]string{"a", "b", "c"}, nil, []string{"a", "b", "c"}, "reported no run of it", 3},
		"none ran, in another order": {[]string{"a", "b", "c"}, nil, []string{"c", "b", "a"}, "reported no run of it", 3},
		"said twice":                 {[]string{"a", "b", "c"}, nil, []string{"c", "c", "b"}, nothing, 2},
		"none ran, said again": {
			[]string{"a", "b", "c"}, nil, []string{"c", "b", "a", "a"}, "reported no run of it", 3,
		},
		"the first alone is reported": {nil, nil, []string{"a"}, nothing, 1},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				var out []<-chan approver.Verdict
				for _, id := range []string{"a", "b", "c"} {
					out = append(out, x.askAsync(t.Context(), acking(id), approver.High))
					synctest.Wait()
				}
				time.Sleep(5 * time.Second)
				x.tap(x.tg, 0, "1", true)
				if got := decisions(out); !slices.Equal(got, []approver.Decision{approver.Allow, approver.Allow, approver.Allow}) {
					t.Fatal(got)
				}
				told := func(err error) {
					if err != nil {
						t.Error(err)
					}
				}
				for _, id := range c.ack {
					told(x.Reports.Acknowledge(t.Context(), me, id))
				}
				for _, id := range c.ran {
					told(x.Reports.Became(t.Context(), me, id, DidRun))
				}
				for _, id := range c.idle {
					told(x.Reports.Became(t.Context(), me, id, NotRun))
				}
				time.Sleep(time.Minute)
				_, card := x.tg.card(0)
				ran := ""
				if len(c.ran) > 0 {
					ran = fmt.Sprintf(" · %d ran", len(c.ran))
				}
				if c.claims == nothing && (card.State != approver.Consumed ||
					!strings.HasSuffix(card.Result, "3 identical calls, once each"+ran)) ||
					!strings.Contains(card.Result, c.claims) {
					t.Errorf("the card: %v %q", card.State, card.Result)
				}
				if late := x.tap(x.dc, 0, "d2", true).Text; c.claims == nothing && strings.Contains(late, "no") &&
					!strings.Contains(late, "has been released") {
					t.Errorf("who answers later hears %q", late)
				}
				var of []string
				for _, rec := range x.audit.all(approver.EventNotRun) {
					of = append(of, rec.Call.ID)
				}
				want := slices.Compact(slices.Sorted(slices.Values(c.idle)))
				if slices.Sort(of); !slices.Equal(of, want) || len(of) != c.records {
					t.Errorf("recorded as not run: %v, want %v", of, want)
				}
			})
		})
	}
}

// A report about a call that was not released, by another user, or of an unknown call
// changes nothing.
func TestAFateIsOfAReleasedCall(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		first := x.askAsync(t.Context(), acking("a"), approver.High)
		synctest.Wait()
		ctx, cut := context.WithCancel(t.Context())
		second := x.askAsync(ctx, acking("b"), approver.High)
		time.Sleep(3 * time.Second)
		cut()
		<-second
		x.tap(x.tg, 0, "1", true)
		<-first
		for _, c := range []struct {
			uid uint32
			id  string
		}{{1000, "b"}, {1001, "a"}, {1001, "b"}} {
			if err := x.Reports.Became(t.Context(), approver.Peer{Known: true, UID: c.uid}, c.id, NotRun); err == nil {
				t.Errorf("%v was taken", c)
			}
		}
		if n := x.count(approver.EventNotRun); n != 0 {
			t.Errorf("%d records", n)
		}
		// Nobody took it, neither the first nor the second: that holds for all.
		time.Sleep(time.Minute)
		if _, card := x.tg.card(0); card.State != approver.Withdrawn ||
			!strings.Contains(card.Result, "nobody took the answer") {
			t.Errorf("%v %q", card.State, card.Result)
		}
	})
}

// An agent is interrupted and issues the same command again at once: the new call takes
// the place of the one that the card shows, and the card cannot be edited. A yes to it was
// for nobody, and the call that waited was denied because "the agent stopped waiting". It
// is asked about anew now, with a card of its own, and a yes to that one runs it.
func TestAYesForNobodyAsksAnew(t *testing.T) {
	noEdit := func(x *bench) { x.tg.onUpdate(onlyEnds); x.dc.onUpdate(onlyEnds) }
	for name, c := range map[string]struct {
		command string
		spoil   func(x *bench)
		yes     func(x *bench, id string, card approver.Card) approver.Outcome
	}{
		"a card that is too large to edit": {"git push --force " + strings.Repeat("origin ", 250), func(*bench) {},
			func(x *bench, _ string, _ approver.Card) approver.Outcome { return x.tap(x.tg, 0, "1", true) }},
		"edits fail, a tap": {
			"git push --force", noEdit, func(x *bench, _ string, _ approver.Card) approver.Outcome {
				return x.tap(x.tg, 0, "1", true)
			},
		},
		"edits fail, by id": {"git push --force", noEdit, func(x *bench, _ string, card approver.Card) approver.Outcome {
			return x.Answers.Reply(x.t.Context(), approver.Reply{
				Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByID, Request: card.Request,
			})
		}},
		"edits fail, by code": {"git push --force", noEdit, func(x *bench, _ string, card approver.Card) approver.Outcome {
			return x.Answers.Reply(x.t.Context(), typed(approver.ByCode, card))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				c.spoil(x)
				call := func(id string) approver.ToolCall {
					out := peerCall(id, 1000)
					out.Command, out.Args = c.command, fmt.Appendf(nil, `{"command":%q}`, c.command)
					return out
				}
				ctx, die := context.WithCancel(t.Context())
				first := x.askAsync(ctx, call("a"), approver.High)
				synctest.Wait()
				second := x.askAsync(t.Context(), call("b"), approver.High)
				die()
				<-first
				time.Sleep(10 * time.Second)
				id, card := x.tg.card(0)
				if out := c.yes(x, id, card); out.Kind != approver.OutcomeExpired ||
					strings.Contains(out.Text, "stopped waiting") || !strings.Contains(out.Text, "asked about anew") {
					t.Errorf("the person hears %+v", out)
				}
				time.Sleep(5 * time.Second)
				select {
				case v := <-second:
					t.Fatalf("the call that waits was answered: %v %q", v.Decision, v.Reason)
				default:
				}
				if _, card := x.tg.card(0); x.tg.count() != 2 || card.State != approver.Withdrawn ||
					strings.Contains(card.Result, "stopped waiting") {
					t.Fatalf("%d cards, the first: %v %q", x.tg.count(), card.State, card.Result)
				}
				x.tap(x.tg, 1, "1", true)
				if v := <-second; v.Decision != approver.Allow || !slices.Equal(x.audit.released(), []string{"b"}) {
					t.Errorf("%+v, released %v", v, x.audit.released())
				}
			})
		})
	}
}

// onlyEnds fails every edit of a card that waits.
func onlyEnds(c approver.Card) error {
	if c.State == approver.Pending {
		return errBad
	}
	return nil
}

// A record that nobody can read, of a request that ended long ago, made every identical
// call wait for 15 seconds and be denied for a day. They are asked about now.
func TestAnUnreadableRecordDoesNotBlockIdenticalCalls(t *testing.T) {
	for name, c := range map[string]struct {
		value  string
		parked bool
	}{
		"another version": {value: `{"v":99}`}, "no record": {value: "\x00\x01"}, "nothing": {value: ""},
		"a list":                  {value: "[]"},
		"parked, another version": {value: `{"v":99}`, parked: true}, "parked, no record": {value: "x", parked: true},
		"of another request":         {value: "other"},
		"parked, of another request": {value: "other", parked: true},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				call := peerCall("a", 1000)
				if c.parked {
					call.ParkAt = time.Now().Add(3 * time.Second)
				}
				first := x.askAsync(t.Context(), call, approver.High)
				time.Sleep(10 * time.Second)
				_, card := x.tg.card(0)
				x.tap(x.tg, 0, "1", false)
				<-first
				time.Sleep(time.Second)
				value := []byte(c.value)
				if c.value == "other" {
					other := x.askAsync(t.Context(), testCall("other"), approver.High)
					time.Sleep(time.Second)
					_, card := x.tg.card(1)
					x.tap(x.tg, 1, "1", false)
					<-other
					time.Sleep(time.Second)
					value, _, _ = x.kv.Get(t.Context(), approver.Key("req", card.Request))
				}
				x.kv.replace(approver.Key("req", card.Request), memRecord{value, approver.NewRev()})
				before := x.tg.count()
				second := x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
				time.Sleep(5 * time.Second)
				if x.tg.count() != before+1 {
					t.Fatalf("%d cards, want %d", x.tg.count(), before+1)
				}
				x.tap(x.tg, before, "1", true)
				if v := <-second; v.Decision != approver.Allow {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

// A courier that connects again at once comes with the same call id while its request is
// still being made. There were two requests, two cards, and two releases for one call id.
func TestOneCallIDOnTwoConnectionsIsOneRequest(t *testing.T) {
	for _, slow := range []time.Duration{
		10 * time.Millisecond, 400 * time.Millisecond, time.Second, 1900 * time.Millisecond, 4 * time.Second,
	} {
		for _, with := range []string{"alone", "beside another call"} {
			t.Run(fmt.Sprint(slow, " ", with), func(t *testing.T) {
				story(t, func(t *testing.T, x *bench) {
					once := make(chan struct{}, 1)
					limit := func(context.Context, string, approver.ToolCall) error {
						select {
						case once <- struct{}{}:
							time.Sleep(slow)
						default:
						}
						return nil
					}
					x.tune(func(o *Options) { o.Limit = limit })
					if with != "alone" {
						x.askAsync(t.Context(), peerCall("other", 1000), approver.High)
						time.Sleep(5 * time.Millisecond)
					}
					var out []<-chan approver.Verdict
					for range 3 {
						out = append(out, x.askAsync(t.Context(), peerCall("a", 1000), approver.High))
						time.Sleep(slow / 4)
					}
					time.Sleep(10 * time.Second)
					if x.tg.count() != 1 {
						t.Errorf("%d cards", x.tg.count())
					}
					for i := range x.tg.count() {
						x.tap(x.tg, i, "1", true)
					}
					time.Sleep(30 * time.Second)
					allowed := 0
					for _, d := range decisions(out) {
						if d == approver.Allow {
							allowed++
						}
					}
					n := 0
					for _, rec := range x.audit.all(approver.EventReleased) {
						if rec.Call.ID == "a" {
							n++
						}
					}
					if n > 1 || allowed == 0 {
						t.Errorf("released %d times, %d connections were told yes", n, allowed)
					}
				})
			})
		}
	}
}
