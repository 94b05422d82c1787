package broadcaster

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/fingerprint"
)

// ask puts a call under this verdict before people.
func (x *bench) askUnder(call approver.ToolCall, why approver.Verdict) <-chan approver.Verdict {
	out := make(chan approver.Verdict, 1)
	go func() { out <- x.Ask(x.t.Context(), call, why) }()
	synctest.Wait()
	return out
}

// The story: a rule lets Bob alone approve, on Discord alone. Alice is on the
// approver list, but her yes does not count, and Telegram hears nothing.
func TestRuleNamesItsPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		v := x.askUnder(testCall("c1"), approver.Verdict{
			Decision: approver.Ask, Severity: approver.High, Approvers: []string{"bob"}, Channels: []string{"discord"},
		})
		if x.tg.count() != 0 || x.dc.count() != 1 {
			t.Errorf("%d cards on Telegram, %d on Discord", x.tg.count(), x.dc.count())
		}
		if out := x.tap(x.dc, 0, "d1", true); out.Kind != approver.OutcomeRefused {
			t.Errorf("told %+v", out)
		}
		if out := x.tap(x.dc, 0, "d2", true); out.Kind != approver.OutcomeApproved || (<-v).Decision != approver.Allow {
			t.Errorf("told %+v", out)
		}
		if v := <-x.askUnder(testCall("c2"), approver.Verdict{
			Decision: approver.Ask, Severity: approver.High, Channels: []string{"slack"},
		}); v.Decision != approver.Deny {
			t.Errorf("a rule whose channels show nothing: %+v", v)
		}
	})
}

// The story: by day anybody may allow a push; by night the rule asks Bob alone.
// Neither the yes that Alice gave for an hour, nor the one that waits for the agent,
// holds when Bob is the one to ask.
func TestGrantIsOfItsAudience(t *testing.T) {
	for name, night := range map[string]approver.Verdict{
		"other people":    {Decision: approver.Ask, Severity: approver.High, Approvers: []string{"bob"}},
		"other channels":  {Decision: approver.Ask, Severity: approver.High, Channels: []string{"discord"}},
		"other arguments": {Decision: approver.Ask, Severity: approver.High, Args: []byte(`{}`)},
		"stricter":        {Decision: approver.Ask, Severity: approver.Catastrophic},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			v := x.askAsync(t.Context(), testCall("c1"), approver.High)
			synctest.Wait()
			if out := x.command(0, "/approve CODE 60m"); out.Kind != approver.OutcomeApproved {
				t.Fatalf("%+v", out)
			}
			<-v
			asked := x.askUnder(testCall("c2"), night)
			if x.dc.count() != 2 {
				t.Errorf("%s: the grant let it through", name)
			}
			x.tap(x.dc, 1, "d2", false)
			<-asked

			parked := parkedCall("c3", 0)
			parked.Dir = "/elsewhere"
			<-x.askAsync(t.Context(), parked, approver.High)
			synctest.Wait()
			x.tap(x.dc, 2, "d1", true)
			parked.ID, parked.ParkAt = "c4", time.Time{}
			asked = x.askUnder(parked, night)
			if x.dc.count() != 4 {
				t.Errorf("%s: the yes that waited let it through", name)
			}
			x.tap(x.dc, 3, "d2", false)
			if v := <-asked; v.Decision != approver.Deny {
				t.Errorf("%s: %+v", name, v)
			}
		})
	}
}

// freezingKV freezes in the moment in which a grant is used.
type freezingKV struct {
	*memKV
	freeze atomic.Pointer[func()]
}

func (k *freezingKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time,
) error {
	err := k.memKV.PutBefore(ctx, before, key, value, prev, next, due, keepUntil)
	if strings.Contains(key, "}:grant:") {
		if freeze := k.freeze.Swap(nil); freeze != nil {
			(*freeze)()
		}
	}
	return err
}

