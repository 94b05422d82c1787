package broadcaster

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

func tapOf(id string, card approver.Card, approve bool) approver.Reply {
	return approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: approve, Method: approver.ByTap,
		Request: card.Request, Message: id, Shown: card.Upto}
}

// A kept yes is not the last word of its person for ever. The story: Alice's yes was kept. Then she pressed
// "nobody asked for this", which could not be done then. The store was back, and her yes ran the call.
func TestADisownEndsAKeptYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newAwayKV()
		x := newBenchOn(t, kv.memKV, kv)
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		id, card := x.tg.card(0)
		kv.goFor(50 * time.Second)
		x.Answers.Reply(t.Context(), tapOf(id, card, true))
		rep := tapOf(id, card, false)
		rep.Want = approver.WantDisown
		x.Answers.Reply(t.Context(), rep)
		if v := <-answer; v.Decision == approver.Allow {
			t.Errorf("it ran after its approver disowned it: %s", v.Reason)
		}
	})
}

// The same with a changed command: her last word is another command.
func TestAChangedCommandEndsAKeptYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newAwayKV()
		x := newBenchOn(t, kv.memKV, kv)
		x.judgedBy(judging)
		answer := x.asked(editable("c1"), approver.Verdict{Decision: approver.Ask, Severity: approver.High})
		time.Sleep(time.Second)
		id, card := x.tg.card(0)
		kv.goFor(50 * time.Second)
		x.Answers.Reply(t.Context(), tapOf(id, card, true))
		x.Answers.Reply(t.Context(), x.editReply("1", "git push origin HEAD:fix"))
		if v := <-answer; v.Decision == approver.Allow {
			t.Errorf("the unchanged command ran: %s %s", v.Reason, v.Args)
		}
	})
}

// The same person's no at another channel.
func TestANoInAnotherChatEndsAKeptYes(t *testing.T) {
	ran := 0
	for i := range 20 {
		synctest.Test(t, func(t *testing.T) {
			kv := newAwayKV()
			x := newBenchOn(t, kv.memKV, kv)
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			time.Sleep(time.Second)
			id, card := x.tg.card(0)
			did, dcard := x.dc.card(0)
			kv.goFor(50*time.Second + time.Duration(i)*50*time.Millisecond)
			x.Answers.Reply(t.Context(), tapOf(id, card, true))
			no := approver.Reply{Channel: "discord", Conversation: "D", Sender: "d1", Method: approver.ByTap,
				Request: dcard.Request, Message: did}
			x.Answers.Reply(t.Context(), no)
			if v := <-answer; v.Decision == approver.Allow {
				ran++
			}
		})
	}
	if ran > 0 {
		t.Errorf("ran %d of 20 times against the last word", ran)
	}
}

// The last word while the first is still being entered, and not kept yet.
func TestTheLastWordCountsBeforeTheFirstIsKept(t *testing.T) {
	ran := 0
	for i := range 20 {
		synctest.Test(t, func(t *testing.T) {
			kv := newAwayKV()
			x := newBenchOn(t, kv.memKV, kv)
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			time.Sleep(time.Second)
			id, card := x.tg.card(0)
			kv.goFor(10*time.Second + time.Duration(i)*37*time.Millisecond)
			var both sync.WaitGroup
			both.Go(func() { x.Answers.Reply(t.Context(), tapOf(id, card, true)) })
			time.Sleep(5*time.Second + 13*time.Millisecond)
			both.Go(func() { x.Answers.Reply(t.Context(), tapOf(id, card, false)) })
			if v := <-answer; v.Decision == approver.Allow {
				ran++
			}
			both.Wait()
		})
	}
	if ran > 0 {
		t.Errorf("ran %d of 20 times against the last word", ran)
	}
}

