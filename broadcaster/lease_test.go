package broadcaster

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// oneLease are the leases that several replicas ask for, by name.
type oneLease struct {
	mu sync.Mutex
	of map[string]holding
}

type holding struct {
	holder string
	until  time.Time
}

// A replica is a KV as one process sees it. While deaf, it hangs as a store
// behind a broken network does.
type replica struct {
	*memKV
	lease *oneLease
	name  string
	deaf  func() bool
}

func (r replica) Lease(ctx context.Context, name string, ttl time.Duration) (approver.Fence, error) {
	if r.deaf() {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	r.lease.mu.Lock()
	defer r.lease.mu.Unlock()
	if r.lease.of == nil {
		r.lease.of = map[string]holding{}
	}
	now := time.Now()
	if is := r.lease.of[name]; is.holder == r.name || !now.Before(is.until) {
		r.lease.of[name] = holding{r.name, now.Add(ttl)}
		return 1, nil
	}
	return 0, approver.ErrHeld
}

// Of two replicas one receives. When its store hangs, it stops before the other
// begins; when it ends in order, the other need not wait for the lease.
func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var leads []string // "a+" when a began, "a-" when it stopped
		note := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			leads = append(leads, s)
		}
		deaf := map[string]bool{}
		lease := &oneLease{}
		ended := map[string]context.CancelFunc{}
		var all sync.WaitGroup
		for _, name := range []string{"a", "b"} {
			ctx, cancel := context.WithCancel(t.Context())
			ended[name] = cancel
			kv := replica{newMemKV(), lease, name, func() bool { mu.Lock(); defer mu.Unlock(); return deaf[name] }}
			all.Go(func() {
				l := newLease(soloChat{}, kv, slog.New(slog.DiscardHandler))
				_ = l.with(ctx, func(ctx context.Context) error {
					note(name + "+")
					<-ctx.Done()
					note(name + "-")
					return ctx.Err()
				})
			})
			synctest.Wait() // a is first
		}
		time.Sleep(10 * approver.LeaseTTL)
		mu.Lock()
		if got := len(leads); got != 1 || leads[0] != "a+" {
			t.Fatalf("after ten terms: %q", leads)
		}
		deaf["a"] = true
		mu.Unlock()

		time.Sleep(2 * approver.LeaseTTL)
		mu.Lock()
		deaf["a"] = false
		mu.Unlock()
		time.Sleep(2 * approver.LeaseTTL)
		ended["b"]()
		time.Sleep(approver.LeaseTTL / 2)
		ended["a"]()
		all.Wait()
		if want := []string{"a+", "a-", "b+", "b-", "a+", "a-"}; !slices.Equal(leads, want) {
			t.Errorf("got %q, want %q", leads, want)
		}
	})
}
