package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"approver.example"
)

// A record is the copy in memory of a stored record, and its last known revision.
type record[T any] struct {
	mu      sync.Mutex
	key     string
	decode  func(stored []byte) (T, error)
	rev     approver.Rev
	read    bool // the value is that of the revision
	unsaved bool // the value has changes that wait to be stored
	used    time.Time
	value   T

	ahead atomic.Int32 // how many judgments are to read it ahead
}

// aheadFor is how many judgments read a record ahead after one that needed it: for those that do not, such as
// of a call that names no file, it would only be work for the server.
const aheadFor = 8

// keyAhead returns the key of the record if it is to be read ahead, else none.
func (r *record[T]) keyAhead() []string {
	if n := r.ahead.Load(); n > 0 {
		r.ahead.Store(n - 1)
		return []string{r.key}
	}
	return nil
}

// recordOf returns the copy of a record, or makes one. If there are too many, it makes room.
func recordOf[T any](all map[string]*record[T], decode func([]byte) (T, error), key string, at time.Time) *record[T] {
	r, ok := all[key]
	if !ok {
		if len(all) >= maxCells {
			dropOldest(all)
		}
		r = &record[T]{key: key, decode: decode}
		all[key] = r
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if at.After(r.used) {
		r.used = at
	}
	return r
}

// dropOldest removes the record that was used longest ago; it prefers those without unsaved changes.
func dropOldest[T any](all map[string]*record[T]) {
	oldest, found, saved := "", false, false
	var since time.Time
	for key, r := range all {
		at, unsaved := r.state()
		if better := !unsaved && !saved || unsaved != saved && at.Before(since); !found || better {
			oldest, since, found, saved = key, at, true, !unsaved
		}
	}
	delete(all, oldest)
}

// state returns when the record was last used, and whether it has unsaved changes.
func (r *record[T]) state() (used time.Time, unsaved bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used, r.unsaved
}

// current returns the value as it is stored now. Many judgments of one user read the same record at once:
// they do not wait for each other's round trip to the store.
func (r *record[T]) current(ctx context.Context, store KV) (T, error) {
	r.ahead.Store(aheadFor)
	var stored []byte
	var rev approver.Rev
	var err error
	if store != nil {
		stored, rev, err = get(ctx, store, r.key)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if store != nil && err == nil {
		err = r.take(stored, rev)
	}
	return r.value, err
}

// load reads the record. The caller holds the lock.
func (r *record[T]) load(ctx context.Context, store KV) error {
	if store == nil {
		return nil
	}
	stored, rev, err := get(ctx, store, r.key)
	if err != nil {
		return err
	}
	return r.take(stored, rev)
}

// take decodes what was read, unless it is known. The caller holds the lock.
func (r *record[T]) take(stored []byte, rev approver.Rev) error {
	if r.read && rev == r.rev {
		return nil
	}
	value, err := r.decode(stored)
	if err == nil {
		r.value, r.rev, r.read = value, rev, true
	}
	return err
}

// update stores the next value of the record, and computes it again if somebody else has changed the
// record in between. next also encodes the value; if it returns no text, nothing changes. what says
// what the record is for.
func (r *record[T]) update(
	ctx context.Context, store KV, what string, keepUntil time.Time, next func(T) (T, []byte, error),
) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range attempts {
		if err := r.load(ctx, store); err != nil {
			return err
		}
		value, encoded, err := next(r.value)
		if err != nil || encoded == nil {
			return err
		}
		if err = r.save(ctx, store, encoded, keepUntil); err == nil {
			r.value = value
			return nil
		}
		if !errors.Is(err, approver.ErrConflict) {
			return fmt.Errorf("remember %s: %w", what, err)
		}
	}
	return fmt.Errorf("remember %s: %w", what, errBusy)
}

// save replaces the known revision. It returns [approver.ErrConflict] if somebody else has changed
// the record. The caller holds the lock.
func (r *record[T]) save(ctx context.Context, store KV, encoded []byte, keepUntil time.Time) error {
	if store == nil {
		return nil
	}
	next := approver.NewRev()
	err := put(ctx, store, r.key, encoded, r.rev, next, keepUntil)
	if r.read = err == nil; r.read { // else it is not known which one is there
		r.rev = next
	}
	return err
}

// errBusy means that others kept changing a record.
var errBusy = errors.New("others change it all the time")

// put writes a record. It tries again if it is not known whether the write succeeded.
func put(ctx context.Context, store KV, key string, value []byte, prev, next approver.Rev, keepUntil time.Time) error {
	err := store.Put(ctx, key, value, prev, next, time.Time{}, keepUntil)
	if err != nil && !errors.Is(err, approver.ErrConflict) && !errors.Is(err, approver.ErrTampered) && ctx.Err() == nil {
		err = store.Put(ctx, key, value, prev, next, time.Time{}, keepUntil)
	}
	return err
}

// get reads a record; a missing record is empty.
func get(ctx context.Context, store KV, key string) ([]byte, approver.Rev, error) {
	value, rev, err := store.Get(ctx, key)
	if errors.Is(err, approver.ErrNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read what is remembered: %w", err)
	}
	return value, rev, nil
}

// decode decodes the record about something. It leaves an empty one unchanged.
func decode(b []byte, of string, record any) error {
	if len(b) > maxRecord {
		return fmt.Errorf("what is remembered of %s has %d bytes, more than %d", of, len(b), maxRecord)
	}
	if err := json.Unmarshal(b, record); err != nil {
		return fmt.Errorf("what is remembered of %s: %w", of, err)
	}
	return nil
}

// errVersion means that a record has a version that this build cannot read.
func errVersion(of string, form int, reads any) error {
	return fmt.Errorf("what is remembered of %s is in form %d, and this version reads %v", of, form, reads)
}
