//go:build unix

package secret

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs reports whether a file belongs to root or to this process's user.
func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (st.Uid == 0 || int64(st.Uid) == int64(os.Geteuid()))
}
