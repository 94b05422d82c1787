// Package redisstore keeps approver's records in Redis 7 or later: a single
// server, a primary under Sentinels, or a Cluster. It is the store for several
// hubs, and its behavior is the reference for every other store.
//
// # What lies in Redis
//
//	ap:{NN}:kind:id     a record: format, revision, signature, value
//	ap:{NN}:due         the due set of shard NN: score = due in ms, member = key
//	ap:{NN}/lease:name  who holds a lease; ap:{NN}/fence:name its last fence
//	ap:{00}/clock       the clock's high-water mark
//	ap:wake             the one pub/sub channel, for hints
//
// {NN} is the hash tag, so everything that one call touches is in one slot of a Cluster. Of our
// names, only those of records start with "ap:{NN}:" and have a second colon after it, so no
// record can be mistaken for something else.
//
// # Trust
//
// A record is signed with HMAC-SHA-256 over its key, revision and value, under a key derived
// from the hub key, which is never in Redis. So whoever can write to Redis but has no hub key
// cannot make an answer, change one, or move one to another request: Get returns
// [approver.ErrTampered]. They can still take things away: delete a record, empty a due set,
// hold a lease, move the clock forward. That ends in denials or, for the record of wrong codes,
// in more tries. They can also put back an old version of a record, which no signature can tell
// from the present one. What the signed value binds (a deadline, a call id, a fingerprint)
// limits such a replay. Give Redis a password and an ACL, and let only hubs reach it.
//
// An ACL user needs no more than
//
//	ACL SETUSER approver on >password resetkeys ~ap:* resetchannels &ap:* -@all
//	    +get +eval +evalsha +getrange +setrange +set +zscore +zadd +zrem +zrange
//	    +exists +pexpire +time +publish +subscribe +unsubscribe +wait +info
//	    +config|get +hello +auth +ping +select +cluster|slots +cluster|shards +command +readonly
//
// # What a fail-over can lose
//
// Replication is asynchronous. With Config.Replicas at 0, a write that Redis
// acknowledged may be gone after a fail-over. With Replicas of N, Put succeeds
// only after N replicas have the write, and it is lost only if none of those N
// is promoted. Redis gives no stronger promise: WAIT is not consensus. With
// appendfsync everysec, a crash of all servers at once loses up to a second.
//
// # The clock
//
// Now is TIME of the one server that has the slot of ap:{00}/clock, so that all hubs and all
// shards of a Cluster use one clock. A high-water mark is kept beside it and replicated; it is
// written at most every 100 ms. Each process also remembers its last reading and sends it
// along, so that its own clock never goes back, whatever happens. After a fail-over to a server
// whose clock is behind, other processes may see at most those 100 ms again, and only until the
// first process sends a later reading. The clock then runs ahead of the server's by the
// difference. It never stands still: otherwise a request would stay open, because its deadline
// would not come nearer.
package redisstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"approver.example"
	"approver.example/store/internal/arg"
	"approver.example/store/internal/hint"
)

//go:embed *.lua
var sources embed.FS

const (
	wakeChannel = "ap:wake"
	clockKey    = "ap:{00}/clock"
)

// A Store is an approver.KV in Redis. Make one with Open. All methods are safe for concurrent
// use and end within the timeouts of the Config, even while Redis is unreachable; the store
// recovers by itself when Redis is back.
type Store struct {
	rdb     redis.UniversalClient
	log     *slog.Logger
	seal    sealer
	holder  string // names this process in leases
	config  Config // with its defaults
	scripts struct{ put, due, now, lease, discard *script }

	trips  trips
	clock  clock
	hub    hint.Hub
	pulse  time.Duration      // how often the subscription is tested
	cancel context.CancelFunc // ends the listener
	ending sync.WaitGroup     // the listener, and keepLooking
	closed atomic.Bool
	watch  watch
}

var (
	_ approver.KV        = (*Store)(nil)
	_ approver.Confirmer = (*Store)(nil)
	_ approver.Batcher   = (*Store)(nil)
	_ approver.Discarder = (*Store)(nil)
	_ approver.Meter     = (*Store)(nil)
	_ approver.Inspected = (*Store)(nil)

	_ approver.ClockReader = (*Store)(nil)
	_ approver.AheadReader = (*Store)(nil)
	_ approver.Sweeper     = (*Store)(nil)
)

// A script knows its own source, which redis.Script keeps to itself.
type script struct {
	*redis.Script
	source string
}

