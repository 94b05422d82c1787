package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The load of a soak, what a few dozen agents do. A daemon takes 1,000 questions of one user a minute, so that it is
// far from every bound.
const (
	verdictsPerS  = 50
	approvalsPerS = 2
)

// How long a soak may be.
const (
	MinSoak = 3 * time.Second
	MaxSoak = 24 * time.Hour
)

// soak puts a modest load on a daemon of each store for a long time, one store after the other.
func (b *bench) soak(ctx context.Context) error {
	r := &SoakReport{CPUs: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(),
		ForS: b.Soak.Seconds()}
	for _, name := range b.Stores {
		f, err := b.soakStore(ctx, name)
		if err != nil {
			return fmt.Errorf("store %s: %w", name, err)
		}
		r.Soaks = append(r.Soaks, f)
	}
	return errors.Join(b.report(r), r.failure())
}

func (b *bench) soakStore(ctx context.Context, name string) (f SoakFigures, err error) {
	f = SoakFigures{Store: name}
	mark := len(b.ends)
	store, server, err := b.freshStore(ctx, name)
	if err != nil {
		return f, err
	}
	d, _, err := b.startDaemon(ctx, "soak-"+name, store)
	if err != nil {
		return f, err
	}
	v := b.drive(ctx, d, new(atomic.Int64))
	for range 20 { // what the daemon needs only once is no growth
		if _, err := v.cycle(ctx, look); err != nil {
			return f, err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start := time.Now()
	verdicts := &stream{start: start, every: time.Second / verdictsPerS, until: start.Add(b.Soak)}
	approvals := &stream{start: start, every: time.Second / approvalsPerS, until: start.Add(b.Soak)}
	var all sync.WaitGroup
	body := payload("ls -l", 0)
	for range 16 { // they wait most of the time; one that is slow holds up none
		a := newAgent(d, body)
		all.Go(func() { verdicts.run(ctx, a.ask) })
		all.Go(func() {
			approvals.run(ctx, func() error {
				_, err := v.cycle(ctx, look)
				return err
			})
		})
	}
	s := sampler{d: d, server: server, done: func() int64 { return verdicts.done.Load() + approvals.done.Load() }}
	work, err := d.work(ctx)
	if err == nil {
		f.Samples, err = b.watch(ctx, &s, start)
	}
	if err != nil {
		cancel(err) // a daemon that is gone would fail every call for the rest of the hour
	}
	all.Wait()
	if err != nil {
		return f, err
	}
	after, err := d.work(ctx)
	if err != nil {
		return f, err
	}
	f.CPUPercent = (after.CPUMS - work.CPUMS) / 10 / time.Since(start).Seconds()
	f.Verdicts, f.Approvals = verdicts.laps(), approvals.laps()
	f.Growth = growthOf(f.Samples)
	if f.Verdicts.Failed+f.Approvals.Failed > 0 {
		f.Errors = d.loggedErrors()
		b.say("the daemon logged:\n%s", strings.Join(f.Errors, ""))
	}
	return f, b.end(mark)
}

// watch takes samples until the soak is over: once a minute, or 60 of a shorter one.
func (b *bench) watch(ctx context.Context, s *sampler, start time.Time) (samples []Sample, err error) {
	every := max(min(time.Minute, b.Soak/60), 100*time.Millisecond)
	for n := time.Duration(0); n*every <= b.Soak; n++ {
		if err := pause(ctx, time.Until(start.Add(n*every))); err != nil {
			return nil, err
		}
		one, err := s.take(ctx)
		if err != nil {
			return nil, err
		}
		one.AtS = time.Since(start).Seconds()
		samples = append(samples, one)
		b.say("%v of %v: %s", n*every, b.Soak, one)
	}
	return samples, nil
}

// A stream is calls that are due at even distances. The time of a call counts from when it was due, so that one that
// the daemon holds up is seen in those behind it too.
type stream struct {
	start, until time.Time
	every        time.Duration
	next, done   atomic.Int64

	mu     sync.Mutex
	took   []time.Duration
	failed int
	first  error
}

// run makes calls until the stream is over. Several run beside each other.
func (s *stream) run(ctx context.Context, call func() error) {
	for {
		due := s.start.Add(time.Duration(s.next.Add(1)-1) * s.every)
		if !due.Before(s.until) || pause(ctx, time.Until(due)) != nil {
			return
		}
		err := call()
		if ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		s.took = append(s.took, time.Since(due))
		if err != nil {
			s.failed++
			if s.first == nil {
				s.first = err
			}
		}
		s.mu.Unlock()
		s.done.Add(1)
	}
}

// laps are the figures of a stream that is over.
func (s *stream) laps() SoakLaps {
	f := SoakLaps{Calls: len(s.took), Failed: s.failed, PerS: float64(len(s.took)) / s.until.Sub(s.start).Seconds(),
		P50MS: milliseconds(quantile(s.took, 0.5)), P99MS: milliseconds(quantile(s.took, 0.99))}
	if s.first != nil {
		f.FirstError = s.first.Error()
	}
	if len(s.took) > 0 {
		f.MaxMS = milliseconds(slices.Max(s.took))
	}
	return f
}
