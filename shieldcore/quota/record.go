package quota

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"approver.example"
)

const (
	// storeTime bounds one change of a record with all its repeats, and the wait for
	// the lock.
	storeTime = 2 * time.Second
	// resends is how often a write with an ambiguous error is sent again.
	resends = 2
	// lockCount is the number of locks: how many records one process can write at a time.
	lockCount = 64
)

var errClosed = errors.New("the quota is closed")

// An updater changes records by compare-and-set. Writers in one process take a lock, so
// that a process contends only with other processes. Make one with newUpdater.
type updater struct {
	store approver.KV
	locks [lockCount]chan struct{} // full while locked: who waits for one can give up

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

func newUpdater(store approver.KV) *updater {
	u := &updater{store: store}
	for i := range u.locks {
		u.locks[i] = make(chan struct{}, 1)
	}
	return u
}

// lock takes the lock with a number, and says whether it had to wait.
func (u *updater) lock(ctx context.Context, number uint32) (waited bool, err error) {
	lock := u.locks[number%lockCount]
	select {
	case lock <- struct{}{}:
		return false, nil
	default:
	}
	select {
	case lock <- struct{}{}:
		return true, nil
	case <-ctx.Done():
		return true, ctx.Err()
	}
}

func (u *updater) unlock(number uint32) { <-u.locks[number%lockCount] }

// open counts a change as under way, unless the updater is closed.
func (u *updater) open() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		u.running.Add(1)
	}
	return !u.closed
}

// close refuses every later change and waits for those that are under way, at most
// about storeTime.
func (u *updater) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.running.Wait()
}

// A schema describes how a record is stored.
type schema[S any] struct {
	number uint32                          // of the lock
	key    func(now time.Time) string      // of the record that counts
	check  func(s *S, key string) error    // of a record that was read
	times  func(s *S, now time.Time) times // of a record that is written
}

// times are the time until which a write is valid (zero: always), and the time until which
// the record is kept.
type times struct{ before, keep time.Time }

// An outcome is the result of a change.
type outcome[S any] struct {
	state   S
	result  error          // of the step
	written approver.Rev   // empty if nothing was written
	unsure  []approver.Rev // writes with an unknown outcome
}

// A step changes a record, and reports whether it did. It may run several times, each
// time on the stored record; the last run counts.
type step[S any] func(s *S, now time.Time, next approver.Rev) (changed bool, result error)

// change runs a step and stores its result. With an error the record may have been
// changed, but the caller must not rely on it.
func change[S any](ctx context.Context, u *updater, b schema[S], f step[S]) (o outcome[S], err error) {
	if err := ctx.Err(); err != nil {
		return o, err
	}
	if !u.open() {
		return o, errClosed
	}
	defer u.running.Done()
	defer func() {
		if p := recover(); p != nil { // a defect must not end the daemon
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	err = o.commit(ctx, u, b, f)
	return o, err
}

// commit reads the record, runs the step and writes the record; if another writer was
// faster, it repeats this. It takes the lock only to write, so that refused calls keep
// nobody waiting.
func (o *outcome[S]) commit(ctx context.Context, u *updater, b schema[S], f step[S]) error {
	locked := false
	defer func() {
		if locked {
			u.unlock(b.number)
		}
	}()
	for try := 0; ; try++ {
		s, r, err := read(ctx, u.store, b)
		if err != nil {
			return err
		}
		next := approver.NewRev()
		var changed bool
		changed, o.result = f(&s, r.now, next)
		if o.state = s; !changed {
			return nil
		}
		if !locked {
			waited, err := u.lock(ctx, b.number)
			if err != nil {
				return err
			}
			if locked = true; waited {
				continue // others have written it meanwhile
			}
		}
		ambiguous, err := write(ctx, u.store, b, &s, r, next)
		if ambiguous && err != nil {
			o.unsure = append(o.unsure, next)
		}
		switch {
		case err == nil:
			o.written = next
			return nil
		case !errors.Is(err, approver.ErrConflict) && !errors.Is(err, approver.ErrOverdue):
			return fmt.Errorf("%s: %w", r.key, err)
		}
		if err := pause(ctx, try); err != nil {
			return fmt.Errorf("%s: others changed it %d times meanwhile: %w", r.key, try+1, err)
		}
	}
}

// A reading is where and when a record was read.
type reading struct {
	key string
	rev approver.Rev // empty: it does not exist
	now time.Time    // by the store's clock
}

// read returns the record that counts now; one that does not exist is the zero S.
func read[S any](ctx context.Context, store approver.KV, b schema[S]) (s S, r reading, err error) {
	r.key = b.key(time.Now())
	for range 3 { // by the store's clock the record may be another one
		var value []byte
		value, r.rev, r.now, err = approver.GetNow(ctx, store, r.key)
		found := err == nil
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return s, r, fmt.Errorf("%s: %w", r.key, err)
		}
		if right := b.key(r.now); right != r.key {
			r.key = right
			continue
		}
		if !found {
			r.rev = ""
			return s, r, nil
		}
		if err = decode(value, &s); err == nil {
			err = b.check(&s, r.key)
		}
		if err != nil {
			return s, r, fmt.Errorf("%s is damaged: remove it from the store once you know why: %w", r.key, err)
		}
		return s, r, nil
	}
	return s, r, errors.New("the store's clock jumps")
}

// write replaces the record that was read. ambiguous says that it may have been written
// despite an error.
func write[S any](ctx context.Context, store approver.KV, b schema[S], s *S, r reading,
	next approver.Rev) (ambiguous bool, err error) {
	value, err := json.Marshal(s)
	if err != nil {
		return false, err
	}
	t := b.times(s, r.now)
	for range 1 + resends {
		err = store.PutBefore(ctx, t.before, r.key, value, r.rev, next, time.Time{}, t.keep)
		if err == nil || errors.Is(err, approver.ErrConflict) || errors.Is(err, approver.ErrOverdue) {
			return ambiguous, err
		}
		if ambiguous = true; ctx.Err() != nil {
			break
		}
	}
	return ambiguous, err
}

// pause waits a random time before a retry. The first retry comes at once.
func pause(ctx context.Context, try int) error {
	if try == 0 {
		return ctx.Err()
	}
	t := time.NewTimer(rand.N(500 * time.Microsecond << min(try, 5)))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// decode reads a record strictly: unknown members are an error.
func decode(value []byte, s any) error {
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind the record")
	}
	return nil
}
