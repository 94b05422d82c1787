package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"

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
	ctx  context.Context
	keys []string // whose watchers are woken
	size int      // bytes that it writes
	// apply does the operation inside the batch's transaction. wrote says that there is
	// something to commit. result is the outcome of this operation alone; failure fails the
	// whole batch.
	apply func(tx *bbolt.Tx) (wrote bool, result, failure error)
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

// A part is one record of a write.
type part struct {
	key     string
	prev    approver.Rev
	new     record
	encoded []byte
	old     record // as the transaction found it
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
	o := &op{ctx: ctx}
	var parts []part
	for _, w := range w.All() {
		r := record{rev: w.Next, due: nanos(w.Due), keep: nanos(w.KeepUntil), value: w.Value}
		// Encoding copies the value: the caller may change it once Put returns, maybe before the
		// writer is done with it.
		encoded := r.encode()
		r.value = encoded[headLen:]
		parts = append(parts, part{key: w.Key, prev: w.Prev, new: r, encoded: encoded})
		o.keys, o.size = append(o.keys, w.Key), o.size+len(encoded)
	}
	o.apply = func(tx *bbolt.Tx) (bool, error, error) {
		now, _ := s.clock.read()
		for i := range parts {
			if done, err := parts[i].check(tx, now); err != nil || done && i == 0 {
				return false, err, nil
			}
		}
		if !before.IsZero() && now >= before.UnixNano() {
			return false, approver.ErrOverdue, nil
		}
		for _, p := range parts {
			if err := replace(tx, shard, p.key, p.old, p.new, p.encoded); err != nil {
				return false, nil, err
			}
		}
		return true, nil, nil
	}
	return o, nil
}

// check finds the record that the part replaces. done reports that it was written before.
func (p *part) check(tx *bbolt.Tx, now int64) (done bool, err error) {
	old, found, err := lookup(tx, p.key, now)
	switch {
	case err != nil:
		return false, err
	case found && old.rev == p.new.rev:
		if !bytes.Equal(old.value, p.new.value) {
			return false, approver.ErrConflict // a revision used twice
		}
		return true, nil
	case found && old.rev != p.prev, !found && p.prev != "":
		return false, approver.ErrConflict
	}
	p.old = old
	return false, nil
}

// replace writes a record and its entries. old may be the zero value. It does not touch entries
// that stay the same: every page of the file that a transaction touches is written again.
func replace(tx *bbolt.Tx, shard int, key string, old, r record, encoded []byte) error {
	isNew := old.rev == ""
	sameKeep := !isNew && old.keep == r.keep
	sameDue := sameKeep && old.due == r.due // a due entry holds both times
	var errs [5]error
	if !isNew && !sameDue {
		errs[0] = unlistDue(tx, shard, key, old)
	}
	if !isNew && !sameKeep {
		errs[1] = unlistKeep(tx, key, old)
	}
	if r.due != never && !sameDue {
		keep := binary.BigEndian.AppendUint64(nil, uint64(r.keep))
		errs[2] = tx.Bucket(dues).Put(dueEntry(shard, r.due, key), keep)
	}
	if r.keep != never && !sameKeep {
		errs[3] = tx.Bucket(keeps).Put(keepEntry(r.keep, key), nil)
	}
	errs[4] = tx.Bucket(records).Put([]byte(key), encoded)
	return errors.Join(errs[:]...)
}

func unlistDue(tx *bbolt.Tx, shard int, key string, r record) error {
	if r.due == never {
		return nil
	}
	return tx.Bucket(dues).Delete(dueEntry(shard, r.due, key))
}

func unlistKeep(tx *bbolt.Tx, key string, r record) error {
	if r.keep == never {
		return nil
	}
	return tx.Bucket(keeps).Delete(keepEntry(r.keep, key))
}

