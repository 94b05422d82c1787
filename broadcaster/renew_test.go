package broadcaster

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// letWait has people wait 5 minutes for CATASTROPHIC calls and 10 for HIGH ones.
func letWait(x *bench) {
	x.tune(func(o *Options) {
		o.Wait = map[approver.Severity]time.Duration{
			approver.Catastrophic: 5 * time.Minute, approver.High: 10 * time.Minute,
		}
	})
}

// patient is a context of a courier that waits for so long.
func patient(t *testing.T, d time.Duration) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), d)
	t.Cleanup(stop)
	return ctx
}

// edits counts the edits of a chat's cards that wait, and lets them fail as err says.
type edits struct {
	n   atomic.Int64
	err atomic.Pointer[error]
}

func (e *edits) fail(err error) { e.err.Store(&err) }

func (e *edits) of(c *chat) *edits {
	c.onUpdate(func(card approver.Card) error {
		if card.State != approver.Pending {
			return nil
		}
		e.n.Add(1)
		if err := e.err.Load(); err != nil {
			return *err
		}
		return nil
	})
	return e
}

// typedOn is a yes, or no, by the code of a card on Telegram.
func typedOn(card approver.Card, approve bool) approver.Reply {
	rep := typed(approver.ByCode, card)
	rep.Approve = approve
	return rep
}

// The story: the phone was in another room, the card had come six minutes ago, and its two minutes were long over.
// With a wait, the request waits, and the card always has a code that counts: no code lives longer than two minutes,
// and whoever types the one of before is told to look at the card, and not locked out.
func TestARequestThatWaitsHasFreshCodes(t *testing.T) {
	for name, c := range map[string]struct {
		sev   approver.Severity
		after time.Duration
		say   func(x *bench, first approver.Card) approver.Outcome
		want  approver.OutcomeKind
		says  string
		open  bool
	}{
		"the code of now, late": {after: 290 * time.Second, say: func(x *bench, _ approver.Card) approver.Outcome {
			_, card := x.tg.card(0)
			return x.Answers.Reply(x.t.Context(), typedOn(card, true))
		}, want: approver.OutcomeApproved},
		"the first code, in its time": {after: 89 * time.Second, say: func(x *bench, first approver.Card) approver.Outcome {
			return x.Answers.Reply(x.t.Context(), typedOn(first, true))
		}, want: approver.OutcomeApproved},
		"the first code, while somebody types": {after: 100 * time.Second,
			say: func(x *bench, first approver.Card) approver.Outcome {
				return x.Answers.Reply(x.t.Context(), typedOn(first, true))
			}, want: approver.OutcomeApproved},
		"the first code, later": {after: 2 * time.Minute, say: func(x *bench, first approver.Card) (out approver.Outcome) {
			for range 10 {
				out = x.Answers.Reply(x.t.Context(), typedOn(first, true))
			}
			return out
		}, want: approver.OutcomeUnknown, says: "The card shows a fresh one: type that", open: true},
		"the first code, once somebody has had time to type it": {after: 112 * time.Second,
			say: func(x *bench, first approver.Card) approver.Outcome {
				return x.Answers.Reply(x.t.Context(), typedOn(first, true))
			}, want: approver.OutcomeUnknown, says: "The card shows a fresh one: type that", open: true},
		"a no with the first code": {after: 4 * time.Minute, say: func(x *bench, first approver.Card) approver.Outcome {
			return x.Answers.Reply(x.t.Context(), typedOn(first, false))
		}, want: approver.OutcomeDenied},
		"the first code in another conversation": {after: 4 * time.Minute,
			say: func(x *bench, first approver.Card) approver.Outcome {
				rep := typedOn(first, true)
				rep.Channel, rep.Conversation, rep.Sender = "discord", "D", "d1"
				return x.Answers.Reply(x.t.Context(), rep)
			}, want: approver.OutcomeUnknown, says: "another conversation", open: true},
		"a button, late": {sev: approver.High, after: 9 * time.Minute,
			say:  func(x *bench, _ approver.Card) approver.Outcome { return x.tap(x.tg, 0, "1", true) },
			want: approver.OutcomeApproved},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				letWait(x)
				began := time.Now()
				answer := x.askAsync(patient(t, time.Hour), hookCall("c1"), c.sev)
				time.Sleep(time.Second)
				_, first := x.tg.card(0)
				seen := map[tokens.Hash]time.Time{}
				for time.Since(began) < c.after {
					for n, chat := range []*chat{x.tg, x.dc} {
						_, card := chat.card(0)
						code, p := card.Code.Hash(x.CodeKey), x.loaded(card.Request).Postings[n]
						if says := strings.Join(card.Warnings, "\n"); !p.lives(code, time.Now()) ||
							!strings.Contains(says, "changes every two minutes") {
							t.Fatalf("after %v the card on %s has a dead code, or says %q", time.Since(began), chat.name, says)
						}
						if from, had := seen[code]; !had {
							seen[code] = time.Now()
						} else if time.Since(from) > codeLife {
							t.Fatal("a code lives for longer than two minutes")
						}
					}
					time.Sleep(time.Second)
				}
				out := c.say(x, first)
				if out.Kind != c.want || !strings.Contains(out.Text, c.says) {
					t.Errorf("the person is told %+v", out)
				}
				if c.open { // nobody is locked out
					_, card := x.tg.card(0)
					out = x.Answers.Reply(t.Context(), typedOn(card, true))
				}
				v := <-answer
				if yes := out.Kind == approver.OutcomeApproved; (v.Decision == approver.Allow) != yes || c.open && !yes {
					t.Errorf("%v %s, after %+v", v.Decision, v.Reason, out)
				}
			})
		})
	}
}

