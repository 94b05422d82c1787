package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// This file binds folders that are too large to be read for each call: by what the kernel
// says of each file. A plain write, a rename and a change of rights set the time of the last
// change, which no program can set back. A write through a mapping into memory does so only if
// the page is clean: so the disk is brought up to date first. What the times do not show is what
// root does with the clock or beside the file system.

// StampedSum starts what a folder is bound by whose files are not read.
const StampedSum = "stamped:"

// A stamping is what the kernel says of the files of a folder.
type stamping struct {
	sum     hash.Hash
	count   int
	buf     []byte
	links   []string
	odd     []string // what is no file, and nothing that goes by its times
	fresh   []freshFile
	scan    *Scan
	devices map[uint64]bool // whether the times of their files can be trusted
	bad     bool            // those of some cannot
	late    bool            // a disk did not take what is in memory in time
}

// newStamping notes the files of a list, of which nothing was asked yet.
func newStamping(s *Scan, files []string) *stamping {
	t := &stamping{sum: sha256.New(), scan: s, devices: map[uint64]bool{}}
	for _, file := range files {
		info, err := os.Lstat(file)
		t.add(file, info, err)
	}
	return t
}

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
		t.addVersion(path, info)
	}
	t.sum.Write(append(t.buf, 0)) // a hash takes all
}

// addVersion notes what the kernel says of a file.
func (t *stamping) addVersion(path string, info fs.FileInfo) {
	start := len(t.buf)
	v, known := appendVersion(t.buf, info)
	if !known {
		t.bad = true
		return
	}
	_, asked := t.devices[v.device]
	if !t.trusted(path, v.device) {
		t.bad = true
		return
	}
	if !asked { // its times are from before the disk was brought up to date
		now, err := t.scan.Stat(path)
		if v, known = appendVersion(t.buf[:start], now); err != nil || !known {
			t.bad = true
			return
		}
		info = now
	}
	t.buf = v.text
	if since := t.scan.synced[v.device]; v.changed.After(since.Add(-settleTime)) {
		t.fresh = append(t.fresh, freshFile{path, string(v.text[start:]), v.changed})
	}
	t.buf = strconv.AppendUint(append(t.buf, ' '), uint64(info.Mode()), 8)
}

// trusted reports whether the times on a device are the kernel's own.
func (t *stamping) trusted(path string, device uint64) bool {
	trust, ok := t.devices[device]
	if !ok {
		trust = trustedTimes(path, device)
		if trust && !t.scan.syncOnce(path, device) {
			t.late = true
		}
		t.devices[device] = trust
	}
	return trust
}

// stamped is the digest of a folder, once nothing in it can change unseen any more. If that
// does not come, it is not ok.
func (s *Scan) stamped(t *stamping) (digest string, ok bool) {
	for _, link := range t.links {
		t.buf = append(append(t.buf[:0], link...), 0)
		info, err := s.Stat(link)
		if real, at := filepath.EvalSymlinks(link); at == nil && err == nil {
			t.buf = append(append(t.buf, real...), 0)
			if info.Mode().IsRegular() {
				t.addVersion(link, info)
			}
		} else if err == nil || !IsAbsent(err) {
			s.Name("%s", link)
		}
		t.sum.Write(append(t.buf, 0))
	}
	for _, path := range t.odd {
		s.Name("%s, which is no file", path)
	}
	if t.bad || t.late || !s.settle(t.fresh) {
		return "", false
	}
	return StampedSum + strconv.Itoa(t.count) + ":" + hex.EncodeToString(t.sum.Sum(nil)), true
}
