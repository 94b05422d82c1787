package broadcaster

import (
	"context"
	"errors"
	"sync"
	"time"

	"approver.example"
)

// This file runs the channels that receive in one process only, or in a few. A process that receives nothing,
// because its way to the platform is cut, gives the lease up: otherwise no process would receive anything.

const (
	// deafFor is how long a process to which no answers come keeps the lease although nobody waits for it, at
	// first, and maxDeafFor at most: to begin anew may help. It then leaves the lease alone for asideFor, in
	// which others ask several times.
	deafFor    = 3 * approver.LeaseTTL
	maxDeafFor = 5 * time.Minute
	asideFor   = approver.LeaseTTL / 2
	// giveWayAfter is how long it keeps the lease if another process waits for it. A connection that the platform
	// renews is back sooner.
	giveWayAfter = 2 * time.Second
	// shyFor is for how long a process that gave way does not ask that of others, at first; maxDeafFor at most.
	shyFor = 30 * time.Second
	// endWithin is how long a run that hears nothing may take to end before others may have the lease.
	endWithin = 200 * time.Millisecond
)

// errDeaf ends a run under the lease because no answers came.
var errDeaf = errors.New("no answers come here")

// A term is one time that a process has the lease.
type term struct {
	patience time.Duration // with a platform that brings nothing, if nobody waits for the lease
	heard    bool          // answers came
	gaveWay  bool          // to a process that waits
}

// runSolo runs a channel under its lease.
func (v *receivers) runSolo(ctx context.Context, c approver.Channel, l *lease) error {
	ctx, stop := context.WithCancel(ctx)
	var telling, running sync.WaitGroup
	telling.Go(func() { v.tellReceiver(ctx, c, l) })
	defer telling.Wait()
	defer running.Wait()
	defer stop()
	for patience, shy := deafFor, shyFor; ; {
		t := term{patience: patience}
		err := l.with(ctx, func(ctx context.Context) error { return v.take(ctx, c, l, &t, &running) })
		running.Wait()
		if !errors.Is(err, errDeaf) {
			return err
		}
		if t.heard {
			patience, shy = deafFor, shyFor
		}
		if t.gaveWay {
			l.shy = time.Now().Add(shy)
			shy = min(2*shy, maxDeafFor)
		} else {
			patience = min(2*patience, maxDeafFor)
		}
		v.Log.Debug("no answers come here, so other processes may receive them", "channel", c.Name())
		if !sleep(ctx, asideFor) {
			return ctx.Err()
		}
	}
}

// take runs a channel for one term. It returns errDeaf soon after no answers have come for too long; what is
// left of the run then ends by itself: it receives nothing.
func (v *receivers) take(
	ctx context.Context, c approver.Channel, l *lease, t *term, running *sync.WaitGroup,
) error {
	ctx, end := context.WithCancel(ctx)
	done, deaf := make(chan error, 1), make(chan struct{})
	var watching sync.WaitGroup
	defer watching.Wait()
	defer end()
	v.channels.states.leads(c.Name(), true)
	defer v.channels.states.leads(c.Name(), false)
	running.Go(func() {
		done <- survived(func() error { return c.Run(ctx, v.answers.fromChannel) })
	})
	watching.Go(func() {
		if v.untilDeaf(ctx, c, l, t); ctx.Err() == nil {
			close(deaf)
		}
	})
	select {
	case err := <-done:
		return err
	case <-deaf:
	}
	v.channels.states.deaf(c.Name(), c.(approver.Receiver).Reception())
	end()
	select {
	case err := <-done:
		v.Log.Debug("a run in which no answers came has ended", "channel", c.Name(), "error", err)
	case <-time.After(endWithin):
	}
	return errDeaf
}

// untilDeaf waits until no answers have come for too long, or ctx ends. A channel that cannot say counts as
// receiving. One that has just begun gets some time for its first try.
func (v *receivers) untilDeaf(ctx context.Context, c approver.Channel, l *lease, t *term) {
	r, says := c.(approver.Receiver)
	began := time.Now()
	for last := began; ; {
		now := approver.Reception{Up: true}
		if says {
			now = r.Reception()
		}
		silent := time.Since(last)
		switch failed := t.heard || now.Bad.After(began); {
		case now.Up:
			t.heard, last = true, time.Now()
			if says {
				v.channels.states.deaf(c.Name(), approver.Reception{})
			}
		case failed && silent >= giveWayAfter && l.awaited(ctx):
			t.gaveWay = true
			return
		case silent >= t.patience:
			return
		}
		if !sleep(ctx, approver.LeaseTTL/4) {
			return
		}
	}
}