// Frozen by the daemon that keeps the yes: it enters the yes all the same, and another daemon runs the call.
func TestAKeptYesIsNotEnteredUnderAHeldFreeze(t *testing.T) {
	ran := 0
	for i := range 20 {
		synctest.Test(t, func(t *testing.T) {
			kv := &pathKV{memKV: newMemKV()} // x's way to the store
			x := newBenchOn(t, kv.memKV, kv)
			y := newBench(t, kv.memKV)
			answer := y.askAsync(t.Context(), testCall("c1"), approver.High)
			time.Sleep(time.Second + time.Duration(i)*100*time.Millisecond)
			id, card := y.tg.card(0)
			kv.goFor(40 * time.Second)
			x.Answers.Reply(t.Context(), tapOf(id, card, true))
			_, err := x.Controls.Freeze(t.Context(), "Alice", "stop")
			if err == nil {
				t.Error("the store took the freeze")
			}
			if v := <-answer; v.Decision == approver.Allow {
				ran++
			}
		})
	}
	if ran > 0 {
		t.Errorf("ran %d of 20 times after its approver froze everything at the daemon that kept the yes", ran)
	}
}

// A pathKV is one daemon's own way to a store that is well. It is cut from time to time.
type pathKV struct {
	*memKV
	back atomic.Int64
}

func (p *pathKV) goFor(d time.Duration) { p.back.Store(time.Now().Add(d).UnixNano()) }

func (p *pathKV) away() error {
	if time.Now().UnixNano() < p.back.Load() {
		return errStoreAway
	}
	return nil
}

func (p *pathKV) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	if err := p.away(); err != nil {
		return nil, "", err
	}
	return p.memKV.Get(ctx, key)
}

func (p *pathKV) Put(
	ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	return p.PutBefore(ctx, time.Time{}, key, value, prev, next, due, keep)
}

func (p *pathKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	if err := p.away(); err != nil {
		return err
	}
	return p.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep)
}

func (p *pathKV) Due(ctx context.Context, shard, limit int) ([]string, error) {
	if err := p.away(); err != nil {
		return nil, err
	}
	return p.memKV.Due(ctx, shard, limit)
}

func (p *pathKV) DueAll(ctx context.Context, limit int) ([]string, error) {
	if err := p.away(); err != nil {
		return nil, err
	}
	return p.memKV.DueAll(ctx, limit)
}

func (p *pathKV) Scheduled(ctx context.Context, shard, limit int) ([]string, error) {
	if err := p.away(); err != nil {
		return nil, err
	}
	return p.memKV.Scheduled(ctx, shard, limit)
}

func (p *pathKV) Now(ctx context.Context) (time.Time, error) {
	if err := p.away(); err != nil {
		return time.Time{}, err
	}
	return p.memKV.Now(ctx)
}

// storedButUnsaid stores one write of x, and then x's way to the store is gone.
type storedButUnsaid struct {
	*pathKV
	armed atomic.Bool
	then  func()
	says  error
}

func (s *storedButUnsaid) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	if !strings.Contains(key, "req") || !s.armed.CompareAndSwap(true, false) {
		return s.pathKV.PutBefore(ctx, before, key, value, prev, next, due, keep)
	}
	s.then() // before anybody else sees what is stored
	return cmp.Or(s.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep), s.says)
}

// The person is told that the answer does not count yet, and the call has run by it.
func TestAKeptYesMayHaveCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &pathKV{memKV: newMemKV()}
		s := &storedButUnsaid{pathKV: kv, says: errStoreAway}
		x := newBenchOn(t, kv.memKV, s)
		y := newBench(t, kv.memKV)
		s.then = func() { kv.goFor(40 * time.Second) }
		answer := y.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		id, card := y.tg.card(0)
		s.armed.Store(true)
		out := x.Answers.Reply(t.Context(), tapOf(id, card, true))
		select {
		case v := <-answer:
			if v.Decision == approver.Allow && strings.Contains(out.Text, "does not count yet") {
				t.Errorf("it ran, and its approver hears %q", out.Text)
			}
		default:
			t.Error("nothing ran")
		}
	})
}

// A right code that is kept, while only the records of requests are away, counts as wrong codes.
func TestAKeptCodeIsNoWrongCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newAwayKV()
		x := newBenchOn(t, kv.memKV, kv)
		answer := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		time.Sleep(time.Second)
		_, card := x.tg.card(0)
		away := time.Now().Add(90 * time.Second)
		kv.failing(func(_, key string) error {
			if (strings.Contains(key, "}:code:") || strings.Contains(key, "}:req:")) && time.Now().Before(away) {
				return errStoreAway
			}
			return nil
		})
		rep := typed(approver.ByCode, card)
		x.Answers.Reply(t.Context(), rep)
		time.Sleep(time.Until(away) + 30*time.Second)
		s, _, _, err := x.lockout.load(t.Context(), lockKey(approver.Person{ID: "alice"}, rep))
		if err != nil || len(s.At) > 0 || !s.until(time.Now()).IsZero() {
			t.Errorf("%d wrong codes, locked until %v (now %v), %v", len(s.At), s.until(time.Now()), time.Now(), err)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%v: %s", v.Decision, v.Reason)
		}
	})
}

