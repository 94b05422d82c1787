package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"

	"approver.example"
)

// This file detects a store file that is incomplete, or is no longer where it was.

// guard turns a panic into the error that the file is damaged: bbolt panics on some kinds of
// damage, and reads beyond the end of a truncated file, which faults. Defer the function that
// it returns.
func guard(path string, err *error) func() {
	faults := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(faults)
		if p := recover(); p != nil {
			*err = damaged(path, fmt.Errorf("%v", p))
		}
	}
}

// A damagedError says that a file is incomplete, or is not a store.
type damagedError struct {
	path  string
	cause error
}

// Error names the cure.
func (e *damagedError) Error() string {
	return fmt.Sprintf("store: %s is damaged, or no store: stop approver, then restore it from a copy, or move it away "+
		"to begin anew: %v", e.path, e.cause)
}

// Unwrap returns what was found.
func (e *damagedError) Unwrap() error { return e.cause }

func damaged(path string, err error) error { return &damagedError{path, err} }

func isDamaged(err error) bool {
	var d *damagedError
	return errors.As(err, &d)
}

// whole refuses a file that is shorter than its own contents say.
func whole(db *bbolt.DB, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	var holds int64
	if err := db.View(func(tx *bbolt.Tx) error { holds = tx.Size(); return nil }); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if info.Size() < holds {
		return damaged(path, fmt.Errorf("it has %d bytes of %d", info.Size(), holds))
	}
	return nil
}

// parts refuses a file that lacks a bucket, and one of another format.
func parts(tx *bbolt.Tx, path string) error {
	for _, name := range buckets {
		if tx.Bucket(name) == nil {
			return damaged(path, fmt.Errorf("it has no part %q", name))
		}
	}
	if f := tx.Bucket(meta).Get(formatName); !bytes.Equal(f, []byte{format}) {
		return fmt.Errorf("store %s: it has format %v, this approver knows %d: run the approver that wrote it", path, f,
			format)
	}
	return nil
}

// prepare makes the buckets of a new file, refuses a damaged one and another format,
// and returns the clock's mark.
func prepare(db *bbolt.DB, path string) (mark int64, err error) {
	defer guard(path, &err)()
	err = db.Update(func(tx *bbolt.Tx) error {
		if first, _ := tx.Cursor().First(); first == nil {
			return fresh(tx)
		}
		if err := parts(tx, path); err != nil {
			return err
		}
		b := tx.Bucket(meta)
		if m := b.Get(markName); len(m) == 8 {
			mark = int64(binary.BigEndian.Uint64(m))
		}
		if mark < 0 {
			return damaged(path, errors.New("its clock has a time before 1970"))
		}
		if err := complete(tx); err != nil {
			return damaged(path, err)
		}
		return nil
	})
	return mark, err
}

// fresh makes the buckets of a new file.
func fresh(tx *bbolt.Tx) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return tx.Bucket(meta).Put(formatName, []byte{format})
}

// complete returns an error unless every record is listed under its times, and nothing else is.
// A request that is on no list would stay open for ever, and nobody would see it.
func complete(tx *bbolt.Tx) error {
	listed := map[string]int{}
	unreadable := 0
	c := tx.Bucket(records).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if !has(tx.Bucket(records), k, v) {
			return fmt.Errorf("the order of the records is broken at %q", k)
		}
		r, err := decode(v)
		if err != nil {
			unreadable++ // Get reports it
			continue
		}
		shard, err := approver.ShardOfKey(string(k))
		if err != nil {
			return err
		}
		if r.due != never {
			listed[string(dues)]++
			keep := binary.BigEndian.AppendUint64(nil, uint64(r.keep))
			if !has(tx.Bucket(dues), dueEntry(shard, r.due, string(k)), keep) {
				return fmt.Errorf("the list of what is due lacks %q", k)
			}
		}
		if r.keep != never {
			listed[string(keeps)]++
			if !has(tx.Bucket(keeps), keepEntry(r.keep, string(k)), nil) {
				return fmt.Errorf("the list of what is kept lacks %q", k)
			}
		}
	}
	for name, head := range map[string]int{string(dues): 9, string(keeps): 8} { // the bytes before the key
		n := 0
		c := tx.Bucket([]byte(name)).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if len(k) <= head || tx.Bucket(records).Get(k[head:]) == nil || !has(tx.Bucket([]byte(name)), k, v) {
				return fmt.Errorf("the list %q names %q, which is no record", name, k)
			}
			n++
		}
		if n < listed[name] || n > listed[name]+unreadable {
			return fmt.Errorf("the list %q names %d records of %d", name, n, listed[name])
		}
	}
	return nil
}

// has reports whether a bucket has a key with that value.
func has(b *bbolt.Bucket, key, value []byte) bool {
	k, v := b.Cursor().Seek(key)
	return bytes.Equal(k, key) && bytes.Equal(v, value)
}

// there refuses to write to a file that could not be found again: one that was removed, moved
// or replaced while it is open.
func (s *Store) there() error {
	now, err := os.Stat(s.path)
	if err == nil && os.SameFile(now, s.file) {
		return nil
	}
	return fmt.Errorf("store: %s was removed or replaced while approver runs, so nothing is written: put it back, or "+
		"restart approver", s.path)
}
