package audit

import (
	"io/fs"
	"syscall"
	"time"
)

// changedAt is when anything of a file was changed.
func changedAt(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return info.ModTime()
}