// A yes is stored as released; the store goes away, and people freeze at this daemon. The last look withholds it,
// and the note of that is kept. The person is told that it was released.
func TestNobodyHearsReleasedOfAYesThatWasWithheld(t *testing.T) {
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
		out := x.Answers.Reply(t.Context(), tapOf(id, card, true))
		v := <-answer
		if v.Decision == approver.Allow || out.Kind == approver.OutcomeApproved {
			t.Errorf("the agent hears %v, %q, the person hears %q", v.Decision, v.Reason, out.Text)
		}
		for range 60 {
			if _, now := x.tg.card(0); strings.HasPrefix(now.Result, "✅") {
				t.Fatalf("the card says %q", now.Result)
			}
			time.Sleep(time.Second)
		}
	})
}

// Somebody with Alice's phone says yes at a daemon that has lost its store. Alice is removed at another daemon, and
// brought back with the phone in her hand. The yes from before counts.
func TestAKeptYesDoesNotOutliveARemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &pathKV{memKV: newMemKV()}
		x := newBenchOn(t, kv.memKV, kv)
		y := newBench(t, kv.memKV)
		answer := y.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		id, card := y.tg.card(0)
		kv.goFor(60 * time.Second)
		x.Answers.Reply(t.Context(), tapOf(id, card, true))
		if _, err := y.Removals.Remove(t.Context(), Removal{Person: "alice", By: "uid 0", ByRoot: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if err := y.Removals.Restore(t.Context(), away(t, y.Broadcaster, "alice"), "uid 0"); err != nil {
			t.Fatal(err)
		}
		if v := <-answer; v.Decision == approver.Allow {
			t.Errorf("a yes from before her removal ran the call: %s", v.Reason)
		}
	})
}

// What was kept and never entered is in no audit.
func TestAKeptAnswerThatIsNotEnteredIsInTheAudit(t *testing.T) {
	for name, then := range map[string]func(x *bench){
		"the daemon ends": func(x *bench) { x.stop() },
		"a no to another card by its code": func(x *bench) {
			_, card := x.tg.card(1)
			rep := typed(approver.ByCode, card)
			rep.Approve = false
			x.Answers.Reply(x.t.Context(), rep)
			time.Sleep(time.Minute)
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
				kv.goFor(30 * time.Second)
				x.Answers.Reply(t.Context(), tapOf(id, card, true))
				then(x)
				v := <-answer
				if !slices.Contains(x.audit.events(card.Request), approver.EventRefused) {
					t.Errorf("%v: the audit has only %v", v.Decision, x.audit.events(card.Request))
				}
			})
		})
	}
}

// The story: two daemons take answers of one bot, and the store is away. Somebody approves, which the one keeps,
// and then denies, which the other keeps. When the store is back, whichever is first counts: it was the yes in a
// quarter of all cases.
func TestALaterNoAtAnotherDaemonIsEnteredFirst(t *testing.T) {
	for range 12 {
		synctest.Test(t, func(t *testing.T) {
			kv := newAwayKV()
			x, y := newBenchOn(t, kv.memKV, kv), newBenchOn(t, kv.memKV, kv)
			synctest.Wait()
			x.tune(func(o *Options) { o.Shared = true })
			y.tune(func(o *Options) { o.Shared = true })
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			time.Sleep(time.Second)
			id, card := x.tg.card(0)
			kv.goFor(50 * time.Second)
			rep := approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByTap,
				Request: card.Request, Message: id}
			go x.Answers.Reply(t.Context(), rep)
			time.Sleep(20 * time.Second)
			rep.Approve = false
			go y.Answers.Reply(t.Context(), rep)
			if v := <-answer; v.Decision != approver.Deny || v.By != "person" && v.Reason == "" {
				t.Errorf("%+v", v)
			}
		})
	}
}
