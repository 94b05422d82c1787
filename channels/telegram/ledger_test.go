package telegram

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestLedgerConfirmsOnlyWhatIsDone(t *testing.T) {
	g := newLedger(8)
	if g.offset() != 0 {
		t.Errorf("a new ledger confirms %d", g.offset())
	}
	for _, id := range []int64{5, 6, 7} {
		if !g.begin(id) {
			t.Fatalf("%d is not new", id)
		}
	}
	for _, step := range []struct{ end, offset int64 }{{6, 5}, {5, 7}, {7, 8}} {
		g.end(step.end)
		if got := g.offset(); got != step.offset {
			t.Errorf("after the end of %d the offset is %d, want %d", step.end, got, step.offset)
		}
	}
	if g.begin(6) || g.busy() {
		t.Error("an update that is done counts once more")
	}
	if !g.begin(9) || g.begin(9) {
		t.Error("an update in work counts twice, or not at all")
	}
	g.confirmed()
	if g.offset() != 9 {
		t.Errorf("the offset is %d although 9 is in work", g.offset())
	}
	g.end(9)
	g.confirmed()
	if g.offset() != 0 {
		t.Errorf("with nothing left to confirm the offset is %d", g.offset())
	}
	if !g.begin(3) || g.offset() != 3 {
		t.Error("after Telegram numbers anew, a low number is not taken")
	}
}

func TestLedgerIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newLedger(8)
		wait := func(ctx context.Context, d time.Duration) time.Duration {
			began := time.Now()
			g.idle(ctx, d)
			return time.Since(began)
		}
		if took := wait(t.Context(), time.Second); took != 0 {
			t.Errorf("idle waited %v for nothing", took)
		}
		g.begin(1)
		g.begin(2)
		if took := wait(t.Context(), time.Second); took != time.Second {
			t.Errorf("idle waited %v, want its whole second", took)
		}
		for i, id := range []int64{1, 2} {
			time.AfterFunc(time.Duration(i+1)*100*time.Millisecond, func() { g.end(id) })
		}
		if took := wait(t.Context(), time.Second); took != 200*time.Millisecond {
			t.Errorf("idle waited %v, want until the last work ended", took)
		}
		g.begin(3)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if took := wait(ctx, time.Second); took != 50*time.Millisecond {
			t.Errorf("idle waited %v, want until its context ended", took)
		}
	})
}

func TestQueuesKeepOrder(t *testing.T) {
	l := newQueues(3)
	var mu sync.Mutex
	got := map[string][]int{}
	for i := range 200 {
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			l.do(key, func() {
				mu.Lock()
				defer mu.Unlock()
				got[key] = append(got[key], i)
			})
		}
	}
	l.wait()
	for key, list := range got {
		if len(list) != 200 || !slices.IsSorted(list) {
			t.Errorf("queue %s ran %v", key, list)
		}
	}
	if len(l.queue) != 0 || len(l.slots) != 0 {
		t.Errorf("%d queues and %d slots are left", len(l.queue), len(l.slots))
	}
}

func TestQueuesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newQueues(2)
		var now, most, refused atomic.Int32
		work := func() {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
		}
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			l.do(key, work)
		}
		for range mostTried {
			l.try("a", func() {})
		}
		l.try("a", func() { refused.Add(1) }) // its queue is full
		for _, key := range []string{"f", "g", "h"} {
			l.try(key, work)
		}
		l.try("i", func() { refused.Add(1) }) // too many wait
		began := time.Now()
		l.wait()
		if took := time.Since(began); most.Load() != 2 || refused.Load() != 0 || took != 4*time.Second {
			t.Errorf("%d at once, %d refused ones ran, %v for 8 pieces of a second", most.Load(), refused.Load(), took)
		}
		ran := false
		l.try("a", func() { ran = true })
		l.wait()
		if !ran {
			t.Error("an empty queue was refused")
		}
	})
}
