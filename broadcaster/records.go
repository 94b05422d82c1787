package broadcaster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example"
)

// records writes to the store, and repeats a write while the store is away.
type records struct {
	*Options

	mu       sync.Mutex
	troubled time.Time // when the store's trouble was last logged
}

// noteTrouble logs a problem of the store, at most every ten seconds: each shard may report it
// twice a second.
func (s *records) noteTrouble(err error) {
	s.mu.Lock()
	quiet := time.Since(s.troubled) < 10*time.Second
	if !quiet {
		s.troubled = time.Now()
	}
	s.mu.Unlock()
	if !quiet {
		s.Log.Warn("the store has a problem with what is due", "error", err)
	}
}

// maxListed bounds how many records of one shard are listed.
const maxListed = 1000

// listed returns the ids of all scheduled records of a kind.
func (s *records) listed(ctx context.Context, kind string) ([]string, error) {
	lister, ok := s.Store.(approver.Lister)
	if !ok {
		return nil, ErrNoList
	}
	shards := make([][]string, approver.Shards)
	err := spread(approver.Shards, func(shard int) error {
		keys, err := lister.Scheduled(ctx, shard, maxListed)
		for _, key := range keys {
			if _, id, ok := strings.Cut(key, "}:"+kind+":"); ok {
				shards[shard] = append(shards[shard], id)
			}
		}
		return err
	})
	return slices.Concat(shards...), err
}

func (s *records) put(
	ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time,
) error {
	return s.putBefore(ctx, time.Time{}, key, value, prev, next, due, keepUntil)
}

// putBefore is KV.PutBefore that repeats a write after an ambiguous error. The very same write
// succeeds if the first one did. It gives up when ctx ends, or after PostTimeout.
func (s *records) putBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time,
) error {
	return s.again(ctx, key, func() error {
		return s.Store.PutBefore(ctx, before, key, value, prev, next, due, keepUntil)
	})
}

// again repeats a write after an ambiguous error: see putBefore.
func (s *records) again(ctx context.Context, key string, write func() error) error {
	give := time.Now().Add(PostTimeout)
	for {
		err := write()
		if err == nil || errors.Is(err, approver.ErrConflict) || errors.Is(err, approver.ErrOverdue) || ctx.Err() != nil ||
			time.Now().After(give) {
			return err
		}
		s.Log.Debug("a write was ambiguous; sending it again", "key", key, "error", err)
		if !sleep(ctx, retryEvery) {
			return err
		}
	}
}

// putAll writes several records whose order does not matter. An ambiguous write is repeated by
// itself.
func (s *records) putAll(ctx context.Context, writes []approver.Write) []error {
	errs := make([]error, len(writes))
	batcher, ok := s.Store.(approver.Batcher)
	if ok {
		errs = batcher.PutAll(ctx, writes)
	}
	_ = inParallel(len(writes), func(i int) error {
		if !ok || errs[i] != nil && !errors.Is(errs[i], approver.ErrConflict) {
			errs[i] = s.putWhole(ctx, batcher, writes[i])
		}
		return nil
	})
	return errs
}

// putWhole is put for a record that others are written with. A store that is no Batcher, as in
// tests, writes the others first.
func (s *records) putWhole(ctx context.Context, batcher approver.Batcher, w approver.Write) error {
	if batcher != nil && len(w.With) > 0 {
		return s.again(ctx, w.Key, func() error { return batcher.PutAll(ctx, []approver.Write{w})[0] })
	}
	for _, with := range w.With {
		if err := s.put(ctx, with.Key, with.Value, with.Prev, with.Next, with.Due, with.KeepUntil); err != nil {
			return err
		}
	}
	return s.put(ctx, w.Key, w.Value, w.Prev, w.Next, w.Due, w.KeepUntil)
}