// Who waits for how long. Without a wait all is as ever: a code lives as long as its request.
func TestWhoWaits(t *testing.T) {
	for name, c := range map[string]struct {
		sev    approver.Severity
		ttl    time.Duration // of the rule
		none   bool          // no wait is configured
		call   func(*approver.ToolCall)
		prompt bool
		waits  time.Duration // the courier
		want   time.Duration
		renews bool
	}{
		"a catastrophic call":          {waits: time.Hour, want: 5 * time.Minute, renews: true},
		"a high one":                   {sev: approver.High, waits: time.Hour, want: 10 * time.Minute, renews: true},
		"a rule that has more":         {ttl: 20 * time.Minute, waits: time.Hour, want: 20 * time.Minute, renews: true},
		"a rule that has less":         {ttl: time.Minute, waits: time.Hour, want: time.Minute, renews: true},
		"no wait":                      {none: true, waits: time.Hour, want: DefaultTTL},
		"no wait, and a patient rule":  {none: true, ttl: 20 * time.Minute, waits: time.Hour, want: 20 * time.Minute},
		"no wait, and a short courier": {none: true, waits: time.Minute, want: time.Minute - AnswerMargin},
		"a script": {call: func(c *approver.ToolCall) { c.Acks = false }, waits: time.Hour,
			want: DefaultTTL},
		"approver's own":             {call: func(c *approver.ToolCall) { c.Own = true }, waits: time.Hour, want: DefaultTTL},
		"a courier that waits less":  {waits: 2 * time.Minute, want: 5 * time.Minute, renews: true},
		"one that is about to leave": {waits: parkMargin, want: parkMargin - AnswerMargin, renews: true},
		"an agent's own question": {
			prompt: true, waits: 3 * time.Minute, want: 3*time.Minute - AnswerMargin, renews: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				if !c.none {
					letWait(x)
				}
				call, why := hookCall("c1"), asking(c.sev)
				why.TTL, why.Prompt = c.ttl, c.prompt
				if c.call != nil {
					c.call(&call)
				}
				x.inquire(patient(t, c.waits), call, why)
				time.Sleep(500 * time.Millisecond)
				_, card := x.tg.card(0)
				r := x.loaded(card.Request)
				if got := r.Due.Sub(r.Created).Round(time.Millisecond); got != c.want || r.Renews != c.renews ||
					r.Postings[0].CodeTill.IsZero() == c.renews {
					t.Errorf("it waits %v, its codes are renewed: %v; want %v, %v", got, r.Renews, c.want, c.renews)
				}
				code := card.Code
				if time.Sleep(c.want - time.Second); !c.renews {
					if _, card := x.tg.card(0); !card.Code.Equal(code) && card.State == approver.Pending {
						t.Error("the code is another one")
					}
				}
			})
		})
	}
}

