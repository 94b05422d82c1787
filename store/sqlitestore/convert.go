package sqlitestore

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"approver.example"
	"approver.example/store/sqlitestore/internal/boltfile"
)

// This file takes over the files of approver before 2026-12, which were bbolt's, and gives them
// back. Until the new file has its name, the old one counts. It stays under another name.

// fromBolt converts the file at path. The caller has its lock, and bbolt's own keeps a daemon of
// the former version away.
func fromBolt(path string, log *slog.Logger) error {
	began := time.Now()
	from, err := boltfile.Open(path, lockTime)
	if err != nil {
		return old(path, err)
	}
	defer from.Close()
	kept, records := path+".bolt", 0
	err = replaceKeeping(path, kept, func(to *filler) error {
		err := from.Records(func(r boltfile.Record) error {
			records++
			return to.record(row{rev: approver.Rev(r.Rev), due: r.Due, keep: r.Keep, value: r.Value}, r.Key)
		})
		if err == nil {
			err = from.Leases(to.lease)
		}
		return errors.Join(err, to.mark(from.Mark()))
	})
	if err != nil {
		return old(path, err)
	}
	log.Info("the store was converted to SQLite; approver store convert --to bolt goes back, for an older approver",
		"store", path, "records", records, "took", time.Since(began).Round(time.Millisecond), "kept", kept)
	return nil
}

// old explains what is wrong with a file of a former version.
func old(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, boltfile.ErrLocked):
		return locked(path)
	case errors.Is(err, boltfile.ErrFormat):
		return fmt.Errorf("store %s: %w: run the approver that wrote it", path, err)
	case errors.Is(err, boltfile.ErrDamaged):
		return damaged(path, err)
	}
	return err
}

// replaceKeeping is replace for a file that stays under another name.
func replaceKeeping(path, kept string, fill func(*filler) error) error {
	return replace(path, path+".new", func(f *filler) error {
		if err := fill(f); err != nil {
			return err
		}
		return keep(path, kept)
	})
}

// keep gives a file a second name, which may have been that of an earlier one.
func keep(path, kept string) error {
	return errors.Join(forgive(os.Remove(kept), fs.ErrNotExist), os.Link(path, kept))
}

// ToBolt converts a store back to the format of approver before 2026-12, for going back to such a
// version, and returns how many records it has and under which name the store itself is kept.
// No daemon may have it.
func ToBolt(path string) (records int, kept string, err error) {
	if path, err = place(path); err != nil {
		return 0, "", err
	}
	kept = path + ".sqlite"
	return records, kept, stopped(path, func(c *conn) error {
		lost, mark, err := check(c, path)
		if err != nil {
			return err
		}
		if len(lost) > 0 {
			return lost[0].Cause
		}
		return boltfile.Create(path+".new", mark, func(to *boltfile.Writer) error {
			err := c.rows(nil, func(r row, key string) error {
				records++
				return to.Record(boltfile.Record{Key: key, Rev: string(r.rev), Due: r.due, Keep: r.keep, Value: r.value})
			})
			return errors.Join(err, c.leases(to.Lease))
		})
	}, func() error {
		if err := keep(path, kept); err != nil {
			return err
		}
		return swap(path+".new", path)
	})
}
