package sqlitestore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ncruces/go-sqlite3/vfs"

	"approver.example"
	"approver.example/store/sqlitestore/internal/boltfile"
)

// The head of the file says whose it is. It never changes.
const (
	application = 0x61707276 // "aprv"
	format      = 1          // of the tables
	pageSize    = 4096
	checksum    = 8 // bytes at the end of each page
)

// beside are the names of the files that SQLite keeps beside that of a store.
var beside = []string{"-wal", "-shm", "-journal"}

// place returns where a file is, or will be. Where it is a link, SQLite keeps the log beside what
// the link leads to.
func place(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path)), nil
	}
	return path, nil // it is missing; look says so
}

// CheckFile says why Open would refuse the file at path. It changes nothing. It looks at the
// contents only while no daemon has the file: a running daemon has already accepted them.
func CheckFile(path string) error {
	_, err := examine(path)
	return err
}

// CheckRecords names the records that cannot be read. It is for a file that CheckFile accepts.
func CheckRecords(path string) error {
	lost, err := examine(path)
	if err != nil {
		return nil // CheckFile says so
	}
	var all []error
	for _, r := range lost {
		all = append(all, fmt.Errorf("store: %w", r.Cause))
	}
	return errors.Join(all...)
}

func examine(path string) (lost []Unreadable, err error) {
	if path, err = place(path); err != nil {
		return nil, err
	}
	missing, err := look(path)
	if missing || err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // as whoever writes it opens it
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer f.Close()
	if err := lock(f, 0); errors.Is(err, ErrLocked) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	switch kind, err := sniff(f); {
	case err != nil:
		return nil, err
	case kind == empty:
		return nil, nil // Open makes a new store of it
	case kind == former:
		return nil, old(path, boltfile.Check(path))
	}
	return inspect(path)
}

// look checks the file of a store, and reports whether it is missing.
func look(path string) (missing bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, orphan(path)
	case err != nil:
		return false, fmt.Errorf("store: %w", err)
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("store: %s is not a regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return false, fmt.Errorf("store: others may use %s (mode %04o): chmod 600 it", path, info.Mode().Perm())
	}
	return false, nil
}

// orphan refuses a log without its file: SQLite would read it into whatever file is made there.
func orphan(path string) error {
	info, err := os.Stat(path + "-wal")
	if err != nil || info.Size() == 0 {
		return nil
	}
	return fmt.Errorf("store: %s is gone, and %[1]s-wal, which has its latest commits, is there: put the file back, or "+
		"move %[1]s-wal away, too, to begin anew", path)
}

