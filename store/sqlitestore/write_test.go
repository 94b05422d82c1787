package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/internal/arg"
)

// hold keeps the writer busy until release is called, so that what is sent
// meanwhile waits for one batch.
func hold(t *testing.T, s *Store) (release func()) {
	t.Helper()
	busy, free := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- s.do(&op{ctx: context.Background(), apply: func(*batch) (bool, error, error) {
			close(busy)
			<-free
			return false, nil, nil
		}})
	}()
	<-busy
	return sync.OnceFunc(func() {
		close(free)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// queued waits until n operations wait for the writer.
func queued(t *testing.T, s *Store, n int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); len(s.ops) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d operations wait, want %d", len(s.ops), n)
		}
	}
}

// commits returns the number of transactions so far: each has one sync, but for the first one of
// a log.
func commits(_ *testing.T, s *Store) int { return int(s.Work().Syncs) }

func TestWhatWaitsIsOneTransaction(t *testing.T) {
	const writers = 64
	s := openFor(t, newPath(t))
	mustPut(t, s, approver.Key("test", "first"), "", "")
	release := hold(t, s)
	defer release()
	before := commits(t, s)
	contended := approver.Key("test", "contended")
	results := make(chan error, 2*writers)
	for w := range writers {
		for _, key := range []string{contended, approver.Key("test", fmt.Sprint(w))} {
			go func() {
				results <- s.Put(t.Context(), key, []byte("v"), "", approver.NewRev(), time.Time{}, time.Time{})
			}()
		}
	}
	queued(t, s, 2*writers)
	release()
	won, lost := 0, 0
	for range 2 * writers {
		switch err := <-results; {
		case err == nil:
			won++
		case errors.Is(err, approver.ErrConflict):
			lost++
		default:
			t.Error(err)
		}
	}
	if won != writers+1 || lost != writers-1 {
		t.Errorf("%d won and %d lost, want %d and %d", won, lost, writers+1, writers-1)
	}
	if n := commits(t, s) - before; n != 1 {
		t.Errorf("%d writes took %d syncs, want that of one transaction", 2*writers, n)
	}
}

func TestWritesThatGoTogetherAreOneTransaction(t *testing.T) {
	s := openFor(t, newPath(t))
	mustPut(t, s, approver.Key("test", "first"), "", "")
	var writes []approver.Write
	for i := range 3 {
		writes = append(writes,
			approver.Write{Key: approver.Key("test", fmt.Sprint(i)), Value: []byte("v"), Next: approver.NewRev()})
	}
	before := commits(t, s)
	if err := errors.Join(s.PutAll(t.Context(), writes)...); err != nil {
		t.Fatal(err)
	}
	if n := commits(t, s) - before; n != 1 {
		t.Errorf("%d writes took %d transactions, want 1", len(writes), n)
	}
}

