package storetest

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
)

var recordTests = []test{
	{"values come back as they were", valuesComeBack},
	{"a new record needs an empty revision", newRecord},
	{"a change needs the present revision", changeNeedsRevision},
	{"the same write again succeeds", sameWriteAgain},
	{"a revision is good for one write", revisionUsedTwice},
	{"a write that comes too late is refused", writeTooLate},
	{"odd arguments are refused", oddArguments},
	{"values are not shared with the caller", valuesAreCopied},
	{"what may be forgotten is forgotten", forgotten},
	{"records outlive the process", outlive},
	{"of many writers one wins", oneWins},
	{"no increment is lost", noIncrementLost},
	{"writes that go together stand each for itself", putAll},
	{"records that belong together are written all or none", putWith},
	{"writes that go together are repeated safely", putAllAgain},
	{"a record and the clock are read at once", getNow},
	{"a record that is known is not read again", getUnless},
	{"records are read ahead once", readAhead},
	{"an ended context reaches nothing", endedContext},
	{"a closed store answers nothing", closedStore},
}

func getNow(t *testing.T, f *fixture) {
	s := f.open()
	both, ok := s.(approver.ClockReader)
	if !ok {
		t.Skip("this store reads the clock by itself")
	}
	key, none := newKey(), newKey()
	rev := put(t, s, key, "v", "")
	last := now(t, s)
	for range 3 {
		value, got, now, err := both.GetNow(t.Context(), key)
		if err != nil || string(value) != "v" || got != rev || now.Before(last) || now.Sub(last) > time.Hour {
			t.Fatalf("got %q at %s and the time %v after %v, %v", value, got, now, last, err)
		}
		last = now
		value, got, now, err = both.GetNow(t.Context(), none)
		if !errors.Is(err, approver.ErrNotFound) || value != nil || got != "" || now.Before(last) {
			t.Fatalf("no record: got %q at %q and the time %v after %v, %v", value, got, now, last, err)
		}
		last = now
	}
	if now, err := s.Now(t.Context()); err != nil || now.Before(last) {
		t.Errorf("the clock went back from %v to %v, %v", last, now, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ctx := range map[string]context.Context{"no key of ours": t.Context(), "an ended context": ended} {
		if name == "no key of ours" {
			key = "mine"
		}
		if value, _, now, err := both.GetNow(ctx, key); err == nil || errors.Is(err, approver.ErrNotFound) || value != nil ||
			!now.IsZero() {
			t.Errorf("%s: %q, %v, %v", name, value, now, err)
		}
		key = newKey()
	}
}

func valuesComeBack(t *testing.T, f *fixture) {
	s := f.open()
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	values := map[string]string{
		"text": "yes", "empty": "", "zero bytes": "\x00\x00", "every byte": string(every),
		"line ends": "a\r\nb\n", "not UTF-8": "\xff\xfe", "4 MiB": strings.Repeat(string(every), 4<<20/256),
	}
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			key := newKey()
			rev := put(t, s, key, value, "")
			wantRecord(t, s, key, value, rev)
			rev = put(t, s, key, "x"+value, rev)
			wantRecord(t, s, key, "x"+value, rev)
		})
	}
	wantGone(t, s, newKey())
	odd := approver.Key("kind", `a:b/c "d" {07} ü * ?`)
	rev := put(t, s, odd, "v", "")
	wantRecord(t, s, odd, "v", rev)
}

func newRecord(t *testing.T, f *fixture) {
	s, key := f.open(), newKey()
	rev := put(t, s, key, "first", "")
	err := s.Put(t.Context(), key, []byte("second"), "", approver.NewRev(), time.Time{}, later())
	wantConflict(t, "a second creation", err)
	wantRecord(t, s, key, "first", rev)
	missing := newKey()
	err = s.Put(t.Context(), missing, []byte("v"), approver.NewRev(), approver.NewRev(), time.Time{}, later())
	wantConflict(t, "a change of what is not there", err)
	wantGone(t, s, missing)
}

