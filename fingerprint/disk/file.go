package disk

import (
	"io/fs"
	"strconv"
	"syscall"
	"time"
)

// Identify returns the identity and version of a file, as the kernel reports them.
func Identify(info fs.FileInfo) (FileID, bool) {
	v, ok := appendVersion(make([]byte, 0, 96), info)
	if !ok {
		return FileID{}, false
	}
	version := string(v.text)
	return FileID{place: version[:v.place], Version: version, owner: v.owner, Changed: v.changed}, true
}

// A stamp is a [FileID] whose texts are in a buffer.
type stamp struct {
	text    []byte // the buffer, to which the version was appended
	place   int    // where the place ends in it
	owner   uint32
	device  uint64
	changed time.Time
}

// appendVersion appends the version of a file to a buffer.
func appendVersion(buf []byte, info fs.FileInfo) (stamp, bool) {
	if info == nil {
		return stamp{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	modified, changed := timesOf(st)
	device := uint64(st.Dev) // its width differs between systems
	buf = strconv.AppendUint(buf, device, 10)
	buf = strconv.AppendUint(append(buf, ':'), st.Ino, 10)
	place := len(buf)
	buf = strconv.AppendInt(append(buf, ':'), st.Size, 10)
	for _, at := range [...]syscall.Timespec{modified, changed} {
		sec, nsec := at.Unix()
		buf = strconv.AppendInt(append(buf, ':'), sec, 10)
		buf = strconv.AppendInt(append(buf, '.'), nsec, 10)
	}
	return stamp{text: buf, place: place, owner: st.Uid, device: device, changed: time.Unix(changed.Unix())}, true
}
