package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// haltedKV is a store that calls before each write.
type haltedKV struct {
	*memKV
	before atomic.Pointer[func(key string)]
}

func (k *haltedKV) Put(
	ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	if before := k.before.Load(); before != nil {
		(*before)(key)
	}
	return k.memKV.Put(ctx, key, value, prev, next, due, keep)
}

func (k *haltedKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	if before := k.before.Load(); before != nil {
		(*before)(key)
	}
	return k.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep)
}

// The story: the daemon was killed between the no of somebody who did not ask for a call and the freeze of
// its agent. The card said "I did not ask for this", and the agent went on. Now the next daemon finishes
// what was begun: the freeze, the alert and the record.
func TestDisownedAndKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &haltedKV{memKV: newMemKV()}
		x := newBenchOn(t, kv.memKV, kv)
		answer := x.askAsync(t.Context(), hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		dead := make(chan struct{})
		halted := func(key string) {
			if strings.Contains(key, "control") {
				<-dead // the process is gone at this moment
			}
		}
		kv.before.Store(&halted)
		go x.wants(approver.WantDisown, 0, "1")
		<-answer
		time.Sleep(time.Second)
		y := newBench(t, kv.memKV)
		y.tg.takeOver(x.tg)
		time.Sleep(time.Minute)
		if v, _ := y.stage().Judge(t.Context(), hookCall("c2")); v.Decision != approver.Deny {
			t.Errorf("its agent goes on: %+v", v)
		}
		if n := y.count(approver.EventDisowned); n != 1 {
			t.Errorf("it is in the audit %d times", n)
		}
		_, card := x.tg.card(0)
		if r := y.loaded(card.Request); r.Disowned != (Disowned{By: "Alice via Telegram", No: true}) || len(r.Deeds) > 0 {
			t.Errorf("%+v, left %+v", r.Disowned, r.Deeds)
		}
		if _, alert := y.tg.card(-1); !strings.Contains(alert.Push, "FROZEN") {
			t.Errorf("people are told %q", alert.Push)
		}
		kv.before.Store(nil)
		close(dead)
		time.Sleep(time.Second)
	})
}

// An audit that fails for a while loses nothing of what people did, and has it once.
func TestDeedsReachTheAuditLater(t *testing.T) {
	for want, event := range map[approver.Want]approver.Event{
		approver.WantDisown: approver.EventDisowned, approver.WantTime: approver.EventExtended,
	} {
		story(t, func(t *testing.T, x *bench) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			x.askAsync(ctx, hookCall("c1"), approver.High)
			time.Sleep(time.Second)
			x.audit.failing(event)
			out := x.wants(want, 0, "1")
			if !strings.Contains(out.Text, "audit has a problem") && !strings.Contains(out.Text, "goes on trying") {
				t.Errorf("%s: the person hears %q", event, out.Text)
			}
			time.Sleep(10 * time.Second)
			if n := x.count(event); n != 0 {
				t.Errorf("%s: %d records of an audit that fails", event, n)
			}
			x.audit.failing("")
			time.Sleep(time.Minute)
			if n := x.count(event); n != 1 {
				t.Errorf("%s is in the audit %d times", event, n)
			}
		})
	}
}

// A platform delivers a tap twice, or a person taps twice: it counts once. Who disowns a request again
// changes nothing, also when people have lifted the freeze since.
func TestTheSameTapTwice(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		x.askAsync(ctx, hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		_, first := x.tg.card(0)
		for range 2 {
			if out := x.wants(approver.WantTime, 0, "1"); out.Kind != approver.OutcomeShown {
				t.Errorf("%+v", out)
			}
		}
		if r := x.loaded(first.Request); r.More != 1 || x.count(approver.EventExtended) != 1 {
			t.Errorf("more time %d times, %d records", r.More, x.count(approver.EventExtended))
		}
		x.wants(approver.WantDisown, 0, "1")
		time.Sleep(time.Second) // while it is being done, a second one does it, too, and the audit keeps one
		if out := x.wants(approver.WantDisown, 0, "2"); !strings.Contains(out.Text, "its agent is frozen") {
			t.Errorf("%+v", out)
		}
		if err := x.Controls.Unfreeze(t.Context(), "root"); err != nil {
			t.Fatal(err)
		}
		if out := x.wants(approver.WantDisown, 0, "1"); !strings.Contains(out.Text, "lifted the freeze") {
			t.Errorf("%+v", out)
		}
		if c, _, _ := x.Controls.Load(t.Context()); c.FrozenText() != "" {
			t.Error("it is frozen anew")
		}
		if n := x.count(approver.EventDisowned); n != 1 {
			t.Errorf("disowned is in the audit %d times", n)
		}
	})
}

