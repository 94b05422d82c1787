package broadcaster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/display"
)

var errKV = errors.New("the store is away")

// The story: a person was on the stairs when the card came, and its two minutes were over before the
// laptop was open. A tap gives ten more, twice at most; every card shows the new time and who it was, the
// code stays valid, and the yes in the eleventh minute counts.
func TestMoreTime(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		answer := x.askAsync(ctx, hookCall("c1"), approver.Catastrophic)
		time.Sleep(time.Second)
		_, first := x.tg.card(0)
		if !first.Extends {
			t.Fatal("the card offers no more time")
		}
		out := x.wants(approver.WantTime, 0, "1")
		if out.Kind != approver.OutcomeShown || !strings.Contains(out.Text, "waits until") {
			t.Errorf("%+v", out)
		}
		time.Sleep(time.Second)
		for _, c := range []*chat{x.tg, x.dc} {
			_, card := c.card(0)
			if !card.Due.Equal(first.Due.Add(approver.MoreTime)) || card.Code.IsZero() || card.State != approver.Pending ||
				!strings.Contains(strings.Join(card.Warnings, "\n"), "⏱ 10 more minutes by Alice via Telegram.") {
				t.Errorf("%s shows %v, code %v, %q", c.name, card.Due, card.Code, card.Warnings)
			}
		}
		if out := x.wants(approver.WantTime, 0, "2"); !strings.Contains(out.Text, "no more time") {
			t.Errorf("the second: %+v", out)
		}
		if out := x.wants(approver.WantTime, 0, "2"); out.Kind != approver.OutcomeShown {
			t.Errorf("the second, delivered once more: %+v", out)
		}
		time.Sleep(sameTap)
		out = x.wants(approver.WantTime, 0, "2")
		if out.Kind != approver.OutcomeRefused || !strings.Contains(out.Text, "2 times") {
			t.Errorf("the third: %+v", out)
		}
		time.Sleep(time.Second)
		if _, card := x.tg.card(0); !strings.Contains(strings.Join(card.Warnings, "\n"),
			"⏱ 20 more minutes by Alice via Telegram, Bob via Telegram.") {
			t.Errorf("who gave it time: %q", card.Warnings)
		}
		if _, card := x.tg.card(0); card.Extends || !card.Due.Equal(first.Due.Add(2*approver.MoreTime)) {
			t.Errorf("it offers more: %v, until %v", card.Extends, card.Due)
		}
		time.Sleep(11 * time.Minute)
		if out := x.Answers.Reply(t.Context(), typed(approver.ByCode, first)); out.Kind != approver.OutcomeApproved {
			t.Errorf("the yes: %+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
		if n := x.count(approver.EventExtended); n != 2 {
			t.Errorf("%d records", n)
		}
	})
}

