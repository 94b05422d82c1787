package gitrepo

import (
	"io/fs"
	"syscall"
)

// changedAt returns when a file or its metadata last changed, which nobody can set back. ok is false
// if that is not known.
func changedAt(info fs.FileInfo) (seconds, nanos uint32, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint32(st.Ctimespec.Sec), uint32(st.Ctimespec.Nsec), true //nolint:gosec // as git keeps them
}