// The story: an agent's hook waits for three minutes at most, and people may answer for ten. The agent is told to come
// back, the card goes on showing fresh codes, and the yes waits for it.
func TestAnAgentThatWaitsLessComesBack(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		letWait(x)
		ctx := patient(t, 3*time.Minute)
		v := <-x.askAsync(ctx, hookCall("c1"), approver.High)
		if v.Decision != approver.Deny || !strings.Contains(v.Reason, "run the same call again later") || ctx.Err() != nil {
			t.Fatalf("the agent hears %q, %v", v.Reason, ctx.Err())
		}
		time.Sleep(6*time.Minute + 30*time.Second)
		_, card := x.tg.card(0)
		if out := x.Answers.Reply(t.Context(), typedOn(card, true)); out.Kind != approver.OutcomeRecorded {
			t.Errorf("the yes: %+v", out)
		}
		v = x.Ask(t.Context(), hookCall("c2"), asking(approver.High))
		if v.Decision != approver.Allow {
			t.Errorf("it came back and hears %+v", v)
		}
	})
}

// The story: the daemon stored a fresh code and was killed before the card showed it. The card shows a code that is
// dead soon. Whoever types it is told what to do, and another daemon gives the card a code of its own within seconds.
func TestACardThatWasNotRenewedIsRenewedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBench(t, kv)
		letWait(x)
		failing := (&edits{}).of(x.tg)
		failing.fail(errBad)
		ctx, leave := context.WithCancelCause(t.Context())
		first := x.askAsync(ctx, hookCall("c1"), approver.Catastrophic)
		time.Sleep(time.Second)
		_, shown := x.tg.card(0)
		time.Sleep(2 * time.Minute)
		if failing.n.Load() == 0 {
			t.Fatal("no edit was tried")
		}
		out := x.Answers.Reply(t.Context(), typedOn(shown, true))
		if out.Kind != approver.OutcomeUnknown || !strings.Contains(out.Text, "could not be given a fresh one yet") {
			t.Errorf("the person is told %+v", out)
		}
		leave(approver.ErrShuttingDown)
		<-first
		x.stop()
		y := newBench(t, kv)
		letWait(y)
		y.tg.takeOver(x.tg)
		y.dc.takeOver(x.dc)
		second := y.askAsync(patient(t, time.Hour), hookCall("c1"), approver.Catastrophic)
		time.Sleep(renewWithin + 3*time.Second)
		_, fresh := y.tg.card(0)
		if fresh.Code.Equal(shown.Code) {
			t.Fatal("the card has its old code")
		}
		if out := y.Answers.Reply(t.Context(), typedOn(fresh, true)); out.Kind != approver.OutcomeApproved {
			t.Errorf("the fresh code: %+v", out)
		}
		if v := <-second; v.Decision != approver.Allow {
			t.Errorf("%v %s", v.Decision, v.Reason)
		}
	})
}

// Of two daemons that share a store one renews each card, once for each code.
func TestOneOfSeveralDaemonsRenews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x, y := newBench(t, kv), newBench(t, kv)
		letWait(x)
		letWait(y)
		there, here := &edits{}, &edits{}
		for _, c := range []*chat{x.tg, x.dc} {
			there.of(c)
		}
		for _, c := range []*chat{y.tg, y.dc} {
			here.of(c)
		}
		x.askAsync(patient(t, time.Hour), hookCall("c1"), approver.Catastrophic)
		time.Sleep(5*time.Minute - time.Second)
		if n := there.n.Load() + here.n.Load(); n != 2*2 { // two cards, after 90 and 180 s
			t.Errorf("%d edits", n)
		}
		message, card := x.tg.card(0)
		mine := y.tg.at(message)
		r := x.loaded(card.Request)
		if r.Postings[0].Renewing != (time.Time{}) || !r.Postings[0].Code.Equal(card.Code.Hash(x.CodeKey)) &&
			!r.Postings[0].Code.Equal(mine.Code.Hash(x.CodeKey)) {
			t.Errorf("the record: %+v", r.Postings[0].renewal)
		}
	})
}

