package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Writable returns an error if a file or folder cannot be written, or less than 16 MiB are
// left on its disk. It asks the kernel, and leaves no trace.
func Writable(path string) error {
	const w = 2 // W_OK
	if err := syscall.Access(path, w); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	return RoomFor(path, 16)
}

// RoomFor returns an error if less than mib MiB are left on the disk of path.
func RoomFor(path string, mib uint64) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err == nil && st.Bavail*uint64(st.Bsize) < mib<<20 {
		return fmt.Errorf("less than %d MiB are left on the disk of %s", mib, path)
	}
	return nil
}

// diskCure adds what helps to a disk error, which by itself names only the place, unless the
// error says it already.
func diskCure(err error) error {
	cure := ""
	switch {
	case errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), "make room"):
		cure = "the disk is full: make room there, then start again"
	case errors.Is(err, syscall.EROFS):
		cure = "the daemon has to write there: mount it writable, or name another place in the configuration"
	case errors.Is(err, fs.ErrPermission):
		cure = fmt.Sprintf("the daemon runs as uid %d: give it the place, or name another in the configuration", os.Geteuid())
	}
	if cure == "" || strings.Contains(err.Error(), cure) {
		return err
	}
	return fmt.Errorf("%w: %s", err, cure)
}
