package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"approver.example/shieldcore/quota"
	"approver.example/store/storetest/redistest"
)

// A level is one daemon with a number of pending requests.
type level struct {
	LevelFigures
	d    *daemon
	v    *driver
	laps []lap
	many rate // of all workers

	alone, busy bill
}

// A rate is how many cycles were done in how much time.
type rate struct {
	n    int
	took time.Duration
}

func (r *rate) add(n int, took time.Duration) { r.n, r.took = r.n+n, r.took+took }

func (r *rate) perSecond() float64 { return over(float64(r.n), r.took.Seconds()) }

// calmAfter is how long the daemons are left alone before they are measured.
const calmAfter = 2 * time.Second

// store measures approvals on one store. Every level has its own daemon and store. They all run at
// the same time, and are measured in turn.
func (b *bench) store(ctx context.Context, name string) (StoreFigures, error) {
	f := StoreFigures{Store: name}
	mark := len(b.ends)
	bare, err := b.bare(ctx, name)
	if err != nil {
		return f, err
	}
	var levels []*level
	var serial atomic.Int64
	for _, pending := range b.pending {
		l, err := b.level(ctx, name, pending, &serial)
		if err != nil {
			return f, fmt.Errorf("%d pending: %w", pending, err)
		}
		levels = append(levels, l)
	}
	// The daemons still write what their start and the held requests left behind.
	if err := pause(ctx, calmAfter); err != nil {
		return f, err
	}
	began := time.Now()
	for range b.rounds {
		for _, l := range levels {
			if err := b.round(ctx, l); err != nil {
				return f, fmt.Errorf("%d pending: %w", l.Pending, err)
			}
		}
		if err := bare.round(ctx, b); err != nil {
			return f, fmt.Errorf("the bare engine: %w", err)
		}
		if time.Since(began) > b.budget/time.Duration(len(b.Stores)) {
			break
		}
	}
	if f.Verdicts, err = b.verdicts(ctx, levels[0].d); err != nil {
		return f, fmt.Errorf("verdicts: %w", err)
	}
	if f.Grouped, err = b.grouped(ctx, name); err != nil {
		return f, fmt.Errorf("verdicts in groups: %w", err)
	}
	for _, l := range levels {
		f.Levels = append(f.Levels, l.figures())
	}
	f.BareEnginePerS, f.BareRedisPerS = bare.engine.perSecond(), bare.redis.perSecond()
	f.OverBareEngine = over(f.Levels[0].CyclesPerS, f.BareEnginePerS)
	f.OverBareRedis = over(f.Levels[0].CyclesPerS, f.BareRedisPerS)
	f.ManyOverHundred = over(f.Levels[len(f.Levels)-1].CyclesPerS, f.Levels[1].CyclesPerS)
	return f, b.end(mark)
}

// redisServer starts a private redis-server that syncs every write to disk before it acknowledges
// it.
func (b *bench) redisServer(ctx context.Context) (*redistest.Server, error) {
	s, err := redistest.Start(ctx, redistest.Options{Config: []string{"appendfsync always"}})
	if err != nil {
		return nil, err
	}
	b.onEnd(s.Close)
	return s, nil
}

// freshStore returns the store's part of a configuration, and the server of one on Redis.
func (b *bench) freshStore(ctx context.Context, name string) (store string, server *redistest.Server, err error) {
	if name != Redis {
		return embeddedStore, nil, nil
	}
	if server, err = b.redisServer(ctx); err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("  redis: {addrs: [%q], hub_key_file: hub.key}\n", server.Addr), server, nil
}

// grouped measures verdicts of a daemon that records them in groups.
func (b *bench) grouped(ctx context.Context, name string) (f VerdictFigures, err error) {
	store, _, err := b.freshStore(ctx, name)
	if err != nil {
		return f, err
	}
	d, _, err := b.startDaemon(ctx, name[:1]+"-grouped", store+groupedAudit)
	if err != nil {
		return f, err
	}
	return b.verdicts(ctx, d)
}