// Both look in the same moment.
func TestTwoDaemonsThatRenewAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		both := [2]*bench{newBenchOn(t, kv, slowReads{kv}), newBenchOn(t, kv, slowReads{kv})}
		count := &edits{}
		for _, x := range both {
			letWait(x)
			count.of(x.tg)
			count.of(x.dc)
		}
		both[0].askAsync(patient(t, time.Hour), hookCall("c1"), approver.Catastrophic)
		time.Sleep(codeLife - renewBefore - time.Second)
		kv.failing(func(op, _ string) error { // nobody looks by itself
			if op == "due" {
				return errKV
			}
			return nil
		})
		time.Sleep(3 * time.Second)
		_, card := both[0].tg.card(0)
		_ = inParallel(2, func(n int) error {
			both[n].poster.renewCodes(t.Context(), card.Request)
			return nil
		})
		time.Sleep(3 * time.Second)
		was := both[0].loaded(card.Request).Postings[0].Was
		if n := count.n.Load(); n != 2 || len(was) != 1 {
			t.Errorf("%d edits of two cards, which had %d codes before", n, len(was))
		}
	})
}

// A daemon whose code was replaced by another one's does not show it any more, whatever else the card has to show.
func TestACodeThatAnotherDaemonReplacedIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x, y := newBench(t, kv), newBench(t, kv)
		letWait(x)
		letWait(y)
		x.askAsync(patient(t, time.Hour), hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		message, card := x.tg.card(0)
		for _, name := range []string{"telegram", "discord"} {
			x.Channels.states.ended(name, errBad)
		}
		time.Sleep(100 * time.Second)
		for _, name := range []string{"telegram", "discord"} {
			x.Channels.states.ended(name, nil)
		}
		if fresh := y.tg.at(message); fresh.Code.IsZero() || fresh.Code.Equal(card.Code) {
			t.Fatal("the other daemon has not renewed the card")
		}
		x.askAsync(patient(t, time.Hour), hookCall("c2"), approver.High)
		time.Sleep(10 * time.Second)
		if now := x.tg.at(message); now.Upto != 0 {
			t.Errorf("the card was edited, for %d calls, to show the code of before", now.Upto)
		}
	})
}

// A message that somebody deleted is not renewed for ever, and the code of its card is over: the other card counts.
func TestACardThatCannotBeRenewed(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		letWait(x)
		failing := (&edits{}).of(x.tg)
		failing.fail(errRefusedForGood)
		answer := x.askAsync(patient(t, time.Hour), hookCall("c1"), approver.Catastrophic)
		time.Sleep(time.Second)
		_, shown := x.tg.card(0)
		time.Sleep(4 * time.Minute)
		if n := failing.n.Load(); n != 1 {
			t.Errorf("it was tried %d times", n)
		}
		out := x.Answers.Reply(t.Context(), typedOn(shown, true))
		if out.Kind != approver.OutcomeUnknown || !strings.Contains(out.Text, "Answer on another card") {
			t.Errorf("the person is told %+v", out)
		}
		_, card := x.dc.card(0)
		rep := typedOn(card, true)
		rep.Channel, rep.Conversation, rep.Sender = "discord", "D", "d1"
		if out := x.Answers.Reply(t.Context(), rep); out.Kind != approver.OutcomeApproved {
			t.Errorf("the other card: %+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%v %s", v.Decision, v.Reason)
		}
	})
}

// A code that was typed in its time counts, although the store was away until its end.
func TestACodeCountsFromWhenItWasTyped(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		letWait(x)
		answer := x.askAsync(patient(t, time.Hour), hookCall("c1"), approver.Catastrophic)
		time.Sleep(time.Second)
		_, first := x.tg.card(0)
		time.Sleep(94 * time.Second)
		if _, card := x.tg.card(0); card.Code.Equal(first.Code) {
			t.Fatal("the card has no fresh code")
		}
		time.Sleep(6 * time.Second)
		back := time.Now().Add(10 * time.Second)
		x.kv.failing(func(string, string) error {
			if time.Now().Before(back) {
				return fmt.Errorf("%w: no route", approver.ErrAway)
			}
			return nil
		})
		if out := x.Answers.Reply(t.Context(), typedOn(first, true)); out.Kind != approver.OutcomeApproved {
			t.Errorf("%+v, after %v", out, time.Since(back))
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%v %s", v.Decision, v.Reason)
		}
	})
}