// The story: Alice's no began with the words of the button, and when Bob pressed it, no card named him or
// the freeze.
func TestAReasonThatReadsLikeADisown(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		msg, card := x.tg.card(0)
		x.Answers.Reply(t.Context(), approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Method: approver.ByPlain, Request: card.Request, Message: msg,
			Reason: "I did not ask for this one, ask Bob",
		})
		<-answer
		x.wants(approver.WantDisown, 0, "2")
		time.Sleep(time.Second)
		if _, card := x.tg.card(0); !strings.Contains(card.Result, "Denied by Alice") ||
			!strings.Contains(card.Result, "🚫 Bob via Telegram did not ask for this: its agent was frozen") {
			t.Errorf("the card says %q", card.Result)
		}
	})
}

// The story: somebody tapped "Not mine" while Discord was away, and read that all chats are told. The daemon
// was restarted, and Discord never heard that an agent was frozen. An alert is stored until its chat has it.
func TestAnAlertOutlivesARestart(t *testing.T) {
	frozen := func(c *chat) (alerts int) {
		for n := range c.count() {
			if _, card := c.card(n); strings.Contains(card.Push, "FROZEN") {
				alerts++
			}
		}
		return alerts
	}
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.dc.onPost(func(context.Context) error { return errors.New("discord is away") })
		x.wants(approver.WantDisown, 0, "1")
		<-answer
		time.Sleep(2 * time.Second)
		y := x.restart(10 * time.Second)
		other := newBench(t, x.kv) // a second replica posts nothing twice
		time.Sleep(10 * time.Minute)
		if tg, dc := frozen(x.tg)+frozen(y.tg)+frozen(other.tg), frozen(y.dc)+frozen(other.dc); tg != 1 || dc != 1 {
			t.Errorf("%d alerts in telegram, %d in discord", tg, dc)
		}
	})
	story(t, func(t *testing.T, x *bench) { // a channel that ended, and comes back
		answer := x.askAsync(t.Context(), hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		ended := func(err error) { x.Channels.states.ended("discord", err) }
		ended(fmt.Errorf("the token was revoked: %w", approver.ErrFinal))
		x.wants(approver.WantDisown, 0, "1")
		<-answer
		time.Sleep(2 * alertRound)
		ended(nil)
		time.Sleep(2 * alertRound)
		if n := frozen(x.dc); n != 1 {
			t.Errorf("%d alerts in discord", n)
		}
	})
	story(t, func(t *testing.T, x *bench) { // a chat that is away for days is given up in the end
		answer := x.askAsync(t.Context(), hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.dc.onPost(func(context.Context) error { return errors.New("discord is away") })
		x.wants(approver.WantDisown, 0, "1")
		<-answer
		time.Sleep(5 * alertRound)
		_, card := x.tg.card(0)
		if _, err := x.Requests.change(t.Context(), card.Request, func(r Request, now time.Time) (Request, error) {
			if len(r.Untold.To) != 1 {
				t.Errorf("still owed: %v", r.Untold)
			}
			r.Untold.Since = now.Add(-alertFor)
			return r, nil
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * alertRound)
		if r := x.request(); len(r.Untold.To) != 0 {
			t.Errorf("owed for ever: %v", r.Untold)
		}
	})
}

// The story: people read "most likely nothing ran" and "three calls, once each" on the cards of yeses that
// lasted, and the next identical call ran unasked. A card says all that holds: for how long the yes is,
// what became of the calls, and that somebody took it back.
func TestACardSaysAllOfAYesThatLasts(t *testing.T) {
	session := approver.Term{Session: true}
	result := func(x *bench) string { _, card := x.tg.card(0); return card.Result }
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.tapTerm(session)
		<-answer
		time.Sleep(3 * time.Minute)
		const want = "✅ Approved for the session by Alice via Telegram · 1 s · nobody took the answer: the agent was gone, " +
			"and most likely nothing ran · kept for the same call until %s at most"
		_, card := x.tg.card(0)
		until := time.Now().Add(approver.SessionTerm - 3*time.Minute).UTC().Format("15:04:05 UTC")
		if card.Result != fmt.Sprintf(want, until) || card.State != approver.Consumed {
			t.Errorf("nobody took it: %v %q", card.State, card.Result)
		}
		if err := x.Grants.Revoke(t.Context(), x.only(t).ID, "root"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, card := x.tg.card(0); !strings.HasPrefix(card.Result, "↩ Approved by Alice") ||
			card.State != approver.Withdrawn || !strings.HasSuffix(card.Result, "most likely nothing ran · taken back by root") {
			t.Errorf("taken back: %v %q", card.State, card.Result)
		}
	})
	story(t, func(t *testing.T, x *bench) { // "Not mine" ends what was kept
		answer := x.askAsync(t.Context(), hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.tapTerm(session)
		<-answer
		time.Sleep(3 * time.Minute)
		x.wants(approver.WantDisown, 0, "2")
		time.Sleep(time.Minute)
		if got := result(x); strings.Contains(got, "kept for") || !strings.Contains(got, "did not ask for this") {
			t.Errorf("disowned: %q", got)
		}
	})
	story(t, func(t *testing.T, x *bench) {
		answers := x.several(t.Context(), 3, approver.High)
		msg, card := x.tg.card(0)
		x.Answers.Reply(t.Context(), approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByTap, Grant: session,
			Request: card.Request, Message: msg, Shown: card.Upto,
		})
		decisions(answers)
		time.Sleep(20 * time.Second)
		if got := result(x); got != "✅ Approved for the session by Alice via Telegram · 5 s · 3 identical calls, once each" {
			t.Errorf("for three: %q", got)
		}
	})
	story(t, func(t *testing.T, x *bench) {
		x.lastingYes(testCall("c1"))
		if err := x.Grants.Revoke(t.Context(), x.only(t).ID, "root"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := result(x); got != "✅ Approved for 15m by Alice via Telegram · 1 s · taken back by root" {
			t.Errorf("taken back: %q", got)
		}
	})
}

// Who is taken off the approver list lets nothing run any more, also by a yes of before.
func TestTakenOffTheList(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.lastingYes(hookCall("c1"))
		if !x.runs(hookCall("c2"), approver.High) {
			t.Error("the yes does not last")
		}
		people := approver.People{}
		people.Add("telegram", []approver.Approver{{ID: "2", Name: "Bob", Person: "bob"}})
		x.Approvers.Set(people)
		if list, err := x.Grants.List(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("listed: %+v, %v", list, err)
		}
		answer := x.askAsync(t.Context(), hookCall("c3"), approver.High)
		time.Sleep(time.Second)
		x.tap(x.tg, -1, "2", false)
		if v := <-answer; v.Decision == approver.Allow {
			t.Error("it runs unasked")
		}
	})
}

