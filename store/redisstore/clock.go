package redisstore

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// clockFor is how long a reading of the server's clock is carried on by this machine's clock.
// Every step of a request needs the time, and a round trip costs more than such a reading is
// worth. Deadlines do not depend on it: the script that writes looks at the server's clock.
const clockFor = 50 * time.Millisecond

// clockLag is how late a reading may be that is carried on.
const clockLag = 5 * time.Millisecond

// A clock is the store's clock as this process knows it. It does not run ahead of the server's,
// because a reading was on its way here before it was carried on.
type clock struct {
	last  atomic.Int64 // the latest time that was given out, in µs
	heard atomic.Pointer[reading]
}

// A reading is what the server's clock said, in µs, and when that arrived.
type reading struct {
	micros int64
	at     time.Time
}

// young reports that the last reading can be carried on.
func (c *clock) young() bool { return c.heard.Load().young(time.Now()) }

// young needs both of this machine's clocks: one of them stands still while the machine sleeps, and
// people may set the other.
func (r *reading) young(now time.Time) bool {
	if r == nil {
		return false
	}
	passed, wall := now.Sub(r.at), now.Round(0).Sub(r.at.Round(0))
	return passed <= clockFor && wall >= 0 && wall <= clockFor
}

// note takes a reading of the server's clock, and returns the time.
// One that was long on its way is not carried on.
func (c *clock) note(micros int64, asked time.Time) time.Time {
	heard := &reading{micros, time.Now()}
	for heard.at.Sub(asked) <= clockLag {
		was := c.heard.Load()
		if was != nil && was.micros >= micros { // replies may overtake each other on the way here
			break
		}
		if c.heard.CompareAndSwap(was, heard) {
			break
		}
	}
	return c.give(micros)
}

// now carries the last reading on. It returns false if that is too old.
func (c *clock) now() (time.Time, bool) {
	heard, now := c.heard.Load(), time.Now()
	if !heard.young(now) {
		return time.Time{}, false
	}
	return c.give(heard.micros + now.Sub(heard.at).Microseconds()), true
}

// give returns the time, which never goes back.
func (c *clock) give(micros int64) time.Time {
	for {
		last := c.last.Load()
		if micros <= last {
			return time.UnixMicro(last).UTC()
		}
		if c.last.CompareAndSwap(last, micros) {
			return time.UnixMicro(micros).UTC()
		}
	}
}

// Now implements approver.KV, in microseconds. The package comment says which
// clock it is.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	ctx, cancel, err := s.begin(ctx, nil)
	if err != nil {
		return time.Time{}, err
	}
	defer cancel()
	now, err := s.now(ctx)
	if err != nil {
		return time.Time{}, s.failed("now", err)
	}
	return now, nil
}

func (s *Store) now(ctx context.Context) (time.Time, error) {
	return s.readingOr(ctx, nil, time.Time{})
}

// askClock sends the clock's script along with other commands.
func (s *Store) askClock(ctx context.Context, pipe redis.Pipeliner) *redis.Cmd {
	return pipe.EvalSha(ctx, s.scripts.now.Hash(), []string{clockKey}, s.clock.last.Load())
}

// readingOr returns the time that the clock's script said, or without one the time now.
func (s *Store) readingOr(ctx context.Context, asked *redis.Cmd, at time.Time) (time.Time, error) {
	if asked == nil {
		if now, ok := s.clock.now(); ok {
			return now, nil
		}
	}
	if asked == nil || redis.HasErrorPrefix(asked.Err(), "NOSCRIPT") { // Run sends the script along
		at = time.Now()
		asked = s.scripts.now.Run(ctx, s.rdb, []string{clockKey}, s.clock.last.Load())
	}
	micros, err := asked.Int64()
	if err != nil {
		return time.Time{}, err
	}
	return s.clock.note(micros, at), nil
}