// newScript reads the script of a name.
func newScript(name string) (*script, error) {
	source, err := sources.ReadFile(name + ".lua")
	return &script{redis.NewScript(string(source)), string(source)}, err
}

// libraryLog takes what go-redis would print to standard error: mostly failed dials, which our
// own errors report too.
type libraryLog struct{ log *slog.Logger }

// Printf is what go-redis calls.
func (l libraryLog) Printf(_ context.Context, format string, args ...any) {
	l.log.Debug("redis: " + fmt.Sprintf(format, args...))
}

// The library has one logger for the whole process, which is set once.
var setLibraryLog sync.Once

// Open connects to Redis and checks that it can be relied on: version 7 or later, a primary, no
// eviction, the right hub key. It logs a warning for what it cannot find out, and for a Redis
// that does not write to disk. Close the store after use.
func Open(ctx context.Context, c Config, log *slog.Logger) (*Store, error) {
	return open(ctx, c, log, 2*time.Second, lookEvery)
}

func open(ctx context.Context, c Config, log *slog.Logger, pulse, look time.Duration) (*Store, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	setLibraryLog.Do(func() { redis.SetLogger(libraryLog{log}) })
	c = c.withDefaults()
	seal, options, err := c.files()
	if err != nil {
		return nil, err
	}
	s := &Store{log: log, seal: seal, holder: uuid.NewString(), config: c, pulse: pulse}
	s.watch.every = look
	for name, into := range map[string]**script{
		"put": &s.scripts.put, "due": &s.scripts.due, "now": &s.scripts.now, "lease": &s.scripts.lease,
		"discard": &s.scripts.discard,
	} {
		if *into, err = newScript(name); err != nil {
			return nil, err
		}
	}
	s.rdb = redis.NewUniversalClient(options)
	s.rdb.AddHook(&s.trips)
	running, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	subscribed := make(chan struct{})
	if err := s.check(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.ending.Go(func() { s.listen(running, subscribed) })
	s.ending.Go(func() { s.keepLooking(running) })
	wait, stop := context.WithTimeout(ctx, s.bound())
	defer stop()
	select {
	case <-subscribed:
		return s, nil
	case <-wait.Done():
		err := fmt.Errorf("redis: no subscription to %s: may the user SUBSCRIBE to &ap:*? %w", wakeChannel, wait.Err())
		return nil, errors.Join(err, s.Close())
	}
}

// Close ends every watch and all connections, and waits for them. Leases are not released; they
// expire.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.cancel()
	err := s.rdb.Close()
	s.ending.Wait()
	s.hub.Close()
	return err
}

// Put implements approver.KV. With Config.Replicas, too few acknowledgements are an ambiguous
// error. A Put is sent once; after an ambiguous error the caller sends it again. If that
// returns ErrConflict, the first Put may still have succeeded and the record changed again
// since: only the record can tell.
func (s *Store) Put(
	ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time,
) error {
	return s.PutBefore(ctx, time.Time{}, key, value, prev, next, due, keepUntil)
}

// PutBefore implements approver.KV. The script that writes also looks at the clock. In a
// Cluster that is the clock of the record's own server: keep the servers' clocks in sync.
func (s *Store) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time,
) error {
	return s.put(ctx, before,
		approver.Write{Key: key, Value: value, Prev: prev, Next: next, Due: due, KeepUntil: keepUntil})
}

func (s *Store) put(ctx context.Context, before time.Time, w approver.Write) error {
	ctx, cancel, err := s.begin(ctx, arg.Write(w))
	if err != nil {
		return err
	}
	defer cancel()
	keys, args := s.putArgs(before, w)
	written, err := s.write(ctx, s.scripts.put, keys, args...)
	return s.putResult(w.Key, written, err)
}

// putArgs returns the arguments of the put script.
func (s *Store) putArgs(before time.Time, w approver.Write) (keys []string, args []any) {
	keys, args = []string{w.Key[:len("ap:{NN}:")] + "due"}, []any{1 + len(w.With), wakeChannel, ""}
	for _, w := range w.All() {
		keys = append(keys, w.Key)
		args = append(args, string(w.Prev), s.seal.seal(w.Key, w.Next, w.Value), millis(w.Due), millis(w.KeepUntil))
	}
	if !before.IsZero() {
		args[2] = strconv.FormatInt(before.UnixMicro(), 10)
		if _, cluster := s.rdb.(*redis.ClusterClient); !cluster {
			keys = append(keys, clockKey) // which may run ahead of the server's
		}
	}
	return keys, args
}