// The story: a code was typed in its time while the store was away, and by the time it was back, the daemon had
// forgotten that the card ever had it: the yes was lost.
func TestACodeCountsHoweverLongTheStoreIsAway(t *testing.T) {
	for _, away := range []time.Duration{20 * time.Second, time.Minute, 100 * time.Second} {
		story(t, func(t *testing.T, x *bench) {
			letWait(x)
			answer := x.askAsync(patient(t, time.Hour), hookCall("c1"), approver.Catastrophic)
			time.Sleep(time.Second)
			_, first := x.tg.card(0)
			time.Sleep(84 * time.Second)
			back := time.Now().Add(away)
			x.kv.failing(func(string, string) error {
				if time.Now().Before(back) {
					return fmt.Errorf("%w: no route", approver.ErrAway)
				}
				return nil
			})
			x.Answers.Reply(t.Context(), typedOn(first, true))
			if v := <-answer; v.Decision != approver.Allow {
				t.Errorf("away %v: %v %s", away, v.Decision, v.Reason)
			}
		})
	}
}

// A rule that gives people less time than a code lives means it.
func TestAShortTTLIsNoShorterThanItSays(t *testing.T) {
	o := Options{Wait: map[approver.Severity]time.Duration{approver.High: 10 * time.Minute}}
	for ttl, want := range map[time.Duration]time.Duration{
		30 * time.Second: 30 * time.Second, 2 * time.Minute: 10 * time.Minute, time.Hour: time.Hour,
	} {
		got, _ := (&opener{Options: &o}).lifetimes(patient(t, 2*time.Hour), hookCall("c1"),
			approver.Verdict{Severity: approver.High, TTL: ttl})
		if got != want {
			t.Errorf("ttl %v: people have %v, want %v", ttl, got, want)
		}
	}
}

// Identical calls that wait stay on the card when its code is renewed, and a code that was typed for them counts for
// all that the card showed.
func TestARenewedCardShowsTheCallsThatWait(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		letWait(x)
		ctx := patient(t, time.Hour)
		one := x.askAsync(ctx, hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		two := x.askAsync(ctx, hookCall("c2"), approver.High)
		time.Sleep(5 * time.Minute)
		_, card := x.tg.card(0)
		if !strings.Contains(strings.Join(card.Warnings, "\n"), "2 identical calls wait") {
			t.Errorf("the card says %q", card.Warnings)
		}
		rep := typedOn(card, true)
		rep.Sent = time.Now()
		if out := x.Answers.Reply(t.Context(), rep); out.Kind != approver.OutcomeApproved {
			t.Errorf("%+v", out)
		}
		for n, answer := range []<-chan approver.Verdict{one, two} {
			if v := <-answer; v.Decision != approver.Allow {
				t.Errorf("call %d: %v %s", n+1, v.Decision, v.Reason)
			}
		}
	})
}

// More time for a request that waits goes on with fresh codes.
func TestMoreTimeForARequestThatWaits(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		letWait(x)
		answer := x.askAsync(patient(t, time.Hour), hookCall("c1"), approver.Catastrophic)
		time.Sleep(4*time.Minute + 50*time.Second)
		if out := x.wants(approver.WantTime, 0, "1"); out.Kind != approver.OutcomeShown {
			t.Fatalf("%+v", out)
		}
		time.Sleep(9 * time.Minute)
		_, card := x.tg.card(0)
		if out := x.Answers.Reply(t.Context(), typedOn(card, true)); out.Kind != approver.OutcomeApproved {
			t.Errorf("%+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%v %s", v.Decision, v.Reason)
		}
	})
}

// Where many cards wait in one place, they are not all edited at once.
func TestRenewalsOfOnePlaceAreSpreadOut(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		letWait(x)
		count := (&edits{}).of(x.tg)
		const calls = 20
		for n := range calls {
			call := hookCall(fmt.Sprint("c", n))
			call.Command, call.Args = fmt.Sprint("make ", n), fmt.Appendf(nil, `{"command":"make %d"}`, n)
			x.askAsync(patient(t, time.Hour), call, approver.Catastrophic)
		}
		for count.n.Load() < calls {
			before := count.n.Load()
			time.Sleep(renewsApart)
			if now := count.n.Load(); now-before > 2 {
				t.Errorf("%d edits within a second", now-before)
			}
		}
	})
}

