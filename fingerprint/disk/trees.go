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

// This file binds folders that are too large to be read for each call, by the metadata of each
// file. A write, a rename and a change of mode set the change time, which no program can set
// back. A write through a mapping does so only if the page is clean, so the disk is synced first.
// Changes by root of the clock, or below the file system, do not show.

// StampedSum begins the hash of a folder that is bound by metadata.
const StampedSum = "stamped:"

// A stamping collects the metadata of the files of a folder.
type stamping struct {
	sum        hash.Hash
	count      int
	buf        []byte
	links      []string
	nonRegular []string // what is no file, and nothing that goes by its times
	fresh      []freshFile
	scan       *Scan
	devices    map[uint64]bool // whether the times of their files can be trusted
	untrusted  bool            // those of some cannot
	slowSync   bool            // a disk did not take what is in memory in time
}

// newStamping adds the files of a list, whose metadata was not read yet.
func newStamping(s *Scan, files []string) *stamping {
	t := &stamping{sum: sha256.New(), scan: s, devices: map[uint64]bool{}}
	for _, file := range files {
		info, err := os.Lstat(file)
		t.add(file, info, err)
	}
	return t
}

// add adds the file at a path. The targets of links are added at the end.
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
			t.nonRegular = append(t.nonRegular, path)
		}
	default:
		t.addVersion(path, info)
	}
	t.sum.Write(append(t.buf, 0)) // a hash takes all
}

// addVersion adds the metadata of a file.
func (t *stamping) addVersion(path string, info fs.FileInfo) {
	start := len(t.buf)
	v, known := appendVersion(t.buf, info)
	if !known {
		t.untrusted = true
		return
	}
	_, asked := t.devices[v.device]
	if !t.trusted(path, v.device) {
		t.untrusted = true
		return
	}
	if !asked { // its times are from before the sync
		now, err := t.scan.Stat(path)
		if v, known = appendVersion(t.buf[:start], now); err != nil || !known {
			t.untrusted = true
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

// trusted reports whether the kernel itself sets the times on a device.
func (t *stamping) trusted(path string, device uint64) bool {
	trust, ok := t.devices[device]
	if !ok {
		trust = trustedTimes(path, device)
		if trust && !t.scan.syncOnce(path, device) {
			t.slowSync = true
		}
		t.devices[device] = trust
	}
	return trust
}

// stamped is the digest of a folder, taken once every further change would show in it. If that
// cannot be reached, it is not ok.
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
	for _, path := range t.nonRegular {
		s.Name("%s, which is no file", path)
	}
	if t.untrusted || t.slowSync || !s.settle(t.fresh) {
		return "", false
	}
	return StampedSum + strconv.Itoa(t.count) + ":" + hex.EncodeToString(t.sum.Sum(nil)), true
}
