package broadcaster

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"approver.example"
)

// patiently does something with a store that may be away for a moment.
func patiently(ctx context.Context, do func() error) error { return tryAgain(ctx, passing, do) }

// whenThere is patiently for a person's answer, which nobody gives twice. Only errors of the
// store are tried again. The compare-and-set refuses what comes too late, and the channel
// bounds ctx.
func whenThere(ctx context.Context, do func() error) error { return tryAgain(ctx, comesBack, do) }

// tryAgain does something until it succeeds, for as long as StorePatience. An error that is not
// expected to pass ends it at once.
func tryAgain(ctx context.Context, passes func(error) bool, do func() error) error {
	give := time.Now().Add(StorePatience)
	for {
		err := do()
		if err == nil || !passes(err) || !time.Now().Before(give) || !sleep(ctx, pollEvery/2) {
			return err
		}
	}
}

// sleep waits, and reports false if ctx ends first.
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

// hints returns the hints that a record has changed, until ctx ends. It is nil if the store
// gives none: polling alone will do.
func hints(ctx context.Context, store approver.KV, key string) <-chan struct{} {
	hint, err := store.Watch(ctx, key)
	if err != nil {
		return nil
	}
	return hint
}

// dropFirst takes the hint that is there from the start, for a reader that now reads the record.
func dropFirst(hint <-chan struct{}) {
	select {
	case <-hint:
	default:
	}
}

// hinted waits for a hint that a record has changed, or for a time, and reports
// whether ctx still lives. When the hints end, it returns at once and makes them nil.
func hinted(ctx context.Context, hint *<-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case _, ok := <-*hint:
		if !ok {
			*hint = nil
		}
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// jittered is d give or take a fifth, so that what failed at once does not come back at once.
func jittered(d time.Duration) time.Duration {
	return d - d/5 + rand.N(max(2*d/5, 1)) //nolint:gosec // nothing to guess
}

// workers bounds how much of the store is read or worked on at once.
const workers = 8

// spread runs f(0) … f(n-1) on a few workers and joins their errors. A worker stops at its
// first error.
func spread(n int, f func(int) error) error {
	return inParallel(min(n, workers), func(worker int) error {
		for i := worker; i < n; i += workers {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// inParallel runs f(0) … f(n-1) at once and joins their errors.
func inParallel(n int, f func(int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
