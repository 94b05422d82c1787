package broadcaster

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/broadcaster/ladder"
)

// The story: a bot was thrown out of its chats, and on-call was called. Somebody saw the alert, so the call was kept
// open until its deadline, although nobody could answer it anywhere.
func TestAPageBesideADeadChatReachesNobody(t *testing.T) {
	for name, cfg := range map[string]ladder.Config{
		"no ladder": {},
		"one step":  {Steps: []ladder.Step{{To: []string{"telegram", "discord", "oncall"}}}},
		"two steps": {Steps: []ladder.Step{
			{To: []string{"telegram"}}, {After: 30 * time.Second, To: []string{"discord", "oncall"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ladderStory(t, cfg, func(t *testing.T, x *laddered) {
				refused := func(context.Context) error {
					time.Sleep(100 * time.Millisecond) // the page is there first
					return fmt.Errorf("kicked: %w", approver.ErrFinal)
				}
				x.tg.onPost(refused)
				x.dc.onPost(refused)
				began := time.Now()
				v := <-x.askAsync(t.Context(), testCall("c1"), approver.High)
				if took := time.Since(began); v.Decision != approver.Deny || took > 5*time.Second {
					t.Errorf("after %v: %v %s", took, v.Decision, v.Reason)
				}
			})
		})
	}
}

// The story: only Dora was asked by a rule, and she is on Discord, two steps up. The first step's chat got the card,
// where nobody could say yes, and the time was over before she was asked.
func TestAStepWithoutAnApproverIsPassed(t *testing.T) {
	cfg := ladder.Config{Steps: []ladder.Step{
		{To: []string{"telegram"}}, {After: 2 * time.Minute, To: []string{"discord", "oncall"}},
	}}
	synctest.Test(t, func(t *testing.T) {
		x := newLadderedAs(t, newMemKV(), cfg, func(_ *laddered, o *Options) {
			o.People[approver.Identity{Channel: "discord", ID: "d9"}] = approver.Person{ID: "dora", Name: "Dora"}
		})
		ctx, leave := context.WithCancel(t.Context())
		answer := make(chan approver.Verdict, 1)
		go func() {
			answer <- x.Ask(ctx, testCall("c1"), approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r",
				Severity: approver.High, Approvers: []string{"dora"}})
		}()
		time.Sleep(5 * time.Second)
		if x.tg.count() != 1 || x.dc.count() != 1 {
			t.Errorf("cards: %s", x.counts())
		}
		leave()
		<-answer
		x.stop()
	})
}

// The story: the only approver's chat had quiet hours, another chat had none. A card went there, and the agent waited
// for somebody who could say yes until its deadline.
func TestQuietHoursOfTheOnlyApprover(t *testing.T) {
	cfg := night(nil, "telegram")
	cfg.Steps = []ladder.Step{{To: []string{"telegram", "discord", "oncall"}}}
	ladderStory(t, cfg, func(t *testing.T, x *laddered) {
		x.Approvers.Set(approver.People{{Channel: "telegram", ID: "1"}: {ID: "alice"}})
		began := time.Now()
		v := x.Ask(t.Context(), testCall("c1"), asking(approver.High))
		if took := time.Since(began); took > time.Second || v.Decision != approver.Deny {
			t.Errorf("after %v: %v %s", took, v.Decision, v.Reason)
		}
	})
}

// The story: a rule named Telegram and on-call, and no step had Telegram for that severity. Only on-call rang.
func TestARuleNamesAChatThatNoStepHasBesideAPager(t *testing.T) {
	cfg := ladder.Config{Steps: []ladder.Step{
		{To: []string{"telegram"}, When: []approver.Severity{approver.Catastrophic}}, {To: []string{"discord", "oncall"}},
	}}
	ladderStory(t, cfg, func(t *testing.T, x *laddered) {
		ctx, leave := context.WithTimeout(t.Context(), 5*time.Second)
		defer leave()
		x.Ask(ctx, testCall("c1"), approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r",
			Severity: approver.High, Channels: []string{"telegram", "oncall"}})
		if x.tg.count() != 1 {
			t.Errorf("cards: %s", x.counts())
		}
	})
}

// The story: after an outage of almost two minutes, three reminders came within a second.
func TestRemindersDoNotCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x, _ := ringing(t, kv, threeSteps(), nil)
		letWait(x.bench)
		ctx, leave := context.WithCancelCause(t.Context())
		first := x.askAsync(ctx, peerCall("c1", 1000), approver.High)
		time.Sleep(10 * time.Second)
		leave(approver.ErrShuttingDown)
		x.stop()
		<-first
		time.Sleep(105 * time.Second)
		y, rung := ringing(t, kv, threeSteps(), nil)
		y.tg.takeOver(x.tg)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if said := rung.rung(); len(said) > 1 {
			t.Errorf("reminders: %q", said)
		}
	})
}
