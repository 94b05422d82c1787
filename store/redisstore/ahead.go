package redisstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"approver.example"
	"approver.example/store/internal/arg"
)

// aheadOf is the key of what a store reads ahead in a context.
type aheadOf struct{ s *Store }

// An ahead is one reading of several records, under way or done.
type ahead struct {
	began  time.Time
	done   chan struct{}
	before *ahead // an earlier one in the same context

	mu  sync.Mutex
	got map[string]*redis.StringCmd // those that nobody took yet
}

// ReadAhead implements approver.AheadReader: one round trip, in the background. An error is not
// kept: whoever needs the record reads it then.
func (s *Store) ReadAhead(ctx context.Context, keys ...string) context.Context {
	a := &ahead{began: time.Now(), done: make(chan struct{}), got: make(map[string]*redis.StringCmd, len(keys))}
	a.before, _ = ctx.Value(aheadOf{s}).(*ahead)
	pipe := s.rdb.Pipeline()
	for _, key := range keys {
		if arg.Key(key) == nil && a.got[key] == nil {
			a.got[key] = pipe.Get(ctx, key)
		}
	}
	var asked *redis.Cmd
	if _, single := s.rdb.(*redis.Client); single && !s.clock.young() {
		asked = s.askClock(ctx, pipe)
	}
	go func() {
		defer close(a.done)
		bounded, cancel, err := s.begin(ctx, nil)
		if err != nil {
			a.drop()
			return
		}
		defer cancel()
		_, _ = pipe.Exec(bounded) // each command keeps its own error
		if asked != nil {
			if micros, err := asked.Int64(); err == nil {
				s.clock.note(micros, a.began)
			}
		}
	}()
	return context.WithValue(ctx, aheadOf{s}, a)
}

// drop forgets what was not read.
func (a *ahead) drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.got)
}

// taken returns what was read ahead of a record, once; nil if nothing was, or too long ago.
func (s *Store) taken(ctx context.Context, key string) *redis.StringCmd {
	a, _ := ctx.Value(aheadOf{s}).(*ahead)
	for ; a != nil; a = a.before {
		if got := a.take(ctx, key); got != nil {
			return got
		}
	}
	return nil
}

func (a *ahead) take(ctx context.Context, key string) *redis.StringCmd {
	a.mu.Lock()
	got := a.got[key]
	delete(a.got, key)
	a.mu.Unlock()
	if got == nil {
		return nil
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		return nil
	}
	if err := got.Err(); time.Since(a.began) > approver.MaxAhead || err != nil && !errors.Is(err, redis.Nil) {
		return nil
	}
	return got
}
