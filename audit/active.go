package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"
)

// An activeFile is audit.jsonl, open for writing. It detects changes that others make to the
// file. It belongs to the writing goroutine, and to Open and Close while that does not run.
type activeFile struct {
	dir  logDir
	key  Key
	sync func(*os.File) error

	syncs     atomic.Uint64            // of lines
	sight     atomic.Pointer[sighting] // of other goroutines; nil while the file is written
	file      *os.File
	first     uint64 // seq of its first line
	size      int64  // the durable size
	lastStamp stamp  // after the last write by this process

	origin    scan          // the state in which reading the file starts
	broken    string        // its first break
	parts     []Part        // its broken parts
	rereadAt  time.Time     // when it was last read again
	touched   bool          // somebody touched it since then
	fileBegun chan struct{} // gets a signal when a new file begins
}

// recordStamp notes the file's stamp after a write of ours. It does nothing while a change
// by somebody else waits to be read, which the new stamp would hide.
func (a *activeFile) recordStamp() error {
	if a.touched {
		return nil
	}
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	a.lastStamp = stampOf(info)
	a.sight.Store(&sighting{info, a.lastStamp})
	return nil
}

// A sighting is the file as this process left it.
type sighting struct {
	info  fs.FileInfo
	stamp stamp
}

// glance reports whether the file is as this process left it, for any goroutine. While it is
// written, it was just looked at.
func (a *activeFile) glance() bool {
	s := a.sight.Load()
	if s == nil {
		return true
	}
	named, err := os.Lstat(a.dir.activePath())
	return err == nil && os.SameFile(named, s.info) && stampOf(named) == s.stamp || a.sight.Load() != s
}

// intact returns an error if the file is gone, or is not what was written. After a change
// that shows only in the stamp, such as a chmod, it reads the whole file again.
func (a *activeFile) intact(end Head) error {
	if a.file == nil {
		return nil // repair is about to open it
	}
	open, err := a.file.Stat()
	if err != nil {
		return err
	}
	path := a.dir.activePath()
	named, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was removed or moved", ErrChanged, path)
	case err != nil:
		return err
	case !os.SameFile(open, named):
		return fmt.Errorf("%w: %s is another file than the one that is written", ErrChanged, path)
	case open.Size() != a.size:
		return fmt.Errorf("%w: %s has %d bytes, and %d were written", ErrChanged, path, open.Size(), a.size)
	}
	now := stampOf(open)
	if now == a.lastStamp && !a.touched {
		return nil
	}
	if time.Since(a.rereadAt) < rereadEvery {
		a.touched = true
		return nil
	}
	a.rereadAt = time.Now()
	return a.recheck(path, now, end)
}

// rereadIfTouched reads the file again if its stamp changed since it was last read.
func (a *activeFile) rereadIfTouched(path string, end Head) error {
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	if now := stampOf(info); now != a.lastStamp || a.touched {
		return a.recheck(path, now, end)
	}
	return nil
}

// recheck checks the whole file against the last durable line.
func (a *activeFile) recheck(path string, now stamp, end Head) error {
	s := a.origin
	if err := s.readFile(path); err != nil {
		return err
	}
	if s.seq != end.Seq || s.hash.String() != end.Hash || s.good != a.size || s.breakText() != a.broken ||
		!slices.Equal(s.flaws.brokenParts(), a.parts) {
		return fmt.Errorf("%w: %s was edited: it is sound up to seq %d, and %d were written", ErrChanged, path,
			s.seq, end.Seq)
	}
	a.lastStamp, a.touched = now, false
	info, err := a.file.Stat() // which file it is; what it was like is in now
	if err != nil {
		return err
	}
	a.sight.Store(&sighting{info, now})
	return nil
}

// write appends lines and makes them durable. If it fails, it truncates what it wrote,
// as far as the disk allows. heal removes the rest: none of it was acknowledged.
func (a *activeFile) write(buf []byte) error {
	a.sight.Store(nil)
	_, err := a.file.Write(buf)
	if err == nil { // before the sync: a change that comes while the disk is busy is not ours
		err = a.recordStamp()
	}
	if err == nil {
		err = a.sync(a.file)
		a.syncs.Add(1)
	}
	if err != nil {
		_ = a.file.Truncate(a.size) // resume cuts off what this leaves
		return err
	}
	a.size += int64(len(buf))
	return nil
}

// beginNext renames the full file and starts a new one after the line end.
func (a *activeFile) beginNext(end place, durable Head) error {
	path := a.dir.activePath()
	if err := a.rereadIfTouched(path, durable); err != nil { // full files are not checked later
		return err
	}
	a.sight.Store(nil)
	err := a.file.Close()
	a.file = nil
	if err != nil {
		return err
	}
	full := filepath.Join(string(a.dir), rotatedName(a.first))
	if _, err := os.Lstat(full); err == nil {
		return fmt.Errorf("%s is in the way of rotation", full)
	}
	if err := os.Rename(path, full); err != nil {
		return err
	}
	return a.create(end)
}

// create starts a new audit.jsonl after the line end.
func (a *activeFile) create(end place) error {
	f, err := os.OpenFile(a.dir.activePath(), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	a.file, a.first, a.size = f, end.seq+1, 0
	a.origin, a.broken, a.parts, a.touched = scan{place: end, flaws: flaws{key: a.key}}, "", nil, false
	if err := a.recordStamp(); err != nil {
		return err
	}
	signal(a.fileBegun)
	return syncDir(string(a.dir))
}

// openPart is the broken part at the end of the file, without a valid checkpoint after it;
// nil if there is none.
func (a *activeFile) openPart() *Part {
	if len(a.parts) == 0 || a.parts[len(a.parts)-1].To != 0 {
		return nil
	}
	return &a.parts[len(a.parts)-1]
}

// reopen opens the file to append after the last valid line.
func (a *activeFile) reopen(path string, s scan) error {
	f, err := openRegular(path)
	if err != nil {
		return err
	}
	if err := errors.Join(a.sync(f), syncDir(string(a.dir))); err != nil {
		return errors.Join(err, f.Close())
	}
	a.file, a.size, a.first, a.touched = f, s.good, max(s.first, 1), false
	if s.first == 0 {
		a.first = s.seq + 1
	}
	return a.recordStamp()
}

// openRegular opens the log's file for writing. It refuses links, devices and folders,
// which would send the lines somewhere else.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	open, err := f.Stat()
	if err == nil {
		var named fs.FileInfo
		if named, err = os.Lstat(path); err == nil && (!named.Mode().IsRegular() || !os.SameFile(open, named)) {
			err = fmt.Errorf("%s is no plain file: move it away, and the log goes on in a new one", path)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// A stamp changes with every change of a file.
type stamp struct {
	size     int64
	modified time.Time
	changed  time.Time // of owner, mode and links too; nobody but the kernel sets it
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), modified: info.ModTime(), changed: changedAt(info)}
}

// ErrChanged means that the file is not what this process wrote.
var ErrChanged = errors.New("the audit log was changed while it was written")

// Times of the guard.
const (
	guardEvery  = 2 * time.Second // between two checks while nothing is written
	rereadEvery = time.Second     // the least time between two complete reads of a file that others touch
)