// The story: a daemon under load has seen that there is no freeze and is about to
// use a grant; somebody freezes and is told that everything is stopped. The call
// that was under way does not run.
func TestFreezeWinsAgainstAGrantInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &freezingKV{memKV: newMemKV()}
		x := newBenchOn(t, kv.memKV, kv)
		v := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		x.command(0, "/approve CODE 15m")
		<-v
		// What the first call leaves to be recorded is over: the grant's next
		// change is its use.
		synctest.Wait()
		freeze := func() {
			if _, err := x.Controls.Freeze(t.Context(), "uid 7", ""); err != nil {
				t.Error(err)
			}
		}
		kv.freeze.Store(&freeze)
		if x.runs(testCall("c2"), approver.High) {
			t.Error("it ran after the freeze")
		}
		for _, r := range x.audit.events("") {
			if r == approver.EventGrantUsed {
				t.Error("the audit says that the grant was used")
			}
		}
	})
}

// anotherKey is a code key that is not the bench's.
var anotherKey = bytes.Repeat([]byte{7}, 32)

// The story: the code key is replaced while one question is open, one yes waits
// for its call and another holds for an hour. The code on the card still works,
// and both yeses hold, under the new key and the old.
func TestGrantsOutliveAKeyChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBench(t, kv)
		v := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		x.command(0, "/approve CODE 60m")
		<-v
		waits, open := parkedCall("c2", 0), parkedCall("c3", 0)
		waits.Dir, open.Dir = "/waits", "/open"
		for n, call := range []approver.ToolCall{waits, open} {
			<-x.askAsync(t.Context(), call, approver.High)
			synctest.Wait()
			if n == 0 {
				x.tap(x.tg, 1, "1", true)
			}
		}
		_, card := x.tg.card(2)
		x.stop()

		y := newBenchUnder(t, kv, kv, anotherKey, make([]byte, 32))
		if g, err := y.Grants.List(t.Context()); len(g) != 2 || err != nil {
			t.Errorf("%+v, %v", g, err)
		}
		typed := y.Answers.Reply(t.Context(), typed(approver.ByCode, card))
		if typed.Kind != approver.OutcomeRecorded {
			t.Errorf("the code of the old key: %+v", typed)
		}
		for n, call := range []approver.ToolCall{testCall(""), waits, open} {
			call.ID, call.ParkAt = "d"+strings.Repeat("x", n), time.Time{}
			if !y.runs(call, approver.High) {
				t.Errorf("yes %d is lost", n)
			}
		}
	})
}

// The story: the code key was replaced and the old one thrown away. What was
// granted under it does not hold and stops nothing: people are asked, and may
// grant anew. A freeze finds what it can read.
func TestGrantUnderAnUnknownKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBench(t, kv)
		v := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		x.command(0, "/approve CODE 60m")
		<-v
		parked := parkedCall("c2", 0)
		parked.Dir = "/elsewhere"
		<-x.askAsync(t.Context(), parked, approver.High)
		synctest.Wait()
		x.tap(x.tg, 1, "1", true)
		x.stop()

		y := newBenchUnder(t, kv, kv, anotherKey)
		if g, _ := y.Grants.List(t.Context()); len(g) != 0 {
			t.Errorf("%+v", g)
		}
		parked.ID, parked.ParkAt = "c3", time.Time{}
		asked := y.askUnder(parked, approver.Verdict{Decision: approver.Ask, Severity: approver.High})
		if y.tg.count() != 1 {
			t.Fatalf("%d cards", y.tg.count())
		}
		denied, err := y.Controls.Freeze(t.Context(), "uid 7", "")
		if v := <-asked; denied != 1 || err == nil || v.Decision != approver.Deny {
			t.Errorf("a freeze denied %d (%v): %+v", denied, err, v)
		}
		if err := y.Controls.Unfreeze(t.Context(), "uid 7"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		v = y.askAsync(t.Context(), testCall("c4"), approver.High)
		synctest.Wait()
		if out := y.command(1, "/approve CODE 15m"); out.Kind != approver.OutcomeApproved ||
			!strings.Contains(out.Text, "runs without asking until") {
			t.Errorf("%+v", out)
		}
		<-v
		if !y.runs(testCall("c5"), approver.High) {
			t.Error("it cannot be granted anew")
		}
	})
}

