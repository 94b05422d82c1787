package redisstore

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"approver.example"
)

// trips counts round trips: each command, script or pipeline is one. It is a hook of the client.
type trips struct{ n atomic.Uint64 }

// Work implements approver.Meter.
func (s *Store) Work() approver.Work { return approver.Work{Trips: s.trips.n.Load()} }

// DialHook implements redis.Hook.
func (t *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements redis.Hook.
func (t *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		t.n.Add(1)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (t *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.n.Add(1)
		return next(ctx, cmds)
	}
}
