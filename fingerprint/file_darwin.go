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
		version: fmt.Sprintf("%d:%d:%d:%d.%d:%d.%d", st.Dev, st.Ino, st.Size, st.Mtimespec.Sec, st.Mtimespec.Nsec, st.Ctimespec.Sec, st.Ctimespec.Nsec),
		owner:   st.Uid,
		changed: time.Unix(st.Ctimespec.Unix()),
	}, true
}

// fileSystemOf: only the system's own volumes, which it mounts without
// MNT_NOSUID, count as holding files; a user's mounts have that flag.
func fileSystemOf(f *os.File) fileSystem {
	const noSUID = 0x8
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil || st.Flags&noSUID != 0 {
		return foreignFiles
	}
	return heldFiles
}
