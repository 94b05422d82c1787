package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// errTooFew is an ambiguous error: the primary has the write, but too few replicas confirmed
// it.
var errTooFew = errors.New("written, but too few replicas acknowledged")

// once is a command that the client does not repeat by itself after an error. If a first
// attempt succeeded unnoticed and the record then changed again, a second attempt would end in
// a conflict, and the caller would take its own success for a refusal. So the error goes to the
// caller, who then knows that the outcome is uncertain.
type once struct{ *redis.Cmd }

// NoRetry tells the client not to repeat the command.
func (once) NoRetry() bool { return true }

func evalSHA(ctx context.Context, script *script, keys []string, args []any) once {
	return newOnce(ctx, "EVALSHA", script.Hash(), keys, args)
}

// run sends a script, and once more with its source if the server does not know it yet. The
// command keeps its error.
func run(ctx context.Context, script *script, keys []string, args []any, send func(once)) once {
	cmd := evalSHA(ctx, script, keys, args)
	send(cmd)
	if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
		cmd = newOnce(ctx, "EVAL", script.source, keys, args)
		send(cmd)
	}
	return cmd
}

func newOnce(ctx context.Context, name, script string, keys []string, args []any) once {
	line := make([]any, 0, 3+len(keys)+len(args))
	line = append(line, name, script, len(keys))
	for _, key := range keys {
		line = append(line, key)
	}
	cmd := redis.NewCmd(ctx, append(line, args...)...)
	cmd.SetFirstKeyPos(3) // which node of a Cluster it goes to
	return once{cmd}
}

// write runs a script that writes, and returns its number. With Config.Replicas it waits until
// that many replicas have what the script wrote.
func (s *Store) write(ctx context.Context, script *script, keys []string, args ...any) (int64, error) {
	if s.config.Replicas == 0 {
		return run(ctx, script, keys, args, func(cmd once) { _ = s.rdb.Process(ctx, cmd) }).Int64()
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
		// The slot has moved and nothing was written. The client looks up its new server in the
		// background.
		select {
		case <-ctx.Done():
			return 0, err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// writeAndWait sends the script and WAIT over one connection: WAIT covers only the writes of
// its own connection.
func (s *Store) writeAndWait(
	ctx context.Context, node *redis.Client, script *script, keys []string, args []any,
) (int64, error) {
	var acked *redis.Cmd
	n, err := run(ctx, script, keys, args, func(cmd once) {
		pipe := node.Pipeline()
		_ = pipe.Process(ctx, cmd)
		acked = pipe.Do(ctx, "WAIT", s.config.Replicas, s.config.WaitTimeout.Milliseconds())
		_, _ = pipe.Exec(ctx) // each command keeps its own error
	}).Int64()
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
