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
	"approver.example/broadcaster/ladder"
)

// pacedChat is a chat whose platform limits what it takes.
type pacedChat struct {
	*chat
	limit approver.Limit
}

func (p pacedChat) Pace(to approver.Destination, _ bool) []approver.Limit {
	return (pacedBell{limit: p.limit}).Pace(to, false)
}

// The story: a burst of questions filled the first chat. A card that waits for room there has not failed, so the next
// person is asked when the time of the step has come, and not at once; but then, although nobody can have seen the
// first card. Once somebody has answered, the card that waited is not posted any more.
func TestACardThatWaitsForRoomIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newLadderedAs(t, newMemKV(), threeSteps(), func(x *laddered, o *Options) {
			o.Channels[0] = pacedChat{x.tg, approver.Limit{Most: 1, Within: 5 * time.Minute}}
		})
		x.askAsync(t.Context(), testCall("c0"), approver.High)
		time.Sleep(time.Second)
		began := time.Now()
		call := testCall("c1")
		call.Args = []byte(`{"command":"make deploy"}`)
		answer := x.askAsync(t.Context(), call, approver.High)
		x.at(began, 5*time.Second, "1 0 0")
		x.at(began, 28*time.Second, "1 0 0")
		open, err := x.Requests.Open(t.Context())
		for _, r := range open {
			if !r.Climb.At.Equal(r.Created) {
				t.Errorf("a step was taken after %v", r.Climb.At.Sub(r.Created))
			}
		}
		if err != nil || len(open) != 2 {
			t.Errorf("%d questions wait: %v", len(open), err)
		}
		x.at(began, 31*time.Second, "1 2 0")
		x.at(began, 61*time.Second, "1 2 2")
		_, mine := x.dc.card(1)
		if on := x.pg.where(t.Context(), mine.Request); !slices.Equal(on, []string{"discord"}) {
			t.Errorf("the alert says that it is answered on %v", on)
		}
		r := x.loaded(mine.Request)
		if p := r.Postings[0]; p.Phase != Sending || !p.Full || r.State != approver.Pending {
			t.Errorf("%v, its first card: %+v", r.State, p)
		}
		x.tap(x.dc, 1, "d1", true)
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%v", v)
		}
		x.at(began, 20*time.Minute, "1 2 2")
	})
}

// pacedPager is a paging service that limits what it takes.
type pacedPager struct {
	*pager
	limit approver.Limit
}

func (p pacedPager) Pace(to approver.Destination, _ bool) []approver.Limit {
	return (pacedBell{limit: p.limit}).Pace(to, false)
}

// The story: twenty questions rang at once, and the service refused what came after the first few. Alerts keep to
// its pace, the most urgent first; one whose question was answered meanwhile rings nobody; and nobody is told there
// how many wait, because nobody reads there.
func TestAlertsKeepToThePaceOfTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newLadderedAs(t, newMemKV(), threeSteps(), func(x *laddered, o *Options) {
			o.Channels[2] = pacedPager{x.pg, approver.Limit{Most: 1, Within: 8 * time.Second}}
		})
		ring := posts(x.pg.chat)
		const n = 8
		began := time.Now()
		ctx, leave := context.WithCancelCause(t.Context())
		var answers []<-chan approver.Verdict
		for i := range n {
			call := testCall(fmt.Sprint("c", i))
			call.Args = fmt.Appendf(nil, `{"command":"make %d"}`, i)
			severity := approver.High
			if i == n-1 {
				severity = approver.Catastrophic
			}
			answers = append(answers, x.askAsync(ctx, call, severity))
		}
		time.Sleep(time.Until(began.Add(86 * time.Second))) // they have rung since the 61st second
		rung := ring()
		if len(rung) < 3 || len(rung) > 4 {
			t.Fatalf("%d alerts", len(rung))
		}
		urgent := false
		for i := range 2 {
			_, card := x.pg.card(i)
			urgent = urgent || card.Severity == approver.Catastrophic
		}
		if !urgent {
			t.Error("the most urgent one did not ring among the first two")
		}
		leave(approver.ErrGone)
		for _, a := range answers {
			<-a
		}
		time.Sleep(20 * time.Minute)
		if all := ring(); len(all) != len(rung) {
			t.Errorf("%d alerts after the end", len(all)-len(rung))
		}
		for i := range rung {
			_, card := x.pg.card(i)
			if !card.State.Settled() {
				t.Errorf("an alert is left open: %v", card.State)
			}
			if _, _, err := x.Requests.load(t.Context(), card.Request); err != nil {
				t.Errorf("an alert is about no request: %q", card.Push)
			}
			if i > 0 && rung[i].Sub(rung[i-1]) < 8*time.Second {
				t.Errorf("two alerts within %v", rung[i].Sub(rung[i-1]))
			}
		}
	})
}

