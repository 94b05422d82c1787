package broadcaster

import (
	"context"
	"errors"
	"time"

	"approver.example"
)

// This file is what an answer waits for: a store that is away for a moment, and the note
// of its own card.

// whenThere does something for an answer with a store that may be away for some seconds,
// as while it fails over: nobody taps again. What may come too late for that is kept out
// by the compare-and-set, and ctx is the channel's own bound.
func whenThere(ctx context.Context, do func() error) error {
	give := time.Now().Add(StorePatience)
	for {
		err := do()
		if err == nil || !comesBack(err) || !time.Now().Before(give) || !sleep(ctx, pollEvery/2) {
			return err
		}
	}
}

// comesBack reports an error of the store, which may be over soon: what a record says is none.
func comesBack(err error) bool {
	for _, said := range []error{ErrSettled, ErrTooSoon, approver.ErrOverdue, ErrNotAsked, errNoChange, errNoRecord} {
		if errors.Is(err, said) {
			return false
		}
	}
	return passing(err)
}

// wasInTime reports that an answer which came after the end, and began when it did, was
// here before the deadline: the store was away, or the note of its card was.
func (a *Answers) wasInTime(ctx context.Context, r Request, began time.Time) bool {
	now, err := a.store.Now(ctx)
	return err == nil && now.Add(-time.Since(began)).Before(r.Due)
}

func (q *Requests) loadPatiently(ctx context.Context, id string) (r Request, err error) {
	err = whenThere(ctx, func() (err error) { r, _, err = q.load(ctx, id); return err })
	return r, err
}

// hinted waits for a hint that a record has changed, or for a time, and reports
// whether ctx still lives. Without hints only the time counts.
func hinted(ctx context.Context, hint <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case _, ok := <-hint:
		if ok {
			return ctx.Err() == nil
		}
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
	return hinted(ctx, nil, most) // the watch has ended before its context
}