// Lease implements approver.KV. No other process can have the file, so the
// lease is always granted, and held until the store is closed.
func (s *Store) Lease(ctx context.Context, name string, ttl time.Duration) (approver.Fence, error) {
	if err := arg.Lease(name, ttl); err != nil {
		return 0, err
	}
	granted := make(chan approver.Fence, 1)
	o := &op{ctx: ctx}
	o.apply = func(tx *bbolt.Tx) (bool, error, error) {
		if fence, ok := s.held[name]; ok {
			granted <- fence
			return false, nil, nil
		}
		var fence uint64
		if b := tx.Bucket(leases).Get([]byte(name)); len(b) == 8 {
			fence = binary.BigEndian.Uint64(b)
		}
		fence++
		s.held[name] = approver.Fence(fence)
		o.undo = func() { delete(s.held, name) }
		granted <- approver.Fence(fence)
		return true, nil, tx.Bucket(leases).Put([]byte(name), binary.BigEndian.AppendUint64(nil, fence))
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
	if !covered {
		// Any commit moves the mark; this one does nothing else.
		err := s.do(&op{ctx: ctx, apply: func(*bbolt.Tx) (bool, error, error) { return true, nil, nil }})
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
		case <-gc.C:
			if more := s.forget(); more {
				gc.Reset(time.Millisecond) // lets operations through in between
			} else {
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
func (s *Store) commit(batch []*op) {
	err := s.transact(0, func(tx *bbolt.Tx) (bool, error) {
		wrote := false
		for _, o := range batch {
			if o.result = o.ctx.Err(); o.result != nil {
				continue // nobody waits for it any more
			}
			var failure error
			if o.wrote, o.result, failure = o.apply(tx); failure != nil {
				return false, failure
			}
			wrote = wrote || o.wrote
		}
		return wrote, nil
	})
	for _, o := range batch {
		switch {
		case err != nil:
			if o.undo != nil {
				o.undo()
			}
			o.result = err
		case o.wrote:
			for _, key := range o.keys {
				s.hub.Wake(key)
			}
		}
		o.done <- o.result
	}
}

// transact runs f in a transaction, moves the clock's mark (to the one given, or for 0 to the
// usual distance), and removes a few expired records. If f wrote nothing, nothing is committed.
// If there is no error, what f wrote is on disk.
func (s *Store) transact(mark int64, f func(tx *bbolt.Tx) (wrote bool, err error)) (err error) {
	if s.broken != nil {
		return s.broken
	}
	defer func() {
		if isDamaged(err) {
			s.broken = err // what else is wrong with the file is unknown
		}
	}()
	defer guard(s.path, &err)()
	if err := s.there(); err != nil {
		return err
	}
	tx, err := s.db.Begin(true)
	if err != nil {
		return fmt.Errorf("store %s: %w", s.path, err)
	}
	// Commit does not end the transaction after every error.
	defer func() { _ = tx.Rollback() }()
	wrote, err := f(tx)
	if err != nil || !wrote {
		return s.failed(err)
	}
	now, _ := s.clock.read()
	if mark == 0 {
		mark = now + int64(reserve)
	}
	if _, err := collect(tx, now, gcInBatch); err != nil {
		return s.failed(err)
	}
	if err := tx.Bucket(meta).Put(markName, binary.BigEndian.AppendUint64(nil, uint64(mark))); err != nil {
		return s.failed(err)
	}
	err = tx.Commit()
	s.syncs.Add(commitSyncs)
	if err != nil {
		err = s.failed(err)
		if syncFailed(err) {
			s.broken = fmt.Errorf("no write since a sync failed; restart approver when the disk is well: %w", err)
		}
		return err
	}
	s.clock.marked(mark)
	return nil
}

// commitSyncs are the syncs of one commit: of the pages, and then of the page that makes them valid.
const commitSyncs = 2

// Work implements approver.Meter.
func (s *Store) Work() approver.Work { return approver.Work{Syncs: s.syncs.Load()} }

func (s *Store) failed(err error) error {
	if err == nil {
		return nil
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		// For some errors, bbolt keeps only the text.
		if strings.Contains(err.Error(), full.Error()) {
			return fmt.Errorf("store %s: no room on the disk: make some, or move the store: %w", s.path, err)
		}
	}
	return fmt.Errorf("store %s: %w", s.path, err)
}

// syncFailed distinguishes a failed sync from a failed write. After a failed sync the system
// may have dropped the pages that it could not write, so another sync would succeed and prove
// nothing. For a sync bbolt returns the bare errno, for a write an error with a path.
func syncFailed(err error) bool {
	var errno syscall.Errno
	var path *fs.PathError
	return errors.As(err, &errno) && !errors.As(err, &path)
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
	if err := s.transact(now, func(*bbolt.Tx) (bool, error) { return true, nil }); err != nil {
		s.log.Warn("could not write the clock's last reading", "error", err)
	}
}
