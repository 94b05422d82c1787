package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"log/slog"

	"approver.example"
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
	if err := b.tasks.begin(ctx); err != nil {
		return err
	}
	var all sync.WaitGroup
	all.Go(func() { b.sweeper.sweep(ctx) })
	all.Go(func() { b.Controls.guard(ctx) })
	b.tasks.start(b.releases.regrant)
	for _, c := range b.Options.Channels {
		all.Go(func() { b.receivers.supervise(ctx, c) })
		if screen, is := c.(approver.Presence); is {
			all.Go(func() { b.poster.watchScreens(ctx, screen) })
		}
	}
	<-ctx.Done()
	all.Wait()
	b.tasks.wait()
	var errs []error
	for _, c := range b.Options.Channels {
		if err := b.Channels.states.of(c.Name()).Ended; err != nil {
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

// receivers runs the channels of this process.
type receivers struct {
	answers      *Answers
	approvers    *Approvers
	channels     *Channels
	destinations []approver.Destination
	log          *slog.Logger
	mark         *ControlMark
	runAgain     time.Duration
	store        approver.KV
}

// supervise runs a channel until ctx ends, again and again where it ends before.
func (v *receivers) supervise(ctx context.Context, c approver.Channel) {
	said := ""
	for wait := v.runAgain; ; wait = min(2*wait, max(v.runAgain, maxRunAgain)) {
		watch, stop := context.WithCancel(ctx)
		var watching sync.WaitGroup
		watching.Go(func() {
			if v.awaitBack(watch, c) {
				v.log.Info("a channel that had ended is back", "channel", c.Name())
			}
		})
		err := v.runChannel(ctx, c)
		stop()
		watching.Wait()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("it ended without an error")
		}
		if v.channels.states.of(c.Name()).Ended == nil {
			wait, said = v.runAgain, "" // it was back in between
		}
		v.channels.states.ended(c.Name(), err)
		if said != err.Error() {
			v.log.Error("a channel has ended; it is run again now and then", "channel", c.Name(), "error", err)
			said = err.Error()
		}
		if !sleep(ctx, jittered(wait)) {
			return
		}
	}
}

// awaitBack waits until a channel that had ended runs again, and notes it. It
// reports whether that came to pass while ctx lived.
func (v *receivers) awaitBack(ctx context.Context, c approver.Channel) bool {
	began := time.Now()
	for {
		s := v.channels.stateOf(c)
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
			v.channels.states.ended(c.Name(), nil)
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

// Deaf returns why a channel receives no answers any more, or nil.
func (h *Channels) Deaf(channel string) error {
	if err := h.states.of(channel).Ended; err != nil {
		return fmt.Errorf("%w: %w", errEnded, err)
	}
	return nil
}

// errEnded is in the chain of what is said of a channel that is not back.
var errEnded = errors.New("the channel has ended")

// runChannel runs a channel once, under its lease if it has one.
func (v *receivers) runChannel(ctx context.Context, c approver.Channel) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	run := func(ctx context.Context) error {
		v.channels.states.leads(c.Name(), true)
		defer v.channels.states.leads(c.Name(), false)
		return c.Run(ctx, v.answers.heard)
	}
	solo, ok := c.(approver.Solo)
	if !ok {
		return run(ctx)
	}
	return v.runSolo(ctx, c, solo.LeaseName(), run)
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
