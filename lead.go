package approver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// LeaseTTL is how long a leader that vanished keeps others out.
const LeaseTTL = 3 * time.Second

// Lead runs f while this process holds the named lease, and again whenever it
// gets the lease anew, until ctx ends or f ends by itself. f's context ends
// with the lease.
func Lead(ctx context.Context, store KV, name string, log *slog.Logger, f func(ctx context.Context) error) error {
	for {
		if _, err := store.Lease(ctx, name, LeaseTTL); err != nil {
			if !errors.Is(err, ErrHeld) && ctx.Err() == nil {
				log.Warn("the store could not grant a lease", "lease", name, "error", err)
			}
			if !sleep(ctx, LeaseTTL/10) {
				return ctx.Err()
			}
			continue
		}
		held, err := leadOnce(ctx, store, name, f)
		if held || ctx.Err() != nil {
			// Do not keep others waiting: the shortest lease is over at once.
			_, _ = store.Lease(context.WithoutCancel(ctx), name, time.Millisecond)
			return err
		}
		log.Warn("lost the lease; waiting for it", "lease", name)
	}
}

// leadOnce runs f and renews the lease. held reports that f ended by itself.
func leadOnce(ctx context.Context, store KV, name string, f func(ctx context.Context) error) (held bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		done <- f(ctx)
	}()
	renewed := time.Now()
	for {
		select {
		case err := <-done:
			return ctx.Err() == nil, err
		case <-time.After(LeaseTTL / 4):
		}
		if _, err := store.Lease(ctx, name, LeaseTTL); err == nil {
			renewed = time.Now()
		} else if errors.Is(err, ErrHeld) || time.Since(renewed) > LeaseTTL*3/4 {
			cancel()
			return false, <-done
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
