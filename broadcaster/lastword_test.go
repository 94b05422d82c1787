package broadcaster

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The story: Alice's no was kept, and dropped when she said something else that could not be done then, or said
// no to another request. Bob's yes ran the call.
func TestAKeptNoStandsUntilItsPersonAnswersAgain(t *testing.T) {
	for name, second := range map[string]func(x *bench, t *testing.T){
		"no by code to another": func(x *bench, t *testing.T) {
			_, card := x.tg.card(1)
			rep := typed(approver.ByCode, card)
			rep.Approve = false
			x.Answers.Reply(t.Context(), rep)
		},
		"freeze": func(x *bench, t *testing.T) {
			x.Answers.Reply(t.Context(), approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1",
				Want: approver.WantFreeze, Method: approver.ByCommand})
		},
		"disown the same": func(x *bench, t *testing.T) {
			id, card := x.tg.card(0)
			rep := tapOf(id, card, false)
			rep.Want = approver.WantDisown
			x.Answers.Reply(t.Context(), rep)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newAwayKV()
				x := newBenchOn(t, kv.memKV, kv)
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				other := testCall("c2")
				other.Command, other.Args = "ls", []byte(`{"command":"ls"}`)
				x.askAsync(t.Context(), other, approver.High)
				time.Sleep(time.Second)
				id, card := x.tg.card(0)
				did, dcard := x.dc.card(0)
				kv.goFor(50 * time.Second)
				x.Answers.Reply(t.Context(), tapOf(id, card, false))
				second(x, t)
				time.Sleep(40 * time.Second)
				yes := approver.Reply{Channel: "discord", Conversation: "D", Sender: "d2", Approve: true, Method: approver.ByTap,
					Request: dcard.Request, Message: did, Shown: dcard.Upto}
				x.Answers.Reply(t.Context(), yes)
				v := <-answer
				if v.Decision == approver.Allow {
					t.Error("it ran although Alice's no was accepted for later")
				}
			})
		})
	}
}

// The last word counts while a changed command is being entered, too.
func TestANoAfterAChangedCommand(t *testing.T) {
	ran := 0
	for i := range 20 {
		synctest.Test(t, func(t *testing.T) {
			kv := newAwayKV()
			x := newBenchOn(t, kv.memKV, kv)
			slow := func(ctx context.Context, call approver.ToolCall) approver.Verdict {
				kv.goFor(10*time.Second + time.Duration(i)*37*time.Millisecond)
				return judging(ctx, call)
			}
			x.judgedBy(judging)
			answer := x.asked(editable("c1"), approver.Verdict{Decision: approver.Ask, Severity: approver.High})
			time.Sleep(time.Second)
			x.judgedBy(slow)
			id, card := x.tg.card(0)
			var both sync.WaitGroup
			both.Go(func() { x.Answers.Reply(t.Context(), x.editReply("1", "git push origin HEAD:fix")) })
			time.Sleep(5*time.Second + 13*time.Millisecond)
			both.Go(func() { x.Answers.Reply(t.Context(), tapOf(id, card, false)) })
			if v := <-answer; v.Decision == approver.Allow || v.Decision == approver.Modify || v.Decision == approver.Pass {
				ran++
			}
			both.Wait()
		})
	}
	if ran > 0 {
		t.Errorf("ran %d of 20 times against the last word", ran)
	}
}

// Whoever taps again hears nothing of a release that did not happen.
func TestASecondTapHearsNoReleaseThatWasWithheld(t *testing.T) {
	wrong := 0
	for i := range 40 {
		synctest.Test(t, func(t *testing.T) {
			kv := &pathKV{memKV: newMemKV()}
			s := &storedButUnsaid{pathKV: kv}
			x := newBenchOn(t, kv.memKV, s)
			s.then = func() {
				kv.goFor(30 * time.Second)
				x.Mark.hold(Freeze{At: time.Now(), By: "Bob", Reason: "stop"})
			}
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			time.Sleep(time.Second)
			id, card := x.tg.card(0)
			s.armed.Store(true)
			x.Answers.Reply(t.Context(), tapOf(id, card, true))
			<-answer
			time.Sleep(time.Until(time.Unix(0, kv.back.Load())) - 2*time.Second - time.Duration(i)*73*time.Millisecond)
			out := x.Answers.Reply(t.Context(), tapOf(id, card, true))
			if out.Kind == approver.OutcomeApproved {
				wrong++
			}
		})
	}
	if wrong > 0 {
		t.Errorf("%d of 40 hear released of a yes that was withheld", wrong)
	}
}

// A changed command from before its person was removed does not count once they are brought back.
func TestAChangedCommandDoesNotOutliveARemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &pathKV{memKV: newMemKV()}
		x := newBenchOn(t, kv.memKV, kv)
		y := newBench(t, kv.memKV)
		x.judgedBy(judging)
		answer := x.asked(editable("c1"), approver.Verdict{Decision: approver.Ask, Severity: approver.High})
		time.Sleep(time.Second)
		x.judgedBy(func(ctx context.Context, call approver.ToolCall) approver.Verdict {
			kv.goFor(12 * time.Second)
			return judging(ctx, call)
		})
		go x.Answers.Reply(t.Context(), x.editReply("1", "git push origin HEAD:fix"))
		time.Sleep(time.Second)
		if _, err := y.Removals.Remove(t.Context(), Removal{Person: "alice", By: "uid 0", ByRoot: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if err := y.Removals.Restore(t.Context(), away(t, y.Broadcaster, "alice"), "uid 0"); err != nil {
			t.Fatal(err)
		}
		if v := <-answer; v.Decision == approver.Allow {
			t.Errorf("a change from before her removal ran: %s", v.Reason)
		}
	})
}

// The store is back, and the note that a yes was withheld is not stored yet: nobody says that it was released, not
// the audit, not a card, and not to whoever taps again.
func TestNothingSaysReleasedBeforeTheNoteOfAWithheldYesIsStored(t *testing.T) {
	wrong, cards, audits := 0, 0, 0
	const n = 60
	for i := range n {
		synctest.Test(t, func(t *testing.T) {
			kv := &pathKV{memKV: newMemKV()}
			s := &storedButUnsaid{pathKV: kv}
			x := newBenchOn(t, kv.memKV, s)
			s.then = func() {
				kv.goFor(30 * time.Second)
				x.Mark.hold(Freeze{At: time.Now(), By: "Bob", Reason: "stop"})
			}
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			time.Sleep(time.Second + time.Duration(i)*17*time.Millisecond)
			id, card := x.tg.card(0)
			s.armed.Store(true)
			x.Answers.Reply(t.Context(), tapOf(id, card, true))
			if v := <-answer; v.Decision == approver.Allow {
				t.Error("it ran")
			}
			time.Sleep(time.Until(time.Unix(0, kv.back.Load())) + time.Millisecond)
			out := x.Answers.Reply(t.Context(), tapOf(id, card, true))
			hit := out.Kind == approver.OutcomeApproved
			if hit {
				wrong++
			}
			said := false
			for range 100 {
				if _, now := x.tg.card(0); strings.HasPrefix(now.Result, "✅") {
					said = true
				}
				time.Sleep(50 * time.Millisecond)
			}
			if said {
				cards++
			}
			rel := 0
			for _, e := range x.audit.events(card.Request) {
				if e == approver.EventReleased {
					rel++
				}
			}
			if rel > 0 {
				audits++
			}
		})
	}
	if wrong+cards+audits > 0 {
		t.Errorf("of %d: %d hear released, %d cards say ✅, %d audits have released", n, wrong, cards, audits)
	}
}
