package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// waitingCalls asks about some calls for people who have much time, in a chat that shows one card now and then. The
// agents come back later. It returns the requests whose cards wait, and how the process dies.
func (x *retried) waitingCalls(n int) (waiting []string, die func()) {
	ctx, leave := context.WithCancelCause(x.t.Context())
	for i := range n {
		call := testCall(fmt.Sprint("c", i))
		call.ParkAt = time.Now().Add(15 * time.Second)
		go x.Ask(ctx, call, approver.Verdict{Decision: approver.Ask, Severity: approver.High, TTL: 3 * time.Hour})
	}
	time.Sleep(20 * time.Second)
	for i := range n {
		if id := x.requestOf(fmt.Sprint("c", i)); x.loaded(id).Postings[0].Phase == Sending {
			waiting = append(waiting, id)
		}
	}
	if len(waiting) == 0 {
		x.t.Fatal("no card waits")
	}
	return waiting, func() {
		leave(approver.ErrShuttingDown)
		x.stop()
	}
}

// The story: a card waited for room, and its process died. The others learned that from one record: where it was
// gone, or could not be read in full, or a daemon of another version had rewritten the request, nobody posted the
// card, and its call was denied because its chat was "full".
func TestACardOfADeadProcessComes(t *testing.T) {
	slow, fast := approver.Limit{Most: 1, Within: 40 * time.Second}, approver.Limit{Most: 3, Within: 3 * time.Second}
	for name, c := range map[string]struct {
		away  time.Duration
		while func(x *retried, kv *memKV, waiting []string)
	}{
		"all were away for long": {away: 61 * time.Minute},
		"one request cannot be read while the dead are looked for": {while: func(_ *retried, kv *memKV, waiting []string) {
			died := time.Now()
			kv.failing(func(op, key string) error {
				if op == "get" && key == approver.Key("req", waiting[0]) && time.Since(died) < 14*time.Second {
					return errors.New("i/o timeout")
				}
				return nil
			})
		}},
		"another version forgets who posts it": {while: func(x *retried, _ *memKV, waiting []string) {
			for _, id := range waiting {
				if _, err := x.Requests.change(x.t.Context(), id, func(r Request, _ time.Time) (Request, error) {
					r.Postings = slices.Clone(r.Postings)
					r.Postings[0].Sender, r.Postings[0].Full = "", false
					return r, nil
				}); err != nil {
					x.t.Error(err)
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				x := newPaced(t, kv, slow)
				waiting, die := x.waitingCalls(4)
				if c.while != nil {
					c.while(x, kv, waiting)
				}
				die()
				time.Sleep(c.away)
				y := newPaced(t, kv, fast)
				defer y.stop()
				time.Sleep(15 * time.Second)
				for _, id := range waiting {
					if !until(notedFor+lateNote+10*time.Second, func() bool {
						r := y.loaded(id)
						return r.Postings[len(r.Postings)-1].Phase == Posted
					}) {
						t.Errorf("a card did not come: %+v", y.loaded(id).Postings)
					}
				}
			})
		})
	}
}

// The story: a fail-over undid the end of a request whose card had waited. Its process had forgotten the card, and
// still stood in the record as the one that posts it.
func TestACardWhoseEndWasUndoneComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newPaced(t, kv, approver.Limit{Most: 1, Within: 20 * time.Second})
		defer x.stop()
		waiting, _ := x.waitingCalls(2)
		id := waiting[0]
		undo := kv.keepRecord(approver.Key("req", id))
		x.Answers.Reply(t.Context(), approver.Reply{
			Channel: "telegram", Sender: "1", Method: approver.ByID, Request: id, Conversation: "T",
		})
		undo()
		if !until(notedFor+lateNote+25*time.Second, func() bool {
			r := x.loaded(id)
			return r.Postings[len(r.Postings)-1].Phase == Posted
		}) {
			t.Errorf("the card did not come: %+v", x.loaded(id).Postings)
		}
	})
}

// keepRecord returns how to have a record as it is now once more.
func (k *memKV) keepRecord(key string) (undo func()) {
	was := k.record(key)
	k.mu.Lock()
	defer k.mu.Unlock()
	due, keep := k.due[key], k.keep[key]
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.records[key], k.due[key], k.keep[key] = was, due, keep
	}
}

// The story: the node of a Cluster that had the record of who posts was away, and each card that waited was taken for
// lost every nine seconds: after ten minutes, 60 requests had 3,318 cards.
func TestCardsWaitWhereNobodyCanSayThatItIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newPaced(t, kv, approver.Limit{Most: 1, Within: 20 * time.Second})
		defer x.stop()
		kv.failing(func(_, key string) error {
			if key == sendersKey() {
				return errors.New("CLUSTERDOWN")
			}
			return nil
		})
		waiting, _ := x.waitingCalls(10)
		time.Sleep(2 * time.Minute)
		for _, id := range waiting {
			if n := len(x.loaded(id).Postings); n != 1 {
				t.Errorf("one chat has %d cards of a request", n)
			}
		}
	})
}

