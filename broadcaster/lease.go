package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"approver.example"
)

// WithLease runs f while this process holds the named lease, and again whenever it gets the
// lease anew, until ctx ends or f ends by itself. The context of f ends with the lease.
func WithLease(
	ctx context.Context, store approver.KV, name string, log *slog.Logger, f func(ctx context.Context) error,
) error {
	for {
		asked := time.Now()
		if err := take(ctx, store, name, asked.Add(approver.LeaseTTL), approver.LeaseTTL); err != nil {
			if !errors.Is(err, approver.ErrHeld) && ctx.Err() == nil {
				log.Warn("the store could not grant a lease", "lease", name, "error", err)
			}
			if !sleep(ctx, approver.LeaseTTL/10) {
				return ctx.Err()
			}
			continue
		}
		held, err := holdLease(ctx, store, name, asked, f)
		if held || ctx.Err() != nil {
			// Do not keep others waiting: the shortest lease is over at once.
			_ = take(context.WithoutCancel(ctx), store, name, time.Now().Add(approver.LeaseTTL), time.Millisecond)
			return err
		}
		log.Warn("lost the lease; waiting for it", "lease", name)
	}
}

// holdLease runs f and renews the lease, which was asked for at renewed. held reports that f
// ended by itself. If the store does not answer, the lease is given up before anybody else can
// have it.
func holdLease(
	ctx context.Context, store approver.KV, name string, renewed time.Time, f func(ctx context.Context) error,
) (held bool, err error) {
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
	for {
		select {
		case err := <-done:
			return ctx.Err() == nil, err
		case <-time.After(approver.LeaseTTL / 4):
		}
		asked, lost := time.Now(), renewed.Add(approver.LeaseTTL*3/4)
		err := take(ctx, store, name, lost, approver.LeaseTTL)
		if err == nil {
			renewed = asked
		} else if errors.Is(err, approver.ErrHeld) || !time.Now().Before(lost) {
			cancel()
			return false, <-done
		}
	}
}

// take takes or renews the lease. It gives up at until.
func take(ctx context.Context, store approver.KV, name string, until time.Time, ttl time.Duration) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	_, err := store.Lease(ctx, name, ttl)
	return err
}
