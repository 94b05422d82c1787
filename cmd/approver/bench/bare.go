package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"approver.example"
	"approver.example/store/sqlitestore"
	"approver.example/store/storetest/redistest"
)

// Values of about the size of a request's record.
var bareBefore, bareAfter = strings.Repeat("a", 700), strings.Repeat("b", 700)

// A bare is the engines alone, beside the daemons: Redis, and the engine of the embedded store.
type bare struct {
	rdb           *redis.Client      // nil without redis-server
	file          *sqlitestore.Store // nil for the store redis
	serial        atomic.Int64
	redis, engine rate
}

// bare opens the engines for a store. They are closed with what was started.
func (b *bench) bare(ctx context.Context, store string) (*bare, error) {
	e := &bare{}
	server, err := b.redisServer(ctx)
	switch {
	case errors.Is(err, redistest.ErrMissing) && store == Embedded:
		b.say("there is no redis-server, so there is no bare Redis beside it")
	case err != nil:
		return nil, err
	default:
		e.rdb = redis.NewClient(&redis.Options{Addr: server.Addr, PoolSize: b.bareWorkers, Protocol: 2,
			DisableIdentity: true})
		b.onEnd(e.rdb.Close)
		if err := bareCAS.Load(ctx, e.rdb).Err(); err != nil {
			return nil, err
		}
	}
	if store == Embedded {
		path := filepath.Join(b.dir, "bare.db")
		if e.file, err = sqlitestore.Open(sqlitestore.Config{Path: path}, slog.New(slog.DiscardHandler)); err != nil {
			return nil, err
		}
		b.onEnd(e.file.Close)
	}
	return e, nil
}

// round measures each engine for a while.
func (e *bare) round(ctx context.Context, b *bench) error {
	if e.rdb != nil {
		n, took, err := b.bareRedis(ctx, e.rdb, &e.serial)
		if err != nil {
			return err
		}
		e.redis.add(n, took)
		if e.file == nil {
			e.engine.add(n, took)
		}
	}
	if e.file != nil {
		n, took, err := b.bareFile(ctx, e.file, &e.serial)
		if err != nil {
			return err
		}
		e.engine.add(n, took)
	}
	return nil
}

// bareFile is bareRedis for the embedded store.
func (b *bench) bareFile(
	ctx context.Context, kv *sqlitestore.Store, serial *atomic.Int64,
) (n int, took time.Duration, err error) {
	return during(b.bareFor, math.MaxInt, b.bareWorkers, func() error {
		key, made, changed := approver.Key("bare", fmt.Sprint(serial.Add(1))), approver.NewRev(), approver.NewRev()
		keep := time.Now().Add(time.Hour)
		if err := kv.Put(ctx, key, []byte(bareBefore), "", made, time.Time{}, keep); err != nil {
			return err
		}
		return kv.Put(ctx, key, []byte(bareAfter), made, changed, time.Time{}, keep)
	})
}

// bareCAS is only a compare-and-set with a message that would wake waiting clients.
var bareCAS = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('PUBLISH', 'bare', KEYS[1])
return 1`)

// bareRedis measures the store alone: each cycle creates a record and changes it by
// compare-and-set.
func (b *bench) bareRedis(
	ctx context.Context, rdb *redis.Client, serial *atomic.Int64,
) (n int, took time.Duration, err error) {
	return during(b.bareFor, math.MaxInt, b.bareWorkers, func() error {
		key := fmt.Sprintf("bare:%d", serial.Add(1))
		if err := rdb.SetNX(ctx, key, bareBefore, time.Hour).Err(); err != nil {
			return err
		}
		won, err := bareCAS.Run(ctx, rdb, []string{key}, bareBefore, bareAfter).Int()
		if err == nil && won != 1 {
			err = errors.New("a compare-and-set without a rival lost")
		}
		return err
	})
}
