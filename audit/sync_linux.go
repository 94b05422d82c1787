package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFile makes what was written durable. fdatasync leaves out the times of
// the file, which nobody needs, but not its size.
func syncFile(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
