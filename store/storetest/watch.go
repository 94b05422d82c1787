package storetest

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"approver.example"
)

var watchTests = []test{
	{"a hint comes at the start and with each change", watchHints},
	{"hints that nobody reads coalesce", watchCoalesces},
	{"every watcher is woken, others are not", watchMany},
	{"a watch ends with its context", watchEnds},
	{"no change is missed", watchMissesNothing},
	{"another process is woken", watchAcross},
}

func watchHints(t *testing.T, f *fixture) {
	s, key := f.open(), newKey()
	hints, err := s.Watch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	hinted(t, hints)
	var rev approver.Rev
	for n := range 5 {
		rev = put(t, s, key, numbered(n), rev)
		hinted(t, hints)
		wantRecord(t, s, key, numbered(n), rev)
	}
}

func watchCoalesces(t *testing.T, f *fixture) {
	s, key := f.open(), newKey()
	hints, err := s.Watch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	var rev approver.Rev
	for n := range 50 {
		rev = put(t, s, key, numbered(n), rev)
	}
	if n := len(hints); n > 1 {
		t.Errorf("%d hints wait, want at most 1", n)
	}
	hinted(t, hints)
	wantRecord(t, s, key, numbered(49), rev)
	rev = put(t, s, key, "after", rev)
	hinted(t, hints)
	wantRecord(t, s, key, "after", rev)
}

func watchMany(t *testing.T, f *fixture) {
	const watchers, keys = 500, 5
	s := f.open()
	var names [keys]string
	var all [watchers]<-chan struct{}
	for k := range names {
		names[k] = newKey()
	}
	for w := range all {
		hints, err := s.Watch(t.Context(), names[w%keys])
		if err != nil {
			t.Fatal(err)
		}
		hinted(t, hints)
		all[w] = hints
	}
	// A store may wake everybody, after it lost its connection. It may not do so
	// with each change.
	var rev approver.Rev
	woken := 0
	for range 3 {
		rev = put(t, s, names[0], "v", rev)
		woken = 0
		for w, hints := range all {
			if w%keys == 0 {
				hinted(t, hints)
			} else if len(hints) != 0 {
				<-hints
				woken++
			}
		}
		if woken == 0 {
			return
		}
	}
	t.Errorf("%d watchers of other keys were woken", woken)
}

func watchEnds(t *testing.T, f *fixture) {
	s, key := f.open(), newKey()
	before := runtime.NumGoroutine()
	stays, err := s.Watch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	hinted(t, stays)
	ctx, cancel := context.WithCancel(t.Context())
	var all []<-chan struct{}
	for range 300 {
		hints, err := s.Watch(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, hints)
	}
	cancel()
	for _, hints := range all {
		ended(t, hints)
	}
	put(t, s, key, "v", "")
	hinted(t, stays)
	eventually(t, func() error {
		if n := runtime.NumGoroutine(); n > before+50 {
			return fmt.Errorf("%d goroutines run, %d did before", n, before)
		}
		return nil
	})
}

// watchMissesNothing has one side wait for each of the other's changes, with
// nothing but hints to go by. A hint that is lost once ends the exchange.
func watchMissesNothing(t *testing.T, f *fixture) {
	const pairs, changes = 8, 40
	s := f.open()
	ctx, cancel := context.WithTimeout(t.Context(), 6*patience)
	defer cancel()
	var all sync.WaitGroup
	for range pairs {
		ping, pong := newKey(), newKey()
		all.Go(func() {
			if err := answer(ctx, s, ping, pong, changes); err != nil {
				t.Errorf("the one who answers: %v", err)
			}
		})
		all.Go(func() {
			if err := ask(ctx, s, ping, pong, changes); err != nil {
				t.Errorf("the one who asks: %v", err)
			}
		})
	}
	all.Wait()
}

// ask counts ping up and waits until pong has followed.
func ask(ctx context.Context, s Store, ping, pong string, changes int) error {
	var rev approver.Rev
	for n := 1; n <= changes; n++ {
		next := approver.NewRev()
		if err := s.Put(ctx, ping, []byte(strconv.Itoa(n)), rev, next, time.Time{}, later()); err != nil {
			return err
		}
		rev = next
		if err := reaches(ctx, s, pong, n); err != nil {
			return err
		}
	}
	return nil
}

// answer waits for each change of ping and has pong follow.
func answer(ctx context.Context, s Store, ping, pong string, changes int) error {
	var rev approver.Rev
	for n := 1; n <= changes; n++ {
		if err := reaches(ctx, s, ping, n); err != nil {
			return err
		}
		next := approver.NewRev()
		if err := s.Put(ctx, pong, []byte(strconv.Itoa(n)), rev, next, time.Time{}, later()); err != nil {
			return err
		}
		rev = next
	}
	return nil
}

// reaches waits, by a watch of its own, until a record holds a number.
func reaches(ctx context.Context, s Store, key string, n int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hints, err := s.Watch(ctx, key)
	if err != nil {
		return err
	}
	for range hints {
		value, _, err := s.Get(ctx, key)
		if err == nil && string(value) == strconv.Itoa(n) {
			return nil
		}
	}
	return fmt.Errorf("waiting for %d: %w", n, ctx.Err())
}

func watchAcross(t *testing.T, f *fixture) {
	a := f.open()
	key := newKey()
	rev := put(t, a, key, "1", "")
	b := f.other(a)
	hints, err := b.Watch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	hinted(t, hints)
	wantRecord(t, b, key, "1", rev)
	writer := b
	if f.place.Shared {
		writer = a
	}
	for n := range 5 {
		rev = put(t, writer, key, numbered(n), rev)
		hinted(t, hints)
		wantRecord(t, b, key, numbered(n), rev)
	}
}
