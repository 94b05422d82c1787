package sqlitestore

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"approver.example"
)

// ErrLocked means that another process has the store's file.
// It is an [approver.ErrHeld].
var ErrLocked error = lockedError("another approver runs on this store")

type lockedError string

func (e lockedError) Error() string        { return string(e) }
func (e lockedError) Is(target error) bool { return target == approver.ErrHeld }

// lockTime is how long Open waits for a process that is just shutting down.
const lockTime = time.Second

// lockByte is the byte that is locked, far beyond those that SQLite locks: its own locks let
// several processes in, so that its tools can read the file of a running daemon.
const lockByte = 1 << 60

// lock takes the file for this process, within the given time. Closing the file gives it back.
// It is a lock of the open file and not of the process, which would lose it as soon as it closed
// the same file anywhere else.
func lock(f *os.File, within time.Duration) error {
	for end := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		err := unix.FcntlFlock(f.Fd(), setLock, &unix.Flock_t{Type: unix.F_WRLCK, Start: lockByte, Len: 1})
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("store: lock %s: %w", f.Name(), err)
		case time.Now().After(end):
			return locked(f.Name())
		}
	}
}

func locked(path string) error {
	return fmt.Errorf("%w: %s is locked: stop it, or give this one a path of its own", ErrLocked, path)
}
