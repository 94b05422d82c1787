package daemon

import (
	"fmt"
	"syscall"
)

// Writable asks the kernel, and leaves no trace.
func Writable(path string) error {
	const w = 2 // W_OK
	if err := syscall.Access(path, w); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	return RoomFor(path, 16)
}

// RoomFor reports that a disk has less than so many MiB left.
func RoomFor(path string, mib uint64) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err == nil && st.Bavail*uint64(st.Bsize) < mib<<20 {
		return fmt.Errorf("less than %d MiB are left on the disk of %s", mib, path)
	}
	return nil
}
