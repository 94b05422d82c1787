package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"approver.example"
)

var dueTests = []test{
	{"the longest overdue comes first", dueOrder},
	{"a limit is kept", dueLimit},
	{"each shard has its own", dueShards},
	{"what is due later comes later", dueLater},
	{"another due time replaces the former", dueMoved},
	{"a write that loses changes no due time", dueConflict},
	{"odd arguments are refused", dueOddArguments},
	{"what waits is listed", dueScheduled},
	{"all shards are looked through at once", dueAll},
}

// wantDue compares the keys that are due, in order.
func wantDue(t *testing.T, s Store, shard, limit int, want ...string) {
	t.Helper()
	got, err := s.Due(t.Context(), shard, limit)
	if err != nil {
		t.Fatalf("due: %v", err)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("due in shard %d: got %q, want %q", shard, got, want)
	}
}

func dueOrder(t *testing.T, f *fixture) {
	s := f.open()
	now := time.Now()
	ages := []time.Duration{3 * time.Second, time.Hour, time.Second, 24 * time.Hour, time.Minute}
	keys := make(map[time.Duration]string)
	for _, age := range ages {
		keys[age] = newKeyIn(5)
		putDue(t, s, keys[age], "v", "", now.Add(-age))
	}
	slices.Sort(ages)
	slices.Reverse(ages)
	var want []string
	for _, age := range ages {
		want = append(want, keys[age])
	}
	wantDue(t, s, 5, 100, want...)
	wantDue(t, s, 5, 100, want...) // looking takes nothing away
}

func dueLimit(t *testing.T, f *fixture) {
	s := f.open()
	var want []string
	for i := range 5 {
		key := newKeyIn(6)
		putDue(t, s, key, "v", "", time.Now().Add(time.Duration(i-10)*time.Second))
		want = append(want, key)
	}
	for limit := 1; limit <= 6; limit++ {
		wantDue(t, s, 6, limit, want[:min(limit, 5)]...)
	}
	wantDue(t, s, 6, 1<<30, want...)
}

func dueShards(t *testing.T, f *fixture) {
	s := f.open()
	past := time.Now().Add(-time.Second)
	keys := make([]string, approver.Shards)
	for shard := range keys {
		keys[shard] = newKeyIn(shard)
		putDue(t, s, keys[shard], "v", "", past)
	}
	for shard, key := range keys {
		wantDue(t, s, shard, 10, key)
	}
}

func dueLater(t *testing.T, f *fixture) {
	s := f.open()
	now := now(t, s)
	never, soon, much := newKeyIn(7), newKeyIn(7), newKeyIn(7)
	at := now.Add(100*time.Millisecond + 300*time.Microsecond)
	put(t, s, never, "v", "")
	putDue(t, s, soon, "v", "", at)
	putDue(t, s, much, "v", "", now.Add(time.Hour))
	eventually(t, func() error {
		keys, err := s.Due(t.Context(), 7, 10)
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			return fmt.Errorf("nothing is due")
		}
		if !slices.Equal(keys, []string{soon}) {
			t.Fatalf("got %q, want %q", keys, soon)
		}
		return nil
	})
	// Due and Now go by one clock.
	if now, err := s.Now(t.Context()); err != nil || now.Before(at) {
		t.Errorf("it came at %v (%v), before its time %v", now, err, at)
	}
}

func dueMoved(t *testing.T, f *fixture) {
	s := f.open()
	key, past := newKeyIn(8), time.Now().Add(-time.Minute)
	rev := putDue(t, s, key, "v", "", past)
	wantDue(t, s, 8, 10, key)
	rev = putDue(t, s, key, "v", rev, past.Add(time.Second))
	wantDue(t, s, 8, 10, key)
	rev = putDue(t, s, key, "v", rev, time.Now().Add(time.Hour))
	wantDue(t, s, 8, 10)
	rev = putDue(t, s, key, "v", rev, past)
	wantDue(t, s, 8, 10, key)
	put(t, s, key, "v", rev)
	wantDue(t, s, 8, 10)
}

func dueConflict(t *testing.T, f *fixture) {
	s := f.open()
	key, past := newKeyIn(11), time.Now().Add(-time.Minute)
	putDue(t, s, key, "v", "", past)
	for _, prev := range []approver.Rev{"", approver.NewRev()} {
		if err := s.Put(t.Context(), key, nil, prev, approver.NewRev(), time.Time{}, later()); err == nil {
			t.Fatal("a write with a wrong revision succeeded")
		}
	}
	wantDue(t, s, 11, 10, key)
}

func dueOddArguments(t *testing.T, f *fixture) {
	s := f.open()
	for _, c := range []struct{ shard, limit int }{{-1, 1}, {approver.Shards, 1}, {0, 0}, {0, -1}} {
		if keys, err := s.Due(t.Context(), c.shard, c.limit); err == nil {
			t.Errorf("shard %d, limit %d: got %q, want it refused", c.shard, c.limit, keys)
		}
	}
}

// dueScheduled lists what is due some day, and not what never is.
func dueScheduled(t *testing.T, f *fixture) {
	s := f.open()
	lister, ok := s.(approver.Lister)
	if !ok {
		t.Fatal("the store lists nothing: it has no Scheduled")
	}
	now := time.Now()
	late, soon, past, never := newKeyIn(9), newKeyIn(9), newKeyIn(9), newKeyIn(9)
	putDue(t, s, late, "v", "", now.Add(2*time.Hour))
	putDue(t, s, soon, "v", "", now.Add(time.Hour))
	putDue(t, s, past, "v", "", now.Add(-time.Hour))
	put(t, s, never, "v", "")
	for limit, want := range map[int][]string{100: {past, soon, late}, 2: {past, soon}} {
		got, err := lister.Scheduled(t.Context(), 9, limit)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("scheduled, at most %d: got %q, %v, want %q", limit, got, err, want)
		}
	}
	wantDue(t, s, 9, 100, past)
	if _, err := lister.Scheduled(t.Context(), approver.Shards, 1); err == nil {
		t.Error("a shard that does not exist is listed")
	}
}

func dueAll(t *testing.T, f *fixture) {
	s := f.open()
	sweeper, ok := s.(approver.Sweeper)
	if !ok {
		t.Skip("this store looks through one shard at a time")
	}
	if _, err := sweeper.DueAll(t.Context(), 1); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("the shards lie on several servers")
	}
	var want, first []string
	for _, shard := range []int{0, 7, approver.Shards - 1} {
		for i := range 3 {
			key := newKeyIn(shard)
			putDue(t, s, key, "v", "", time.Now().Add(time.Duration(i-10)*time.Second))
			want = append(want, key)
			if i == 0 {
				first = append(first, key)
			}
		}
		putDue(t, s, newKeyIn(shard), "v", "", time.Now().Add(time.Hour))
	}
	for limit, want := range map[int][]string{100: want, 1: first} {
		got, err := sweeper.DueAll(t.Context(), limit)
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("at most %d of each: got %q, %v, want %q", limit, got, err, want)
		}
	}
	if keys, err := sweeper.DueAll(t.Context(), 0); err == nil {
		t.Errorf("limit 0: got %q, want it refused", keys)
	}
}
