package sqlitestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"approver.example"
)

func newPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "approver.db")
}

func mustPut(t testing.TB, s *Store, key, value string, prev approver.Rev) approver.Rev {
	t.Helper()
	rev := approver.NewRev()
	if err := s.Put(t.Context(), key, []byte(value), prev, rev, time.Time{}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	return rev
}

func wantValue(t testing.TB, s *Store, key, want string) {
	t.Helper()
	got, _, err := s.Get(t.Context(), key)
	if err != nil || string(got) != want {
		t.Errorf("get %s: got %.40q, %v, want %.40q", key, got, err, want)
	}
}

func TestConfig(t *testing.T) {
	var c Config
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "path: name the file") {
		t.Errorf("the zero value: got %v", err)
	}
	if err := yaml.UnmarshalWithOptions([]byte("path: /x/approver.db"), &c, yaml.Strict()); err != nil ||
		c.Path != "/x/approver.db" {
		t.Errorf("got %+v, %v", c, err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

// All files are the daemon's alone, whatever the umask says, and nothing else is left.
func TestFilesArePrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	path := newPath(t)
	s := openFor(t, path)
	mustPut(t, s, approver.Key("test", "1"), "v", "")
	files := func(want ...string) {
		t.Helper()
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: got mode %v, %v, want 0600", e.Name(), info.Mode(), err)
			}
			names = append(names, e.Name())
		}
		if !slices.Equal(names, want) {
			t.Errorf("there are %q, want %q", names, want)
		}
	}
	files("approver.db", "approver.db-shm", "approver.db-wal")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files("approver.db")
	if err := CheckFile(path); err != nil {
		t.Error(err)
	}
	files("approver.db")
}

