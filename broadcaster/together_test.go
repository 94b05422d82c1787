package broadcaster

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// batchKV is a memKV that takes writes together. What becomes of each the test
// may decide.
type batchKV struct {
	*memKV
	batches int
	trips   atomic.Int64 // what would be a round trip to Redis
	spoil   func(approver.Write) error
}

func (k *batchKV) PutAll(ctx context.Context, writes []approver.Write) []error {
	k.batches++
	k.trips.Add(1)
	errs := make([]error, len(writes))
	for i, w := range writes {
		if k.spoil != nil {
			if errs[i] = k.spoil(w); errs[i] != nil {
				continue
			}
		}
		errs[i] = k.Put(ctx, w.Key, w.Value, w.Prev, w.Next, w.Due, w.KeepUntil)
	}
	return errs
}

func (k *batchKV) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	k.trips.Add(1)
	return k.memKV.Get(ctx, key)
}

func (k *batchKV) Now(ctx context.Context) (time.Time, error) {
	k.trips.Add(1)
	return k.memKV.Now(ctx)
}

func (k *batchKV) GetNow(ctx context.Context, key string) ([]byte, approver.Rev, time.Time, error) {
	k.trips.Add(1)
	return approver.GetNow(ctx, k.memKV, key)
}

func (k *batchKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	k.trips.Add(1)
	return k.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep)
}

// A request, its index and its codes are one batch. A code that is taken is
// replaced before anybody sees it, and leads nobody to this request; what was
// ambiguous is sent again.
func TestARequestIsStoredTogether(t *testing.T) {
	for name, spoil := range map[string]func(approver.Write) error{
		"all at once": nil,
		"the codes are taken": func(w approver.Write) error {
			if strings.Contains(w.Key, ":code:") {
				return approver.ErrConflict
			}
			return nil
		},
		"all ambiguous": func(approver.Write) error { return errors.New("the line went dead") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := &batchKV{memKV: newMemKV(), spoil: spoil}
				x := newBenchOn(t, kv.memKV, kv)
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				synctest.Wait()
				if kv.batches != 1 {
					t.Errorf("%d batches", kv.batches)
				}
				_, card := x.tg.card(0)
				out := x.Answers.Reply(t.Context(), typed(approver.ByCode, card))
				if out.Kind != approver.OutcomeApproved {
					t.Errorf("the code on the card: %+v", out)
				}
				if v := <-answer; v.Decision != approver.Allow {
					t.Errorf("verdict %+v", v)
				}
			})
		})
	}
}

// The question is recorded while the request is stored, but a card goes out only
// after both.
func TestNoCardBeforeTheQuestionIsRecorded(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.audit.failing(approver.EventAsked)
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		time.Sleep(time.Second)
		if n := x.tg.count() + x.dc.count(); n != 0 {
			t.Errorf("%d cards of a question that is not recorded", n)
		}
		if v := <-answer; v.Decision != approver.Deny {
			t.Errorf("verdict %+v", v)
		}
	})
}

// What an approval costs: each write and each record is a sync that somebody
// waits for, or that others wait behind.
func TestWhatAnApprovalCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &batchKV{memKV: newMemKV()}
		x := newBenchOn(t, kv.memKV, kv)
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		// With two cards, each of which is noted by itself: whichever comes second may
		// have to read and write again, once for each time that the other was noted: seldom three times.
		asked := kv.trips.Swap(0)
		if asked > 11+3*3 {
			t.Errorf("%d round trips until people are asked and that is noted, want 11, and 3 for each conflict", asked)
		}
		gets, puts := 0, 0
		x.kv.failing(func(op, _ string) error {
			switch op {
			case "get":
				gets++
			case "put":
				puts++
			}
			return nil
		})
		x.tap(x.tg, 0, "1", true)
		<-answer
		time.Sleep(time.Second)
		synctest.Wait()
		// The cards are told while the call is released: what of it comes first is
		// anybody's guess, so all of it is counted.
		told := kv.trips.Load()
		x.kv.mu.Lock()
		defer x.kv.mu.Unlock()
		// The yes with its release, and what became of the cards.
		if kv.batches != 1 || puts != 2 {
			t.Errorf("%d batches, and from the tap on %d writes, want 1 and 2", kv.batches, puts)
		}
		if gets > 17 { // 14, and 3 for a conflict
			t.Errorf("from the tap on %d reads", gets)
		}
		want := map[approver.Event]int{
			approver.EventAsked: 1, approver.EventPosted: 2, approver.EventApproved: 1, approver.EventReleased: 1,
		}
		for _, e := range x.audit.events("") {
			want[e]--
		}
		for e, n := range want {
			if n != 0 {
				t.Errorf("%d records of %s too few", n, e)
			}
		}
		if told > 20 { // two of them ask, last of all, whether the yes is void, and whether it was given
			t.Errorf("from the tap until both cards are told %d round trips", told)
		}
		t.Logf("%d round trips to ask, %d from the tap until both cards are told, %d of them reads", asked, told, gets)
	})
}

// sweepKV looks through all shards at once, or says that it cannot.
type sweepKV struct {
	*memKV
	cannot bool
	sweeps atomic.Int64
}

func (k *sweepKV) Due(ctx context.Context, shard, limit int) ([]string, error) {
	k.sweeps.Add(1)
	return k.memKV.Due(ctx, shard, limit)
}

func (k *sweepKV) DueAll(ctx context.Context, limit int) (keys []string, err error) {
	k.sweeps.Add(1)
	if k.cannot {
		return nil, errors.ErrUnsupported
	}
	for shard := range approver.Shards {
		due, err := k.memKV.Due(ctx, shard, limit)
		if err != nil {
			return nil, err
		}
		keys = append(keys, due...)
	}
	return keys, nil
}

// The clock ends a request that nobody answers however the store is looked
// through, and a store that can look at once is not asked shard by shard.
func TestTheClockLooksThroughAllShards(t *testing.T) {
	for name, cannot := range map[string]bool{"at once": false, "one by one": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := &sweepKV{memKV: newMemKV(), cannot: cannot}
				x := newBenchOn(t, kv.memKV, kv)
				ctx, leave := context.WithCancel(t.Context())
				answer := x.askAsync(ctx, testCall("c1"), approver.High)
				synctest.Wait()
				leave() // nobody waits for it
				<-answer
				before := kv.sweeps.Load()
				time.Sleep(10 * sweepEvery)
				synctest.Wait()
				if n := kv.sweeps.Load() - before; !cannot && n > 11 || cannot && n < 9*approver.Shards {
					t.Errorf("%d looks", n)
				}
				time.Sleep(WithdrawGrace)
				synctest.Wait()
				if _, card := x.tg.card(0); card.State != approver.Withdrawn {
					t.Errorf("the card says %v", card.State)
				}
			})
		})
	}
}
