package quota

import (
	"bytes"
	"cmp"
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
	// storeTime bounds one change of a record with all its repeats, and the wait for others'.
	storeTime = 2 * time.Second
	// resends is how often a write with an ambiguous error is sent again.
	resends = 2
)

var errClosed = errors.New("the quota is closed")

// An updater changes records by compare-and-set. In one process, one goroutine at a time
// writes a record. Changes that come meanwhile share the next write, so that a process
// contends only with other processes. Make one with newUpdater.
type updater[S any] struct {
	store approver.KV

	mu sync.Mutex
	// waiting are the changes for the next write, by the schema's name. A name is present
	// while its record is written.
	waiting map[string][]*pending[S]
	closed  bool
	running sync.WaitGroup
}

func newUpdater[S any](store approver.KV) *updater[S] {
	return &updater[S]{store: store, waiting: make(map[string][]*pending[S])}
}

// A schema describes how a record is stored.
type schema[S any] struct {
	name  string                          // the records with one name are written one after another
	key   func(now time.Time) string      // of the record that counts
	check func(s *S, key string) error    // of a record that was read
	times func(s *S, now time.Time) times // of a record that is written
}

// times are the time until which a write is valid (zero: always), and the time until which
// the record is kept.
type times struct{ before, keep time.Time }

// A step changes a record, and reports whether it did. id names the change. A step may run
// several times, each time on the stored record; the last run counts.
type step[S any] func(s *S, now time.Time, id approver.Rev) (changed bool, result error)

// An outcome is the result of a change.
type outcome[S any] struct {
	id     approver.Rev
	state  S     // with this change, and those that shared its write
	result error // of the step
	unsure bool  // with an error: it may have been written
}

// A pending change is one that is not done.
type pending[S any] struct {
	outcome[S]
	ctx  context.Context
	step step[S]
	gone error      // the end of ctx, if the step did not run
	done chan error // takes one value
}

// open counts something as under way, unless the updater is closed.
func (u *updater[S]) open() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		u.running.Add(1)
	}
	return !u.closed
}

// close refuses every later change and waits for those that are under way, at most
// about storeTime.
func (u *updater[S]) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.running.Wait()
}

// change runs a step and stores its result. With an error the record may have been
// changed, but the caller must not rely on it.
func (u *updater[S]) change(ctx context.Context, b schema[S], f step[S]) (o outcome[S], err error) {
	if err := ctx.Err(); err != nil {
		return o, err
	}
	if !u.open() {
		return o, errClosed
	}
	defer u.running.Done()
	ctx, cancel := context.WithTimeoutCause(ctx, storeTime, errSlow)
	defer cancel()
	defer func() { err = slow(ctx, err) }()
	p := &pending[S]{outcome: outcome[S]{id: approver.NewRev()}, ctx: ctx, step: f, done: make(chan error, 1)}
	if u.begin(b, p) {
		defer u.writeWaiting(b)
		err = u.write(ctx, b, []*pending[S]{p})
		return p.outcome, cmp.Or(err, p.gone)
	}
	select {
	case err := <-p.done:
		return p.outcome, err
	case <-ctx.Done(): // p belongs to the goroutine that writes it
		return outcome[S]{id: p.id, unsure: true}, ctx.Err()
	}
}

// errSlow is the cause of a change that was not stored within storeTime.
var errSlow = fmt.Errorf("%w within %v", approver.ErrAway, storeTime)

// slow says of an error that the store was too slow, if that is its cause.
func slow(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSlow) && !errors.Is(err, approver.ErrAway) {
		return fmt.Errorf("%w: %w", errSlow, err)
	}
	return err
}

// begin says that the caller now writes the record. If another goroutine does, it puts the
// change among those that this goroutine writes next.
func (u *updater[S]) begin(b schema[S], p *pending[S]) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	waiting, busy := u.waiting[b.name]
	if busy {
		waiting = append(waiting, p)
	}
	u.waiting[b.name] = waiting
	return !busy
}

// next returns the changes that have come while the record was written. If there are none, the
// record is no longer written.
func (u *updater[S]) next(b schema[S]) []*pending[S] {
	u.mu.Lock()
	defer u.mu.Unlock()
	batch := u.waiting[b.name]
	if u.waiting[b.name] = nil; batch == nil {
		delete(u.waiting, b.name)
	}
	return batch
}

// writeWaiting begins to write the changes that have come meanwhile, until there are none. The
// end of one caller's context does not end that.
func (u *updater[S]) writeWaiting(b schema[S]) {
	batch := u.next(b)
	if batch == nil {
		return
	}
	u.running.Go(func() {
		for ; batch != nil; batch = u.next(b) {
			ctx, cancel := context.WithTimeout(context.Background(), storeTime)
			err := u.write(ctx, b, batch)
			cancel()
			for _, p := range batch {
				p.done <- cmp.Or(err, p.gone)
			}
		}
	})
}

// write makes the changes of a batch in one write.
func (u *updater[S]) write(ctx context.Context, b schema[S], batch []*pending[S]) (err error) {
	defer func() {
		if p := recover(); p != nil { // a defect must not end the daemon
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	for repeat := 0; ; repeat++ {
		s, r, changed, err := u.try(ctx, b, batch)
		if err != nil || !changed {
			return err
		}
		ambiguous, err := put(ctx, u.store, b, &s, r)
		if err == nil {
			return nil
		}
		for _, p := range batch {
			p.unsure = p.unsure || ambiguous
		}
		if !errors.Is(err, approver.ErrConflict) && !errors.Is(err, approver.ErrOverdue) {
			return fmt.Errorf("%s: %w", r.key, err)
		}
		if err := pause(ctx, repeat); err != nil { // another process was faster
			return fmt.Errorf("%s: others changed it %d times meanwhile: %w", r.key, repeat+1, err)
		}
	}
}

// try reads the record and runs the steps on it. changed says that it is to be written.
func (u *updater[S]) try(ctx context.Context, b schema[S], batch []*pending[S]) (
	s S, r reading, changed bool, err error) {
	if s, r, err = read(ctx, u.store, b); err != nil {
		return s, r, false, err
	}
	for _, p := range batch {
		if p.gone = p.ctx.Err(); p.gone != nil {
			continue // nobody waits for it
		}
		var did bool
		did, p.result = p.step(&s, r.now, p.id)
		changed = changed || did
	}
	for _, p := range batch {
		p.state = s
	}
	return s, r, changed, nil
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

// put replaces the record that was read. ambiguous says that it may have been written
// despite an error.
func put[S any](ctx context.Context, store approver.KV, b schema[S], s *S, r reading) (
	ambiguous bool, err error) {
	value, err := json.Marshal(s)
	if err != nil {
		return false, err
	}
	t, next := b.times(s, r.now), approver.NewRev()
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
