package approver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// This file keeps requests in the KV: one record per request, read, stepped
// and written back by compare-and-set.

func (b *Broadcaster) load(ctx context.Context, id string) (Request, Rev, error) {
	value, rev, err := b.Store.Get(ctx, Key("req", id))
	if err != nil {
		return Request{}, "", err
	}
	var r Request
	if err := json.Unmarshal(value, &r); err != nil {
		return Request{}, "", fmt.Errorf("request %s: the stored record is not readable: %w", id, err)
	}
	if r.ID != id {
		return Request{}, "", fmt.Errorf("request %s: the stored record is of another request: %w", id, ErrTampered)
	}
	return r, rev, nil
}

// saveNew writes the record of a new request and the index from its call id,
// at once: a crash between leaves an index without a request, or a request
// that nobody was shown, and both are harmless.
func (b *Broadcaster) saveNew(ctx context.Context, r Request, now time.Time) error {
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	keep := r.Due.Add(KeepFor)
	var indexErr error
	err = inParallel(2, func(n int) error {
		if n == 0 {
			return b.put(ctx, Key("req", r.ID), value, "", NewRev(), r.Attention(now), keep)
		}
		indexErr = b.put(ctx, Key("call", r.CallID), []byte(r.ID), "", NewRev(), time.Time{}, keep)
		return nil
	})
	if err != nil {
		return err
	}
	if errors.Is(indexErr, ErrConflict) {
		indexErr = b.adopt(ctx, r, keep)
	}
	if indexErr != nil {
		_, _ = b.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) { return r.Fail(StoreTrouble, now) })
	}
	return indexErr
}

// adopt takes over an index that a crash left without a request. An index that
// leads to a request means that the same call id came twice at once.
func (b *Broadcaster) adopt(ctx context.Context, r Request, keep time.Time) error {
	key := Key("call", r.CallID)
	id, rev, err := b.Store.Get(ctx, key)
	if err != nil {
		return err
	}
	if _, _, err := b.load(ctx, string(id)); !errors.Is(err, ErrNotFound) {
		return errReused
	}
	return b.put(ctx, key, []byte(r.ID), rev, NewRev(), time.Time{}, keep)
}

// change applies one step to a stored request. It returns the request as it
// now is, also when the step refuses with an error of the state machine.
func (b *Broadcaster) change(ctx context.Context, id string, step func(Request, time.Time) (Request, error)) (Request, error) {
	for {
		r, rev, err := b.load(ctx, id)
		if err != nil {
			return r, err
		}
		now, err := b.Store.Now(ctx)
		if err != nil {
			return r, err
		}
		next, err := step(r, now)
		if err != nil {
			return r, err
		}
		value, err := json.Marshal(next)
		if err != nil {
			return r, err
		}
		err = b.put(ctx, Key("req", id), value, rev, NewRev(), next.Attention(now), next.Due.Add(KeepFor))
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, ErrConflict) {
			return r, err
		}
	}
}

// put is KV.Put with patience: an ambiguous error is followed by the very same
// write, which succeeds if the first one did. It gives up when ctx ends, or
// after PostTimeout.
func (b *Broadcaster) put(ctx context.Context, key string, value []byte, prev, next Rev, due, keepUntil time.Time) error {
	give := time.Now().Add(PostTimeout)
	for {
		err := b.Store.Put(ctx, key, value, prev, next, due, keepUntil)
		if err == nil || errors.Is(err, ErrConflict) || ctx.Err() != nil || time.Now().After(give) {
			return err
		}
		b.Log.Debug("a write was ambiguous; sending it again", "key", key, "error", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retryEvery):
		}
	}
}

// requestOfKey returns the id in the key of a request.
func requestOfKey(key string) (string, bool) {
	_, id, ok := strings.Cut(key, "}:req:")
	return id, ok
}
