package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"approver.example"
)

// A stored is what all records have: where they lie, and which revision of them is known.
type stored struct {
	mu   sync.Mutex
	key  string
	rev  approver.Rev
	read bool
	used time.Time
}

func (s *stored) named(key string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
	if at.After(s.used) {
		s.used = at
	}
}

func (s *stored) idle() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, true
}

// changed reads the record, and says whether it is another one than is known.
func (s *stored) changed(ctx context.Context, store KV) (value []byte, rev approver.Rev, changed bool, err error) {
	if store == nil {
		return nil, "", false, nil
	}
	value, rev, err = get(ctx, store, s.key)
	return value, rev, err == nil && (!s.read || rev != s.rev), err
}

// save writes the record in place of the one that is known. It is [approver.ErrConflict] if
// somebody else has changed that one.
func (s *stored) save(ctx context.Context, store KV, value []byte, keepUntil time.Time) error {
	if store == nil {
		return nil
	}
	next := approver.NewRev()
	if err := put(ctx, store, s.key, value, s.rev, next, keepUntil); err != nil {
		s.read = false // it is not known which one is there
		return err
	}
	s.rev = next
	return nil
}

// errBusy is that others change a record all the time.
var errBusy = errors.New("others change it all the time")

// put writes a record once more if it is not known whether it was written.
func put(ctx context.Context, store KV, key string, value []byte, prev, next approver.Rev, keepUntil time.Time) error {
	err := store.Put(ctx, key, value, prev, next, time.Time{}, keepUntil)
	if err != nil && !errors.Is(err, approver.ErrConflict) && !errors.Is(err, approver.ErrTampered) && ctx.Err() == nil {
		err = store.Put(ctx, key, value, prev, next, time.Time{}, keepUntil)
	}
	return err
}

// get reads a record; one that is not there is empty.
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

// decode reads a record of what is remembered of something. An empty one stays as it is.
func decode(b []byte, of string, record any) error {
	if len(b) > maxRecord {
		return fmt.Errorf("what is remembered of %s has %d bytes, more than %d", of, len(b), maxRecord)
	}
	if err := json.Unmarshal(b, record); err != nil {
		return fmt.Errorf("what is remembered of %s: %w", of, err)
	}
	return nil
}

// errForm is that a record has a form that this version does not read.
func errForm(of string, form int, reads any) error {
	return fmt.Errorf("what is remembered of %s is in form %d, and this version reads %v", of, form, reads)
}
