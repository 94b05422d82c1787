package disk

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// timesOf are when the content and when anything of a file last changed.
func timesOf(st *syscall.Stat_t) (modified, changed syscall.Timespec) { return st.Mtim, st.Ctim }

// fileSystemOf distinguishes file systems that the kernel generates, those that a program
// of any user may serve (FUSE), and those that store files.
func fileSystemOf(f *os.File) fileSystem {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil {
		return servedFiles
	}
	switch uint32(st.Type) { // statfs(2); its width differs between machines
	case 0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x27e0eb, 0x63677270:
		return kernelFiles // proc, sysfs, debugfs, tracefs, cgroup, cgroup2
	case 0x65735546: // FUSE
		return servedFiles
	}
	return diskFiles
}

// TimesHold reports whether the kernel itself sets the times in f's file system, at each
// write and finely enough, and can sync it to a disk. Elsewhere a server or a program may
// report any times, or a mapping may stay writable for ever.
func TimesHold(f *os.File) bool {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil {
		return false
	}
	switch uint32(st.Type) { // statfs(2)
	case 0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e:
		return true // ext, XFS, Btrfs, F2FS, ZFS, bcachefs
	case 0x794c7630: // overlay
		var at syscall.Stat_t
		if err := syscall.Fstat(int(f.Fd()), &at); err != nil {
			return false
		}
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		dev := uint64(at.Dev)
		return err == nil && syncs(string(mounts), fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev)))
	}
	return false
}

// syncs reports whether a sync works on all mounts of a device, as listed by
// proc_pid_mountinfo(5). On a volatile overlay it does not.
func syncs(mounts, device string) bool {
	found := false
	for line := range strings.Lines(mounts) {
		head, tail, ok := strings.Cut(line, " - ")
		if fields := strings.Fields(head); !ok || len(fields) < 3 || fields[2] != device {
			continue
		}
		options := strings.Fields(tail) // type, source, options
		if len(options) < 3 || slices.Contains(strings.Split(options[len(options)-1], ","), "volatile") {
			return false
		}
		found = true
	}
	return found
}

// syncFiles syncs the file system of f. After that a mapping can write to a page only after
// the times of its file were set.
func syncFiles(f *os.File) error { return unix.Syncfs(int(f.Fd())) }
