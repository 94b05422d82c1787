package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"approver.example/shieldcore/quota"
	"approver.example/store/storetest/redistest"
)

// A level is one daemon with a number of pending requests.
type level struct {
	LevelFigures
	d    *daemon
	v    *driver
	laps []lap
	done int           // cycles of all workers
	took time.Duration // time for them
}

// store measures approvals on one store. Every level has its own daemon and store. They all run at
// the same time, and are measured in turn.
func (b *bench) store(ctx context.Context, name string) (StoreFigures, error) {
	f := StoreFigures{Store: name}
	mark := len(b.ends)
	bare, err := b.redisServer(ctx)
	switch {
	case errors.Is(err, redistest.ErrMissing) && name == Embedded:
		b.say("there is no redis-server, so there is no bare Redis beside it")
	case err != nil:
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
	var cycles int
	var took time.Duration
	began := time.Now()
	for round := range b.rounds {
		for _, l := range levels {
			if err := b.round(ctx, l); err != nil {
				return f, fmt.Errorf("%d pending: %w", l.Pending, err)
			}
		}
		if bare != nil {
			n, t, err := b.bareRedis(ctx, bare.Addr, round)
			if err != nil {
				return f, fmt.Errorf("bare Redis: %w", err)
			}
			cycles, took = cycles+n, took+t
		}
		if time.Since(began) > b.budget/time.Duration(len(b.Stores)) {
			break
		}
	}
	for _, l := range levels {
		f.Levels = append(f.Levels, l.figures())
	}
	if took > 0 {
		f.BareRedisPerS = float64(cycles) / took.Seconds()
	}
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

// level starts a daemon with its pending requests.
func (b *bench) level(ctx context.Context, name string, pending int, serial *atomic.Int64) (*level, error) {
	l := &level{LevelFigures: LevelFigures{Pending: pending, Workers: b.workers}}
	if pending > 1 { // otherwise the measured request is the only one
		l.Held = min(pending, b.maxHeld)
		l.Parked = pending - l.Held
	}
	store := embeddedStore
	size := func() (float64, error) { return fileSize(filepath.Join(l.d.Dir, "data", "approver.db")) }
	if name == Redis {
		server, err := b.redisServer(ctx)
		if err != nil {
			return nil, err
		}
		store = fmt.Sprintf("  redis: {addrs: [%q], hub_key_file: hub.key}\n", server.Addr)
		size = func() (float64, error) { return usedMemory(ctx, server.Admin()) }
	}
	var err error
	if l.d, err = b.prepare(fmt.Sprintf("%s-%d", name[:1], pending), store); err != nil {
		return nil, err
	}
	if l.Parked > 0 {
		if l.StoredBytes, err = b.park(ctx, l.d, l.Parked, size); err != nil {
			return nil, err
		}
	}
	if _, err := b.run(ctx, l.d); err != nil {
		return nil, err
	}
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

func usedMemory(ctx context.Context, rdb *redis.Client) (float64, error) {
	info, err := rdb.Info(ctx, "memory").Result()
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(info, "used_memory:")
	number, _, _ := strings.Cut(rest, "\r\n")
	return strconv.ParseFloat(number, 64)
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
	for range b.sequential {
		took, err := l.v.cycle(ctx, look)
		if err != nil {
			return err
		}
		l.laps = append(l.laps, took)
	}
	n, took, err := during(b.parallel, b.maxCycles, b.workers, func() error {
		_, err := l.v.cycle(ctx, 0)
		return err
	})
	l.done, l.took = l.done+n, l.took+took
	return err
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
	f.Cycles = len(l.laps) + l.done
	f.RequestToCard, f.ReplyToRelease, f.Whole = spanOf(card), spanOf(release), spanOf(whole)
	f.CyclesPerS = float64(l.done) / l.took.Seconds()
	return f
}

// bareCAS is only a compare-and-set with a message that would wake waiting clients.
var bareCAS = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('PUBLISH', 'bare', KEYS[1])
return 1`)

// bareRedis measures the store alone: each cycle creates a record and changes it by
// compare-and-set.
func (b *bench) bareRedis(ctx context.Context, addr string, round int) (n int, took time.Duration, err error) {
	rdb := redis.NewClient(&redis.Options{Addr: addr, PoolSize: b.bareWorkers, Protocol: 2, DisableIdentity: true})
	defer rdb.Close()
	if err := bareCAS.Load(ctx, rdb).Err(); err != nil {
		return 0, 0, err
	}
	before, after := strings.Repeat("a", 700), strings.Repeat("b", 700) // about the size of a request's record
	var serial atomic.Int64
	return during(b.bare, math.MaxInt, b.bareWorkers, func() error {
		key := fmt.Sprintf("bare:%d:%d", round, serial.Add(1))
		if err := rdb.SetNX(ctx, key, before, time.Hour).Err(); err != nil {
			return err
		}
		won, err := bareCAS.Run(ctx, rdb, []string{key}, before, after).Int()
		if err == nil && won != 1 {
			err = errors.New("a compare-and-set without a rival lost")
		}
		return err
	})
}

// HaveRedis reports whether the program redis-server is in PATH.
func HaveRedis() bool {
	_, err := exec.LookPath("redis-server")
	return err == nil
}
