package sqlitestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"approver.example"
	"approver.example/store/internal/arg"
)

// The most that one transaction takes.
const (
	maxBatch      = 256      // operations
	maxBatchBytes = 32 << 20 // values
	gcInBatch     = 16       // records forgotten beside the batch
	gcWhenIdle    = 256      // records forgotten while there is nothing else to do
)

// An op is one operation on its way through the writer.
type op struct {
	ctx   context.Context
	parts []part // what it writes: their watchers are woken
	size  int    // bytes that it writes
	// apply decides, inside the batch's transaction, what the operation does, and adds it to the
	// batch. wrote says that there is something to commit. result is the outcome of this operation
	// alone; failure fails the whole batch.
	apply func(b *batch) (wrote bool, result, failure error)
	// undo reverts what apply changed in memory if the batch is not committed.
	undo func()

	wrote  bool
	result error
	done   chan error // takes one value
}

// do sends an operation through the writer.
func (s *Store) do(o *op) error { return s.doAll(o.ctx, []*op{o})[0] }

// doAll sends operations through the writer together, and returns the outcome of each. They
// share one context.
func (s *Store) doAll(ctx context.Context, ops []*op) []error {
	errs := make([]error, len(ops))
	all := func(err error) []error {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	if err := s.begin(ctx, nil); err != nil {
		return all(err)
	}
	for _, o := range ops {
		o.done = make(chan error, 1)
	}
	select {
	case s.ops <- ops:
	case <-ctx.Done():
		return all(ctx.Err())
	case <-s.stop:
		return all(arg.ErrClosed)
	}
	for i, o := range ops {
		errs[i] = s.await(o)
	}
	return errs
}

// await waits for the writer's answer to an operation.
func (s *Store) await(o *op) error {
	select {
	case err := <-o.done:
		return err
	case <-o.ctx.Done():
		return fmt.Errorf("gave up waiting for the disk; it may or may not be written: %w", o.ctx.Err())
	case <-s.done:
	}
	select {
	case err := <-o.done: // the writer's last batch
		return err
	default:
		return arg.ErrClosed
	}
}

// Put implements approver.KV.
func (s *Store) Put(
	ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time,
) error {
	return s.PutBefore(ctx, time.Time{}, key, value, prev, next, due, keepUntil)
}

// PutBefore implements approver.KV. The clock is read when it is the write's turn.
func (s *Store) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time,
) error {
	o, err := s.put(ctx, before,
		approver.Write{Key: key, Value: value, Prev: prev, Next: next, Due: due, KeepUntil: keepUntil})
	if err != nil {
		return err
	}
	return s.do(o)
}

// PutAll implements approver.Batcher: one transaction for all.
func (s *Store) PutAll(ctx context.Context, writes []approver.Write) []error {
	errs := make([]error, len(writes))
	var ops []*op
	var of []int // which write an operation belongs to
	for i, w := range writes {
		o, err := s.put(ctx, time.Time{}, w)
		if errs[i] = err; err == nil {
			ops, of = append(ops, o), append(of, i)
		}
	}
	if len(ops) > 0 {
		for n, err := range s.doAll(ctx, ops) {
			errs[of[n]] = err
		}
	}
	return errs
}

// put makes the operation of a write.
func (s *Store) put(ctx context.Context, before time.Time, w approver.Write) (*op, error) {
	if err := arg.Write(w); err != nil {
		return nil, err
	}
	shard, err := approver.ShardOfKey(w.Key)
	if err != nil {
		return nil, err
	}
	o := &op{ctx: ctx, parts: make([]part, 0, 1+len(w.With))}
	add := func(w *approver.Write) {
		o.parts = append(o.parts, part{
			key: w.Key, shard: shard, prev: w.Prev, rev: w.Next, due: nanos(w.Due), keep: nanos(w.KeepUntil),
			// A copy: the caller may change the value once Put returns, maybe before the writer is done
			// with it.
			value: append([]byte{}, w.Value...),
		})
		o.size += len(w.Value)
	}
	add(&w)
	for i := range w.With {
		add(&w.With[i])
	}
	o.apply = func(b *batch) (bool, error, error) {
		now, _ := s.clock.read()
		for i := range o.parts {
			if done, err := b.check(&o.parts[i], now); err != nil || done && i == 0 {
				return false, err, nil
			}
		}
		if !before.IsZero() && now >= before.UnixNano() {
			return false, approver.ErrOverdue, nil
		}
		for i := range o.parts {
			b.put(&o.parts[i])
		}
		return true, nil, nil
	}
	return o, nil
}

// nanos returns t in Unix nanoseconds; the zero time is never.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return never
	}
	return t.UnixNano()
}

// Lease implements approver.KV. No other process can have the file, so the
// lease is always granted, and held until the store is closed.
func (s *Store) Lease(ctx context.Context, name string, ttl time.Duration) (approver.Fence, error) {
	if err := arg.Lease(name, ttl); err != nil {
		return 0, err
	}
	granted := make(chan approver.Fence, 1)
	o := &op{ctx: ctx}
	o.apply = func(b *batch) (bool, error, error) {
		fence, ok := s.held[name]
		if !ok {
			last, err := b.fence(name)
			if err != nil {
				return false, nil, err
			}
			fence = last + 1
			s.held[name] = fence
			o.undo = func() { delete(s.held, name) }
			b.fences = append(b.fences, name)
		}
		granted <- fence
		return !ok, nil, nil
	}
	if err := s.do(o); err != nil {
		return 0, err
	}
	return <-granted, nil
}