func changeNeedsRevision(t *testing.T, f *fixture) {
	s, key := f.open(), newKey()
	first := put(t, s, key, "1", "")
	second := put(t, s, key, "2", first)
	for name, prev := range map[string]approver.Rev{"former": first, "foreign": approver.NewRev(), "no": ""} {
		err := s.Put(t.Context(), key, []byte("3"), prev, approver.NewRev(), time.Time{}, later())
		wantConflict(t, "with "+name+" revision", err)
		wantRecord(t, s, key, "2", second)
	}
}

func sameWriteAgain(t *testing.T, f *fixture) {
	s, key := f.open(), newKey()
	again := func(value string, prev, next approver.Rev) error {
		return s.Put(t.Context(), key, []byte(value), prev, next, time.Time{}, later())
	}
	first := put(t, s, key, "1", "")
	second := put(t, s, key, "2", first)
	for range 3 {
		if err := again("2", first, second); err != nil {
			t.Fatalf("the same change again: %v", err)
		}
		wantRecord(t, s, key, "2", second)
	}
	wantConflict(t, "a former write again", again("1", "", first))
	third := put(t, s, key, "3", second)
	wantConflict(t, "the same change after another", again("2", first, second))
	wantRecord(t, s, key, "3", third)

	created := newKey()
	rev := put(t, s, created, "new", "")
	if err := s.Put(t.Context(), created, []byte("new"), "", rev, time.Time{}, later()); err != nil {
		t.Errorf("the same creation again: %v", err)
	}
}

func revisionUsedTwice(t *testing.T, f *fixture) {
	s, key := f.open(), newKey()
	first := put(t, s, key, "1", "")
	second := put(t, s, key, "2", first)
	err := s.Put(t.Context(), key, []byte("other"), first, second, time.Time{}, later())
	wantConflict(t, "another value under a used revision", err)
	wantRecord(t, s, key, "2", second)
}

func oddArguments(t *testing.T, f *fixture) {
	s := f.open()
	keys := []string{
		"", "x", "ap:", "ap:{07}", "ap:{07}:", "ap:{07}:due", "ap:{07}:req:", "ap:{07}::id", "ap:{64}:req:id",
		"ap:{7}:req:id",
		"ap:{-1}:req:id", "ap:{aa}:req:id", "AP:{07}:req:id", " ap:{07}:req:id", "ap:{07}/lease:x", "ap:07:req:id",
		"ap:{07}:req:a\x00b", "ap:{07}:req:a\nb", "ap:{07}:req:\xff", "ap:{07}:req:\u202ea",
		"ap:{07}:req:" + strings.Repeat("a", 2000),
	}
	for _, key := range keys {
		if _, _, err := s.Get(t.Context(), key); err == nil || errors.Is(err, approver.ErrNotFound) {
			t.Errorf("get %.40q: got %v, want it refused", key, err)
		}
		err := s.Put(t.Context(), key, nil, "", approver.NewRev(), time.Time{}, later())
		if err == nil || errors.Is(err, approver.ErrConflict) {
			t.Errorf("put %.40q: got %v, want it refused", key, err)
		}
		if _, err := s.Watch(t.Context(), key); err == nil {
			t.Errorf("watch %.40q was not refused", key)
		}
	}
	key, rev := newKey(), approver.NewRev()
	now := time.Now()
	puts := map[string]func() error{
		"no new revision": func() error { return s.Put(t.Context(), key, nil, "", "", now, later()) },
		"short revision":  func() error { return s.Put(t.Context(), key, nil, "", "1", now, later()) },
		"upper case": func() error {
			return s.Put(t.Context(), key, nil, "", approver.Rev(strings.ToUpper(string(rev))), now, later())
		},
		"not version 4": func() error {
			return s.Put(t.Context(), key, nil, "", "00000000-0000-0000-0000-000000000000", now, later())
		},
		"odd previous":     func() error { return s.Put(t.Context(), key, nil, "x", rev, now, later()) },
		"revision kept":    func() error { return s.Put(t.Context(), key, nil, rev, rev, now, later()) },
		"forgotten too so": func() error { return s.Put(t.Context(), key, nil, "", rev, now, now.Add(-time.Second)) },
		"due before 1970":  func() error { return s.Put(t.Context(), key, nil, "", rev, time.Unix(-1, 0), later()) },
		"due too far": func() error {
			return s.Put(t.Context(), key, nil, "", rev, now.AddDate(300, 0, 0),
				time.Time{})
		},
		"kept for too long": func() error { return s.Put(t.Context(), key, nil, "", rev, now, now.AddDate(300, 0, 0)) },
		"too large":         func() error { return s.Put(t.Context(), key, make([]byte, 16<<20+1), "", rev, now, later()) },
	}
	for name, call := range puts {
		if err := call(); err == nil || errors.Is(err, approver.ErrConflict) {
			t.Errorf("put with %s: got %v, want it refused", name, err)
		}
	}
	wantGone(t, s, key)
}

