package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
)

var leaseTests = []test{
	{"a holder keeps its fence", leaseKept},
	{"another holder has a greater fence", leaseTaken},
	{"leases do not touch each other", leasesApart},
	{"of many askers one process holds it", leaseContended},
	{"odd arguments are refused", leaseOddArguments},
}

var clockTests = []test{
	{"it never goes back", clockNeverBack},
	{"it is the time", clockIsTime},
}

func lease(t *testing.T, s Store, name string, ttl time.Duration) approver.Fence {
	t.Helper()
	fence, err := s.Lease(t.Context(), name, ttl)
	if err != nil {
		t.Fatalf("lease %s: %v", name, err)
	}
	if fence == 0 {
		t.Fatalf("lease %s: got fence 0", name)
	}
	return fence
}

func leaseKept(t *testing.T, f *fixture) {
	s := f.open()
	const ttl = 1500 * time.Millisecond
	first := lease(t, s, "leader", ttl)
	for range 4 {
		time.Sleep(400 * time.Millisecond) // together longer than one term
		if again := lease(t, s, "leader", ttl); again != first {
			t.Fatalf("renewed: got fence %d, want %d", again, first)
		}
	}
}

func leaseTaken(t *testing.T, f *fixture) {
	const ttl = 1500 * time.Millisecond
	a := f.open()
	var b Store
	if f.place.Shared {
		b = f.open() // takes its time, which must not be the lease's
	}
	first := lease(t, a, "leader", ttl)
	if !f.place.Shared {
		b = f.other(a)
	} else {
		if fence, err := b.Lease(t.Context(), "leader", time.Minute); !errors.Is(err, approver.ErrHeld) || fence != 0 {
			t.Fatalf("a held lease: got %d, %v, want ErrHeld", fence, err)
		}
		if again := lease(t, a, "leader", ttl); again != first {
			t.Fatalf("renewed: got fence %d, want %d", again, first)
		}
	}
	var second approver.Fence
	eventually(t, func() (err error) {
		second, err = b.Lease(t.Context(), "leader", ttl)
		return err
	})
	if second <= first {
		t.Fatalf("got fence %d after %d, want a greater one", second, first)
	}
	if !f.place.Shared {
		return
	}
	if _, err := a.Lease(t.Context(), "leader", time.Minute); !errors.Is(err, approver.ErrHeld) {
		t.Errorf("the former holder: got %v, want ErrHeld", err)
	}
	eventually(t, func() error {
		third, err := a.Lease(t.Context(), "leader", time.Minute)
		if err == nil && third <= second {
			t.Errorf("got fence %d after %d, want a greater one", third, second)
		}
		return err
	})
}

func leasesApart(t *testing.T, f *fixture) {
	s := f.open()
	one := lease(t, s, "one", time.Minute)
	lease(t, s, "two", time.Minute)
	if again := lease(t, s, "one", time.Minute); again != one {
		t.Errorf("got fence %d, want %d", again, one)
	}
	// A record of the same name is something else.
	key := approver.Key("lease", "one")
	wantGone(t, s, key)
	put(t, s, key, "v", "")
	if again := lease(t, s, "one", time.Minute); again != one {
		t.Errorf("after a record of that name: got fence %d, want %d", again, one)
	}
}

func leaseContended(t *testing.T, f *fixture) {
	stores := []Store{f.open()}
	if f.place.Shared {
		stores = append(stores, f.open(), f.open())
	}
	var mu sync.Mutex
	fences := make(map[approver.Fence]map[int]bool) // to the stores that were told
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			which := i % len(stores)
			fence, err := stores[which].Lease(t.Context(), "leader", time.Minute)
			if err != nil {
				if !errors.Is(err, approver.ErrHeld) {
					t.Error(err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if fences[fence] == nil {
				fences[fence] = make(map[int]bool)
			}
			fences[fence][which] = true
		})
	}
	all.Wait()
	if len(fences) != 1 {
		t.Fatalf("got fences %v, want one", fences)
	}
	for _, holders := range fences {
		if len(holders) != 1 {
			t.Errorf("%d processes hold one lease", len(holders))
		}
	}
}

func leaseOddArguments(t *testing.T, f *fixture) {
	s := f.open()
	for _, name := range []string{"", "a\nb", "\xff", strings.Repeat("a", 2000)} {
		if _, err := s.Lease(t.Context(), name, time.Second); err == nil || errors.Is(err, approver.ErrHeld) {
			t.Errorf("%.20q: got %v, want it refused", name, err)
		}
	}
	for _, ttl := range []time.Duration{0, -time.Second, time.Microsecond, 48 * time.Hour} {
		if _, err := s.Lease(t.Context(), "leader", ttl); err == nil || errors.Is(err, approver.ErrHeld) {
			t.Errorf("%v: got %v, want it refused", ttl, err)
		}
	}
}

func clockNeverBack(t *testing.T, f *fixture) {
	s := f.open()
	var all sync.WaitGroup
	var mu sync.Mutex
	var latest time.Time
	for range 8 {
		all.Go(func() {
			for range 100 {
				mu.Lock()
				floor := latest // some reading that was given before we ask
				mu.Unlock()
				now, err := s.Now(t.Context())
				if err != nil || now.Before(floor) {
					t.Errorf("got %v, %v after %v", now, err, floor)
					return
				}
				mu.Lock()
				if now.After(latest) {
					latest = now
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for range 3 {
		s = f.other(s)
		now, err := s.Now(t.Context())
		if err != nil || now.Before(latest) {
			t.Fatalf("in another process: got %v, %v after %v", now, err, latest)
		}
		latest = now
	}
}

func clockIsTime(t *testing.T, f *fixture) {
	s := f.open()
	first := now(t, s)
	if d := time.Since(first).Abs(); d > 5*time.Second {
		t.Errorf("the store's clock is %v off", d)
	}
	if first.Location() != time.UTC {
		t.Errorf("got a time in %v, want UTC", first.Location())
	}
	eventually(t, func() error {
		now, err := s.Now(t.Context())
		if err == nil && now.Sub(first) < 20*time.Millisecond {
			err = fmt.Errorf("the clock stands still at %v", now)
		}
		return err
	})
}