// Now implements approver.KV, with nanosecond precision. It is the system's clock, kept from
// going back across restarts by a mark in the file.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := s.begin(ctx, nil); err != nil {
		return time.Time{}, err
	}
	now, covered := s.clock.read()
	if covered < 0 {
		// A commit moves a mark that is near; this one does nothing else.
		err := s.do(&op{ctx: ctx, apply: func(*batch) (bool, error, error) { return true, nil, nil }})
		if err != nil {
			return time.Time{}, err
		}
	}
	return time.Unix(0, now).UTC(), nil
}

// write is the one goroutine that changes the file. It ends after Close.
func (s *Store) write() {
	defer close(s.done)
	gc := time.NewTimer(s.gcEvery)
	defer gc.Stop()
	for {
		select {
		case ops := <-s.ops:
			s.commit(s.gather(ops))
			s.checkpoints.keepUp(s)
		case <-gc.C:
			if more := s.forget(); more {
				gc.Reset(time.Millisecond) // lets operations through in between
			} else {
				s.checkpoints.wake() // a log that nothing is added to is in the file soon
				gc.Reset(s.gcEvery)
			}
		case <-s.stop:
			s.finish()
			return
		}
	}
}

// gather adds whatever else is waiting now. Operations that came together stay together, so the
// last group may take a batch over its limits.
func (s *Store) gather(batch []*op) []*op {
	size := 0
	for more := batch; ; {
		for _, o := range more {
			size += o.size
		}
		if len(batch) >= maxBatch || size >= maxBatchBytes {
			return batch
		}
		select {
		case more = <-s.ops:
			batch = append(batch, more...)
		default:
			return batch
		}
	}
}

// commit does a batch in one transaction and then tells everybody the outcome. Nobody is told
// anything before: an operation may have failed because of another one in the same batch, and
// that reason is gone if the batch is not committed.
func (s *Store) commit(ops []*op) {
	err := s.transact(0, gcInBatch, func(b *batch) (bool, error) {
		wrote := false
		for _, o := range ops {
			if o.result = o.ctx.Err(); o.result != nil {
				continue // nobody waits for it any more
			}
			var failure error
			if o.wrote, o.result, failure = o.apply(b); failure != nil || b.failure != nil {
				return false, errors.Join(failure, b.failure)
			}
			wrote = wrote || o.wrote
		}
		return wrote, nil
	})
	for _, o := range ops {
		switch {
		case err != nil:
			if o.undo != nil {
				o.undo()
			}
			o.result = err
		case o.wrote:
			for i := range o.parts {
				s.hub.Wake(o.parts[i].key)
			}
		}
		o.done <- o.result
	}
}

// transact runs f in a transaction, writes what it adds to the batch, removes a few expired
// records, and moves the clock's mark: to the one given, or for 0 to the usual distance if it is
// near. If f wrote nothing, nothing is committed. If there is no error, what f wrote is on disk.
func (s *Store) transact(mark int64, forget int, f func(b *batch) (wrote bool, err error)) (err error) {
	if s.broken == nil {
		s.broken = cmp.Or(s.conn.dead, s.lost())
	}
	if s.broken != nil {
		return s.broken
	}
	defer func() {
		if isDamaged(err) {
			s.broken = err // what else is wrong with the file is unknown
		}
	}()
	defer guard(s.path, &err, &s.conn.dead)()
	if err := s.there(); err != nil {
		return err
	}
	b := &s.batch
	s.disk.begin()
	b.begin(s)
	wrote, err := f(b)
	err = errors.Join(err, b.failure)
	if err == nil && wrote {
		now, covered := s.clock.read()
		if mark == 0 && covered < reserve/2 {
			mark = now + int64(reserve)
		}
		err = b.write(now, mark, forget)
	}
	if err != nil || !wrote {
		return errors.Join(s.failed(err), b.rollback())
	}
	s.recents.begin(b.puts)
	err = s.conn.commit.Exec()
	s.recents.end(b.puts, err == nil)
	if err != nil {
		s.disk.uncommitted(err)
		return errors.Join(s.failed(err), b.rollback())
	}
	s.clock.marked(mark)
	return nil
}

// forget frees the space of expired records, in one small step, and reports whether there may
// be more.
func (s *Store) forget() bool {
	n := 0
	err := s.transact(0, gcWhenIdle, func(b *batch) (bool, error) {
		now, _ := s.clock.read()
		n = len(b.collect(now, gcWhenIdle))
		return n > 0, nil
	})
	if err != nil {
		s.log.Warn("could not forget old records", "error", err)
		return false
	}
	return n == gcWhenIdle
}

// lost says that it is unknown what is on disk, as after a failed sync: the system may have dropped
// the pages that it could not write, so another sync would succeed and prove nothing.
func (s *Store) lost() error {
	if since, err := s.disk.lost(); err != nil {
		return fmt.Errorf("no write since %s; restart approver when the disk is well: store %s: %w", since, s.path, err)
	}
	return nil
}

// failed explains why a transaction failed.
func (s *Store) failed(err error) error {
	if err == nil {
		return nil
	}
	cause := s.disk.failure()
	if s.broken = s.lost(); s.broken != nil {
		return s.broken
	}
	return explain(s.path, because(err, cause))
}

// finish answers the last operations and writes the clock's last reading, so that the clock of
// a store that is closed properly does not jump when it is opened again.
func (s *Store) finish() {
	for len(s.ops) > 0 {
		for _, o := range <-s.ops {
			o.done <- arg.ErrClosed
		}
	}
	now, _ := s.clock.read()
	if err := s.transact(now, 0, func(*batch) (bool, error) { return true, nil }); err != nil {
		s.log.Warn("could not write the clock's last reading", "error", err)
	}
}
