package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// This file notices that the log was removed, moved, cut, replaced or edited while
// it is being written.

// ErrChanged means that the file is not what this process wrote.
var ErrChanged = errors.New("the audit log was changed while it was written")

// Times of the guard.
const (
	guardEvery  = 2 * time.Second // between two looks when nothing is written
	rereadEvery = time.Second     // at most so often the whole file is read, at somebody's touching it
)

// A stamp changes with every change of a file.
type stamp struct {
	size     int64
	modified time.Time
	changed  time.Time // of owner, mode and links too; nobody but the kernel sets it
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), modified: info.ModTime(), changed: changedAt(info)}
}

// mark remembers the file as this process has left it. Where somebody else touched it
// and it was not read since, its stamp says nothing: reading it is owed.
func (l *Log) mark() error {
	if l.unread {
		return nil
	}
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	l.seen = stampOf(info)
	return nil
}

// intact reports whether the log's file is still there, and is what was written. A
// touch that changes neither name nor size, such as a chmod, has the file read anew.
func (l *Log) intact() error {
	if l.file == nil {
		return nil // it is being opened anew
	}
	open, err := l.file.Stat()
	if err != nil {
		return err
	}
	path := filepath.Join(l.o.Dir, activeName)
	named, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was removed or moved", ErrChanged, path)
	case err != nil:
		return err
	case !os.SameFile(open, named):
		return fmt.Errorf("%w: %s is another file than the one that is written", ErrChanged, path)
	case open.Size() != l.kept:
		return fmt.Errorf("%w: %s has %d bytes, and %d were written", ErrChanged, path, open.Size(), l.kept)
	}
	now := stampOf(open)
	if now == l.seen && !l.unread {
		return nil
	}
	if time.Since(l.reread) < rereadEvery {
		l.unread = true
		return nil
	}
	l.reread = time.Now()
	return l.readAnew(path, now)
}

// owed reads the file if somebody touched it since it was read.
func (l *Log) owed(path string) error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if now := stampOf(info); now != l.seen || l.unread {
		return l.readAnew(path, now)
	}
	return nil
}

// readAnew checks the whole file against the end of the chain.
func (l *Log) readAnew(path string, now stamp) error {
	s := l.origin
	if err := s.file(path); err != nil {
		return err
	}
	end := l.Head()
	if s.seq != end.Seq || s.hash.String() != end.Hash || s.good != l.kept || s.breakText() != l.broken ||
		!slices.Equal(s.flaws.parts(), l.parts) {
		return fmt.Errorf("%w: %s was edited: it is sound up to seq %d, and %d were written", ErrChanged, path, s.seq, end.Seq)
	}
	l.seen, l.unread = now, false
	return nil
}

// breakText is the first break that stays in the file; empty if there is none.
func (s *scan) breakText() string {
	if s.broken == nil {
		return ""
	}
	return s.broken.Error()
}

// look fails a log whose file was changed while nothing was written.
func (l *Log) look() {
	l.mu.Lock()
	works := l.open && l.err == nil
	l.mu.Unlock()
	if !works {
		return
	}
	if err := l.intact(); err != nil {
		l.mu.Lock()
		l.failQueue(nil, err)
		l.mu.Unlock()
	}
}

// plain opens the log's file for writing, unless it is a link, a device or a folder:
// what is written there would be nowhere, or somewhere else.
func plain(path string) (*os.File, error) {
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

// relock takes the lock of a folder that was put in the place of the log's.
func (l *Log) relock() error {
	if err := os.MkdirAll(l.o.Dir, 0o700); err != nil {
		return err
	}
	held, err := l.lock.Stat()
	if err != nil {
		return err
	}
	path := filepath.Join(l.o.Dir, lockName)
	if named, err := os.Lstat(path); err == nil && os.SameFile(held, named) {
		return nil
	}
	lock, err := lockFile(path)
	if err != nil {
		return err
	}
	old := l.lock
	l.lock = lock
	return old.Close()
}
