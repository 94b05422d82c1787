package gitrepo

import (
	"io/fs"
	"syscall"
)

// changedAt is when a file, or what is said of it, changed last; nobody can set it
// back. Ok is false if it is not known.
func changedAt(info fs.FileInfo) (seconds, nanos uint32, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec), true //nolint:gosec // as git keeps them
}