// Of two writes in one batch, one loses to the other. If the batch is not
// committed, it has lost to nothing: neither may be told anything definite.
func TestAFailedBatchTellsNobodyAnything(t *testing.T) {
	path := newPath(t)
	s := openFor(t, path)
	hints, err := s.Watch(t.Context(), approver.Key("test", "x"))
	if err != nil {
		t.Fatal(err)
	}
	<-hints
	release := hold(t, s)
	defer release()
	results := make(chan error, 4)
	for range 2 {
		go func() {
			results <- s.Put(t.Context(), approver.Key("test", "x"), nil, "", approver.NewRev(), time.Now(), time.Time{})
		}()
	}
	go func() { _, err := s.Lease(t.Context(), "leader", time.Minute); results <- err }()
	queued(t, s, 3)
	failure := errors.New("the disk is on fire")
	go func() {
		results <- s.do(&op{ctx: t.Context(), apply: func(*batch) (bool, error, error) { return false, nil, failure }})
	}()
	queued(t, s, 4)
	release()
	for range 4 {
		if err := <-results; !errors.Is(err, failure) || errors.Is(err, approver.ErrConflict) {
			t.Errorf("got %v, want %v", err, failure)
		}
	}
	if _, _, err := s.Get(t.Context(), approver.Key("test", "x")); !errors.Is(err, approver.ErrNotFound) {
		t.Errorf("get: got %v, want ErrNotFound", err)
	}
	if len(hints) != 0 {
		t.Error("a watcher was woken by what did not happen")
	}
	checkFile(t, s)
	// The next fence is one that the file knows of.
	for want := approver.Fence(1); want <= 2; want++ {
		if fence, err := s.Lease(t.Context(), "leader", time.Minute); err != nil || fence != want {
			t.Errorf("the lease was not undone: got fence %d, %v, want %d", fence, err, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openFor(t, path)
	}
}

func TestAWriteWhoseCallerLeftIsNotDone(t *testing.T) {
	s, key := openFor(t, newPath(t)), approver.Key("test", "left")
	release := hold(t, s)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		result <- s.Put(ctx, key, nil, "", approver.NewRev(), time.Time{}, time.Time{})
	}()
	queued(t, s, 1)
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	release()
	mustPut(t, s, approver.Key("test", "after"), "", "") // the batch is over
	if _, _, err := s.Get(t.Context(), key); !errors.Is(err, approver.ErrNotFound) {
		t.Errorf("get: got %v, want ErrNotFound", err)
	}
}

// Writes that change nothing cost no sync.
func TestRepeatsAndConflictsCommitNothing(t *testing.T) {
	s, key := openFor(t, newPath(t)), approver.Key("test", "x")
	rev := mustPut(t, s, key, "v", "")
	before := commits(t, s)
	for range 3 {
		if err := s.Put(t.Context(), key, []byte("v"), "", rev, time.Time{}, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), key, []byte("w"), "", approver.NewRev(), time.Time{}, time.Time{}); !errors.Is(err,
			approver.ErrConflict) {
			t.Fatal(err)
		}
	}
	if n := commits(t, s) - before; n != 0 {
		t.Errorf("%d transactions, want 0", n)
	}
}

