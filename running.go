package approver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"
)

// This file runs the channels, and runs those again that ended.

// Run runs the channels and the clock until ctx ends, then waits for all work
// that was begun. Requests that are open then stay open for the next process.
// A channel that ends by itself, as where its token was revoked, does not stop the
// others. Its error is logged once; it is run again after Options.RunAgain, and then
// ever more rarely, up to every five minutes. Until it is back it gets no cards, whose
// buttons nobody would hear. The errors of those that are not back at the end are
// returned.
func (b *Broadcaster) Run(ctx context.Context) error {
	if err := b.begin(ctx); err != nil {
		return err
	}
	var all sync.WaitGroup
	all.Go(func() { b.sweep(ctx) })
	all.Go(func() { b.guard(ctx) })
	b.start(b.regrant)
	for _, c := range b.Channels {
		all.Go(func() { b.supervise(ctx, c) })
		if screen, is := c.(Presence); is {
			all.Go(func() { b.watchScreens(ctx, screen) })
		}
	}
	<-ctx.Done()
	all.Wait()
	b.wait()
	var errs []error
	for _, c := range b.Channels {
		if err := b.states.of(c.Name()).Ended; err != nil {
			errs = append(errs, fmt.Errorf("channel %s: %w", c.Name(), err))
		}
	}
	return errors.Join(errs...)
}

// Times of a channel that ended by itself.
const (
	// DefaultRunAgain is how long it is left alone at first when nothing else is
	// configured, and maxRunAgain at most.
	DefaultRunAgain = 30 * time.Second
	maxRunAgain     = 5 * time.Minute
	// steadyAfter is how long a channel that cannot say whether answers arrive must
	// have run to be back.
	steadyAfter = 10 * time.Second
)

// supervise runs a channel until ctx ends, again and again where it ends before.
func (b *Broadcaster) supervise(ctx context.Context, c Channel) {
	said := ""
	for wait := b.RunAgain; ; wait = min(2*wait, max(b.RunAgain, maxRunAgain)) {
		watch, stop := context.WithCancel(ctx)
		var watching sync.WaitGroup
		watching.Go(func() {
			if b.awaitBack(watch, c) {
				b.Log.Info("a channel that had ended is back", "channel", c.Name())
			}
		})
		err := b.runChannel(ctx, c)
		stop()
		watching.Wait()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("it ended without an error")
		}
		if b.states.of(c.Name()).Ended == nil {
			wait, said = b.RunAgain, "" // it was back in between
		}
		b.states.ended(c.Name(), err)
		if said != err.Error() {
			b.Log.Error("a channel has ended; it is run again now and then", "channel", c.Name(), "error", err)
			said = err.Error()
		}
		if !sleep(ctx, jittered(wait)) {
			return
		}
	}
}

// awaitBack waits until a channel that had ended runs again, and notes it. It
// reports whether that came to pass while ctx lived.
func (b *Broadcaster) awaitBack(ctx context.Context, c Channel) bool {
	began := time.Now()
	for {
		s := b.stateOf(c)
		if s.Ended == nil {
			return false
		}
		back := time.Since(began) >= steadyAfter
		if s.Receiver { // one that only waits for its lease is not back
			s.Ended = nil
			now := s.Hearing()
			back = now.Elsewhere || now.Here && !s.Good.Before(began)
		}
		if back {
			b.states.ended(c.Name(), nil)
			return true
		}
		if !sleep(ctx, pollEvery) {
			return false
		}
	}
}

// jittered is d give or take a fifth: what failed at once must not come back at once.
func jittered(d time.Duration) time.Duration {
	return d - d/5 + rand.N(max(2*d/5, 1)) //nolint:gosec // nothing to guess
}

// deaf returns why a channel hears no answers now, or nil.
func (b *Broadcaster) deaf(channel string) error {
	if err := b.states.of(channel).Ended; err != nil {
		return fmt.Errorf("%w: %w", errEnded, err)
	}
	return nil
}

// errEnded is in the chain of what is said of a channel that is not back.
var errEnded = errors.New("the channel has ended")

// Solo is an extra ability of a channel whose platform gives every event to
// one receiver only, or to each: it receives under a lease of this name, so
// that of several replicas one does. All of them may post.
type Solo interface {
	LeaseName() string
}

// runChannel runs a channel once, under its lease if it has one.
func (b *Broadcaster) runChannel(ctx context.Context, c Channel) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	run := func(ctx context.Context) error {
		b.states.leads(c.Name(), true)
		defer b.states.leads(c.Name(), false)
		return c.Run(ctx, b.heard)
	}
	solo, ok := c.(Solo)
	if !ok {
		return run(ctx)
	}
	return b.runSolo(ctx, c, solo.LeaseName(), run)
}

// begin lets what is started from now on run until ctx ends.
func (b *Broadcaster) begin(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.work != nil {
		return errors.New("the broadcaster is already running")
	}
	b.work = ctx
	close(b.ready)
	return nil
}

// wait waits for all that was started.
func (b *Broadcaster) wait() { b.busy.Wait() }

// running returns the context of Run, or nil before Run.
func (b *Broadcaster) running() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.work
}

// start runs f as part of Run, which waits for it. After Run's end it does
// nothing: the record says what is left to do.
func (b *Broadcaster) start(f func(ctx context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.work == nil || b.work.Err() != nil {
		return
	}
	ctx := b.work
	b.busy.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				b.Log.Error("panic in the background", "panic", p, "stack", string(debug.Stack()))
			}
		}()
		f(ctx)
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
