package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"approver.example"
)

// minVersion is the least major version of Redis.
const minVersion = 7

// check refuses a Redis that cannot be relied on.
func (s *Store) check(ctx context.Context) error {
	if s.config.exposed() {
		s.log.Warn("redis: connections are not encrypted; set tls", "addrs", s.config.Addrs)
	}
	checking, cancel := context.WithTimeout(ctx, s.bound())
	defer cancel()
	err := s.eachPrimary(checking, s.checkServer)
	if err != nil && strings.Contains(err.Error(), "cluster support disabled") {
		err = fmt.Errorf("redis: several addrs mean a Cluster, but this is none: keep one, or set master_name if they "+
			"are Sentinels: %w", err)
	}
	if err != nil {
		return err
	}
	return s.checkHubKey(ctx)
}

// eachPrimary calls f for each primary, in a Cluster for all at once.
func (s *Store) eachPrimary(ctx context.Context, f func(context.Context, *redis.Client) error) error {
	switch rdb := s.rdb.(type) {
	case *redis.ClusterClient:
		return rdb.ForEachMaster(ctx, f)
	case *redis.Client:
		return f(ctx, rdb)
	}
	return nil
}

// checkServer looks at one primary.
func (s *Store) checkServer(ctx context.Context, node *redis.Client) error {
	addr := node.Options().Addr
	text, err := node.Info(ctx).Result()
	switch {
	case redis.IsPermissionError(err):
		s.log.Warn("redis: the user may not run INFO, so version and persistence are unknown; allow +info", "addr", addr)
	case err != nil:
		return fmt.Errorf("redis at %s: %w%s", addr, err, cure(err, s.config))
	}
	info := parseInfo(text)
	if err := s.judge(addr, info); err != nil {
		return err
	}
	is := setupOf(ctx, node, info)
	if is.policy == "" {
		s.log.Warn("redis: cannot read maxmemory-policy; make sure that it is noeviction, or answers may vanish", "addr",
			addr)
	}
	rank, loses := is.loses(addr)
	if _, tells := is.tells(); !tells {
		rank = unknownLoss
	}
	if rank > 1 && loses != nil { // once a second is what most people have
		s.log.Warn("redis: it is set to lose writes", "error", loses)
	}
	s.watch.mu.Lock()
	s.watch.best = max(s.watch.best, rank)
	s.watch.mu.Unlock()
	return is.evicts(addr)
}

// judge refuses what INFO says, or warns. Fields that are missing say nothing.
func (s *Store) judge(addr string, info map[string]string) error {
	if version, ok := info["redis_version"]; ok {
		major, _, _ := strings.Cut(version, ".")
		if n, err := strconv.Atoi(major); err != nil || n < minVersion {
			return fmt.Errorf("redis at %s has version %q: approver needs %d or later", addr, version, minVersion)
		}
	}
	_, clustered := s.rdb.(*redis.ClusterClient)
	switch {
	case info["redis_mode"] == "sentinel":
		return fmt.Errorf("redis at %s is a Sentinel: set master_name", addr)
	case info["cluster_enabled"] == "1" && !clustered:
		return fmt.Errorf("redis at %s is part of a Cluster: set cluster: true", addr)
	case info["role"] == "slave":
		return fmt.Errorf("redis at %s is a replica: name the primary, or its Sentinels with master_name", addr)
	}
	if n, err := strconv.Atoi(info["connected_slaves"]); err == nil && n < s.config.Replicas {
		s.log.Warn("redis: fewer replicas than must acknowledge: writes will fail until they are back",
			"addr", addr, "replicas", n, "needed", s.config.Replicas)
	}
	return nil
}

// cure says what helps against a server's answer or a failed connection, as the end of a
// sentence; empty if that is not known.
func cure(err error, c Config) string {
	var op *net.OpError
	switch {
	case redis.HasErrorPrefix(err, "WRONGPASS"), redis.HasErrorPrefix(err, "NOAUTH"):
		of := "password_file"
		if c.PasswordFile != "" {
			of += " " + c.PasswordFile
		}
		return ": Redis does not take user and password: mend store.redis.username and " + of +
			", or the user in Redis, and restart the daemon"
	case redis.IsPermissionError(err):
		return ": give the user what the package comment of store/redisstore lists"
	case redis.HasErrorPrefix(err, "MISCONF"):
		return ": Redis cannot write to its disk: make room there"
	case redis.HasErrorPrefix(err, "OOM"):
		return ": the memory of Redis is full: give it more"
	case redis.HasErrorPrefix(err, "READONLY"):
		return ": this Redis is a replica: name the primary, or its Sentinels with master_name"
	case errors.As(err, &op):
		return ": start it, or mend store.redis in the configuration"
	}
	return ""
}

func parseInfo(text string) map[string]string {
	info := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

// checkHubKey makes sure that all hubs on this Redis sign with one key, and that the user may
// do what the store does. It reads or makes one record, and writes it once more.
func (s *Store) checkHubKey(ctx context.Context) error {
	key := approver.Key("hub", "key")
	value, rev, err := s.Get(ctx, key)
	switch {
	case errors.Is(err, approver.ErrTampered):
		return fmt.Errorf("hub_key_file: this Redis holds records that were signed with another hub key: all hubs need "+
			"the same: %w", err)
	case errors.Is(err, approver.ErrNotFound):
		value = []byte("approver")
	case err != nil:
		return err
	}
	err = s.Put(ctx, key, value, rev, approver.NewRev(), time.Time{}, time.Time{})
	if err != nil && (redis.IsPermissionError(err) || strings.Contains(err.Error(), "user executing the script can't")) {
		return fmt.Errorf("the user may not do all that the store needs; the package comment of redisstore lists it: %w", err)
	}
	another := errors.Is(err, approver.ErrConflict) // another hub is just starting
	if err != nil && !another && !errors.Is(err, errTooFew) {
		return err
	}
	_, err = s.Now(ctx)
	return err
}
