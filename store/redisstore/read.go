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
	return s.record(key, s.rdb.Get(ctx, key))
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
	var got *redis.StringCmd
	var clock *redis.Cmd
	if _, single := s.rdb.(*redis.Client); single {
		pipe := s.rdb.Pipeline()
		got = pipe.Get(ctx, key)
		clock = pipe.EvalSha(ctx, s.scripts.now.Hash(), []string{clockKey}, s.last.Load())
		_, _ = pipe.Exec(ctx) // each command keeps its own error
	} else {
		got = s.rdb.Get(ctx, key)
	}
	value, rev, err := s.record(key, got)
	if err != nil && !errors.Is(err, approver.ErrNotFound) {
		return nil, "", time.Time{}, err
	}
	var now time.Time
	var clockErr error
	if clock == nil || redis.HasErrorPrefix(clock.Err(), "NOSCRIPT") { // s.now sends the script along
		now, clockErr = s.now(ctx)
	} else {
		now, clockErr = s.reading(clock)
	}
	if clockErr != nil {
		return nil, "", time.Time{}, s.failed("now", clockErr)
	}
	return value, rev, now, err
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
	return s.reading(s.scripts.now.Run(ctx, s.rdb, []string{clockKey}, s.last.Load()))
}

// reading reads the answer of the clock's script.
func (s *Store) reading(cmd *redis.Cmd) (time.Time, error) {
	now, err := cmd.Int64()
	if err != nil {
		return time.Time{}, err
	}
	for {
		// Replies may overtake each other on the way here.
		last := s.last.Load()
		if now <= last {
			return time.UnixMicro(last).UTC(), nil
		}
		if s.last.CompareAndSwap(last, now) {
			return time.UnixMicro(now).UTC(), nil
		}
	}
}
