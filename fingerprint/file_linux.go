package fingerprint

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// identify says which file this is, and which version of it as far as the
// kernel knows.
func identify(info fs.FileInfo) (fileID, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, false
	}
	return fileID{
		place:   fmt.Sprintf("%d:%d", st.Dev, st.Ino),
		version: fmt.Sprintf("%d:%d:%d:%d.%d:%d.%d", st.Dev, st.Ino, st.Size, st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec, st.Ctim.Nsec),
		owner:   st.Uid,
		changed: time.Unix(st.Ctim.Unix()),
	}, true
}

// fileSystemOf tells what the kernel makes up at each reading, and what a
// program of any user may serve (FUSE), from a file system that holds files.
func fileSystemOf(f *os.File) fileSystem {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil {
		return foreignFiles
	}
	switch uint32(st.Type) { // statfs(2); its width differs between machines
	case 0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x27e0eb, 0x63677270: // proc, sysfs, debugfs, tracefs, cgroup, cgroup2
		return madeUp
	case 0x65735546: // FUSE
		return foreignFiles
	}
	return heldFiles
}