// The configured path is a link. The log is beside the file that it leads to.
func TestAPathThatIsALink(t *testing.T) {
	path, link := newPath(t), newPath(t)
	if err := errors.Join(create(path), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	s := openFor(t, link)
	rev := mustPut(t, s, approver.Key("test", "1"), "v", "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openFor(t, link)
	mustPut(t, s, approver.Key("test", "1"), "w", rev)
	if _, err := Open(Config{Path: path}, quiet()); !errors.Is(err, ErrLocked) {
		t.Errorf("by its own name: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(link)); err != nil || len(entries) != 1 {
		t.Errorf("beside the link there are %v, %v", entries, err)
	}
}

func TestOneProcessAtATime(t *testing.T) {
	path := newPath(t)
	s := openFor(t, path)
	began := time.Now()
	other, err := Open(Config{Path: path}, quiet())
	if other != nil || err == nil || !strings.Contains(err.Error(), "another approver runs on this store: "+path) {
		t.Errorf("got %v, %v", other, err)
	}
	if d := time.Since(began); d < lockTime/2 || d > 30*lockTime {
		t.Errorf("it took %v to find out, want about %v", d, lockTime)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openFor(t, path)
}

func TestOpenRefuses(t *testing.T) {
	// good is a store with a record.
	good := func(t *testing.T) string {
		path := newPath(t)
		s := openFor(t, path)
		mustPut(t, s, approver.Key("test", "1"), strings.Repeat("x", 9000), "")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	change := func(t *testing.T, f func(b []byte) []byte) string {
		path := good(t)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f(b), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// changed is a store that SQLite changed.
	changed := func(t *testing.T, sql string) string {
		path := good(t)
		c, err := connect(path, "", "query_only=OFF")
		if err == nil {
			err = errors.Join(c.Exec(sql), c.shut())
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := map[string]struct {
		path func(t *testing.T) string
		want string
	}{
		"no path":      {func(*testing.T) string { return "" }, "path: name the file"},
		"no directory": {func(t *testing.T) string { return filepath.Join(t.TempDir(), "no", "x.db") }, "mkdir -m 700 -p"},
		"a directory":  {func(t *testing.T) string { return t.TempDir() }, "is not a regular file"},
		"others may read": {func(t *testing.T) string {
			path := good(t)
			if err := os.Chmod(path, 0o640); err != nil {
				t.Fatal(err)
			}
			return path
		}, "chmod 600"},
		"another kind of file": {func(t *testing.T) string {
			return change(t, func([]byte) []byte { return bytes.Repeat([]byte("not a store "), 2000) })
		}, "is damaged, or no store"},
		"its start is overwritten": {func(t *testing.T) string {
			return change(t, func(b []byte) []byte { clear(b[:2*pageSize]); return b })
		}, "is damaged, or no store"},
		"cut short": {func(t *testing.T) string { return change(t, func(b []byte) []byte { return b[:5000] }) },
			"is damaged"},
		"cut short by half": {func(t *testing.T) string {
			return change(t, func(b []byte) []byte { return b[:5*pageSize] })
		}, "is damaged"},
		"cut short by a page": {func(t *testing.T) string {
			return change(t, func(b []byte) []byte { return b[:len(b)-pageSize] })
		}, "is damaged"},
		"no list of what is due": {func(t *testing.T) string { return changed(t, `DROP INDEX due`) }, `it has no part "due"`},
		"no records": {func(t *testing.T) string { return changed(t, `ALTER TABLE records RENAME TO recordz`) },
			`it has no part "records"`},
		"another list": {func(t *testing.T) string { return changed(t, `CREATE INDEX more ON records(rev)`) },
			`it has a part "more" that approver did not make`},
		"a trigger": {func(t *testing.T) string {
			return changed(t, `CREATE TRIGGER lift AFTER INSERT ON records BEGIN DELETE FROM records WHERE id = new.id; END`)
		}, `it has a part "lift" that approver did not make`},
		"no clock": {func(t *testing.T) string { return changed(t, `DELETE FROM clock`) }, "it has no clock"},
		"a later format": {func(t *testing.T) string { return changed(t, `PRAGMA user_version = 9`) },
			"run the approver that wrote it"},
		"a clock before all": {func(t *testing.T) string { return changed(t, `UPDATE clock SET mark = -1`) },
			"its clock has a time before 1970"},
		"another program's": {func(t *testing.T) string { return changed(t, `PRAGMA application_id = 7`) },
			"it is the SQLite file of another program"},
		"a log of another file": {func(t *testing.T) string {
			path := newPath(t)
			if err := os.WriteFile(path+"-wal", make([]byte, 5000), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}, "put the file back, or move"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := test.path(t)
			before, _ := os.ReadFile(path)
			check := CheckFile(path)
			s, err := Open(Config{Path: path}, quiet())
			if s != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v, want %q", s, err, test.want)
			}
			if path != "" && name != "no directory" && (check == nil || !strings.Contains(check.Error(), test.want)) {
				t.Errorf("CheckFile: got %v, want %q", check, test.want)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

// Somebody removes, or replaces, the file of a running store. What it wrote then went
// into a file that nobody would find again, and a yes was released on the strength of it.
// Now nothing is written, until the file is back.
func TestAFileThatWasTakenAwayIsNotWritten(t *testing.T) {
	path := newPath(t)
	s := openFor(t, path)
	mustPut(t, s, approver.Key("test", "1"), "before", "")
	for name, replaced := range map[string]bool{"removed": false, "replaced": true, "log removed": false,
		"log replaced": true} {
		path := path
		if strings.HasPrefix(name, "log") {
			path += "-wal"
		}
		err := os.Rename(path, path+".away")
		if err == nil && replaced {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		err = s.Put(t.Context(), approver.Key("test", name), []byte("v"), "", approver.NewRev(), time.Time{}, time.Time{})
		if err == nil || !strings.Contains(err.Error(), path+" was removed or replaced") ||
			!strings.Contains(err.Error(), "put it back, or restart approver") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, approver.Key("test", name), "v", "")
	}
}

// A record that is damaged in the file is not given out, and not replaced
// unseen.
func TestDamagedRecord(t *testing.T) {
	s, key := openFor(t, newPath(t)), approver.Key("test", "damaged")
	rev := mustPut(t, s, key, "v", "")
	for name, change := range map[string]string{"short": `rev = 'x'`, "before all": `due = -1`,
		"forgotten before all": `keep = -1`} {
		if err := s.conn.Exec(`UPDATE records SET ` + change); err != nil { // nothing is written meanwhile
			t.Fatal(err)
		}
		s.recents.begin([]part{{key: key}}) // so that the file is read
		s.recents.end([]part{{key: key}}, false)
		if v, r, err := s.Get(t.Context(), key); !errors.Is(err, approver.ErrTampered) || v != nil || r != "" {
			t.Errorf("%s: got %q, %q, %v", name, v, r, err)
		}
		for _, prev := range []approver.Rev{"", rev} {
			err := s.Put(t.Context(), key, nil, prev, approver.NewRev(), time.Time{}, time.Time{})
			if !errors.Is(err, approver.ErrTampered) {
				t.Errorf("%s: put on %q: got %v", name, prev, err)
			}
		}
	}
}

// The limit on the size of files stands for a full disk: a write fails half
// way, with space for some pages and not for all.
func TestFullDiskLosesNothing(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	path := newPath(t)
	s := openFor(t, path)
	key := approver.Key("test", "kept")
	rev := mustPut(t, s, key, "kept", "")
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	small := limit
	small.Cur = 256 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	restore := func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Error(err)
		}
	}
	defer restore()
	large := approver.NewRev()
	put := func() error {
		return s.Put(t.Context(), key, make([]byte, 4<<20), rev, large, time.Time{}, time.Time{})
	}
	for range 3 {
		if err := put(); err == nil || errors.Is(err, approver.ErrConflict) ||
			!strings.Contains(err.Error(), "no room on the disk") {
			t.Fatalf("a write to a full disk: got %v", err)
		}
		wantValue(t, s, key, "kept")
	}
	// What still fits is still written, and all is well when there is room again.
	rev = mustPut(t, s, key, "small", rev)
	wantValue(t, s, key, "small")
	restore()
	if err := put(); err != nil {
		t.Errorf("with room again: %v", err)
	}
	wantValue(t, s, key, string(make([]byte, 4<<20)))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantValue(t, openFor(t, path), key, string(make([]byte, 4<<20)))
}

// A store whose sync failed refuses every write, and still reads.
func TestBrokenStoreWritesNothing(t *testing.T) {
	s, key := openFor(t, newPath(t)), approver.Key("test", "broken")
	rev := mustPut(t, s, key, "before", "")
	err := s.do(&op{ctx: t.Context(), apply: func(*batch) (bool, error, error) {
		s.broken = errors.New("a sync failed")
		return false, nil, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Put(t.Context(), key, []byte("after"), rev, approver.NewRev(), time.Time{}, time.Time{})
	if err == nil || !strings.Contains(err.Error(), "a sync failed") {
		t.Errorf("put: got %v", err)
	}
	if _, err := s.Lease(t.Context(), "x", time.Second); err == nil {
		t.Error("a lease was granted")
	}
	wantValue(t, s, key, "before")
}

// crashVariable names, in a child process, the store to write to until it is
// killed.
const crashVariable = "SQLITESTORE_CRASH_TEST"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashVariable); path != "" {
		if err := writeUntilKilled(path); err != nil {
			fmt.Println("failed", err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeUntilKilled counts up, from several writers, and says what is on disk.
func writeUntilKilled(path string) error {
	s, err := Open(Config{Path: path}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	ctx := context.Background()
	failed := make(chan error)
	for w := range 4 {
		go func() {
			key := approver.Key("test", fmt.Sprint(w))
			_, rev, err := s.Get(ctx, key)
			if errors.Is(err, approver.ErrNotFound) {
				err = nil
			}
			for n := 1; err == nil; n++ {
				next := approver.NewRev()
				value := append(bytes.Repeat([]byte{byte(n)}, 100*(n%50)), next...)
				if err = s.Put(ctx, key, value, rev, next, time.Now(), time.Time{}); err == nil {
					now, _ := s.Now(ctx)
					// One write, so that a line is whole or not there.
					_, err = fmt.Fprintf(os.Stdout, "%d %s %d\n", w, next, now.UnixNano())
				}
				rev = next
			}
			failed <- err
		}()
	}
	return <-failed
}
