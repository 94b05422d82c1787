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
	// its turn.
	storeTime = 2 * time.Second
	// resends is how often a write with an ambiguous error is sent again.
	resends = 2
	// turns is how many records one process changes at a time.
	turns = 64
)

var errClosed = errors.New("the quota is closed")

// A keeper changes records by compare-and-set. Callers of one process take turns at a
// record, so that a process contends only with other processes. Make one with
// newKeeper.
type keeper struct {
	store approver.KV
	turn  [turns]chan struct{} // has room for the one whose turn it is

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

func newKeeper(store approver.KV) *keeper {
	k := &keeper{store: store}
	for i := range k.turn {
		k.turn[i] = make(chan struct{}, 1)
	}
	return k
}

// begin waits for the turn at the records of a number. The caller calls end after it.
func (k *keeper) begin(ctx context.Context, number uint32) (end func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !k.open() {
		return nil, errClosed
	}
	turn := k.turn[number%turns]
	select {
	case turn <- struct{}{}:
		return func() { <-turn; k.running.Done() }, nil
	case <-ctx.Done():
		k.running.Done()
		return nil, ctx.Err()
	}
}

// open counts a change as under way, unless the keeper is closed.
func (k *keeper) open() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.running.Add(1)
	}
	return !k.closed
}

// close refuses every later change and waits for those that are under way, at most
// about storeTime.
func (k *keeper) close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.running.Wait()
}

// A book says how a record is kept.
type book[S any] struct {
	number uint32                          // the records of one number are changed in turn
	key    func(now time.Time) string      // of the record that counts
	check  func(s *S, key string) error    // of a record that was read
	times  func(s *S, now time.Time) times // of a record that is written
}

// times are until when a write counts (zero: always), and how long the record is kept.
type times struct{ before, keep time.Time }

// An outcome is what became of a change.
type outcome[S any] struct {
	state   S
	result  error          // of the step
	written approver.Rev   // empty if nothing was
	unsure  []approver.Rev // of writes that may have been made
}

// change reads a record, lets step change it, and writes it if nobody else did
// meanwhile; else it begins again. Step says whether it changed the record; its last
// run counts. With an error the change may have been made, and nothing may run because
// of it.
func change[S any](ctx context.Context, k *keeper, b book[S], step func(s *S, now time.Time, next approver.Rev) (changed bool, result error)) (o outcome[S], err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	end, err := k.begin(ctx, b.number)
	if err != nil {
		return o, err
	}
	defer end()
	defer func() {
		if p := recover(); p != nil { // a defect must not end the daemon
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	for try := 0; ; try++ {
		s, r, err := read(ctx, k.store, b)
		if err != nil {
			return o, err
		}
		next := approver.NewRev()
		var changed bool
		changed, o.result = step(&s, r.now, next)
		if o.state = s; !changed {
			return o, nil
		}
		ambiguous, err := write(ctx, k.store, b, &s, r, next)
		if ambiguous && err != nil {
			o.unsure = append(o.unsure, next)
		}
		switch {
		case err == nil:
			o.written = next
			return o, nil
		case !errors.Is(err, approver.ErrConflict) && !errors.Is(err, approver.ErrOverdue):
			return o, fmt.Errorf("%s: %w", r.key, err)
		}
		if err := pause(ctx, try); err != nil {
			return o, fmt.Errorf("%s: others changed it %d times meanwhile: %w", r.key, try+1, err)
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
func read[S any](ctx context.Context, store approver.KV, b book[S]) (s S, r reading, err error) {
	r.key = b.key(time.Now())
	for range 3 { // another day is the store's once
		var value []byte
		value, r.rev, r.now, err = getNow(ctx, store, r.key)
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

// write writes a record over the one that was read. ambiguous says that it may have
// been written though there is an error.
func write[S any](ctx context.Context, store approver.KV, b book[S], s *S, r reading, next approver.Rev) (ambiguous bool, err error) {
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

// pause lets others finish. The first repeat comes at once.
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

// decode reads a record strictly: what is not understood is damaged.
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

// getNow reads a record and then the clock, at once where the store can. With
// ErrNotFound, too, it returns the time.
func getNow(ctx context.Context, store approver.KV, key string) (value []byte, rev approver.Rev, now time.Time, err error) {
	if r, ok := store.(approver.ClockReader); ok {
		return r.GetNow(ctx, key)
	}
	if value, rev, err = store.Get(ctx, key); err != nil && !errors.Is(err, approver.ErrNotFound) {
		return nil, "", now, err
	}
	now, clockErr := store.Now(ctx)
	if clockErr != nil {
		return nil, "", time.Time{}, clockErr
	}
	return value, rev, now, err
}
