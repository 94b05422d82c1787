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

// A storedRecord is the common part of all records: the key, and the last known revision.
type storedRecord struct {
	mu   sync.Mutex
	key  string
	rev  approver.Rev
	read bool
	used time.Time
}

func (s *storedRecord) named(key string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
	if at.After(s.used) {
		s.used = at
	}
}

func (s *storedRecord) idle() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, true
}

// refresh reads the record, and calls take with its value only if it has changed.
func (s *storedRecord) refresh(ctx context.Context, store KV, take func(value []byte) error) error {
	if store == nil {
		return nil
	}
	value, rev, err := get(ctx, store, s.key)
	if err != nil || s.read && rev == s.rev {
		return err
	}
	if err := take(value); err != nil {
		return err
	}
	s.rev, s.read = rev, true
	return nil
}

// A change is the next value of a record, and what to do once it is stored. The zero value changes
// nothing.
type change struct {
	value     []byte
	keepUntil time.Time
	stored    func()
}

// update stores a change of the record, and computes it again if somebody else has changed the
// record in between. what says what the record is for.
func (s *storedRecord) update(ctx context.Context, store KV, what string, next func() (change, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range attempts {
		c, err := next()
		if err != nil || c.value == nil {
			return err
		}
		if err = s.save(ctx, store, c.value, c.keepUntil); err == nil {
			c.stored()
			return nil
		}
		if !errors.Is(err, approver.ErrConflict) {
			return fmt.Errorf("remember %s: %w", what, err)
		}
	}
	return fmt.Errorf("remember %s: %w", what, errBusy)
}

// save replaces the known revision. It returns [approver.ErrConflict] if somebody else has changed
// the record.
func (s *storedRecord) save(ctx context.Context, store KV, value []byte, keepUntil time.Time) error {
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
