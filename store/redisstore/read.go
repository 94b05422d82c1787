package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"approver.example"
	"approver.example/store/internal/arg"
)

// This file reads: records, what is due, and the clock.

// Get implements approver.KV.
func (s *Store) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	ctx, cancel, err := s.begin(ctx, arg.Key(key))
	if err != nil {
		return nil, "", err
	}
	defer cancel()
	return s.record(key, s.get(ctx, key))
}

// get reads a record, unless it was read ahead.
func (s *Store) get(ctx context.Context, key string) *redis.StringCmd {
	if got := s.taken(ctx, key); got != nil {
		return got
	}
	return s.rdb.Get(ctx, key)
}

// record reads the record that a GET returned.
func (s *Store) record(key string, got *redis.StringCmd) ([]byte, approver.Rev, error) {
	b, err := got.Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, "", approver.ErrNotFound
	case err != nil:
		return nil, "", s.failed("get "+key, err)
	}
	return s.seal.open(key, b)
}

// GetNow implements approver.ClockReader: one round trip, except in a Cluster,
// where the record and the clock may be on different servers.
func (s *Store) GetNow(ctx context.Context, key string) ([]byte, approver.Rev, time.Time, error) {
	ctx, cancel, err := s.begin(ctx, arg.Key(key))
	if err != nil {
		return nil, "", time.Time{}, err
	}
	defer cancel()
	began := time.Now()
	got, asked := s.taken(ctx, key), (*redis.Cmd)(nil)
	if got == nil {
		got, asked = s.getWithClock(ctx, key)
	}
	value, rev, err := s.record(key, got)
	if err != nil && !errors.Is(err, approver.ErrNotFound) {
		return nil, "", time.Time{}, err
	}
	now, clockErr := s.readingOr(ctx, asked, began)
	if clockErr != nil {
		return nil, "", time.Time{}, s.failed("now", clockErr)
	}
	return value, rev, now, err
}

// getWithClock reads a record, and with it the clock if that was not read a moment ago. asked
// is nil if it was, or is on another server.
func (s *Store) getWithClock(ctx context.Context, key string) (got *redis.StringCmd, asked *redis.Cmd) {
	if _, single := s.rdb.(*redis.Client); !single || s.clock.young() {
		return s.rdb.Get(ctx, key), nil
	}
	pipe := s.rdb.Pipeline()
	got, asked = pipe.Get(ctx, key), s.askClock(ctx, pipe)
	_, _ = pipe.Exec(ctx) // each command keeps its own error
	return got, asked
}

// Discard implements approver.Discarder.
func (s *Store) Discard(ctx context.Context, key string) error {
	ctx, cancel, err := s.begin(ctx, arg.Key(key))
	if err != nil {
		return err
	}
	defer cancel()
	got := s.rdb.Get(ctx, key)
	if _, _, err = s.record(key, got); !errors.Is(err, approver.ErrTampered) {
		if err == nil || errors.Is(err, approver.ErrNotFound) {
			return approver.ErrConflict
		}
		return err
	}
	gone, err := s.write(ctx, s.scripts.discard, []string{key}, got.Val())
	switch {
	case err != nil:
		return s.failed("discard "+key, err)
	case gone == 0:
		return approver.ErrConflict
	}
	return nil
}

// Due implements approver.KV. It returns at most 1,000 keys.
func (s *Store) Due(ctx context.Context, shard, limit int) ([]string, error) {
	return s.scheduled(ctx, shard, limit, false)
}

// DueAll implements approver.Sweeper: two round trips for all shards, at most
// 1,000 keys of each. In a Cluster it is not supported.
func (s *Store) DueAll(ctx context.Context, limit int) ([]string, error) {
	if _, single := s.rdb.(*redis.Client); !single {
		return nil, errors.ErrUnsupported
	}
	limit, err := arg.Due(0, limit)
	ctx, cancel, err := s.begin(ctx, err)
	if err != nil {
		return nil, err
	}
	defer cancel()
	now, err := s.now(ctx)
	if err != nil {
		return nil, s.failed("due", err)
	}
	found := make([]*redis.Cmd, approver.Shards)
	pipe := s.rdb.Pipeline()
	for shard := range found {
		found[shard] = pipe.EvalSha(ctx, s.scripts.due.Hash(), []string{dueKey(shard)}, now.UnixMilli(), limit)
	}
	_, _ = pipe.Exec(ctx) // each command keeps its own error
	var keys []string
	for shard, cmd := range found {
		if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") { // Run sends the script along
			cmd = s.scripts.due.Run(ctx, s.rdb, []string{dueKey(shard)}, now.UnixMilli(), limit)
		}
		due, failed := cmd.StringSlice()
		if failed != nil {
			err = s.failed("due", failed) // what the other shards returned is still used
		}
		keys = append(keys, due...)
	}
	return keys, err
}

// dueKey is the key of a shard's due set.
func dueKey(shard int) string { return fmt.Sprintf("ap:{%02d}:due", shard) }

// Scheduled implements approver.Lister.
func (s *Store) Scheduled(ctx context.Context, shard, limit int) ([]string, error) {
	return s.scheduled(ctx, shard, limit, true)
}

// scheduled lists a shard's records by due time, up to now or all of them.
func (s *Store) scheduled(ctx context.Context, shard, limit int, later bool) ([]string, error) {
	limit, err := arg.Due(shard, limit)
	ctx, cancel, err := s.begin(ctx, err)
	if err != nil {
		return nil, err
	}
	defer cancel()
	var until any = "+inf"
	if !later {
		now, err := s.now(ctx)
		if err != nil {
			return nil, s.failed("due", err)
		}
		until = now.UnixMilli()
	}
	keys, err := s.scripts.due.Run(ctx, s.rdb, []string{dueKey(shard)}, until, limit).StringSlice()
	if err != nil {
		return nil, s.failed("due", err)
	}
	return keys, nil
}
