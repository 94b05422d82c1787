package sqlitestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// stopped opens a store that no daemon has. It does read, closes the store, with which its log
// goes into its file, and then, still under the lock, does then.
func stopped(path string, read func(c *conn) error, then func() error) (err error) {
	if missing, err := look(path); err != nil || missing {
		return errors.Join(err, absent(path, missing))
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := ours(f, path); err != nil {
		return err
	}
	if err := lock(f, lockTime); err != nil {
		return err
	}
	if kind, err := sniff(f); err != nil || kind != current {
		return errors.Join(err, foreign(path, kind != current))
	}
	if err := errors.Join(sound(path), private(path)); err != nil {
		return err
	}
	if err := exclusive(path, false, read); err != nil {
		return err
	}
	if err := orphan(path); err != nil { // SQLite could not remove it
		return err
	}
	return then()
}

// ours refuses the file of another user. What SQLite makes beside it would be this user's, so that
// its daemon could not start; and whoever owns the folder could lead a root that writes there elsewhere.
func ours(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if is, known := info.Sys().(*syscall.Stat_t); !known || int64(is.Uid) != int64(os.Geteuid()) {
		return fmt.Errorf("store: %s belongs to another user: run this as the user of the daemon (sudo -u NAME …)", path)
	}
	return nil
}

func absent(path string, missing bool) error {
	if !missing {
		return nil
	}
	return fmt.Errorf("store: there is no %s", path)
}

func foreign(path string, is bool) error {
	if !is {
		return nil
	}
	return fmt.Errorf("store: %s is not in the format of this approver: it converts it when it starts", path)
}

// exclusive reads a file that this process has locked, with its log. If it is to stay, nothing is
// changed.
func exclusive(path string, stay bool, read func(c *conn) error) (err error) {
	defer guard(path, &err)()
	c, err := connect(path, "", append([]string{"locking_mode=EXCLUSIVE", "query_only=ON"}, everywhere...)...)
	if err != nil {
		return explain(path, err)
	}
	defer func() { err = errors.Join(err, c.shut()) }()
	if stay {
		if err := leaveLog(c); err != nil {
			return err
		}
	}
	if err := read(c); err != nil {
		return explain(path, err)
	}
	return nil
}

// inspect checks a file that this process has locked, and changes nothing.
func inspect(path string) (lost []Unreadable, err error) {
	if err := sound(path); err != nil {
		return nil, err
	}
	log := path + "-wal"
	_, missing := os.Stat(log)
	err = exclusive(path, true, func(c *conn) error {
		lost, _, err = check(c, path)
		return err
	})
	if info, statErr := os.Stat(log); errors.Is(missing, fs.ErrNotExist) && statErr == nil && info.Size() == 0 {
		err = errors.Join(err, os.Remove(log)) // SQLite makes it to read
	}
	return lost, err
}

// Damaged returns the records of a store that cannot be read. No daemon may have it.
func Damaged(path string) (lost []Unreadable, err error) {
	if path, err = place(path); err != nil {
		return nil, err
	}
	return lost, stopped(path, func(c *conn) error {
		lost, _, err = check(c, path)
		return err
	}, func() error { return nil })
}

// Drop removes records that cannot be read. Those that can be read stay: the store is written
// anew without the others, so that no damaged page is left in it. No daemon may have it.
func Drop(path string, keys ...string) error {
	path, err := place(path)
	if err != nil {
		return err
	}
	name := path + ".new"
	return stopped(path, func(c *conn) error {
		lost, mark, err := check(c, path)
		if err != nil {
			return err
		}
		skip := map[int64]bool{}
		var others []string
		for _, r := range lost {
			if skip[r.id] = slices.Contains(keys, r.Key); !skip[r.id] {
				others = append(others, r.Key)
			}
		}
		for _, key := range keys {
			if !slices.ContainsFunc(lost, func(r Unreadable) bool { return r.Key == key }) {
				return fmt.Errorf("%s is no record that cannot be read", key)
			}
		}
		if len(others) > 0 {
			return fmt.Errorf("%s cannot be read either: name them all", strings.Join(others, ", "))
		}
		return build(name, func(to *filler) error {
			err := c.rows(skip, to.record)
			return errors.Join(err, c.leases(to.lease), to.mark(mark))
		})
	}, func() error { return swap(name, path) })
}

// rows goes through all records, in the order in which they were made, but for some.
func (c *conn) rows(skip map[int64]bool, each func(r row, key string) error) error {
	keys, err := list(c, allKeys)
	if err != nil {
		return err
	}
	st, _, err := c.Prepare(oneRow)
	if err != nil {
		return err
	}
	defer st.Close()
	for id, key := range keys {
		if skip[id] {
			continue
		}
		err := st.BindInt64(1, id)
		if err == nil && !st.Step() {
			err = errors.Join(st.Err(), fmt.Errorf("the record %s is gone", key))
		}
		if err == nil {
			var r row
			if r, err = read(st, ""); err == nil {
				err = each(r, key)
			}
		}
		if err = done(st, err); err != nil {
			return err
		}
	}
	return nil
}

// leases goes through the last fences of all leases.
func (c *conn) leases(each func(name string, fence uint64) error) error {
	st, _, err := c.Prepare(`SELECT name, fence FROM leases`)
	if err != nil {
		return err
	}
	defer st.Close()
	for st.Step() {
		if err := each(st.ColumnText(0), uint64(st.ColumnInt64(1))); err != nil {
			return err
		}
	}
	return st.Err()
}
