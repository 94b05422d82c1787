package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"approver.example"
)

// A lease is what one process holds at a time. If it has several seats, one process holds each.
type lease struct {
	store approver.KV
	log   *slog.Logger
	seats []string // their names; the first is that of the lease
	// shy is until when this process does not ask others to give the lease up for it.
	shy time.Time
	// seat is the one that this process held last.
	seat atomic.Pointer[string]
}

// newLease returns the lease of a channel.
func newLease(c approver.Solo, store approver.KV, log *slog.Logger) *lease {
	l := &lease{store: store, log: log, seats: []string{c.LeaseName()}}
	if s, is := c.(approver.Seated); is {
		for n := 2; n <= s.Seats(); n++ {
			l.seats = append(l.seats, fmt.Sprintf("%s/%d", c.LeaseName(), n))
		}
	}
	l.seat.Store(&l.seats[0])
	return l
}

// askEvery is how often a process that waits for a lease asks for it, and in how many of these times it says
// that it waits.
const (
	askEvery     = approver.LeaseTTL / 10
	saysItWaits  = 3
	shortestTerm = time.Millisecond
)

// with runs f while this process holds the lease, and again whenever it gets the lease anew, until ctx ends or
// f ends by itself. The context of f ends with the lease.
func (l *lease) with(ctx context.Context, f func(ctx context.Context) error) error {
	for tries := 0; ; tries++ {
		seat, asked, err := l.takeAny(ctx, tries)
		if err != nil {
			if !errors.Is(err, approver.ErrHeld) && ctx.Err() == nil {
				l.log.Warn("the store could not grant a lease", "lease", seat, "error", err)
			} else if tries%saysItWaits == 0 {
				l.await(ctx)
			}
			if !sleep(ctx, askEvery) {
				return ctx.Err()
			}
			continue
		}
		l.seat.Store(&seat)
		held, err := l.hold(ctx, seat, asked, f)
		if held || ctx.Err() != nil {
			// Do not keep others waiting: the shortest lease is over at once.
			_ = l.take(context.WithoutCancel(ctx), seat, time.Now().Add(approver.LeaseTTL), shortestTerm)
			return err
		}
		l.log.Warn("lost the lease; waiting for it", "lease", seat)
		tries = -1
	}
}

// takeAny takes a seat that is free. The first time it asks for all of them, and then for one after the other.
func (l *lease) takeAny(ctx context.Context, tries int) (seat string, asked time.Time, err error) {
	seats := l.seats
	if tries > 0 {
		seats = []string{l.seats[tries%len(l.seats)]}
	}
	for _, seat = range seats {
		asked = time.Now()
		if err = l.take(ctx, seat, asked.Add(approver.LeaseTTL), approver.LeaseTTL); !errors.Is(err, approver.ErrHeld) {
			break
		}
	}
	return seat, asked, err
}

// waiting names the lease that one of the processes holds that wait for this one.
func (l *lease) waiting() string { return l.seats[0] + "/waits" }

// await says to those that have the lease that this process would take it.
func (l *lease) await(ctx context.Context) {
	if time.Now().After(l.shy) {
		_ = l.take(ctx, l.waiting(), time.Now().Add(askEvery), approver.LeaseTTL)
	}
}

// awaited reports whether another process waits for the lease.
func (l *lease) awaited(ctx context.Context) bool {
	return errors.Is(l.take(ctx, l.waiting(), time.Now().Add(askEvery), shortestTerm), approver.ErrHeld)
}

// spareFor is how long one of several seats is kept while the store does not answer.
const spareFor = time.Minute

// hold runs f and renews a seat, which was asked for at renewed. held reports that f ended by itself. If the
// store does not answer, the only seat is given up before anybody else can have it. One of several is kept for
// spareFor: its platform takes one receiver more, and does not repeat what nobody received.
func (l *lease) hold(
	ctx context.Context, seat string, renewed time.Time, f func(ctx context.Context) error,
) (held bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- survived(func() error { return f(ctx) }) }()
	for {
		select {
		case err := <-done:
			return ctx.Err() == nil, err
		case <-time.After(approver.LeaseTTL / 4):
		}
		asked, lost := time.Now(), renewed.Add(approver.LeaseTTL*3/4)
		until := lost
		if len(l.seats) > 1 {
			until, lost = asked.Add(approver.LeaseTTL/2), renewed.Add(spareFor)
		}
		err := l.take(ctx, seat, until, approver.LeaseTTL)
		if err == nil {
			renewed = asked
		} else if errors.Is(err, approver.ErrHeld) || !time.Now().Before(lost) {
			cancel()
			return false, <-done
		}
	}
}

// take takes or renews a seat. It gives up at until.
func (l *lease) take(ctx context.Context, seat string, until time.Time, ttl time.Duration) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	_, err := l.store.Lease(ctx, seat, ttl)
	return err
}

// survived runs f, and makes an error of its panic.
func survived(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
