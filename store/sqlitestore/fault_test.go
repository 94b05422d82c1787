package sqlitestore

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"approver.example"
)

// A weakDisk is a file system below SQLite whose writes or syncs can fail.
type weakDisk struct {
	vfs.VFSFilename
	write, sync, file atomic.Pointer[error]  // of the log; sync of the file
	synced            atomic.Pointer[func()] // called after each sync of the log
}

type weakFile struct {
	vfs.File
	of  *weakDisk
	log bool
}

func (d *weakDisk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, out, err := d.VFSFilename.OpenFilename(name, flags)
	return &weakFile{f, d, flags&vfs.OPEN_WAL != 0}, out, err
}

func failure(p *atomic.Pointer[error]) error {
	if err := p.Load(); err != nil {
		return *err
	}
	return nil
}

func (f *weakFile) WriteAt(p []byte, off int64) (int, error) {
	if err := failure(&f.of.write); err != nil && f.log {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *weakFile) Sync(flags vfs.SyncFlag) error {
	p := &f.of.file
	if f.log {
		p = &f.of.sync
	}
	if err := failure(p); err != nil {
		return err
	}
	err := f.File.Sync(flags)
	if after := f.of.synced.Load(); after != nil && f.log {
		(*after)()
	}
	return err
}

func (f *weakFile) SharedMemory() vfs.SharedMemory {
	return f.File.(vfs.FileSharedMemory).SharedMemory()
}

// openWeak opens a store on a disk that can fail, with a small log.
func openWeak(t *testing.T, path string) (*Store, *weakDisk) {
	t.Helper()
	d := &weakDisk{VFSFilename: vfs.Find("").(vfs.VFSFilename)}
	o := usual()
	o.below, o.gcEvery, o.logPages = d, time.Hour, 20
	s, err := open(Config{Path: path}, quiet(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s, d
}

// After a failed sync it is unknown what is on disk, and a second sync proves nothing. The store
// writes nothing any more, still reads what it had, and a store that is opened anew looks at what
// there is.
func TestAFailedSyncIsTheLastWrite(t *testing.T) {
	for name, log := range map[string]bool{"of the log": true, "of the file": false} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			s, disk := openWeak(t, path)
			key := approver.Key("test", "x")
			rev := mustPut(t, s, key, "before", "")
			bad := error(syscall.EIO)
			fails := &disk.sync
			if !log {
				fails = &disk.file
			}
			fails.Store(&bad)
			var err error
			for n := 0; err == nil; n++ { // those of the file come with the checkpoints
				if n > 1000 {
					t.Fatal("no sync fails")
				}
				err = s.Put(t.Context(), approver.Key("test", "other"), make([]byte, 4000), "", approver.NewRev(), time.Time{},
					time.Now().Add(-time.Second))
			}
			fails.Store(nil)
			for range 3 {
				if !strings.Contains(err.Error(), "no write since a sync failed; restart approver") ||
					!errors.Is(err, syscall.EIO) {
					t.Errorf("got %v", err)
				}
				err = s.Put(t.Context(), key, []byte("after"), rev, approver.NewRev(), time.Time{}, time.Time{})
			}
			wantValue(t, s, key, "before")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again := openFor(t, path)
			wantValue(t, again, key, "before")
			mustPut(t, again, key, "after", rev)
			checkFile(t, again)
		})
	}
}

// A write to the log fails for another reason than a full disk: nothing of it is there, and the
// next one succeeds.
func TestAFailedWriteLeavesNothing(t *testing.T) {
	s, disk := openWeak(t, newPath(t))
	defer s.Close()
	key := approver.Key("test", "x")
	rev := mustPut(t, s, key, "before", "")
	for _, bad := range []error{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT} {
		disk.write.Store(&bad)
		err := s.Put(t.Context(), key, []byte("after"), rev, approver.NewRev(), time.Time{}, time.Time{})
		if !errors.Is(err, bad) || strings.Contains(err.Error(), "no room on the disk") != (bad != syscall.EIO) {
			t.Errorf("%v: got %v", bad, err)
		}
		wantValue(t, s, key, "before")
		disk.write.Store(nil)
		rev = mustPut(t, s, key, "before", rev)
	}
	checkFile(t, s)
}

// The story: the disk was full when a commit was already in the log, and SQLite had to make -shm larger to
// note where. The writer was told that nothing was written, the daemon was killed, and the record was
// there. Now it is unknown what is on disk: nothing is written until the store was opened again.
func TestACommitThatIsNotIndexedIsTheLastWrite(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	set := func(most uint64) error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: limit.Max})
	}
	path := newPath(t)
	d := &weakDisk{VFSFilename: vfs.Find("").(vfs.VFSFilename)}
	o := usual()
	o.below, o.gcEvery, o.logPages = d, time.Hour, 1<<40
	s, err := open(Config{Path: path}, quiet(), o)
	if err != nil {
		t.Fatal(err)
	}
	const first = 4062 // pages of the log are noted before -shm has to grow
	for n := 0; s.checkpoints.pages.Load() < first-200; n++ {
		mustPut(t, s, approver.Key("test", fmt.Sprint("filler", n)), strings.Repeat("v", 400<<10), "")
	}
	key := approver.Key("test", "x")
	bad := error(syscall.EIO) // of a write that failed long ago
	d.write.Store(&bad)
	if err := s.Put(t.Context(), key, nil, "", approver.NewRev(), time.Time{}, time.Time{}); !errors.Is(err, bad) {
		t.Fatalf("got %v", err)
	}
	d.write.Store(nil)
	rev := mustPut(t, s, key, "0", "")
	full := func() { // once the commit is in the log
		if err := set(32 << 10); err != nil {
			t.Error(err)
		}
	}
	d.synced.Store(&full)
	last := 0
	for err == nil {
		next := approver.NewRev()
		last++
		err = s.Put(t.Context(), key, fmt.Append(nil, last), rev, next, time.Time{}, time.Time{})
		if limitErr := set(limit.Cur); limitErr != nil {
			t.Fatal(limitErr)
		}
		if err == nil {
			rev = next
		}
		if last > 400 {
			t.Fatal("-shm has never to grow")
		}
	}
	d.synced.Store(nil)
	for range 3 {
		if !errors.Is(err, sqlite3.IOERR_SHMSIZE) ||
			!strings.Contains(err.Error(), "no write since a commit failed that the log may have all the same; restart") {
			t.Fatalf("got %v", err)
		}
		err = s.Put(t.Context(), approver.Key("test", "other"), []byte("v"), "", approver.NewRev(), time.Time{}, time.Time{})
	}
	wantValue(t, s, key, fmt.Sprint(last-1))
	killed := newPath(t)
	for _, name := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + name)
		if err == nil {
			err = os.WriteFile(killed+name, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	wantValue(t, openFor(t, killed), key, fmt.Sprint(last)) // what nobody was told of
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := openFor(t, path)
	mustPut(t, again, approver.Key("test", "other"), "v", "")
	checkFile(t, again)
}
