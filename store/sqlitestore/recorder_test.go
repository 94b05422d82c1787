package sqlitestore

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"
)

// A recorder is a file system below SQLite that keeps, in order, all that is done to its files,
// and what was acknowledged meanwhile. It syncs nothing.
type recorder struct {
	vfs.VFSFilename
	mu     sync.Mutex
	events []event
}

// An event is one thing that was done.
type event struct {
	do   doing
	file string // the end of its name: "", "-wal"
	at   int64  // of a write; the size, of a truncation
	data []byte
}

type doing int

const (
	doWrite doing = iota
	doTruncate
	doSync
	doCreate
	doRemove
)

func newRecorder() *recorder {
	return &recorder{VFSFilename: vfs.Find("").(vfs.VFSFilename)}
}

// now is how many events there were.
func (r *recorder) now() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

// do does something and records it, if it succeeds.
func (r *recorder) do(e event, do func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := do()
	if err == nil {
		r.events = append(r.events, e)
	}
	return err
}

func end(name string) string { return name[strings.LastIndex(name, ".db")+len(".db"):] }

func (r *recorder) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (f vfs.File, out vfs.OpenFlag, err error) {
	file := end(name.String())
	err = r.do(event{do: doCreate, file: file}, func() error {
		f, out, err = r.VFSFilename.OpenFilename(name, flags)
		return err
	})
	return &recorded{File: f, of: r, name: file}, out, err
}

func (r *recorder) Delete(name string, syncDir bool) error {
	e := event{do: doRemove, file: end(name)}
	if syncDir {
		e.at = 1
	}
	return r.do(e, func() error { return r.VFSFilename.Delete(name, syncDir) })
}

// recorded is an open file of a recorder.
type recorded struct {
	vfs.File
	of   *recorder
	name string
}

func (f *recorded) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.of.do(event{do: doWrite, file: f.name, at: off, data: append([]byte{}, p...)}, func() error {
		n, err = f.File.WriteAt(p, off)
		return err
	})
	return n, err
}

func (f *recorded) Truncate(size int64) error {
	return f.of.do(event{do: doTruncate, file: f.name, at: size}, func() error { return f.File.Truncate(size) })
}

func (f *recorded) Sync(vfs.SyncFlag) error {
	return f.of.do(event{do: doSync, file: f.name}, func() error { return nil })
}

func (f *recorded) SharedMemory() vfs.SharedMemory {
	return f.File.(vfs.FileSharedMemory).SharedMemory()
}

// Stat makes the log known to the store.
func (f *recorded) Stat() (os.FileInfo, error) {
	return f.File.(interface{ Stat() (os.FileInfo, error) }).Stat()
}

// A platter is what of one file would be there after the power is cut.
type platter struct {
	synced   []byte  // for certain
	unsynced []event // maybe, each of them, each sector of it
	named    bool    // its name is there for certain
	made     bool    // else its name may be there
	former   []byte  // or the one that was removed may be back
}

// apply adds an event.
func (p *platter) apply(e event) {
	switch e.do {
	case doWrite, doTruncate:
		p.unsynced = append(p.unsynced, e)
	case doSync:
		p.flush()
		p.named, p.former = true, nil // SQLite syncs the folder with a new log
	case doCreate:
		p.made = true
	case doRemove:
		p.flush()
		*p = platter{former: p.synced}
		if e.at == 1 {
			p.former = nil
		}
	}
}

func (p *platter) flush() {
	for _, u := range p.unsynced {
		p.synced = change(p.synced, u)
	}
	p.unsynced = nil
}

// change does one event to a file.
func change(b []byte, e event) []byte {
	end := e.at + int64(len(e.data))
	if int64(len(b)) < end {
		b = append(b, make([]byte, end-int64(len(b)))...)
	}
	if e.do == doTruncate {
		return b[:e.at]
	}
	copy(b[e.at:], e.data)
	return b
}

const sector = 512

// cut returns the file after a power cut, and whether it is there at all.
func (p *platter) cut(random *rand.Rand) ([]byte, bool) {
	if !p.named && random.IntN(3) == 0 {
		return p.former, p.former != nil
	}
	if !p.named && (!p.made || random.IntN(2) == 0) {
		return nil, false
	}
	b := append([]byte{}, p.synced...)
	whole := random.IntN(3) // 0: none, 1: each by itself, 2: nearly all, as far as the disk got
	for _, e := range p.unsynced {
		switch {
		case whole == 0 || whole == 1 && random.IntN(2) == 0 || whole == 2 && random.IntN(20) == 0:
		case e.do == doTruncate || random.IntN(3) > 0:
			b = change(b, e)
		default: // torn
			for at := e.at; at < e.at+int64(len(e.data)); {
				next := min((at/sector+1)*sector, e.at+int64(len(e.data)))
				if random.IntN(2) == 0 {
					b = change(b, event{do: doWrite, at: at, data: e.data[at-e.at : next-e.at]})
				}
				at = next
			}
		}
	}
	return b, true
}

// platters are the files of a store.
type platters map[string]*platter

func (p platters) apply(e event) {
	if p[e.file] == nil {
		p[e.file] = &platter{}
	}
	p[e.file].apply(e)
}

// cut writes what is there after a power cut to a folder, and returns the store's path.
func (p platters) cut(t *testing.T, random *rand.Rand) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "approver.db")
	for _, name := range []string{"", "-wal", "-journal"} {
		if p[name] == nil {
			continue
		}
		if b, there := p[name].cut(random); there {
			if err := os.WriteFile(path+name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return path
}
