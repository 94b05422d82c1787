package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"approver.example"
)

// An access reads the disk within the limits of one call.
type access struct {
	Shared   *Shared
	canceled <-chan struct{}      // closed when nobody waits any more
	looks    int                  // places looked at
	Err      error                // the first; it ends the scan
	trusts   map[uint64]bool      // by device: whether the kernel itself sets the times
	synced   map[uint64]time.Time // by device: when it was synced
}

// errLooks says that a call leads to too many places.
var errLooks = approver.UnbindableError(fmt.Sprintf("the command may lead to more than %d files: split it", maxLooks))

func (d *access) Fail(err error) {
	if d.Err == nil {
		d.Err = err
	}
}

// Look counts one access to the disk, and reports whether it is within the limits.
func (d *access) Look() bool {
	if d.looks++; d.looks > maxLooks {
		d.Fail(errLooks)
	}
	if d.IsCanceled() {
		d.Fail(ErrCanceled)
	}
	return d.Err == nil
}

func (d *access) IsCanceled() bool {
	select {
	case <-d.canceled:
		return true
	default:
		return false
	}
}

func (d *access) Stat(path string) (fs.FileInfo, error) {
	if d.Shared.Stat != nil {
		return d.Shared.Stat(path)
	}
	return os.Stat(path)
}

// IsAbsent reports whether an error means that there is no file.
func IsAbsent(err error) bool {
	absent := []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, fs.ErrInvalid}
	return slices.ContainsFunc(absent, func(none error) bool { return errors.Is(err, none) })
}

// ErrCanceled ends the scan of a call that was already answered.
var ErrCanceled = fs.ErrClosed

func (d *access) IsDir(path string) bool {
	info, err := d.Stat(path)
	return d.Look() && err == nil && info.IsDir()
}

func (d *access) IsFileOrHidden(file string) bool {
	info, err := d.Stat(file)
	return d.Look() && (err == nil && info.Mode().IsRegular() || err != nil && !IsAbsent(err))
}

// IsProgram reports whether there is, or may be, a program at a path.
func (d *access) IsProgram(file string) bool {
	info, err := d.Stat(file)
	return d.Look() && (err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 || err != nil && !IsAbsent(err))
}

// MaxSyncs bounds the running syncs, with those of calls that were already answered.
const MaxSyncs = 4

// syncTime bounds the sync of a disk.
const syncTime = 2 * time.Second

// syncOnce syncs a device, once for each call, and reports whether that succeeded. After a sync a
// write through a mapping sets the times of a file too.
func (d *access) syncOnce(path string, device uint64) bool {
	if _, ok := d.synced[device]; ok {
		return true
	}
	b := d.Shared
	b.mu.Lock()
	free := b.Syncing < MaxSyncs
	if free {
		b.Syncing++
	}
	b.mu.Unlock()
	if !free {
		return false
	}
	begun, done := time.Now(), make(chan error, 1)
	go func() {
		err := syncDevice(filepath.Dir(path), device)
		b.mu.Lock()
		b.Syncing--
		b.mu.Unlock()
		done <- err
	}()
	late := time.NewTimer(syncTime)
	defer late.Stop()
	select {
	case err := <-done:
		if err == nil {
			d.synced[device] = begun
		}
		return err == nil
	case <-late.C:
	case <-d.canceled:
	}
	return false
}

// syncDevice syncs the device of a folder.
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

// settleTime is how long a file must be unchanged before its times can be trusted: a write within
// one tick of the file system's clock, which is at most 10 ms, gets the same times.
const settleTime = 20 * time.Millisecond

// A freshFile changed so recently that another change may not show in its times.
type freshFile struct {
	path, version string
	changed       time.Time
}

func trustedTimes(path string, device uint64) bool {
	for _, at := range []string{filepath.Dir(path), path} { // a file may be a mount of its own
		f, err := os.Open(at)
		if err != nil {
			continue
		}
		info, err := f.Stat()
		hold := err == nil && TimesHold(f)
		_ = f.Close() // it was only looked at
		if v, known := appendVersion(nil, info); err == nil && known && v.device == device {
			return hold
		}
	}
	return false
}

// maxFresh is how many files are synced one by one.
const maxFresh = 1024

// settle waits until any further change of fresh files shows in their times, and reports whether
// they are unchanged.
func (d *access) settle(fresh []freshFile) bool {
	if len(fresh) > maxFresh {
		return false
	}
	for _, f := range fresh {
		left := settleTime - time.Since(f.changed)
		if left > settleTime {
			return false // it is from the future
		}
		if left > 0 {
			wait := time.NewTimer(left)
			select {
			case <-wait.C:
			case <-d.canceled:
				wait.Stop()
				return false
			}
		}
		if d.IsCanceled() || !toDisk(f.path) {
			return false
		}
		info, err := d.Stat(f.path)
		if err != nil {
			return false
		}
		if v, known := appendVersion(nil, info); !known || string(v.text) != f.version {
			return false
		}
	}
	return true
}

// toDisk syncs one file.
func toDisk(path string) bool {
	f, _, err := Open(path)
	if err != nil {
		return false
	}
	err = f.Sync()
	_ = f.Close() // it was only read
	return err == nil
}

// writeBackTime is how long after a change a mapping may still write to a file without a change of its
// times. Kernels write pages back after about 30 s.
const writeBackTime = 10 * time.Minute

// versionOf is the version of a file, or "" if its times cannot be trusted.
func (d *access) versionOf(file string, info fs.FileInfo) string {
	v, known := appendVersion(nil, info)
	if !known {
		return ""
	}
	trust, ok := d.trusts[v.device]
	if !ok {
		trust = trustedTimes(file, v.device)
		d.trusts[v.device] = trust
	}
	if !trust {
		return ""
	}
	if time.Since(v.changed) > writeBackTime {
		return string(v.text)
	}
	if !d.settle([]freshFile{{file, string(v.text), v.changed}}) {
		return ""
	}
	return string(v.text)
}

// Open opens a regular file for reading.
func Open(path string) (*os.File, fs.FileInfo, error) {
	// O_NONBLOCK: the path may become a pipe between the look and the opening.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrInvalid
	}
	if err != nil {
		_ = f.Close() // it was only looked at
		return nil, nil, err
	}
	return f, info, nil
}