func valuesAreCopied(t *testing.T, f *fixture) {
	s, key := f.open(), newKey()
	// Large enough to have pages of its own, in a store that has pages.
	mine := bytes.Repeat([]byte("written "), 2000)
	written, rev := string(mine), approver.NewRev()
	if err := s.Put(t.Context(), key, mine, "", rev, time.Time{}, later()); err != nil {
		t.Fatal(err)
	}
	clear(mine)
	wantRecord(t, s, key, written, rev)
	got, _, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	clear(got)
	wantRecord(t, s, key, written, rev)
}

func forgotten(t *testing.T, f *fixture) {
	s := f.open()
	past, soon, kept, changed := newKeyIn(3), newKeyIn(3), newKeyIn(3), newKeyIn(3)
	write := func(key string, prev, next approver.Rev, due, keep time.Time) {
		t.Helper()
		if err := s.Put(t.Context(), key, []byte("v"), prev, next, due, keep); err != nil {
			t.Fatal(err)
		}
	}
	now := now(t, s)
	rev, end := approver.NewRev(), now.Add(150*time.Millisecond)
	write(past, "", approver.NewRev(), now.Add(-time.Hour), now.Add(-time.Minute))
	write(soon, "", approver.NewRev(), now.Add(-time.Second), end)
	write(kept, "", rev, time.Time{}, time.Time{})
	write(changed, "", rev, now.Add(-time.Second), end)
	write(changed, rev, approver.NewRev(), now.Add(-time.Second), later())
	wantGone(t, s, past)
	eventually(t, func() error {
		if _, _, err := s.Get(t.Context(), soon); !errors.Is(err, approver.ErrNotFound) {
			return errors.New("the record is still there")
		}
		return nil
	})
	// Nothing is left of it: it is not due, has no revision, and can be made.
	wantDue(t, s, 3, 10, changed)
	err := s.Put(t.Context(), soon, nil, approver.NewRev(), approver.NewRev(), time.Time{}, later())
	wantConflict(t, "a change of a forgotten record", err)
	next := put(t, s, soon, "anew", "")
	wantRecord(t, s, soon, "anew", next)
	wantRecord(t, s, kept, "v", rev)
	wantDue(t, s, 3, 10, changed)
}

func outlive(t *testing.T, f *fixture) {
	s := f.open()
	key := newKeyIn(9)
	first := putDue(t, s, key, "1", "", time.Now().Add(-time.Minute))
	rev := putDue(t, s, key, "2", first, time.Now().Add(-time.Minute))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = f.open()
	wantRecord(t, s, key, "2", rev)
	wantDue(t, s, 9, 10, key)
	if err := s.Put(t.Context(), key, []byte("2"), first, rev, time.Time{}, later()); err != nil {
		t.Errorf("the same write again, from another process: %v", err)
	}
}

