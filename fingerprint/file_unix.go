//go:build linux || darwin

package fingerprint

import (
	"io/fs"
	"strconv"
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
	modified, changed := timesOf(st)
	buf := make([]byte, 0, 96)
	buf = strconv.AppendUint(buf, uint64(st.Dev), 10) // its width differs between systems
	buf = strconv.AppendUint(append(buf, ':'), st.Ino, 10)
	place := len(buf)
	buf = strconv.AppendInt(append(buf, ':'), st.Size, 10)
	for _, at := range []syscall.Timespec{modified, changed} {
		sec, nsec := at.Unix()
		buf = strconv.AppendInt(append(buf, ':'), sec, 10)
		buf = strconv.AppendInt(append(buf, '.'), nsec, 10)
	}
	version := string(buf)
	return fileID{
		place:   version[:place],
		version: version,
		owner:   st.Uid,
		changed: time.Unix(changed.Unix()),
	}, true
}
