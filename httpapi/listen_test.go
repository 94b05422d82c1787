package httpapi

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"approver.example/httpapi/socketpath"
)

// tempDir is a folder with a short name, that only we can write.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ap")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func listen(t *testing.T, path string, mode os.FileMode) *Listener {
	t.Helper()
	l, err := Listen(path, mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestListenModes(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	for _, umask := range []int{0, 0o022, 0o077} {
		syscall.Umask(umask)
		dir := tempDir(t)
		path := filepath.Join(dir, "a", "b", "s.sock")
		for _, mode := range []os.FileMode{0o600, 0o660, 0o666} {
			l := listen(t, path, mode)
			info, err := os.Lstat(path)
			if err != nil || info.Mode() != fs.ModeSocket|mode {
				t.Errorf("umask %o: the socket has mode %v, %v, want %v", umask, info.Mode(), err, mode)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if err := l.Close(); err != nil {
				t.Errorf("a second Close: %v", err)
			}
			if _, err := os.Lstat(path); !os.IsNotExist(err) {
				t.Errorf("after Close, Lstat gives %v", err)
			}
		}
		for _, made := range []string{"a", "a/b"} {
			if info, err := os.Stat(filepath.Join(dir, made)); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("umask %o: the folder %s has mode %v, %v", umask, made, info.Mode(), err)
			}
		}
	}
}

func TestListenRefuses(t *testing.T) {
	dir := tempDir(t)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(dir, "linked")
	if err := os.Symlink(dir, linked); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":                                "not an absolute path",
		"s.sock":                          "not an absolute path",
		filepath.Join(dir, "a") + "/../s": "write it as",
		dir + "//s":                       "write it as",
		filepath.Join(dir, strings.Repeat("x", socketpath.MaxLength)): "longer than the",
		file:                       "is not a socket",
		link:                       "is not a socket",
		filepath.Join(file, "s"):   "folder",
		filepath.Join(open, "s"):   "can be written by others",
		filepath.Join(linked, "s"): "is not a folder",
	} {
		l, err := Listen(path, 0o600)
		if err == nil {
			_ = l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Listen(%.60q): %v, want %q", path, err, want)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "precious" {
		t.Errorf("the foreign file is now %q, %v", text, err)
	}
}

// A daemon that was killed leaves its socket behind; the next one takes over.
// One that lives keeps it.
func TestListenStale(t *testing.T) {
	path := filepath.Join(tempDir(t), "s.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)

	if l, err := Listen(path, 0o600); err == nil || !strings.Contains(err.Error(), "another program listens") {
		t.Errorf("while a foreign program listens: %v, %v", l, err)
	}
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	l := listen(t, path, 0o600)
	if other, err := Listen(path, 0o600); err == nil || !strings.Contains(err.Error(), "another approver listens") {
		t.Errorf("while we listen: %v, %v", other, err)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the living listener was harmed: %v", err)
	}
	_ = c.Close()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	listen(t, path, 0o600)
}

// Many daemons start at once over a stale socket: one wins, and it can be
// reached at the end.
func TestListenRace(t *testing.T) {
	path := filepath.Join(tempDir(t), "s.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()
	const n = 16
	won := make(chan *Listener, n)
	for range n {
		go func() {
			l, err := Listen(path, 0o600)
			if err != nil {
				l = nil
			}
			won <- l
		}()
	}
	winners := 0
	for range n {
		if l := <-won; l != nil {
			winners++
			defer l.Close()
		}
	}
	c, err := net.Dial("unix", path)
	if winners != 1 || err != nil {
		t.Fatalf("%d listeners, dial: %v", winners, err)
	}
	_ = c.Close()
}