// level starts a daemon with its pending requests.
func (b *bench) level(ctx context.Context, name string, pending int, serial *atomic.Int64) (*level, error) {
	l := &level{LevelFigures: LevelFigures{Pending: pending, Workers: b.workers}}
	if pending > 1 { // otherwise the measured request is the only one
		l.Held = min(pending, b.maxHeld)
		l.Parked = pending - l.Held
	}
	store, server, err := b.freshStore(ctx, name)
	if err != nil {
		return nil, err
	}
	size := func() (float64, error) { return fileSize(filepath.Join(l.d.Dir, "data", "approver.db")) }
	if server != nil {
		size = func() (float64, error) { return usedMemory(ctx, server.Admin()) }
	}
	if l.d, err = b.prepare(fmt.Sprintf("%s-%d", name[:1], pending), store); err != nil {
		return nil, err
	}
	if l.Parked > 0 {
		if l.StoredBytes, err = b.park(ctx, l.d, l.Parked, size); err != nil {
			return nil, err
		}
	}
	ready, err := b.run(ctx, l.d)
	if err != nil {
		return nil, err
	}
	l.ReadyMS = milliseconds(ready)
	l.v = b.drive(ctx, l.d, serial)
	return l, b.fill(ctx, l)
}

// fill makes the held requests, and measures the memory of each.
func (b *bench) fill(ctx context.Context, l *level) error {
	for range 20 { // memory that the daemon needs only once does not count
		if _, err := l.v.cycle(ctx, 0); err != nil {
			return err
		}
	}
	if l.Held == 0 {
		return nil
	}
	before, err := memoryOf(ctx, l.d.PID())
	if err != nil {
		return err
	}
	if err := l.v.hold(ctx, b, l.Held); err != nil {
		return err
	}
	after, err := memoryOf(ctx, l.d.PID())
	l.HeldKiB = (after.rss - before.rss) / float64(l.Held)
	return err
}

func fileSize(path string) (float64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()), nil
}

// look is how long a person looks at the card in cycles that are timed. No real person answers
// before the daemon has recorded where the card is. The parallel workers, whose cycles are only
// counted, do not look.
const look = 5 * time.Millisecond

// round measures approvals one after another, and then by parallel workers.
func (b *bench) round(ctx context.Context, l *level) error {
	if err := b.waitForRoom(ctx, l, b.sequential+b.maxCycles); err != nil {
		return err
	}
	err := l.alone.charge(ctx, l.d, func() (int, error) {
		for range b.sequential {
			took, err := l.v.cycle(ctx, look)
			if err != nil {
				return 0, err
			}
			l.laps = append(l.laps, took)
		}
		return b.sequential, nil
	})
	if err != nil {
		return err
	}
	return l.busy.charge(ctx, l.d, func() (int, error) {
		n, took, err := during(b.parallel, b.maxCycles, b.workers, func() error {
			_, err := l.v.cycle(ctx, 0)
			return err
		})
		l.many.add(n, took)
		return n, err
	})
}

// waitForRoom waits until the daemon takes n more questions within the minute.
func (b *bench) waitForRoom(ctx context.Context, l *level, n int) error {
	const window = time.Minute + 2*time.Second // the daemon counts by another clock
	wait := time.Until(l.v.nthLast(quota.MaxAsks + 1 - n).Add(window))
	if wait <= 0 {
		return nil
	}
	b.say("%d pending: %v until the daemon takes %d more questions (%d a minute)", l.Pending,
		wait.Round(time.Second), n, quota.MaxAsks)
	return pause(ctx, wait)
}

// during runs f repeatedly in parallel workers until limit, or until it has begun most times. It
// returns the number of calls and the time that they took.
func during(limit time.Duration, most, workers int, f func() error) (n int, took time.Duration, err error) {
	var begun, count atomic.Int64
	start := time.Now()
	err = inParallel(workers, func(int) error {
		for time.Since(start) < limit && begun.Add(1) <= int64(most) {
			if err := f(); err != nil {
				return err
			}
			count.Add(1)
		}
		return nil
	})
	return int(count.Load()), time.Since(start), err
}

func (l *level) figures() LevelFigures {
	var card, release, whole []time.Duration
	for _, lap := range l.laps {
		card, release, whole = append(card, lap.toCard), append(release, lap.toRelease), append(whole, lap.whole)
	}
	f := l.LevelFigures
	f.Cycles = len(l.laps) + l.many.n
	f.RequestToCard, f.ReplyToRelease, f.Whole = spanOf(card), spanOf(release), spanOf(whole)
	f.CyclesPerS = l.many.perSecond()
	f.Alone, f.Busy = l.alone.cost(), l.busy.cost()
	return f
}

// HaveRedis reports whether the program redis-server is in PATH.
func HaveRedis() bool {
	_, err := exec.LookPath("redis-server")
	return err == nil
}
