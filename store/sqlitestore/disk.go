package sqlitestore

import (
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3/vfs"
)

// A disk is what SQLite writes through: it passes everything on to the file system, counts
// syncs, and remembers what went wrong. SQLite itself keeps only a code, and often loses the
// cause when it rolls back.
type disk struct {
	below vfs.VFSFilename
	syncs atomic.Uint64

	room sync.Mutex // of the log's file: held for each write to it

	mu      sync.Mutex
	wal     fs.FileInfo // the log that the connections write to
	failed  error       // the last failure to write
	torn    bool        // the log was not written as it should be
	unknown error       // what is on disk is unknown
	since   string      // what it is unknown since
}

// Open implements [vfs.VFS]; SQLite calls OpenFilename.
func (d *disk) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return d.below.Open(name, flags)
}

// OpenFilename implements [vfs.VFSFilename].
func (d *disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := d.below.OpenFilename(name, flags)
	if err != nil {
		return nil, flags, d.note(err)
	}
	if s, ok := f.(interface{ Stat() (fs.FileInfo, error) }); ok && flags&vfs.OPEN_WAL != 0 {
		info, err := s.Stat()
		if err != nil {
			return nil, flags, d.note(err)
		}
		d.mu.Lock()
		d.wal = info
		d.mu.Unlock()
	}
	return &diskFile{File: f, disk: d, log: flags&vfs.OPEN_WAL != 0}, flags, nil
}

// Delete implements [vfs.VFS].
func (d *disk) Delete(name string, syncDir bool) error { return d.below.Delete(name, syncDir) }

// Access implements [vfs.VFS].
func (d *disk) Access(name string, flags vfs.AccessFlag) (bool, error) {
	return d.below.Access(name, flags)
}

// FullPathname implements [vfs.VFS].
func (d *disk) FullPathname(name string) (string, error) { return d.below.FullPathname(name) }

// note remembers a failure to write, and returns it.
func (d *disk) note(err error) error {
	if err != nil {
		d.mu.Lock()
		d.failed = err
		d.mu.Unlock()
	}
	return err
}

// failure returns the failure to write since the last call.
func (d *disk) failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.failed
	d.failed = nil
	return err
}

// lost returns since when and why it is unknown what is on disk, or nil.
func (d *disk) lost() (since string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.since, d.unknown
}

// lose notes that it is unknown what is on disk.
func (d *disk) lose(since string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.since, d.unknown = since, err
}

// begin is called before a transaction.
func (d *disk) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.torn = false
}

// uncommitted is called after a commit that failed. The log has all of it if each write to the log
// succeeded: SQLite also has to note in memory, for which -shm may have to grow, where the log has it.
// After a crash it would be there, although nobody was told so.
func (d *disk) uncommitted(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.torn && d.unknown == nil {
		d.since, d.unknown = "a commit failed that the log may have all the same", err
	}
}

// hasLog reports whether the log that is written to is the one at path.
func (d *disk) hasLog(path string) bool {
	d.mu.Lock()
	was := d.wal
	d.mu.Unlock()
	if was == nil {
		return true
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, was)
}

// Room in the log.
const (
	roomBytes = 5 << 20   // more than the log has when it begins anew, as a rule
	roomStep  = 256 << 10 // for so long a commit may wait
)

// makeRoom fills the rest of the log's file with zeros, which SQLite takes for the end of the log. A sync
// of a file that has become longer has to write its length, too, which takes a third of its time, and
// now and then ten times as long. If there is no room for that, the log grows as it is needed.
func (d *disk) makeRoom(path string, stop <-chan struct{}) error {
	if !d.hasLog(path) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	zeros := make([]byte, roomStep)
	step := func() (more bool, err error) {
		d.room.Lock()
		defer d.room.Unlock()
		info, err := f.Stat()
		if err != nil || info.Size() >= roomBytes {
			return false, err
		}
		_, err = f.WriteAt(zeros, info.Size())
		return true, err
	}
	for more := true; more; {
		if more, err = step(); err != nil {
			return err
		}
		if err := f.Sync(); err != nil { // commits of meanwhile need not wait for all of it
			return err
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
	return nil
}

// A diskFile is an open file of a disk.
type diskFile struct {
	vfs.File
	disk *disk
	log  bool
}

// WriteAt implements [vfs.File].
func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	if f.log {
		f.disk.room.Lock()
		defer f.disk.room.Unlock()
	}
	n, err := f.File.WriteAt(p, off)
	if err != nil && f.log {
		f.disk.mu.Lock()
		f.disk.torn = true
		f.disk.mu.Unlock()
	}
	return n, f.disk.note(err)
}

// Truncate implements [vfs.File].
func (f *diskFile) Truncate(size int64) error { return f.disk.note(f.File.Truncate(size)) }

// Sync implements [vfs.File].
func (f *diskFile) Sync(flags vfs.SyncFlag) error {
	f.disk.syncs.Add(1)
	err := f.disk.note(f.File.Sync(flags))
	if err != nil {
		f.disk.lose("a sync failed", err)
	}
	return err
}

// HasMoved implements [vfs.FileHasMoved]: SQLite leaves the log of a file that is no longer there.
func (f *diskFile) HasMoved() (bool, error) {
	if m, ok := f.File.(vfs.FileHasMoved); ok {
		return m.HasMoved()
	}
	return false, nil
}

// SharedMemory implements [vfs.FileSharedMemory].
func (f *diskFile) SharedMemory() vfs.SharedMemory {
	if s, ok := f.File.(vfs.FileSharedMemory); ok {
		return s.SharedMemory()
	}
	return nil
}
