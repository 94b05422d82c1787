package sqlitestore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"approver.example"
)

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// owner returns whose a file is; -1 if there is none.
func owner(path string) int {
	i, err := os.Lstat(path)
	if err != nil {
		return -1
	}
	return int(i.Sys().(*syscall.Stat_t).Uid)
}

// ofAnother makes a store that belongs to another user.
func ofAnother(t *testing.T) (path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("it gives files to another user, so it runs as root")
	}
	path = newPath(t)
	s, err := Open(Config{Path: path}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, approver.Key("test", "x"), "v", "")
	if err := errors.Join(s.Close(), os.Chown(path, 1000, 1000), os.Chown(filepath.Dir(path), 1000, 1000)); err != nil {
		t.Fatal(err)
	}
	return path
}

// The story: the files of a running daemon were moved away, and a snapshot of a store with its log was put
// in their place. The daemon wrote nothing there, but when it stopped, SQLite removed the log by its name:
// the last commits of the snapshot, a freeze among them, were gone without a word.
func TestCloseLeavesTheLogOfAnotherStore(t *testing.T) {
	snap := newPath(t)
	other, err := Open(Config{Path: snap}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	mustPut(t, other, approver.Key("test", "freeze"), "acknowledged", "")
	path, away := newPath(t), newPath(t)
	s, err := Open(Config{Path: path}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, approver.Key("test", "x"), "v", "")
	for _, n := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+n, away+n); err != nil {
			t.Fatal(err)
		}
	}
	copyTo(t, snap, path)
	copyTo(t, snap+"-wal", path+"-wal")
	if s.Put(t.Context(), approver.Key("test", "y"), []byte("v"), "", approver.NewRev(), time.Time{}, time.Time{}) == nil {
		t.Error("it writes to a file that was replaced")
	}
	_ = s.Close() // its error is of a log that is not there any more
	wantValue(t, openFor(t, path), approver.Key("test", "freeze"), "acknowledged")
	wantValue(t, openFor(t, away), approver.Key("test", "x"), "v") // nor is its own log lost
}

// The story: root looked at the store of a daemon with a user of its own. That left a file beside it which
// only root could open, so the daemon did not start again; and where the file was a link, root changed what
// it led to. The store's commands are for the user of the daemon.
func TestTheCommandsAreForTheOwner(t *testing.T) {
	path := ofAnother(t)
	victim := filepath.Join(t.TempDir(), "passwd")
	if err := errors.Join(os.WriteFile(victim, nil, 0o644), os.Symlink(victim, path+"-shm")); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]func() error{
		"look":    func() error { _, err := Damaged(path); return err },
		"drop":    func() error { return Drop(path, "x") },
		"convert": func() error { _, _, err := ToBolt(path); return err },
	} {
		if err := command(); err == nil || !strings.Contains(err.Error(), "run this as the user of the daemon") {
			t.Errorf("%s: %v", name, err)
		}
	}
	info, err := os.Stat(victim)
	if err != nil || info.Mode().Perm() != 0o644 || owner(victim) != 0 || owner(path+".new") != -1 {
		t.Errorf("%v, %v, of uid %d; .new of uid %d", info.Mode(), err, owner(victim), owner(path+".new"))
	}
	// A link is not followed by the user itself either.
	mine := newPath(t)
	if err := errors.Join(create(mine), os.Symlink(victim, mine+"-shm")); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(Config{Path: mine}, quiet()); err == nil {
		t.Error("it opens a link", s.Close())
	}
	if info, err := os.Stat(victim); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A new file gets the owner of the old one, and not what a link leads to.
func TestSwapFollowsNoLink(t *testing.T) {
	path := ofAnother(t)
	victim := filepath.Join(t.TempDir(), "shadow")
	if err := errors.Join(os.WriteFile(victim, nil, 0o600), os.Symlink(victim, path+".new")); err != nil {
		t.Fatal(err)
	}
	_ = swap(path+".new", path)
	if owner(victim) != 0 {
		t.Error("another file was given away")
	}
}