func TestCloseWhileWriting(t *testing.T) {
	path := newPath(t)
	s := openFor(t, path)
	type written struct {
		key   string
		count int
	}
	results := make(chan written, 16)
	for w := range 16 {
		go func() {
			key, n := approver.Key("test", fmt.Sprint(w)), 0
			for rev := approver.Rev(""); ; n++ {
				next := approver.NewRev()
				if err := s.Put(t.Context(), key, []byte(fmt.Sprint(n)), rev, next, time.Time{}, time.Time{}); err != nil {
					if !errors.Is(err, arg.ErrClosed) {
						t.Error(err)
					}
					results <- written{key, n}
					return
				}
				rev = next
			}
		}()
	}
	time.Sleep(30 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := openFor(t, path)
	for range 16 {
		w := <-results
		if w.count > 0 {
			wantValue(t, again, w.key, fmt.Sprint(w.count-1))
		}
	}
	checkFile(t, again)
}

func TestForgetsInSmallSteps(t *testing.T) {
	const old = 3*gcWhenIdle + 10
	s, err := openWith(newPath(t), time.Hour, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kept := approver.Key("test", "kept")
	mustPut(t, s, kept, "v", "")
	release := hold(t, s)
	var all sync.WaitGroup
	end := time.Now().Add(500 * time.Millisecond)
	for i := range old {
		all.Go(func() {
			key := approver.Key("test", fmt.Sprint(i))
			if err := s.Put(t.Context(), key, nil, "", approver.NewRev(), end, end); err != nil {
				t.Error(err)
			}
		})
	}
	release()
	all.Wait()
	time.Sleep(time.Until(end))
	left := func() int { return len(column(t, s, `SELECT id FROM records`)) }
	if n := left(); n != old+1 {
		t.Fatalf("%d records, want %d", n, old+1)
	}
	mustPut(t, s, approver.Key("test", "another"), "v", "")
	if n := left(); n != old+2-gcInBatch {
		t.Errorf("%d records after one write, want %d fewer", n, gcInBatch)
	}
	checkFile(t, s)
}

// Between the end of a record's time and the freeing of its space, it is gone
// for everybody.
func TestForgottenBeforeItsSpaceIsFreed(t *testing.T) {
	w := &wall{at: time.Now()}
	s, err := openWith(newPath(t), time.Hour, w.now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var keys []string
	rev, end := approver.NewRev(), w.at.Add(time.Minute)
	for i := range 2 {
		keys = append(keys, approver.Key("test", fmt.Sprint(i)))
		if err := s.Put(t.Context(), keys[i], []byte("v"), "", rev, end, end); err != nil {
			t.Fatal(err)
		}
	}
	w.at = end
	for i, key := range keys {
		if v, _, err := s.Get(t.Context(), key); !errors.Is(err, approver.ErrNotFound) || v != nil {
			t.Errorf("get: got %q, %v, want ErrNotFound", v, err)
		}
		if due, err := s.Due(t.Context(), approver.ShardOf(fmt.Sprint(i)), 10); err != nil || len(due) != 0 {
			t.Errorf("due: got %q, %v, want nothing", due, err)
		}
		err := s.Put(t.Context(), key, nil, rev, approver.NewRev(), time.Time{}, time.Time{})
		if !errors.Is(err, approver.ErrConflict) {
			t.Errorf("a change: got %v, want ErrConflict", err)
		}
	}
	mustPut(t, s, keys[0], "anew", "")
	wantValue(t, s, keys[0], "anew")
	checkFile(t, s)
}

// An idle store forgets by itself.
func TestForgetsWhenIdle(t *testing.T) {
	s, err := openWith(newPath(t), 50*time.Millisecond, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const old = 2*gcWhenIdle + 10
	end := time.Now().Add(300 * time.Millisecond)
	var all sync.WaitGroup
	for i := range old {
		all.Go(func() {
			if err := s.Put(t.Context(), approver.Key("test", fmt.Sprint(i)), nil, "", approver.NewRev(), end, end); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		n := len(column(t, s, `SELECT id FROM records`))
		if n == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d entries are left", n)
		}
	}
}

// Fences are numbered on from those of former processes.
func TestFencesOutliveTheProcess(t *testing.T) {
	path := newPath(t)
	for want := approver.Fence(1); want <= 3; want++ {
		s := openFor(t, path)
		for range 2 {
			if got, err := s.Lease(t.Context(), "leader", time.Hour); err != nil || got != want {
				t.Errorf("got fence %d, %v, want %d", got, err, want)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever changes of a record's times, the file has one entry for each and no
// other: a stale one would make it due again, or forget it too soon.
func TestEntriesFollowTheRecord(t *testing.T) {
	now := time.Now().UTC()
	var times [][2]time.Time
	for _, due := range []time.Time{{}, now.Add(time.Hour), now.Add(2 * time.Hour)} {
		for _, keep := range []time.Time{{}, now.Add(48 * time.Hour), now.Add(72 * time.Hour)} {
			times = append(times, [2]time.Time{due, keep})
		}
	}
	s := openFor(t, newPath(t))
	key := approver.Key("test", "moved")
	shard, err := approver.ShardOfKey(key)
	if err != nil {
		t.Fatal(err)
	}
	var rev approver.Rev
	put := func(at [2]time.Time) {
		t.Helper()
		next := approver.NewRev()
		if err := s.Put(t.Context(), key, []byte(next), rev, next, at[0], at[1]); err != nil {
			t.Fatal(err)
		}
		rev = next
		var want []string
		if !at[0].IsZero() {
			want = append(want, fmt.Sprintf("due %d %d %d %s", shard, nanos(at[0]), nanos(at[1]), key))
		}
		if !at[1].IsZero() {
			want = append(want, fmt.Sprintf("keep %d", nanos(at[1])))
		}
		// Read from the indexes alone.
		got := append(column(t, s, `SELECT concat_ws(' ', 'due', shard, due, keep, key) FROM records INDEXED BY due`+
			` WHERE due < 9223372036854775807 AND shard >= 0`),
			column(t, s, `SELECT concat_ws(' ', 'keep', keep) FROM records INDEXED BY keep WHERE keep < 9223372036854775807`)...)
		if !slices.Equal(got, want) {
			t.Errorf("at %v: entries %q, want %q", at, got, want)
		}
	}
	for _, from := range times {
		for _, to := range times {
			put(from)
			put(to)
		}
	}
}
