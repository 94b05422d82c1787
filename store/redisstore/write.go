package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// errTooFew is an ambiguous error: the primary has the write.
var errTooFew = errors.New("written, but too few replicas acknowledged")

// write runs a script that writes, and returns its number. With Config.Replicas
// it waits until so many replicas have what the script wrote.
func (s *Store) write(ctx context.Context, script *redis.Script, keys []string, args ...any) (int64, error) {
	if s.config.Replicas == 0 {
		return script.Run(ctx, s.rdb, keys, args...).Int64()
	}
	for {
		node, err := s.primary(ctx, keys[0])
		if err != nil {
			return 0, err
		}
		n, err := s.writeAndWait(ctx, node, script, keys, args)
		if _, moved := redis.IsMovedError(err); !moved {
			return n, err
		}
		// The slot has moved and nothing was written. The client learns where to
		// in the background.
		select {
		case <-ctx.Done():
			return 0, err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// writeAndWait sends the script and WAIT down one connection: WAIT is about the
// writes of its own connection.
func (s *Store) writeAndWait(ctx context.Context, node *redis.Client, script *redis.Script, keys []string, args []any) (int64, error) {
	send := func(eval func(redis.Pipeliner) *redis.Cmd) (*redis.Cmd, *redis.Cmd) {
		pipe := node.Pipeline()
		cmd := eval(pipe)
		acked := pipe.Do(ctx, "WAIT", s.config.Replicas, s.config.WaitTimeout.Milliseconds())
		_, _ = pipe.Exec(ctx) // each command keeps its own error
		return cmd, acked
	}
	cmd, acked := send(func(p redis.Pipeliner) *redis.Cmd { return p.EvalSha(ctx, script.Hash(), keys, args...) })
	if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
		cmd, acked = send(func(p redis.Pipeliner) *redis.Cmd { return script.Eval(ctx, p, keys, args...) })
	}
	n, err := cmd.Int64()
	if err != nil {
		s.reload(ctx)
		return 0, err
	}
	if n <= 0 {
		return n, nil // nothing was written
	}
	count, err := acked.Int64()
	if err != nil {
		s.reload(ctx)
		return 0, fmt.Errorf("written, but not known on how many replicas: %w", err)
	}
	if count < int64(s.config.Replicas) {
		return 0, fmt.Errorf("%w: %d of %d within %v", errTooFew, count, s.config.Replicas, s.config.WaitTimeout)
	}
	return n, nil
}

// primary returns the client of the one server that has the key.
func (s *Store) primary(ctx context.Context, key string) (*redis.Client, error) {
	switch rdb := s.rdb.(type) {
	case *redis.ClusterClient:
		return rdb.MasterForKey(ctx, key)
	case *redis.Client:
		return rdb, nil
	}
	return nil, fmt.Errorf("no primary of a %T", s.rdb)
}

// reload has the Cluster's layout looked up again after an error.
func (s *Store) reload(ctx context.Context) {
	if rdb, ok := s.rdb.(*redis.ClusterClient); ok {
		rdb.ReloadState(ctx)
	}
}
