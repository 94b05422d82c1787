// Package boltfile reads and writes the store files of approver before 2026-12, which were
// go.etcd.io/bbolt's: so that a store is taken over, and can be given back.
package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// What is wrong with a file.
var (
	ErrLocked  = errors.New("another process has the file")
	ErrDamaged = errors.New("the file is damaged")
	ErrFormat  = errors.New("the file has another format")
)

// The buckets of a file.
var (
	records = []byte("records") // key: record
	dues    = []byte("due")     // dueEntry: keep time
	keeps   = []byte("keep")    // keepEntry: nothing
	leases  = []byte("leases")  // name: last fence
	meta    = []byte("meta")    // formatName, markName

	buckets = [][]byte{records, dues, keeps, leases, meta}

	formatName = []byte("format")
	markName   = []byte("clock")
)

// Is reports whether a file that begins with head, of 100 bytes, is one of bbolt. The second page
// says so, too, but bbolt writes both when it makes a file.
func Is(head []byte) bool { return binary.LittleEndian.Uint32(head[16:]) == 0xED0CDAED }

// A File is an open file. It is locked for this process.
type File struct {
	db   *bbolt.DB
	tx   *bbolt.Tx
	mark int64
	// blank says that nothing was ever written: the process that made the file ended too soon.
	blank bool
}

// Open opens and locks a file, and makes sure that nothing in it is damaged.
func Open(path string, within time.Duration) (f *File, err error) { return open(path, within, false) }

// Check says what Open would find wrong. It changes nothing, and waits for no lock.
func Check(path string) error {
	f, err := open(path, time.Millisecond, true)
	if errors.Is(err, ErrLocked) {
		return nil // whoever has it has accepted it
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func open(path string, within time.Duration, readOnly bool) (f *File, err error) {
	defer guard(&err)()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: within, ReadOnly: readOnly, FreelistType: bbolt.FreelistMapType, NoStatistics: true,
	})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, ErrLocked
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	tx, err := db.Begin(false)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f = &File{db: db, tx: tx}
	if err := f.check(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close closes and unlocks the file.
func (f *File) Close() error { return errors.Join(f.tx.Rollback(), f.db.Close()) }

// Mark is the clock's mark.
func (f *File) Mark() int64 { return f.mark }

// Records goes through all records. Values are valid until the file is closed.
func (f *File) Records(each func(Record) error) (err error) {
	defer guard(&err)()
	if f.blank {
		return nil
	}
	return f.tx.Bucket(records).ForEach(func(k, v []byte) error {
		r, err := decode(v)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrDamaged, k, err)
		}
		r.Key = string(k)
		return each(r)
	})
}

// Leases goes through the last fences of all leases.
func (f *File) Leases(each func(name string, fence uint64) error) (err error) {
	defer guard(&err)()
	if f.blank {
		return nil
	}
	return f.tx.Bucket(leases).ForEach(func(k, v []byte) error {
		if len(v) != 8 {
			return fmt.Errorf("%w: the lease %q", ErrDamaged, k)
		}
		return each(string(k), binary.BigEndian.Uint64(v))
	})
}

// guard turns a panic into an error: bbolt panics on some kinds of damage, and reads beyond the
// end of a truncated file, which faults. Defer the function that it returns.
func guard(err *error) func() {
	faults := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(faults)
		if p := recover(); p != nil {
			*err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}
}

// check refuses a file that is shorter than its own contents say, that lacks a part, or in which
// something is wrong, and reads the clock's mark.
func (f *File) check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() < f.tx.Size() {
		return fmt.Errorf("%w: it has %d bytes of %d", ErrDamaged, info.Size(), f.tx.Size())
	}
	if first, _ := f.tx.Cursor().First(); first == nil {
		f.blank = true
		return nil
	}
	for _, name := range buckets {
		if f.tx.Bucket(name) == nil {
			return fmt.Errorf("%w: it has no part %q", ErrDamaged, name)
		}
	}
	b := f.tx.Bucket(meta)
	if is := b.Get(formatName); !bytes.Equal(is, []byte{format}) {
		return fmt.Errorf("%w: %v, and this approver knows %d", ErrFormat, is, format)
	}
	if m := b.Get(markName); len(m) == 8 {
		f.mark = int64(binary.BigEndian.Uint64(m))
	}
	if f.mark < 0 {
		return fmt.Errorf("%w: its clock has a time before 1970", ErrDamaged)
	}
	return f.complete()
}

// complete returns an error unless every record is listed under its times, and nothing else is.
func (f *File) complete() error {
	listed := map[string]int{}
	all := f.tx.Bucket(records)
	c := all.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		r, err := decode(v)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrDamaged, k, err)
		}
		if !has(all, k, v) {
			return fmt.Errorf("%w: the order of the records is broken at %q", ErrDamaged, k)
		}
		for name, entry := range r.entries(string(k)) {
			listed[name]++
			if !has(f.tx.Bucket([]byte(name)), entry.key, entry.value) {
				return fmt.Errorf("%w: the list %q lacks %q", ErrDamaged, name, k)
			}
		}
	}
	for _, name := range []string{string(dues), string(keeps)} {
		n := 0
		c := f.tx.Bucket([]byte(name)).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			n++
		}
		if n != listed[name] {
			return fmt.Errorf("%w: the list %q names %d records of %d", ErrDamaged, name, n, listed[name])
		}
	}
	return nil
}

// has reports whether a bucket has a key with that value.
func has(b *bbolt.Bucket, key, value []byte) bool {
	k, v := b.Cursor().Seek(key)
	return bytes.Equal(k, key) && bytes.Equal(v, value)
}

// never is the time of what never happens.
const never = math.MaxInt64