// What a card says of the calls that wait stays there with a fresh code, and so does what a typed code is for.
func TestAFreshCodeIsForTheSameCalls(t *testing.T) {
	now := time.Now()
	p := Posting{To: approver.Destination{Channel: "telegram"}, Phase: Posted, Code: "old", Upto: 1}
	r := Request{CallID: "a", State: approver.Pending, Joined: 1, Also: []Caller{{CallID: "b", N: 1}},
		Verdict: approver.Verdict{Severity: approver.High}, Fingerprint: modelFP, Postings: []Posting{p}}
	card := liveCard{owes: true, full: true}
	all := card.variants(r, p, func(Request) approver.Card { return approver.Card{} })
	if len(all) != 1 || !all[0].counts || all[0].card.Upto != 1 {
		t.Errorf("%+v", all)
	}
	r.Postings = []Posting{p}
	r.Postings[0].CodeTill = now.Add(time.Second)
	r.Postings[0].renew("new", now)
	if got := shownTo(r, p, approver.Reply{Method: approver.ByTap, Shown: 1}, false, now); got != 1 {
		t.Errorf("a tap of before is for the calls up to %d", got)
	}
}

// The story: two sessions made the same call, and neither hook could wait as long as people. Both were told to come
// back, and the second one's request took the place of the first: a yes to the first was recorded and never used.
func TestAYesToTheFirstOfTwoParkedCallsIsUsed(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		letWait(x)
		ask := func(id string) <-chan approver.Verdict {
			return x.askAsync(patient(t, time.Minute), hookCall(id), approver.High)
		}
		first := ask("c1")
		time.Sleep(5 * time.Second)
		second := ask("c2")
		<-first
		<-second
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeRecorded {
			t.Fatalf("%+v", out)
		}
		if v := <-ask("d1"); v.Decision != approver.Allow {
			t.Errorf("%v %s", v.Decision, v.Reason)
		}
	})
}

// The story: a chat was so full that the fresh code of a card came behind the cards of other requests, or the ends of
// them. By then the code on the card had ended, and nobody could type a yes. A fresh code is urgent.
func TestAFreshCodeComesInACrowdedChat(t *testing.T) {
	const others = 30
	other := func(n int) approver.ToolCall {
		call := testCall(fmt.Sprint("other", n))
		call.Command, call.Args = fmt.Sprint("make ", n), fmt.Appendf(nil, `{"command":"make %d"}`, n)
		return call
	}
	for name, c := range map[string]struct {
		before, crowd func(x *retried)
	}{
		"new cards": {
			before: func(*retried) {},
			crowd: func(x *retried) {
				for n := range others {
					x.askAsync(x.t.Context(), other(n), approver.High)
				}
			},
		},
		"the ends of others": {
			before: func(x *retried) {
				for n := range others {
					x.askAsync(x.t.Context(), other(n), approver.High)
				}
			},
			crowd: func(x *retried) {
				for n := range others {
					x.tap(x.tg.chat, n+1, "1", false)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newPaced(t, newMemKV(), approver.Limit{Most: 1, Within: 2 * time.Second})
				x.Wait = map[approver.Severity]time.Duration{approver.Catastrophic: 5 * time.Minute}
				x.askAsync(patient(t, time.Hour), hookCall("c1"), approver.Catastrophic)
				time.Sleep(time.Second)
				c.before(x)
				time.Sleep(74 * time.Second)
				message, card := x.tg.card(0)
				c.crowd(x)
				if !until(45*time.Second, func() bool { return x.tg.at(message).Code != card.Code }) {
					t.Fatal("the code has ended, and the card shows no other one")
				}
				out := x.Answers.fromChannel(t.Context(), typedOn(x.tg.at(message), true))
				if out.Kind != approver.OutcomeApproved {
					t.Errorf("%+v", out)
				}
			})
		})
	}
}
