package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// This file binds folders that are too large to be read for each call: by what the kernel
// says of each file. A plain write, a rename and a change of rights set the time of the last
// change, which no program can set back. A write through a mapping into memory does so only if
// the page is clean: so the disk is brought up to date first. What the times do not show is what
// root does with the clock or beside the file system.

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
	scan    *scan
	devices map[uint64]bool // whether the times of their files can be trusted
	bad     bool            // those of some cannot
	late    bool            // a disk did not take what is in memory in time
}

// A freshFile changed so short a time ago that it may do so again unseen.
type freshFile struct {
	path, version string
	changed       time.Time
}

// newStamping notes the files of a list, of which nothing was asked yet.
func newStamping(s *scan, files []string) *stamping {
	t := &stamping{sum: sha256.New(), scan: s, devices: map[uint64]bool{}}
	for _, file := range files {
		info, err := os.Lstat(file)
		t.add(file, info, err)
	}
	return t
}

// syncTime is how long a disk may take until it has what is in memory.
const syncTime = 2 * time.Second

// maxSyncs is how many disks may be waited for, also by calls that were answered.
const maxSyncs = 4

// onDisk writes what is in memory of a device to it, and reports whether that was done. From then
// on a write through a mapping, too, sets the times of a file. It is done once for a call: of what
// changes later the times say so.
func (s *scan) onDisk(path string, device uint64) bool {
	if _, ok := s.synced[device]; ok {
		return true
	}
	b := s.shared
	b.mu.Lock()
	free := b.syncs < maxSyncs
	if free {
		b.syncs++
	}
	b.mu.Unlock()
	if !free {
		return false
	}
	begun, done := time.Now(), make(chan error, 1)
	go func() {
		err := syncDevice(filepath.Dir(path), device)
		b.mu.Lock()
		b.syncs--
		b.mu.Unlock()
		done <- err
	}()
	late := time.NewTimer(syncTime)
	defer late.Stop()
	select {
	case err := <-done:
		if err == nil {
			if s.synced == nil {
				s.synced = map[uint64]time.Time{}
			}
			s.synced[device] = begun
		}
		return err == nil
	case <-late.C:
	case <-s.given:
	}
	return false
}

// syncDevice brings the device up to date on which a folder lies.
func syncDevice(dir string, device uint64) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only looked at
	info, err := f.Stat()
	if v, known := appendVersion(nil, info); err != nil || !known || v.device != device {
		return errors.Join(err, fs.ErrInvalid)
	}
	return syncFiles(f)
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
		t.version(path, info)
	}
	t.sum.Write(append(t.buf, 0)) // a hash takes all
}

// version notes what the kernel says of a file.
func (t *stamping) version(path string, info fs.FileInfo) {
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
		now, err := t.scan.stat(path)
		if v, known = appendVersion(t.buf[:start], now); err != nil || !known {
			t.bad = true
			return
		}
		info = now
	}
	t.buf = v.text
	if since := t.scan.synced[v.device]; v.changed.After(since.Add(-settles)) {
		t.fresh = append(t.fresh, freshFile{path, string(v.text[start:]), v.changed})
	}
	t.buf = strconv.AppendUint(append(t.buf, ' '), uint64(info.Mode()), 8)
}

// trusted reports whether the times on a device are the kernel's own.
func (t *stamping) trusted(path string, device uint64) bool {
	trust, ok := t.devices[device]
	if !ok {
		trust = trustedTimes(path, device)
		if trust && !t.scan.onDisk(path, device) {
			t.late = true
		}
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
	if t.bad || t.late || !s.stays(t.fresh) {
		return "", false
	}
	return stampedSum + strconv.Itoa(t.count) + ":" + hex.EncodeToString(t.sum.Sum(nil)), true
}

// maxFresh is how many files are brought to the disk one by one.
const maxFresh = 1024

// stays waits until files that changed a moment ago can do so only with other times, and
// reports whether they are as they were.
func (s *scan) stays(fresh []freshFile) bool {
	if len(fresh) > maxFresh {
		return false
	}
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
		if s.givenUp() || !toDisk(f.path) {
			return false
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

// toDisk brings one file to the disk.
func toDisk(path string) bool {
	f, _, err := open(path)
	if err != nil {
		return false
	}
	err = f.Sync()
	_ = f.Close() // it was only read
	return err == nil
}
