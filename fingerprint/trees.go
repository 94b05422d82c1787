package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// This file binds folders that are too large to be read for each call: by what the kernel
// says of each file. A plain write, a rename and a change of rights set the time of the last
// change, which no program can set back. What that does not show: a write through a mapping
// into memory whose page was written to before and is not on the disk yet, and what root
// does with the clock or beside the file system.

// settles is how long a file must have been left alone until its times can be trusted: the
// next write may still get the same ones. The clock of a file system ticks every 10 ms or more
// often.
const settles = 20 * time.Millisecond

// stampedSum starts what a folder is bound by whose files are not read.
const stampedSum = "stamped:"

// A stamping is what the kernel says of the files of a folder.
type stamping struct {
	sum     hash.Hash
	count   int
	buf     []byte
	links   []string
	odd     []string // what is no file, and nothing that goes by its times
	fresh   []freshFile
	devices map[uint64]bool // whether the times of their files can be trusted
	bad     bool            // those of some cannot
}

// A freshFile changed so short a time ago that it may do so again unseen.
type freshFile struct {
	path, version string
	changed       time.Time
}

func newStamping() *stamping { return &stamping{sum: sha256.New(), devices: map[uint64]bool{}} }

// add notes a file at a path. Where a link leads is asked at the end.
func (t *stamping) add(path string, info fs.FileInfo, err error) {
	t.count++
	t.buf = append(append(t.buf[:0], path...), 0)
	switch {
	case err != nil:
		t.buf = append(t.buf, "gone"...)
	case info.Mode()&fs.ModeSymlink != 0:
		t.links = append(t.links, path)
	case !info.Mode().IsRegular():
		if info.Mode()&fs.ModeSocket == 0 {
			t.odd = append(t.odd, path)
		}
	default:
		t.version(path, info)
	}
	t.sum.Write(append(t.buf, 0)) // a hash takes all
}

// version notes what the kernel says of a file.
func (t *stamping) version(path string, info fs.FileInfo) {
	start := len(t.buf)
	v, known := appendVersion(t.buf, info)
	if !known || !t.trusted(path, v.device) {
		t.bad = true
		return
	}
	t.buf = v.text
	if time.Since(v.changed) < settles {
		t.fresh = append(t.fresh, freshFile{path, string(v.text[start:]), v.changed})
	}
	t.buf = strconv.AppendUint(append(t.buf, ' '), uint64(info.Mode()), 8)
}

// trusted reports whether the times on a device are the kernel's own.
func (t *stamping) trusted(path string, device uint64) bool {
	trust, ok := t.devices[device]
	if !ok {
		trust = trustedTimes(path, device)
		t.devices[device] = trust
	}
	return trust
}

func trustedTimes(path string, device uint64) bool {
	for _, at := range []string{filepath.Dir(path), path} { // a file may be a mount of its own
		f, err := os.Open(at)
		if err != nil {
			continue
		}
		info, err := f.Stat()
		holds := err == nil && timesHold(f)
		_ = f.Close() // it was only looked at
		if v, known := appendVersion(nil, info); err == nil && known && v.device == device {
			return holds
		}
	}
	return false
}

// stamped is the digest of a folder, once nothing in it can change unseen any more. If that
// does not come, it is not ok.
func (s *scan) stamped(t *stamping) (digest string, ok bool) {
	for _, link := range t.links {
		t.buf = append(append(t.buf[:0], link...), 0)
		info, err := s.stat(link)
		if real, at := filepath.EvalSymlinks(link); at == nil && err == nil {
			t.buf = append(append(t.buf, real...), 0)
			if info.Mode().IsRegular() {
				t.version(link, info)
			}
		} else if err == nil || !nothing(err) {
			s.name("%s", link)
		}
		t.sum.Write(append(t.buf, 0))
	}
	for _, path := range t.odd {
		s.name("%s, which is no file", path)
	}
	if t.bad || !s.stays(t.fresh) {
		return "", false
	}
	return stampedSum + strconv.Itoa(t.count) + ":" + hex.EncodeToString(t.sum.Sum(nil)), true
}

// stays waits until files that changed a moment ago can do so only with other times, and
// reports whether they are as they were.
func (s *scan) stays(fresh []freshFile) bool {
	for _, f := range fresh {
		left := settles - time.Since(f.changed)
		if left > settles {
			return false // it is from the future
		}
		if left > 0 {
			wait := time.NewTimer(left)
			select {
			case <-wait.C:
			case <-s.given:
				wait.Stop()
				return false
			}
		}
		info, err := s.stat(f.path)
		if err != nil {
			return false
		}
		if v, known := appendVersion(nil, info); !known || string(v.text) != f.version {
			return false
		}
	}
	return true
}