// An agent that does not wait as long as people may answer is told to come back before it gives up, and
// the yes waits for it. Nobody may have more time for a question whose asker cannot come back.
func TestMoreTimeThanTheAgentHas(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		answer := x.askAsync(ctx, hookCall("c1"), approver.High)
		time.Sleep(time.Minute)
		if out := x.wants(approver.WantTime, 0, "1"); out.Kind != approver.OutcomeShown {
			t.Errorf("%+v", out)
		}
		v := <-answer
		if v.Decision != approver.Deny || !strings.Contains(v.Reason, "run the same call again later") || ctx.Err() != nil {
			t.Fatalf("the agent hears %q, %v", v.Reason, ctx.Err())
		}
		// Nobody waits now, and there is more time all the same.
		if out := x.wants(approver.WantTime, 0, "1"); out.Kind != approver.OutcomeShown {
			t.Errorf("%+v", out)
		}
		time.Sleep(time.Second)
		if _, card := x.tg.card(0); card.Extends || !strings.Contains(strings.Join(card.Warnings, " "), "20 more minutes") {
			t.Errorf("%v, %q", card.Extends, card.Warnings)
		}
		time.Sleep(18 * time.Minute)
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeRecorded {
			t.Errorf("the yes: %+v", out)
		}
		if v := x.Ask(t.Context(), hookCall("c2"), approver.Verdict{
			Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High,
		}); v.Decision != approver.Allow {
			t.Errorf("it came back and hears %+v", v)
		}
	})
	for name, change := range map[string]func(*approver.ToolCall, *approver.Verdict){
		"a script":             func(c *approver.ToolCall, _ *approver.Verdict) { c.Acks = false },
		"an agent's own":       func(_ *approver.ToolCall, v *approver.Verdict) { v.Prompt = true },
		"approver's own":       func(c *approver.ToolCall, _ *approver.Verdict) { c.Own = true },
		"one that is answered": nil,
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				call, why := hookCall("c1"), asking(approver.High)
				if change != nil {
					change(&call, &why)
				}
				answer := x.inquire(ctx, call, why)
				time.Sleep(time.Minute)
				_, card := x.tg.card(0)
				if change == nil {
					x.tap(x.tg, 0, "1", false)
				} else if card.Extends {
					t.Error("the card offers more time")
				}
				out := x.wants(approver.WantTime, 0, "1")
				if out.Kind == approver.OutcomeShown || out.Text == "" || x.loaded(card.Request).More != 0 {
					t.Errorf("%+v", out)
				}
				if v := <-answer; v.Decision != approver.Deny {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

// More time is entered before the deadline or not at all, by the store's clock, and a freeze ends a
// request whatever time it has.
func TestMoreTimeIsNoWayAroundTheClock(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		answer := x.askAsync(ctx, hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		_, card := x.tg.card(0)
		due := x.loaded(card.Request).Due
		time.Sleep(time.Until(due) - 100*time.Millisecond)
		x.kv.failing(func(op, key string) error {
			if op == "put" && strings.Contains(key, ":req:") && time.Now().Before(due.Add(300*time.Millisecond)) {
				return errKV
			}
			return nil
		})
		if out := x.wants(approver.WantTime, 0, "1"); out.Kind != approver.OutcomeExpired {
			t.Errorf("%+v", out)
		}
		if v := <-answer; v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
		if r := x.loaded(card.Request); r.More != 0 || r.State != approver.Expired {
			t.Errorf("%v, %d", r.State, r.More)
		}
	})
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		answer := x.askAsync(ctx, hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.wants(approver.WantTime, 0, "1")
		time.Sleep(5 * time.Minute)
		if _, err := x.Controls.Freeze(t.Context(), "root", "stop"); err != nil {
			t.Fatal(err)
		}
		if v := <-answer; v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind == approver.OutcomeApproved || out.Kind == approver.OutcomeRecorded {
			t.Errorf("%+v", out)
		}
		synctest.Wait()
	})
}

// A typed term for a question of approver's own counts no more than a tapped one.
func TestNoTermForApproversOwn(t *testing.T) {
	rep := approver.Reply{Approve: true, Method: approver.ByCommand, Grant: approver.Term{For: time.Minute}}
	r := Request{Call: testCall("c1"), Verdict: approver.Verdict{Severity: approver.High},
		Fingerprint: approver.Fingerprint(strings.Repeat("a", 64))}
	if why := onceOnly(r, rep); why.Format != "" {
		t.Errorf("an agent's: %q", why.Format)
	}
	r.Call.Own = true
	if why := onceOnly(r, rep); why.Format == "" {
		t.Error("approver's own may last")
	}
}

// The step itself looks at the clock, and at how often there was more time already.
func TestExtend(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := Request{State: approver.Pending, Due: at, Deadline: at.Add(time.Minute), Call: approver.ToolCall{Acks: true}}
	for name, c := range map[string]struct {
		change func(*Request)
		now    time.Time
		err    error
	}{
		"in time":         {nil, at.Add(-time.Second), nil},
		"at the deadline": {nil, at, approver.ErrOverdue},
		"after an answer": {func(r *Request) { r.State = approver.Approved }, at.Add(-time.Second), ErrSettled},
		"a third time":    {func(r *Request) { r.More = 2 }, at.Add(-time.Second), errNotLonger},
		"as its agent gives up": {
			func(r *Request) { r.Deadline = at.Add(time.Second) }, at.Add(-time.Second), errNotLonger,
		},
		"by a script, which cannot": {func(r *Request) { r.Call.Acks = false }, at.Add(-time.Second), errNotLonger},
	} {
		was := r
		if c.change != nil {
			c.change(&was)
		}
		next, err := was.Extend("Alice", "", c.now)
		if !errors.Is(err, c.err) || err != nil && next.More != was.More {
			t.Errorf("%s: %v, %d times", name, err, next.More)
		}
	}
	parked := r
	parked.Parked, parked.TakeBy = true, at.Add(GrantMargin)
	next, err := parked.Extend("Alice", "", at.Add(-time.Second))
	if err != nil || !next.TakeBy.Equal(at.Add(approver.MoreTime+GrantMargin)) {
		t.Errorf("a yes to a parked request waits until %v, %v", next.TakeBy, err)
	}
	next, err = r.Extend("Alice", "", at.Add(-time.Second))
	if err != nil || !next.ParkAt.Equal(r.Deadline.Add(-parkMargin)) {
		t.Errorf("its agent is told to come back at %v, %v", next.ParkAt, err)
	}
}