func oneWins(t *testing.T, f *fixture) {
	const writers, rounds = 16, 20
	s, key := f.open(), newKey()
	var prev approver.Rev
	for round := range rounds {
		var winners atomic.Int32
		var winner atomic.Value
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				next := approver.NewRev()
				err := s.Put(t.Context(), key, []byte(numbered(w)), prev, next, time.Time{}, later())
				switch {
				case err == nil:
					winners.Add(1)
					winner.Store([2]string{numbered(w), string(next)})
				case !errors.Is(err, approver.ErrConflict):
					t.Errorf("writer %d: %v", w, err)
				}
			})
		}
		all.Wait()
		if n := winners.Load(); n != 1 {
			t.Fatalf("round %d has %d winners, want 1", round, n)
		}
		won := winner.Load().([2]string)
		wantRecord(t, s, key, won[0], approver.Rev(won[1]))
		prev = approver.Rev(won[1])
	}
}

func noIncrementLost(t *testing.T, f *fixture) {
	const writers, each = 8, 15
	s, key := f.open(), newKey()
	put(t, s, key, "0", "")
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				if err := increment(t.Context(), s, key); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	got, _, err := s.Get(t.Context(), key)
	if want := strconv.Itoa(writers * each); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %s", got, err, want)
	}
}

// increment adds one to a number, against all comers.
func increment(ctx context.Context, s Store, key string) error {
	for {
		value, rev, err := s.Get(ctx, key)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(value))
		if err != nil {
			return err
		}
		err = s.Put(ctx, key, []byte(strconv.Itoa(n+1)), rev, approver.NewRev(), time.Time{}, later())
		if !errors.Is(err, approver.ErrConflict) {
			return err
		}
	}
}

func endedContext(t *testing.T, f *fixture) {
	s := f.open()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, c := range calls {
		if err := c.call(canceled, s); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a canceled context: got %v", c.name, err)
		}
		if err := c.call(late, s); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s with a late context: got %v", c.name, err)
		}
	}
	key := newKey()
	if err := s.Put(canceled, key, nil, "", approver.NewRev(), time.Time{}, later()); err == nil {
		t.Error("a canceled write succeeded")
	}
	wantGone(t, s, key)
}

func closedStore(t *testing.T, f *fixture) {
	s := f.open()
	hints, err := s.Watch(t.Context(), newKey())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ended(t, hints)
	for _, c := range calls {
		err := c.call(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: got %v, want to hear that the store is closed", c.name, err)
		}
		for _, said := range []error{approver.ErrNotFound, approver.ErrConflict, approver.ErrHeld} {
			if errors.Is(err, said) {
				t.Errorf("%s of a closed store says %v", c.name, said)
			}
		}
	}
}

// The clock of the store judges, in the very step that writes: neither a slow
// disk nor a slow network lets a write through after its time.
func writeTooLate(t *testing.T, f *fixture) {
	s, key := f.open(), newKey()
	now := now(t, s)
	write := func(before time.Time, value string, prev, next approver.Rev) error {
		return s.PutBefore(t.Context(), before, key, []byte(value), prev, next, time.Time{}, later())
	}
	if err := write(now, "late", "", approver.NewRev()); !errors.Is(err, approver.ErrOverdue) {
		t.Errorf("a new record at its deadline: got %v, want ErrOverdue", err)
	}
	wantGone(t, s, key)
	first := approver.NewRev()
	limit := now.Add(1500 * time.Millisecond)
	if err := write(limit, "in time", "", first); err != nil {
		t.Fatalf("in time: %v", err)
	}
	second := approver.NewRev()
	if err := write(limit, "changed in time", first, second); err != nil {
		t.Fatalf("changed in time: %v", err)
	}
	time.Sleep(1600 * time.Millisecond)
	if err := write(limit, "changed in time", first, second); err != nil {
		t.Errorf("the same write again, later: %v", err)
	}
	if err := write(limit, "too late", second, approver.NewRev()); !errors.Is(err, approver.ErrOverdue) {
		t.Errorf("too late: got %v, want ErrOverdue", err)
	}
	wantRecord(t, s, key, "changed in time", second)
	if err := write(time.Time{}, "without a deadline", second, approver.NewRev()); err != nil {
		t.Errorf("without a deadline: %v", err)
	}
}
