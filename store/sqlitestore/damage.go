package sqlitestore

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/ncruces/go-sqlite3"

	"approver.example"
)

// This file detects a store file that is incomplete, or is no longer where it was.

// guard turns a panic into the error that the file is damaged: memory that is mapped from a file
// which somebody cuts short faults. What panicked is dead. Defer the function that it returns.
func guard(path string, err *error, dead ...*error) func() {
	faults := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(faults)
		if p := recover(); p != nil {
			*err = damaged(path, fmt.Errorf("%v", p))
			for _, d := range dead {
				*d = *err
			}
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

// because adds the cause that the system gave to an error of SQLite, which often has lost it.
func because(err, cause error) error {
	switch {
	case err == nil || cause == nil || errors.Is(err, cause):
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// explain says of which file an error is, and names the cure.
func explain(path string, err error) error {
	switch {
	case isDamaged(err) || errors.Is(err, approver.ErrTampered):
		return err
	case pageDamaged(err):
		return damaged(path, err)
	case errors.Is(err, sqlite3.IOERR_SHMSIZE):
		err = because(err, syscall.ENOSPC) // it is only ever made larger
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, sqlite3.FULL} {
		if errors.Is(err, full) {
			return fmt.Errorf("store %s: no room on the disk: make some, or move the store: %w", path, err)
		}
	}
	return fmt.Errorf("store %s: %w", path, err)
}

// Unreadable is a record that cannot be read.
type Unreadable struct {
	Key   string
	Cause error
	id    int64
}

// check reads the whole file, so that nothing in it is damaged unseen, and returns the records
// that cannot be read, and the clock's mark. Everything else must be as it was written: a request
// that is on no list would stay open for ever, and nobody would see it.
func check(c *conn, path string) (lost []Unreadable, mark int64, err error) {
	if err := parts(c); err != nil {
		return nil, 0, damaged(path, err)
	}
	found, err := texts(c, `PRAGMA main.integrity_check(1)`)
	if err != nil || !slices.Equal(found, []string{"ok"}) {
		why := fmt.Errorf("%v%w", found, err)
		if err == nil {
			why = fmt.Errorf("%s", found)
		}
		if lost, err = complete(c); err != nil || len(lost) == 0 {
			return nil, 0, damaged(path, errors.Join(why, err))
		}
	}
	st, _, err := c.Prepare(`SELECT mark FROM clock`)
	if err != nil {
		return nil, 0, damaged(path, err)
	}
	defer st.Close()
	rows := 0
	for ; st.Step(); rows++ {
		mark = st.ColumnInt64(0)
	}
	switch {
	case st.Err() != nil:
		return nil, 0, damaged(path, st.Err())
	case rows != 1:
		return nil, 0, damaged(path, errors.New("it has no clock"))
	case mark < 0:
		return nil, 0, damaged(path, errors.New("its clock has a time before 1970"))
	}
	return lost, mark, nil
}

// parts refuses a file that lacks a table or an index, or has another one.
func parts(c *conn) error {
	found, err := texts(c, `SELECT sql FROM sqlite_schema WHERE sql NOT NULL`)
	if err != nil {
		return err
	}
	for _, text := range schema {
		if !slices.Contains(found, text) {
			return fmt.Errorf("it has no part %q", name(text))
		}
	}
	for _, text := range found {
		if !slices.Contains(schema, text) {
			return fmt.Errorf("it has a part %q that approver did not make", name(text))
		}
	}
	on, err := texts(c, `PRAGMA checksum_verification`)
	if err == nil && !slices.Equal(on, []string{"1"}) {
		err = errors.New("its pages have no checksums")
	}
	return err
}

// name returns what a text of the schema creates.
func name(text string) string {
	var kind, name string
	_, _ = fmt.Sscanf(text, "CREATE %s %s", &kind, &name)
	for i, r := range name {
		if r == '(' {
			return name[:i]
		}
	}
	return name
}

// texts returns the first column of a query.
func texts(c *conn, query string) (all []string, err error) {
	st, _, err := c.Prepare(query)
	if err != nil {
		return nil, err
	}
	for st.Step() {
		all = append(all, st.ColumnText(0))
	}
	err = st.Err()
	_ = st.Close() // repeats the error
	return all, err
}

// complete is for a file in which something is damaged. It returns the records that cannot be
// read, and an error if anything else is wrong: each record must be in each list that its times
// name, and nothing else may be. The lists are read without the records.
func complete(c *conn) (lost []Unreadable, err error) {
	keys, err := list(c, allKeys)
	if err != nil {
		return nil, err
	}
	dues, err := list(c, `SELECT id, key FROM records INDEXED BY due WHERE due < 9223372036854775807 AND shard >= 0`)
	if err != nil {
		return nil, err
	}
	keeps, err := list(c, `SELECT id, '' FROM records INDEXED BY keep WHERE keep < 9223372036854775807`)
	if err != nil {
		return nil, err
	}
	st, _, err := c.Prepare(oneRow)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	for id, key := range keys {
		r, same := row{}, false
		err := st.BindInt64(1, id)
		if err == nil && st.Step() {
			r, err = read(st, "")
			same = st.ColumnText(4) == key
		}
		if err = done(st, err); err != nil {
			lost = append(lost, Unreadable{Key: key, Cause: unreadable(key, err), id: id})
			if at, ok := dues[id]; ok && at != key {
				return nil, fmt.Errorf("the list of what is due has another key for %q", key)
			}
		} else if at, ok := dues[id]; !same || ok != (r.due != never) || ok && at != key {
			return nil, fmt.Errorf("the list of what is due is wrong about %q", key)
		} else if _, ok := keeps[id]; ok != (r.keep != never) {
			return nil, fmt.Errorf("the list of what is kept is wrong about %q", key)
		}
		delete(dues, id)
		delete(keeps, id)
	}
	if n := len(dues) + len(keeps); n > 0 {
		return nil, fmt.Errorf("its lists name %d records that it has not", n)
	}
	slices.SortFunc(lost, func(a, b Unreadable) int { return int(a.id - b.id) })
	return lost, nil
}

// list reads ids and keys.
func list(c *conn, query string) (map[int64]string, error) {
	st, _, err := c.Prepare(query)
	if err != nil {
		return nil, err
	}
	all := map[int64]string{}
	for st.Step() {
		all[st.ColumnInt64(0)] = st.ColumnText(1)
	}
	err = st.Err()
	_ = st.Close() // repeats the error
	return all, err
}

// there refuses to write to files that could not be found again: ones that were removed, moved
// or replaced while they are open.
func (s *Store) there() error {
	now, err := os.Stat(s.path)
	if err == nil && os.SameFile(now, s.file) && s.disk.hasLog(s.path+"-wal") {
		return nil
	}
	what := s.path
	if err == nil && os.SameFile(now, s.file) {
		what += "-wal"
	}
	return fmt.Errorf("store: %s was removed or replaced while approver runs, so nothing is written: put it back, or "+
		"restart approver", what)
}

// Fitness implements approver.Inspected.
func (s *Store) Fitness() (unfit, lossy error) { return s.there(), nil }

// leaveLog keeps the last connection to be closed from touching the log.
func leaveLog(c *conn) error {
	_, err := c.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, true)
	return err
}
