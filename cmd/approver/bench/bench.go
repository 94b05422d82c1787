// Package bench measures approver as it is installed: the hook as a process, the policy, and whole
// approvals through a real daemon, on both stores, with every step durable.
//
// # The channel
//
// People answer through the terminal channel over the resolve socket, because both ends of it are
// approver. With a chat app, its library and a fake server would be measured too, and a fake on
// loopback is faster than any real chat. One connection watches, as `approver watch` does. Each
// answer is one POST on a persistent connection.
//
// # Pending requests
//
// Of N pending requests, up to [maxHeld] are held: a courier's connection waits for each. The
// others are parked: they are only in the store, as after a restart of the daemon if the couriers
// have not come back. The daemon admits [httpapi.DefaultHeldEach] waiting couriers of one user,
// and 1,000 questions of one user a minute. A run with more waits for the next minute.
//
// # Soaks
//
// A soak is a modest load for a long time, to see what grows: soak.go has the load, sample.go what
// is read of the daemon meanwhile, growth.go by which rule something is flat.
//
// # Comparisons
//
// The speed of a shared machine changes from second to second. So measurements that are compared
// alternate: the three programs of the hook, and in each round every number of pending requests and
// bare Redis. The ratios are more reliable than the absolute figures.
package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"approver.example/httpapi"
)

// The stores.
const (
	Embedded = "embedded"
	Redis    = "redis"
)

// Options say what is measured. Every measurement is limited in count and time.
type Options struct {
	Stores  []string // Embedded, Redis or both
	Short   bool     // for CI: the same figures from fewer runs, within 20 s
	JSON    bool
	Soak    time.Duration // if not zero, the daemon is only soaked, for so long on each store
	Out     io.Writer
	Say     io.Writer // for progress messages; nil: none
	Program string    // the approver program, run as daemon
}

// A size says how much is measured.
type size struct {
	hookRuns, judgeRuns, starts   int
	rounds, sequential            int
	parallel, bareFor             time.Duration // of each round, at most
	maxCycles                     int           // of the parallel workers in each round
	budget                        time.Duration // no new round begins after this time
	workers, bareWorkers, maxHeld int
	pending                       []int
}

const (
	workers = 64
	// maxHeld is the greatest number of waiting couriers. It leaves room for those of the workers.
	maxHeld = httpapi.DefaultHeldEach - workers
)

func (o Options) size() size {
	s := size{
		hookRuns: 200, judgeRuns: 3000, starts: 15, rounds: 6, sequential: 50,
		parallel: 2 * time.Second, bareFor: 500 * time.Millisecond, maxCycles: 250,
		budget:  6 * time.Minute,
		workers: workers, bareWorkers: workers, maxHeld: maxHeld, pending: []int{1, 100, 10_000},
	}
	if o.Short {
		s.hookRuns, s.judgeRuns, s.starts, s.rounds, s.sequential = 30, 200, 3, 2, 10
		s.parallel, s.bareFor, s.budget, s.maxHeld = 200*time.Millisecond, 100*time.Millisecond, 8*time.Second, 100
	}
	return s
}

// hardLimit is the time after which a run is ended.
const hardLimit = 10 * time.Minute

// A bench is one run.
type bench struct {
	Options
	size
	began time.Time
	dir   string
	ends  []func() error // functions that end what was started, in the order of the starts
}

// Run measures, prints the report, and ends everything that it started. Slowness is not an error,
// but a step with a wrong result is, and so is a run that takes ten minutes more than its soaks.
func Run(ctx context.Context, o Options) (err error) {
	limit := hardLimit + o.Soak*time.Duration(len(o.Stores))
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the benchmark did not end within %v", limit))
	defer cancel()
	b := &bench{Options: o, size: o.size(), began: time.Now()}
	if b.dir, err = os.MkdirTemp("", "approver-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.end(0), os.RemoveAll(b.dir)) }()
	run := b.measure
	if o.Soak > 0 {
		run = b.soak
	}
	if err = run(ctx); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// report prints what was measured.
func (b *bench) report(r interface{ print(out io.Writer) error }) error {
	if b.JSON {
		return json.NewEncoder(b.Out).Encode(r)
	}
	return r.print(b.Out)
}

// end ends what was started after mark, the newest first.
func (b *bench) end(mark int) error {
	var errs []error
	for _, end := range slices.Backward(b.ends[mark:]) {
		errs = append(errs, end())
	}
	b.ends = b.ends[:mark]
	return errors.Join(errs...)
}

func (b *bench) onEnd(f func() error) { b.ends = append(b.ends, f) }

func (b *bench) say(format string, args ...any) {
	if b.Say != nil {
		fmt.Fprintf(b.Say, format+"\n", args...)
	}
}

func (b *bench) measure(ctx context.Context) error {
	r := &Report{
		Short: b.Short, CPUs: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(),
		Channel: "terminal over the resolve socket",
	}
	var err error
	b.say("judge: the default policy")
	if r.Judge, err = b.judge(ctx); err != nil {
		return fmt.Errorf("judge: %w", err)
	}
	if r.Fingerprint, err = b.fingerprints(ctx); err != nil {
		return fmt.Errorf("fingerprint: %w", err)
	}
	b.say("daemon: start and idle memory")
	if r.Daemon, err = b.daemonFigures(ctx); err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	b.say("hook: %d runs of each program", b.hookRuns)
	if r.Hook, err = b.hook(ctx); err != nil {
		return fmt.Errorf("hook: %w", err)
	}
	for _, name := range b.Stores {
		b.say("approvals on the store %s", name)
		s, err := b.store(ctx, name)
		if err != nil {
			return fmt.Errorf("store %s: %w", name, err)
		}
		r.Stores = append(r.Stores, s)
	}
	r.TookS = time.Since(b.began).Seconds()
	return b.report(r)
}