// The story: the write that gave a request more time hung in the store until its deadline was over. It is
// not carried out then, although nobody has entered the end of the request yet.
func TestMoreTimeThatHangsInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		store := &interposed{memKV: kv}
		x := newBenchOn(t, kv, store)
		time.Sleep(100 * time.Millisecond)
		call := hookCall("c1")
		call.ParkAt = time.Now().Add(time.Second)
		<-x.askAsync(t.Context(), call, approver.High)
		_, card := x.tg.card(0)
		due := x.loaded(card.Request).Due
		time.Sleep(time.Until(due) - 50*time.Millisecond)
		hung := false
		store.before = func(key string) {
			if !hung && strings.Contains(key, "}:req:") {
				hung = true
				time.Sleep(100 * time.Millisecond)
			}
		}
		if out := x.wants(approver.WantTime, 0, "1"); out.Kind == approver.OutcomeShown || !hung {
			t.Errorf("%+v, %v", out, hung)
		}
		time.Sleep(time.Second)
		if r := x.loaded(card.Request); r.More != 0 || r.State != approver.Expired {
			t.Errorf("%v, %d times", r.State, r.More)
		}
	})
}

// Another daemon takes the tap, and nobody waits: whoever posted the cards edits them, because only that
// daemon has their codes.
func TestCardsOfAnotherDaemonGetTheNewTime(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		call := hookCall("c1")
		call.ParkAt = time.Now().Add(time.Second)
		<-x.askAsync(t.Context(), call, approver.Catastrophic)
		message, card := x.tg.card(0)
		opts := x.Options
		tg, dc := newChat("telegram"), newChat("discord")
		opts.Channels = []approver.Channel{tg, dc}
		b, err := NewBroadcaster(opts)
		if err != nil {
			t.Fatal(err)
		}
		run, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = b.Run(run) }()
		defer func() { stop(); <-ended }()
		rep := wanting(approver.WantTime, card, message)
		rep.Channel, rep.Conversation, rep.Sender = "telegram", "T", "1"
		if out := b.Answers.Reply(t.Context(), rep); out.Kind != approver.OutcomeShown {
			t.Fatalf("%+v", out)
		}
		time.Sleep(time.Second)
		if _, now := x.tg.card(0); !now.Due.Equal(card.Due.Add(approver.MoreTime)) || now.Code.IsZero() {
			t.Errorf("the card shows %v and the code %v", now.Due, now.Code)
		}
	})
}

// An answer without words would be silence.
func TestNoSilence(t *testing.T) {
	if out := answered(told{}).in(display.Texts{}); out.Text == "" || out.Kind != approver.OutcomeRefused {
		t.Errorf("%+v", out)
	}
}

// The story: a card was posted whole, and everybody may tap it. Somebody gets ten more minutes, and the lines
// that say so would push a part of the command off the card. The card then gets the new time without these
// lines; and where not even that has room, it stays as it is. Every tap is on a card that shows the whole.
func TestMoreTimeHidesNothing(t *testing.T) {
	const later = "the agent is told to come back later"
	for name, room := range map[string]int{"for all lines": 2, "for one line": 1, "for no line": 0, "for nothing": -1} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				x.tg.onUpdate(func(c approver.Card) error {
					if c.State == approver.Pending && len(c.Warnings) > room {
						return approver.ErrShowsLess
					}
					return nil
				})
				x.askAsync(ctx, hookCall("c1"), approver.High)
				time.Sleep(time.Second)
				_, first := x.tg.card(0)
				if len(first.Warnings) != 0 {
					t.Fatalf("the card has warnings already: %q", first.Warnings)
				}
				x.wants(approver.WantTime, 0, "1")
				time.Sleep(3 * time.Second)
				_, card := x.tg.card(0)
				if len(card.Warnings) != max(room, 0) || room == 1 && !strings.Contains(card.Warnings[0], later) {
					t.Errorf("the card has %q", card.Warnings)
				}
				if moved := card.Due.After(first.Due); moved != (room >= 0) {
					t.Errorf("the card shows the new time: %v", moved)
				}
				if _, card := x.dc.card(0); len(card.Warnings) != 2 {
					t.Errorf("the other channel has room, and says %q", card.Warnings)
				}
				for _, c := range x.Channels.State("telegram").Cards {
					if c.EditProblem != "" {
						t.Errorf("the channel is said to fail: %+v", c)
					}
				}
				if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeApproved && out.Kind != approver.OutcomeRecorded {
					t.Errorf("a yes on a whole card: %+v", out)
				}
			})
		})
	}
}
