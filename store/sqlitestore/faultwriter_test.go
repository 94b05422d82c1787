package sqlitestore

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/vfs"

	"approver.example"
)

type panicDisk struct {
	vfs.VFSFilename
	now atomic.Bool
}

type panicFile struct {
	vfs.File
	of *panicDisk
}

func (d *panicDisk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, out, err := d.VFSFilename.OpenFilename(name, flags)
	if err == nil && flags&vfs.OPEN_MAIN_DB != 0 {
		f = &panicFile{f, d}
	}
	return f, out, err
}

func (f *panicFile) WriteAt(p []byte, off int64) (int, error) {
	if f.of.now.Swap(false) {
		panic("a fault")
	}
	return f.File.WriteAt(p, off)
}

func (f *panicFile) SharedMemory() vfs.SharedMemory {
	return f.File.(vfs.FileSharedMemory).SharedMemory()
}

// What a panic left in an unknown state writes nothing more, also if it came between two writes.
func TestNothingIsWrittenAfterAFaultInACheckpoint(t *testing.T) {
	path := newPath(t)
	d := &panicDisk{VFSFilename: vfs.Find("").(vfs.VFSFilename)}
	o := usual()
	o.below, o.gcEvery, o.logPages = d, time.Hour, 1<<40
	s, err := open(Config{Path: path}, quiet(), o)
	if err != nil {
		t.Fatal(err)
	}
	key := approver.Key("test", "x")
	rev := mustPut(t, s, key, "before", "")
	d.now.Store(true)
	s.checkpoints.moving.Lock()
	s.checkpoints.move(s, s.conn) // the writer is idle
	s.checkpoints.moving.Unlock()
	ended := make(chan error, 1)
	go func() {
		ended <- s.Put(t.Context(), key, []byte("after"), rev, approver.NewRev(), time.Time{}, time.Time{})
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a connection that a panic left in an unknown state goes on writing")
		}
	case <-time.After(10 * time.Second):
		t.Error("put hangs")
		return
	}
	_ = s.Close()
}
