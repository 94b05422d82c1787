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
	// storeTime bounds one change of a record with all its repeats.
	storeTime = 2 * time.Second
	// maxWaiting bounds the callers that wait for the write that is under way.
	maxWaiting = 4096
	// resends is how often a write with an ambiguous error is sent again.
	resends = 2
)

var (
	errClosed  = errors.New("the quota is closed")
	errWaiting = fmt.Errorf("%d callers wait for the store already", maxWaiting)
)

// An ask is one caller's change of a record.
type ask[S any] struct {
	ctx context.Context
	// step changes the record, and says whether it did. It may run several times,
	// each time on the record as it is stored; the last run counts.
	step   func(s *S, now time.Time) (changed bool, result error)
	result error
	done   chan error // takes one value
}

// A book says how a record is kept. All functions but key and times may be nil.
type book[S any] struct {
	key   func(now time.Time) string
	check func(s *S, key string) error // of a record that was read
	// times says until when a write counts (zero: always), and how long the record
	// is kept.
	times func(s *S, now time.Time) (before, keep time.Time)
	// begin and finish run before and after the steps of each try.
	begin  func(s *S, now time.Time)
	finish func(s *S, now time.Time, next approver.Rev) (changed bool)
	// ended runs once when it is known what became of the asks. unsure are revisions
	// that may or may not have been written before.
	ended func(s *S, now time.Time, wrote bool, unsure []approver.Rev, err error)
}

// A cell is one record that many callers change at once. One write at a time is
// under way; all who come meanwhile go into the next one together. So the price
// of a compare-and-set is shared, and a process contends only with other processes.
type cell[S any] struct {
	store approver.KV
	group *sync.WaitGroup // counts the goroutines
	book  book[S]

	mu      sync.Mutex
	waiting []*ask[S]
	busy    bool
	closed  bool

	// Of the goroutine that writes.
	guess string // the key that counted last
	rev   approver.Rev
}

// do makes a change and returns its result. An error of the store is wrapped in
// ErrUnknown: then the change may have been made, and nothing may run because of it.
func (c *cell[S]) do(ctx context.Context, step func(s *S, now time.Time) (bool, error)) error {
	if err := ctx.Err(); err != nil {
		return unknown(err)
	}
	a := &ask[S]{ctx: ctx, step: step, done: make(chan error, 1)}
	c.mu.Lock()
	switch {
	case c.closed:
		c.mu.Unlock()
		return unknown(errClosed)
	case len(c.waiting) >= maxWaiting:
		c.mu.Unlock()
		return unknown(errWaiting)
	}
	c.waiting = append(c.waiting, a)
	if !c.busy {
		c.busy = true
		c.group.Go(c.run)
	}
	c.mu.Unlock()
	select {
	case err := <-a.done:
		return err
	case <-ctx.Done():
		return unknown(ctx.Err())
	}
}

// close refuses every later call.
func (c *cell[S]) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// run makes the changes that wait until none does. No call's context ends it:
// others wait for the same write.
func (c *cell[S]) run() {
	for {
		c.mu.Lock()
		batch := c.waiting
		c.waiting = nil
		if c.busy = len(batch) > 0; !c.busy {
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		err := c.commit(batch)
		for _, a := range batch {
			if err != nil {
				a.result = unknown(err)
			}
			a.done <- a.result
		}
	}
}

// commit makes the changes of a batch in one write.
func (c *cell[S]) commit(batch []*ask[S]) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	var s S
	var now time.Time
	var unsure []approver.Rev
	wrote := false
	defer func() {
		if p := recover(); p != nil { // in a goroutine of ours it would end the daemon
			err = fmt.Errorf("panic: %v", p)
		}
		if c.book.ended != nil {
			c.book.ended(&s, now, wrote, unsure, err)
		}
	}()
	for try := 0; ; try++ {
		var key string
		s, key, now, err = c.read(ctx)
		if err != nil {
			return err
		}
		next := approver.NewRev()
		if !c.apply(&s, now, next, batch) {
			return nil
		}
		var ambiguous bool
		ambiguous, err = c.write(ctx, key, &s, now, next)
		if ambiguous && err != nil {
			unsure = append(unsure, next)
		}
		switch {
		case err == nil:
			wrote = true
			return nil
		case !errors.Is(err, approver.ErrConflict) && !errors.Is(err, approver.ErrOverdue):
			return fmt.Errorf("%s: %w", key, err)
		}
		if err := pause(ctx, try); err != nil {
			return fmt.Errorf("%s: others changed it %d times meanwhile: %w", key, try+1, err)
		}
	}
}

// apply makes the changes in memory and reports whether there are any.
func (c *cell[S]) apply(s *S, now time.Time, next approver.Rev, batch []*ask[S]) (changed bool) {
	if c.book.begin != nil {
		c.book.begin(s, now)
	}
	for _, a := range batch {
		if err := a.ctx.Err(); err != nil { // nobody waits for it any more
			a.result = unknown(err)
			continue
		}
		var did bool
		did, a.result = a.step(s, now)
		changed = changed || did
	}
	if c.book.finish != nil {
		changed = c.book.finish(s, now, next) || changed
	}
	return changed
}

// read returns the record that counts now; one that does not exist is the zero S.
func (c *cell[S]) read(ctx context.Context) (s S, key string, now time.Time, err error) {
	if c.guess == "" {
		if now, err = c.store.Now(ctx); err != nil {
			return s, "", now, err
		}
		c.guess = c.book.key(now)
	}
	for range 3 { // a guess is wrong once, when the day changes
		var value []byte
		key = c.guess
		value, c.rev, now, err = getNow(ctx, c.store, key)
		found := err == nil
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return s, key, now, fmt.Errorf("%s: %w", key, err)
		}
		if c.guess = c.book.key(now); c.guess != key {
			continue
		}
		if !found {
			c.rev = ""
			return s, key, now, nil
		}
		if err = decode(value, &s); err == nil && c.book.check != nil {
			err = c.book.check(&s, key)
		}
		if err != nil {
			return s, key, now, fmt.Errorf("%s is damaged: remove it from the store once you know why: %w", key, err)
		}
		return s, key, now, nil
	}
	return s, key, now, errors.New("the store's clock jumps")
}

// write writes the record if nobody else did. ambiguous says that it may have been
// written though there is an error.
func (c *cell[S]) write(ctx context.Context, key string, s *S, now time.Time, next approver.Rev) (ambiguous bool, err error) {
	value, err := json.Marshal(s)
	if err != nil {
		return false, err
	}
	before, keep := c.book.times(s, now)
	for range 1 + resends {
		err = c.store.PutBefore(ctx, before, key, value, c.rev, next, time.Time{}, keep)
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