// Claude words the description of a command anew each time; the same command is
// the same call all the same. In any other tool a description is an argument.
func TestFingerprintLeavesTheDescriptionOut(t *testing.T) {
	of := func(tool, args, claim string) approver.Fingerprint {
		bound, err := fingerprint.Bind(approver.ToolCall{
			Agent: "claude", Tool: tool, Args: []byte(args), Claimed: claim,
		}, "", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return bound.Fingerprint
	}
	a := of("Bash", `{"command":"make <x>","description":"build"}`, "build")
	for args, same := range map[string]bool{
		`{"command":"make <x>"}`: true, `{"description":"x","command":"make <x>"}`: true,
		`{"command":"make <y>","description":"build"}`:             false,
		`{"command":"make <x>","description":"build","timeout":9}`: false,
	} {
		claim := map[bool]string{true: "x", false: "build"}[strings.Contains(args, `"x"`)]
		if a.Equal(of("Bash", args, claim)) != same {
			t.Errorf("%s: the same is %v", args, !same)
		}
	}
	if of("Bash", `{"command":"a","description":"b"}`, "").Equal(of("Bash", `{"command":"a"}`, "")) {
		t.Error("a description that is not the claim is left out")
	}
	if of("mcp__x", `{"command":"a","description":"b"}`,
		"b").Equal(of("mcp__x", `{"command":"a","description":"c"}`, "c")) {
		t.Error("an argument of another tool is left out")
	}
}

// The story: the daemon is killed in the moment in which a parked question was
// answered, before the record and before any card said so. The next one goes on:
// the yes is recorded, every card shows it, and the call that comes runs once.
func TestParkedYesOutlivesAKill(t *testing.T) {
	for name, lost := range map[string]func(r Request) Request{
		"before the cards":  func(r Request) Request { return r },
		"before the record": func(r Request) Request { r.Audit = ""; return r },
	} {
		synctest.Test(t, func(t *testing.T) {
			kv := newMemKV()
			x := newBench(t, kv)
			<-x.askAsync(t.Context(), parkedCall("c1", 0), approver.High)
			synctest.Wait()
			if _, card := x.dc.card(0); !strings.Contains(warned(card),
				"told to come back later; your yes waits for it until") || card.Code.IsZero() {
				t.Errorf("%s: the card says %q", name, warned(card))
			}
			x.dc.onUpdate(func(approver.Card) error { return context.Canceled }) // nothing reaches the other card any more
			x.tap(x.tg, 0, "1", true)
			_, first := x.tg.card(0)
			if _, err := x.Requests.change(t.Context(), first.Request,
				func(r Request, _ time.Time) (Request, error) { return lost(r), nil }); err != nil {
				t.Fatal(err)
			}
			x.stop()
			time.Sleep(time.Minute)

			y := newBench(t, kv)
			synctest.Wait()
			card := y.dc.at("D-0")
			if card.OneTap || !strings.Contains(card.Result, "Yes by Alice via Telegram") {
				t.Errorf("%s: the card is %+v", name, card)
			}
			back := parkedCall("c2", 0)
			back.ParkAt = time.Time{}
			if !y.runs(back, approver.High) {
				t.Errorf("%s: the yes is lost", name)
			}
			back.ID = "c3"
			if y.runs(back, approver.High) {
				t.Errorf("%s: it runs twice", name)
			}
		})
	}
}

// The story: an agent speaks to the submit socket itself and keeps its call id. By
// day its call is asked as HIGH, and somebody says yes; it comes for the answer at
// night, under the same id, when the rule asks as CATASTROPHIC.
func TestCallIDCarriesNoAnswerToAStricterQuestion(t *testing.T) {
	for name, wait := range map[string]time.Duration{"parked": 0, "held": time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			ctx, hangUp := context.WithCancel(t.Context())
			day := x.askAsync(ctx, parkedCall("c1", wait), approver.High)
			synctest.Wait()
			if wait > 0 { // the line is lost, and the agent is back within the grace
				hangUp()
			}
			<-day
			synctest.Wait()
			night := x.askAsync(t.Context(), parkedCall("c1", time.Hour), approver.Catastrophic)
			synctest.Wait()
			x.tap(x.tg, 0, "1", true)
			synctest.Wait()
			select {
			case v := <-night:
				if v.Decision != approver.Deny {
					t.Errorf("%s: %+v", name, v)
				}
			default:
				t.Errorf("%s: it waits for the answer to the weaker question", name)
			}
			if v := <-x.askAsync(t.Context(), parkedCall("c1", time.Hour), approver.Catastrophic); v.Decision != approver.Deny {
				t.Errorf("%s: %+v", name, v)
			}
			hangUp()
		})
	}
}
