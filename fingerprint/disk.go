package fingerprint

// This file asks the disk, within the limits of one call.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"approver.example"
)

// A disk is what one call may ask of the disk, and has asked.
type disk struct {
	shared *shared
	given  <-chan struct{}      // closed when nobody waits any more
	looks  int                  // places looked at
	err    error                // the first; it ends the scan
	trusts map[uint64]bool      // devices whose times are the kernel's own
	synced map[uint64]time.Time // devices that are up to date, and since when
}

// errLooks says that a call leads to too many places.
var errLooks = approver.UnbindableError(fmt.Sprintf("the command may lead to more than %d files: split it", maxLooks))

func (d *disk) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// look counts one look at the disk, and reports whether there may be one.
func (d *disk) look() bool {
	if d.looks++; d.looks > maxLooks {
		d.fail(errLooks)
	}
	if d.givenUp() {
		d.fail(errGivenUp)
	}
	return d.err == nil
}

func (d *disk) givenUp() bool {
	select {
	case <-d.given:
		return true
	default:
		return false
	}
}

func (d *disk) stat(path string) (fs.FileInfo, error) {
	if d.shared.stat != nil {
		return d.shared.stat(path)
	}
	return os.Stat(path)
}

// nothing reports whether an error means that there is no file.
func nothing(err error) bool {
	for _, none := range []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, fs.ErrInvalid} {
		if errors.Is(err, none) {
			return true
		}
	}
	return false
}

// errGivenUp is seen by nobody: the call was answered.
var errGivenUp = fs.ErrClosed

func (d *disk) isDir(path string) bool {
	info, err := d.stat(path)
	return d.look() && err == nil && info.IsDir()
}

func (d *disk) isThereAs(file string) bool {
	info, err := d.stat(file)
	return d.look() && (err == nil && info.Mode().IsRegular() || err != nil && !nothing(err))
}

// isThere reports whether a program lies at a path, or nobody can tell.
func (d *disk) isThere(file string) bool {
	info, err := d.stat(file)
	return d.look() && (err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 || err != nil && !nothing(err))
}
