package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// This file looks at the settings by which Redis drops or loses records. Anybody who may use CONFIG
// can change them while Redis runs, and a fail-over leads to a server with settings of its own.

// lookEvery is how often the settings are looked at after the start.
const lookEvery = 20 * time.Second

// A setup is what one primary is set to; empty is unknown.
type setup struct{ policy, aof, fsync string }

// setupOf reads the setup of a primary. info is what it says to INFO.
func setupOf(ctx context.Context, node *redis.Client, info map[string]string) setup {
	get := func(name string) string {
		found, _ := node.ConfigGet(ctx, name).Result() // the user may not be allowed to
		return found[name]
	}
	s := setup{policy: get("maxmemory-policy"), aof: info["aof_enabled"], fsync: get("appendfsync")}
	if s.policy == "" {
		s.policy = info["maxmemory_policy"]
	}
	return s
}

// evicts says why nothing may be entrusted to a server, or returns nil.
func (s setup) evicts(addr string) error {
	if s.policy == "" || s.policy == "noeviction" {
		return nil
	}
	return fmt.Errorf("redis at %s drops records when its memory is full (maxmemory-policy %s): set maxmemory-policy "+
		"noeviction", addr, s.policy)
}

// tells says of which the setup tells: whether the server evicts, and what it loses.
func (s setup) tells() (eviction, loss bool) {
	return s.policy != "", s.aof == "0" || s.aof != "" && s.fsync != ""
}

// unknownLoss is the rank of a setup that does not tell what is lost: nothing is worse than that.
const unknownLoss = 4

// loses says what is lost when a server ends, as much as is known; a higher rank is worse.
func (s setup) loses(addr string) (rank int, err error) {
	switch {
	case s.aof == "0":
		return 3, fmt.Errorf("redis at %s has no append-only file: a restart of Redis loses open requests and answers; set "+
			"appendonly yes", addr)
	case s.fsync == "no":
		return 2, fmt.Errorf("redis at %s leaves it to its machine when writes reach the disk: a crash of that loses up to "+
			"half a minute of requests and answers; set appendfsync everysec", addr)
	case s.fsync == "everysec":
		return 1, fmt.Errorf("redis at %s writes to its disk once a second, and did so at each write before: a crash loses "+
			"up to a second of requests and answers; set appendfsync always", addr)
	}
	return 0, nil
}

// A watch remembers what is wrong with the setup now.
type watch struct {
	every time.Duration

	mu           sync.Mutex
	best         int // the least rank that was seen: what is worse was changed since
	unfit, lossy error
}

// Fitness implements approver.Inspected.
func (s *Store) Fitness() (unfit, lossy error) {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	return s.watch.unfit, s.watch.lossy
}

// keepLooking looks at the settings now and then, until ctx ends.
func (s *Store) keepLooking(ctx context.Context) {
	tick := time.NewTicker(s.watch.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.lookAgain(ctx)
		}
	}
}

// lookAgain looks at the settings of all primaries. What cannot be looked at is as it was.
func (s *Store) lookAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.bound())
	defer cancel()
	var mu sync.Mutex
	var unfit, lossy error
	worst, tellsEviction, tellsLoss := 0, true, true
	err := s.eachPrimary(ctx, func(ctx context.Context, node *redis.Client) error {
		addr := node.Options().Addr
		text, err := node.Info(ctx).Result()
		if err != nil && !redis.IsPermissionError(err) {
			return err
		}
		found := setupOf(ctx, node, parseInfo(text))
		rank, loses := found.loses(addr)
		eviction, loss := found.tells()
		mu.Lock()
		defer mu.Unlock()
		tellsEviction, tellsLoss = tellsEviction && eviction, tellsLoss && loss
		unfit = errors.Join(unfit, found.evicts(addr))
		if rank > worst {
			worst, lossy = rank, loses
		}
		return ctx.Err() // what was read is only a part
	})
	if err != nil {
		return
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	w := &s.watch
	if !tellsEviction && unfit == nil {
		unfit = w.unfit
	}
	if tellsLoss {
		w.best = min(w.best, worst)
	}
	switch {
	case !tellsLoss:
		lossy = w.lossy
	case worst == w.best:
		lossy = nil // the start has warned of it
	}
	s.tell(w.unfit, unfit, "redis: nothing new is put before people, because answers may vanish")
	s.tell(w.lossy, lossy, "redis: it was set to lose more than before")
	w.unfit, w.lossy = unfit, lossy
}

// tell logs once that something is wrong, and once that it is mended.
func (s *Store) tell(was, now error, what string) {
	switch {
	case now == nil && was != nil:
		s.log.Info(what+": this is over", "was", was)
	case now != nil && (was == nil || was.Error() != now.Error()):
		s.log.Error(what, "error", now)
	}
}