// putResult turns the script's answer into the result of a put.
func (s *Store) putResult(key string, written int64, err error) error {
	switch {
	case err != nil:
		return s.failed("put "+key, err)
	case written == -1:
		return approver.ErrOverdue
	case written != 1:
		return approver.ErrConflict
	}
	return nil
}

// PutAll implements approver.Batcher: one round trip for all. In a Cluster, and where replicas
// have to acknowledge, each write is sent by itself, all at once.
func (s *Store) PutAll(ctx context.Context, writes []approver.Write) []error {
	errs := make([]error, len(writes))
	if _, single := s.rdb.(*redis.Client); !single || s.config.Replicas > 0 {
		var all sync.WaitGroup
		for i, w := range writes {
			all.Go(func() { errs[i] = s.put(ctx, time.Time{}, w) })
		}
		all.Wait()
		return errs
	}
	ctx, cancel, err := s.begin(ctx, nil)
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	defer cancel()
	cmds := make([]*once, len(writes))
	pipe := s.rdb.Pipeline()
	for i, w := range writes {
		if errs[i] = arg.Write(w); errs[i] != nil {
			continue
		}
		keys, args := s.putArgs(time.Time{}, w)
		cmd := evalSHA(ctx, s.scripts.put, keys, args)
		cmds[i] = &cmd
		_ = pipe.Process(ctx, cmd)
	}
	_, _ = pipe.Exec(ctx) // each command keeps its own error
	for i, cmd := range cmds {
		switch {
		case cmd == nil:
		case redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT"): // not executed; put sends the script along
			errs[i] = s.put(ctx, time.Time{}, writes[i])
		default:
			written, err := cmd.Int64()
			errs[i] = s.putResult(writes[i].Key, written, err)
		}
	}
	return errs
}

// Confirm implements approver.Confirmer: it sends the write again, and WAIT counts the replicas
// that have it.
func (s *Store) Confirm(ctx context.Context, key string, value []byte, rev approver.Rev) error {
	if s.config.Replicas == 0 {
		return nil
	}
	return s.Put(ctx, key, value, "", rev, time.Time{}, time.Time{})
}

// millis rounds up, so that nothing is due or forgotten before its time. The
// zero time is empty.
func millis(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.Add(time.Millisecond-time.Nanosecond).UnixMilli(), 10)
}

// Watch implements approver.KV. All watches share one connection.
func (s *Store) Watch(ctx context.Context, key string) (<-chan struct{}, error) {
	if err := arg.Key(key); err != nil {
		return nil, err
	}
	return s.hub.Watch(ctx, key)
}

// Lease implements approver.KV. The holder is this Store.
func (s *Store) Lease(ctx context.Context, name string, ttl time.Duration) (approver.Fence, error) {
	ctx, cancel, err := s.begin(ctx, arg.Lease(name, ttl))
	if err != nil {
		return 0, err
	}
	defer cancel()
	shard := approver.ShardOf(name)
	keys := []string{fmt.Sprintf("ap:{%02d}/lease:%s", shard, name), fmt.Sprintf("ap:{%02d}/fence:%s", shard, name)}
	fence, err := s.write(ctx, s.scripts.lease, keys, s.holder, ttl.Milliseconds())
	switch {
	case err != nil:
		return 0, s.failed("lease "+name, err)
	case fence <= 0:
		return 0, approver.ErrHeld
	}
	return approver.Fence(fence), nil
}

// bound is the longest time that one call may take.
func (s *Store) bound() time.Duration {
	return s.config.DialTimeout + s.config.ReadTimeout + s.config.WaitTimeout
}

// begin refuses calls that must not reach Redis and limits the time of the others. odd says
// what is wrong with the call's arguments, if anything.
func (s *Store) begin(ctx context.Context, odd error) (context.Context, context.CancelFunc, error) {
	switch {
	case odd != nil:
		return nil, nil, odd
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case s.closed.Load():
		return nil, nil, arg.ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, s.bound())
	return ctx, cancel, nil
}

// failed says which call failed. A key of a type that is not ours was written by someone else.
func (s *Store) failed(what string, err error) error {
	switch {
	case errors.Is(err, redis.ErrClosed):
		return arg.ErrClosed
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		return fmt.Errorf("%w: redis: %s: %w", approver.ErrTampered, what, err)
	}
	return awayError{fmt.Errorf("redis: %s: %w%s", what, err, cure(err, s.config))}
}

// An awayError is an approver.ErrAway.
type awayError struct{ error }

func (e awayError) Unwrap() error        { return e.error }
func (e awayError) Is(target error) bool { return target == approver.ErrAway }