// The room that is kept for CATASTROPHIC questions is not taken by their reminders.
func TestAReminderLeavesRoomForWhatIsUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &sent{}, outboxOf(limits{place: approver.Limit{Most: 2, Within: time.Minute, Urgent: 1}}, 1)
		began := time.Now()
		for _, what := range []string{"a reminder", "another one"} {
			s.send(t.Context(), b, send{to: placed("T"), aside: true, since: time.Now()}, what, nil)
		}
		s.send(t.Context(), b, send{to: placed("T"), since: time.Now()}, "a card", nil)
		time.Sleep(10 * time.Minute)
		what, when := s.all()
		if !slices.Equal(what, []string{"a reminder", "a card", "another one"}) || when[1].Sub(began) > time.Second {
			t.Errorf("%q at %v", what, when)
		}
	})
}

// The story: people had ten minutes, the first of them was away, and the card of the next person had a code that was
// over after two. The card of a later step has a code of its own, which is renewed as that of the first is; the agent
// is told to come back meanwhile, and the end is shown on each card. An alert has no code and is not changed before
// the end.
func TestCardsOfLaterStepsAreRenewed(t *testing.T) {
	ladderStory(t, threeSteps(), func(t *testing.T, x *laddered) {
		letWait(x.bench)
		var changed atomic.Int64
		x.pg.onUpdate(func(card approver.Card) error {
			if card.State == approver.Pending {
				changed.Add(1)
			}
			return nil
		})
		began := time.Now()
		ctx := patient(t, 50*time.Second) // its agent waits for less than the last step
		v := <-x.askAsync(ctx, hookCall("c1"), approver.High)
		if v.Decision != approver.Deny || !strings.Contains(v.Reason, "run the same call again later") {
			t.Fatalf("the agent hears %q", v.Reason)
		}
		x.at(began, 61*time.Second, "1 1 1")
		_, first := x.dc.card(0)
		x.at(began, 5*time.Minute, "1 1 1")
		if out := x.wants(approver.WantTime, 0, "1"); out.Kind != approver.OutcomeShown {
			t.Errorf("more time: %+v", out)
		}
		x.at(began, 8*time.Minute, "1 1 1")
		_, one := x.tg.card(0)
		_, two := x.dc.card(0)
		r := x.loaded(two.Request)
		for n, card := range []approver.Card{one, two} {
			if p := r.Postings[n]; !p.lives(card.Code.Hash(x.CodeKey), time.Now()) || len(p.Was) == 0 {
				t.Errorf("%s shows a code that is over: %+v", p.To.Channel, p.renewal)
			}
		}
		if two.Code.Equal(first.Code) || two.Code.Equal(one.Code) {
			t.Error("the card of the second step has its first code, or that of another card")
		}
		old := approver.Reply{Channel: "discord", Conversation: "D", Sender: "d1", Approve: true, Method: approver.ByCode,
			Code: first.Code}
		if out := x.Answers.Reply(t.Context(), old); !strings.Contains(out.Text, "The card shows a fresh one") {
			t.Errorf("the code of before: %+v", out)
		}
		old.Code = two.Code
		if out := x.Answers.Reply(t.Context(), old); out.Kind != approver.OutcomeRecorded {
			t.Errorf("the code of now: %+v", out)
		}
		if v := x.Ask(t.Context(), hookCall("c2"), asking(approver.High)); v.Decision != approver.Allow {
			t.Errorf("it came back and hears %+v", v)
		}
		time.Sleep(10 * time.Second)
		for _, c := range []*chat{x.tg, x.dc, x.pg.chat} {
			if _, card := c.card(0); !card.State.Settled() || c.count() != 1 {
				t.Errorf("%s shows %s on the first of %d", c.name, card.State, c.count())
			}
		}
		if n := changed.Load(); n != 0 {
			t.Errorf("the alert was changed %d times before the end", n)
		}
	})
}

// routedSteps is a ladder over telegram, discord and slack, all of which may be shut out.
func routedSteps(t *testing.T, cfg ladder.Config, script []step) (x *routed, three *fragile) {
	t.Helper()
	three = &fragile{scripted: &scripted{chat: newChat("slack")}}
	return newRouted(t, newMemKV(), script, func(o *Options) {
		o.Channels = append(o.Channels, three)
		o.Destinations = append(o.Destinations, approver.Destination{Channel: "slack", Conversation: "C"})
		o.People[approver.Identity{Channel: "slack", ID: "s1"}] = approver.Person{ID: "alice", Name: "Alice"}
		var places []ladder.Place
		for _, d := range o.Destinations {
			places = append(places, ladder.Place{Destination: d, Local: d.Channel == "terminal"})
		}
		plan, problems := cfg.Plan(places)
		if len(problems) > 0 {
			t.Fatalf("%v", problems)
		}
		o.Ladder = plan
	}), three
}