// A storeAway is a channel whose store is away for a while as soon as it has posted a card of a request.
type storeAway struct {
	paced
	kv  *memKV
	of  *atomic.Value // a string; empty once it was posted
	err error         // of that post
}

// storeAwayFor is how long.
const storeAwayFor = 25 * time.Second

func (c storeAway) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	if !c.of.CompareAndSwap(card.Request, "") {
		return c.paced.Post(ctx, to, card)
	}
	began := time.Now()
	c.kv.failing(func(string, string) error {
		if time.Since(began) < storeAwayFor {
			return errors.New("the store is away")
		}
		return nil
	})
	if c.err != nil {
		return approver.Ref{}, c.err
	}
	return c.paced.Post(ctx, to, card)
}

// The story: a card had waited for room, and came, just when the store was away. What came of it was tried to be
// stored for 16 seconds, and then forgotten: the call was denied because its chat was "full", and the card kept its
// buttons for good. A card that the platform refused kept its agent waiting until the end.
func TestWhatCameOfACardIsStoredLater(t *testing.T) {
	for name, refused := range map[string]bool{"it is there": false, "it was refused": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv, of := newMemKV(), &atomic.Value{}
				x := newRetriedAs(t, kv, nil, nil, func(s *scripted) approver.Channel {
					c := storeAway{paced{s, approver.Limit{Most: 1, Within: 40 * time.Second}}, kv, of, nil}
					if refused {
						c.err = errRefusedForGood
					}
					return c
				}, placed("T"))
				defer x.stop()
				waiting, _ := x.waitingCalls(2)
				request := waiting[0]
				of.Store(request)
				if !until(3*time.Minute, func() bool { return of.Load() == "" }) {
					t.Fatal("the card was not posted")
				}
				time.Sleep(storeAwayFor + 5*time.Second)
				r := x.loaded(request)
				cards, _ := x.cardsOf(nil)
				switch {
				case refused && (r.State != approver.Denied || r.Resolution.Cause != approver.Unreachable):
					t.Errorf("%v %v", r.State, r.Resolution.Cause)
				case !refused && (len(r.Postings) != 1 || r.Postings[0].Phase != Posted || cards[request] != 1):
					t.Errorf("%d cards, %+v", cards[request], r.Postings)
				case !refused && !slices.ContainsFunc(x.audit.recorded(), func(rec approver.Record) bool {
					return rec.Request == request && rec.Event == approver.EventPosted
				}):
					t.Error("the audit does not have the card")
				}
			})
		})
	}
}

// The story: a yes was given to an agent that had come back, while the edit of the card waited for room. The request
// was closed only after the edit, and a turn was spent on what was no longer so.
func TestACardThatWaitsShowsWhatIsSoInItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newPaced(t, kv, approver.Limit{Most: 1, Within: 40 * time.Second})
		defer x.stop()
		call := testCall("c1")
		call.ParkAt = time.Now().Add(5 * time.Second)
		why := approver.Verdict{Decision: approver.Ask, Severity: approver.High, TTL: 10 * time.Minute}
		go x.Ask(t.Context(), call, why)
		time.Sleep(10 * time.Second) // the chat takes nothing for 30 s more
		var said []string
		x.tg.onUpdate(func(c approver.Card) error {
			said = append(said, c.Result)
			return nil
		})
		id := x.requestOf("c1")
		if out := x.tap(x.tg.chat, 0, "1", true); out.Kind != approver.OutcomeRecorded {
			t.Fatalf("%+v", out)
		}
		time.Sleep(3 * time.Second)
		if v := x.Ask(t.Context(), testCall("c1b"), why); v.Decision != approver.Allow {
			t.Fatalf("%v %s", v.Decision, v.Reason)
		}
		if !until(3*time.Second, func() bool { return x.loaded(id).logged() }) {
			t.Error("the request is not closed while an edit waits")
		}
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if len(said) != 1 {
			t.Errorf("edits: %q", said)
		}
	})
}

// The story: the store was away for minutes, and no process could note what it still posts. When it was back, each
// took the cards of the others for lost.
func TestCardsAreNotLostBecauseTheStoreWasAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		slow := approver.Limit{Most: 1, Within: 10 * time.Minute}
		x, y := newPaced(t, kv, slow), newPaced(t, kv, slow)
		defer x.stop()
		defer y.stop()
		waiting, _ := x.waitingCalls(10)
		time.Sleep(10 * time.Second) // they are noted
		kv.failing(func(string, string) error { return errors.New("the store is away") })
		time.Sleep(3 * time.Minute)
		kv.failing(nil)
		time.Sleep(30 * time.Second)
		for _, id := range waiting {
			if n := len(x.loaded(id).Postings); n != 1 {
				t.Errorf("one chat has %d cards of a request", n)
			}
		}
	})
}