// People gave a request more time while its agent was being told to come back: the yes waits for the agent
// as long as the card says.
func TestMoreTimeWhileTheAgentIsToldToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &haltedKV{memKV: newMemKV()}
		x := newBenchOn(t, kv.memKV, kv)
		once := false
		extend := func(key string) {
			if strings.Contains(key, ":parked:") && !once {
				once = true
				x.wants(approver.WantTime, 0, "1")
			}
		}
		kv.before.Store(&extend)
		call := hookCall("c1")
		call.ParkAt = time.Now().Add(time.Minute)
		<-x.askAsync(t.Context(), call, approver.High)
		if r := x.only(t); !once || r.More != 1 || !r.TakeBy.Equal(r.Due.Add(GrantMargin)) {
			t.Errorf("more time %d times, until %v, to be taken by %v", r.More, r.Due, r.TakeBy)
		}
		time.Sleep(10 * time.Minute)
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeRecorded {
			t.Errorf("%+v", out)
		}
		if v := x.Ask(t.Context(), hookCall("c2"), asking(approver.High)); v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
	})
}

// A live code that somebody typed into their reason, with its prefix or without, reaches neither the agent
// nor the card. Other words stay.
func TestABareCodeInAReason(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		other, mine := testCall("c1"), testCall("c2")
		mine.Command, mine.Args = "git push --force origin x", []byte(`{"command":"git push --force origin x"}`)
		x.askAsync(t.Context(), other, approver.Catastrophic)
		time.Sleep(time.Second)
		_, first := x.tg.card(0)
		answer := x.askAsync(t.Context(), mine, approver.High)
		time.Sleep(time.Second)
		msg, card := x.tg.card(-1)
		bare := strings.ToLower(strings.TrimPrefix(first.Code.Reveal(), "CONFIRM-"))
		x.Answers.Reply(t.Context(), approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Method: approver.ByPlain, Request: card.Request, Message: msg,
			Reason: "use branch 3f2a9c, not (" + bare + ") " + bare[:3] + " " + bare[3:] +
				", confirm " + bare[:2] + "-" + bare[2:],
		})
		v := <-answer
		heard := strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(v.Reason))
		if !strings.Contains(v.Reason, "use branch 3f2a9c, not") || strings.Contains(heard, bare) {
			t.Errorf("the agent hears %q", v.Reason)
		}
	})
}

// People choose their names on a platform: who calls herself Bob there is Alice in the audit.
func TestTheAuditNamesPeopleAsConfigured(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.askAsync(t.Context(), hookCall("c1"), approver.Catastrophic)
		time.Sleep(time.Second)
		msg, card := x.tg.card(0)
		for _, rep := range []approver.Reply{
			{Approve: true, Method: approver.ByTap}, {Want: approver.WantTime, Method: approver.ByTap},
			{Want: approver.WantDisown, Method: approver.ByTap},
		} {
			rep.Channel, rep.Conversation, rep.Sender, rep.Name = "telegram", "T", "1", "Bob"
			rep.Request, rep.Message = card.Request, msg
			x.Answers.Reply(t.Context(), rep)
		}
		for _, e := range []approver.Event{approver.EventRefused, approver.EventExtended, approver.EventDisowned} {
			if all := x.audit.all(e); len(all) != 1 || all[0].Reply.Name != "Alice" || all[0].Reply.Sender != "1" {
				t.Errorf("%s: %+v", e, all)
			}
		}
	})
}