// threeChats is a ladder of three chats.
func threeChats() ladder.Config {
	return ladder.Config{Steps: []ladder.Step{
		{To: []string{"telegram"}},
		{After: 30 * time.Second, To: []string{"discord"}},
		{After: time.Minute, To: []string{"slack"}},
	}}
}

// The story: the token of the first chat was revoked, the second one had removed the bot, and the call was denied as
// one that reached nobody, although the third chat had not been asked. As long as a step is left, the call waits for
// it, and the first card goes on being tried: the token is good again after a while. If no step can deliver, the call
// is denied at once, and its agent hears what helps.
func TestALaterStepMayStillDeliver(t *testing.T) {
	refused := always(step{err: errRefusedForGood})
	for name, c := range map[string]struct {
		script []step // of discord
		shut   func(x *routed, three *fragile)
		then   func(x *routed, three *fragile)
		within time.Duration // when the agent has its answer, if nobody answers
		allow  bool
	}{
		"the third step works": {
			script: refused, shut: func(x *routed, _ *fragile) { x.one.shut(true) },
			then: func(x *routed, three *fragile) {
				time.Sleep(5 * time.Second)
				if three.count() != 1 {
					t.Error("the third chat was not asked")
				}
				x.comesBack() // and says yes there
			}, allow: true, within: DefaultTTL,
		},
		"no step works": {
			script: refused, shut: func(x *routed, three *fragile) { x.one.shut(true); three.shut(true) },
			within: runsApart + maxPause,
		},
		"all are shut out": {
			shut: func(x *routed, three *fragile) {
				x.one.shut(true)
				x.two.shut(true)
				three.shut(true)
			}, within: runsApart + time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, three := routedSteps(t, threeChats(), c.script)
				c.shut(x, three)
				time.Sleep(10 * time.Minute)
				began := time.Now()
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				if c.then != nil {
					c.then(x, three)
				}
				v := <-answer
				if took := time.Since(began); (v.Decision == approver.Allow) != c.allow || took >= c.within {
					t.Errorf("after %v: %v %s", took, v.Decision, v.Reason)
				}
				if !c.allow && (!strings.Contains(v.Reason, "only people can mend") ||
					!strings.Contains(v.Reason, "telegram (since")) {
					t.Errorf("the agent hears %q", v.Reason)
				}
			})
		})
	}
}

// The story: at night one chat was left alone, and the token of the other one was revoked. The agent heard of the token
// alone; the first chat would have been asked in the morning.
func TestQuietHoursAreNamedIfNobodyElseCanBeAsked(t *testing.T) {
	for name, script := range map[string][]step{
		"at the first step": nil, "at a later step": always(step{err: errRefusedForGood}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := night(nil, "telegram")
				cfg.Steps = threeChats().Steps
				x, three := routedSteps(t, cfg, script)
				x.two.shut(script == nil)
				three.shut(true)
				time.Sleep(10 * time.Minute)
				v := <-x.askAsync(t.Context(), testCall("c1"), approver.High)
				if v.Decision != approver.Deny || !strings.Contains(v.Reason, "slack (since") ||
					!strings.Contains(v.Reason, "Other chats have quiet hours until 07:00 UTC") ||
					!strings.Contains(v.Detail, "quiet hours until 07:00 UTC") {
					t.Errorf("the agent hears %q, people %q", v.Reason, v.Detail)
				}
				if x.one.count() != 0 {
					t.Error("a chat was disturbed in its quiet hours")
				}
			})
		})
	}
}

// A rule may name chats that no step has for this severity. They are asked at once, but not in their quiet hours.
func TestQuietHoursCountWhereNoStepIsForTheQuestion(t *testing.T) {
	for name, quiet := range map[string]bool{"at night": true, "by day": false} {
		t.Run(name, func(t *testing.T) {
			cfg := night(nil, "telegram")
			cfg.Steps = []ladder.Step{
				{To: []string{"telegram"}, When: []approver.Severity{approver.Catastrophic}}, {To: []string{"discord", "oncall"}},
			}
			ladderStory(t, cfg, func(t *testing.T, x *laddered) {
				if !quiet {
					time.Sleep(8 * time.Hour)
				}
				began := time.Now()
				answer := make(chan approver.Verdict, 1)
				go func() {
					answer <- x.Ask(t.Context(), testCall("c1"), approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r",
						Severity: approver.High, Channels: []string{"telegram"}})
				}()
				if !quiet {
					x.at(began, time.Second, "1 0 0")
					x.tap(x.tg, 0, "1", true)
				}
				v := <-answer
				if quiet && (!strings.Contains(v.Reason, "quiet hours until 07:00 UTC") || time.Since(began) > time.Second) {
					t.Errorf("after %v: %q", time.Since(began), v.Reason)
				}
				if (v.Decision == approver.Allow) == quiet || quiet && x.tg.count() > 0 {
					t.Errorf("%v, %d cards", v.Decision, x.tg.count())
				}
			})
		})
	}
}