// take opens and locks the file of a store. It makes one that is missing, and converts one of a
// former version.
func take(path string, log *slog.Logger) (*os.File, error) {
	for {
		missing, err := look(path)
		if err != nil {
			return nil, err
		}
		if missing {
			if err := create(path); err != nil {
				return nil, err
			}
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		ready, err := prepare(f, path, log)
		if ready && err == nil {
			return f, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// prepare locks a file. ready reports that it is a store; otherwise another file is at path now.
func prepare(f *os.File, path string, log *slog.Logger) (ready bool, err error) {
	if err := lock(f, lockTime); err != nil {
		return false, err
	}
	here, err := os.Stat(path)
	was, statErr := f.Stat()
	if err != nil || statErr != nil || !os.SameFile(here, was) {
		return false, statErr // somebody else has just replaced it
	}
	switch kind, err := sniff(f); {
	case err != nil:
		return false, err
	case kind == empty:
		return false, replace(path, path+".new", func(*filler) error { return nil })
	case kind == former:
		return false, fromBolt(path, log)
	}
	if err := sound(path); err != nil {
		return false, err
	}
	return true, private(path)
}

// private makes the files beside the store before SQLite does, so that nobody else can read them.
func private(path string) error {
	for _, name := range []string{path + "-wal", path + "-shm"} {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err == nil {
			err = errors.Join(f.Chmod(0o600), f.Close())
		}
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	return nil
}

// A kind is what a file is.
type kind int

const (
	empty kind = iota
	former
	current
)

// sniff says what a file is by its head, and refuses what is no store. Nothing has touched the
// file yet.
func sniff(f *os.File) (kind, error) {
	head := make([]byte, 100)
	n, err := f.ReadAt(head, 0)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return empty, nil
	case err != nil && !errors.Is(err, io.EOF):
		return 0, fmt.Errorf("store: %w", err)
	case boltfile.Is(head):
		return former, nil
	}
	switch version := binary.BigEndian.Uint32(head[60:]); {
	case !bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return 0, damaged(f.Name(), errors.New("its start is that of another kind of file"))
	case binary.BigEndian.Uint32(head[68:]) != application:
		return 0, damaged(f.Name(), errors.New("it is the SQLite file of another program"))
	case version != format:
		return 0, fmt.Errorf("store %s: it has format %d, this approver knows %d: run the approver that wrote it", f.Name(),
			version, format)
	case binary.BigEndian.Uint16(head[16:]) != pageSize || head[18] != 2 || head[19] != 2 || head[20] != checksum:
		return 0, damaged(f.Name(), errors.New("its start was changed"))
	}
	return current, nil
}

// create makes an empty store file, whole or not at all: half a file, as a full disk or a crash
// would leave it, would look like a damaged store. It also makes the file's name durable.
func create(path string) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".store-*") // mode 0600
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store: make its directory first: mkdir -m 700 -p %s: %w", dir, err)
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", path, err)
	}
	err = errors.Join(f.Close(), build(f.Name(), func(*filler) error { return nil }))
	if err == nil {
		err = os.Link(f.Name(), path)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil // another process was faster; the lock decides who gets the file
	}
	if err = errors.Join(err, os.Remove(f.Name()), syncDir(dir)); err != nil {
		return explain(path, err)
	}
	return nil
}

// replace builds a store in a file of its own and puts it in the place of another, whole or not
// at all.
func replace(path, name string, fill func(*filler) error) error {
	err := build(name, fill)
	if err == nil {
		err = orphan(path) // SQLite would read it into the new file
	}
	if err == nil {
		err = swap(name, path)
	}
	if err != nil {
		return explain(path, errors.Join(err, forgive(os.Remove(name), fs.ErrNotExist)))
	}
	return nil
}

// swap puts a file in the place of another, and makes that durable. It gets the other's owner, so
// that a daemon can still read what root wrote.
func swap(name, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if was, ok := info.Sys().(*syscall.Stat_t); ok && int(was.Uid) != os.Geteuid() {
		if err := os.Lchown(name, int(was.Uid), int(was.Gid)); err != nil {
			return fmt.Errorf("%s belongs to uid %d: run this as that user, or as root: %w", path, was.Uid, err)
		}
	}
	if err := os.Rename(name, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func forgive(err, which error) error {
	if errors.Is(err, which) {
		return nil
	}
	return err
}

// A filler writes the content of a new store.
type filler struct{ c *conn }

// build makes a store file under a name that nobody else uses, and syncs it.
func build(name string, fill func(*filler) error) (err error) {
	for _, old := range append([]string{""}, beside...) {
		if err := forgive(os.Remove(name+old), fs.ErrNotExist); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	d := &disk{below: vfs.Find("").(vfs.VFSFilename)}
	vfs.Register(name, d)
	defer vfs.Unregister(name)
	defer func() { err = because(err, d.failure()) }()
	// Nobody else has the file, and it counts only when it is whole: no lock, and no log.
	c, err := connect(name, name, "locking_mode=EXCLUSIVE", "synchronous=OFF", "journal_mode=MEMORY",
		fmt.Sprintf("page_size=%d", pageSize), fmt.Sprintf("application_id=%d", application),
		fmt.Sprintf("user_version=%d", format), "temp_store=MEMORY")
	if err != nil {
		return err
	}
	if err = c.EnableChecksums("main"); err == nil {
		err = c.fill(fill)
	}
	if err == nil {
		err = c.Exec(`PRAGMA journal_mode=WAL`)
	}
	if err = errors.Join(err, c.shut()); err != nil {
		return err
	}
	return f.Sync()
}

func (c *conn) fill(fill func(*filler) error) error {
	if err := c.Exec(`BEGIN`); err != nil {
		return err
	}
	for _, text := range schema {
		if err := c.Exec(text); err != nil {
			return err
		}
	}
	err := c.Exec(`INSERT INTO clock(mark) VALUES(0)`)
	if err == nil {
		err = c.prepare(c.writes())
	}
	if err == nil {
		err = fill(&filler{c})
	}
	if err == nil {
		err = c.commit.Exec()
	}
	return err
}

// record adds a record.
func (f *filler) record(r row, key string) error {
	shard, err := approver.ShardOfKey(key)
	if err != nil {
		return err
	}
	return f.c.put(&part{key: key, shard: shard, rev: r.rev, due: r.due, keep: r.keep,
		value: append([]byte{}, r.value...)})
}

// lease adds the last fence of a lease.
func (f *filler) lease(name string, fence uint64) error {
	return errors.Join(f.c.setFence.BindText(1, name), f.c.setFence.BindInt64(2, int64(fence)), f.c.setFence.Exec())
}

// mark sets the clock's mark.
func (f *filler) mark(mark int64) error {
	return errors.Join(f.c.setMark.BindInt64(1, mark), f.c.setMark.Exec())
}
