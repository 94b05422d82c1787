package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// echoes answers on each connection with one byte.
func echoes(t *testing.T, l net.Listener) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte{1})
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
}

func connects(path string) error {
	c, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	defer c.Close()
	n, err := c.Read(make([]byte, 1))
	if n != 1 {
		return errors.Join(errors.New("nobody answers"), err)
	}
	return nil
}

// A cleaner of /run took the daemon's socket away. Every call of every agent was blocked,
// the daemon logged nothing, and status said that all was well. A socket that is lost is
// made anew, with the mode that it and its folder had.
func TestALostSocketIsMadeAnew(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"the socket removed": os.Remove,
		"and its lock":       func(path string) error { return errors.Join(os.Remove(path), os.Remove(path+".lock")) },
		"its lock only":      func(path string) error { return os.Remove(path + ".lock") },
		"the folder removed": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"the folder moved":   func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+"2") },
		"the socket moved":   func(path string) error { return os.Rename(path, path+"2") },
		"a socket of nobody": func(path string) error {
			other, err := net.ListenUnix("unix", &net.UnixAddr{Name: path + "2"})
			if err != nil {
				return err
			}
			other.SetUnlinkOnClose(false)
			return errors.Join(other.Close(), os.Rename(path+"2", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(tempDir(t), "run", "s.sock")
			if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			l := listen(t, path, 0o660)
			echoes(t, l)
			for range 2 { // once more is as good
				if err := lose(path); err != nil {
					t.Fatal(err)
				}
				if _, err := l.look(); err != nil || l.Lost() != nil {
					t.Fatalf("%v, %v", err, l.Lost())
				}
				if err := connects(path); err != nil {
					t.Fatal(err)
				}
				info, err := os.Lstat(path)
				folder, folderErr := os.Stat(filepath.Dir(path))
				if err := errors.Join(err, folderErr); err != nil || info.Mode() != fs.ModeSocket|0o660 ||
					folder.Mode().Perm() != 0o755 {
					t.Errorf("the socket has %v, its folder %v, %v", info.Mode(), folder.Mode(), err)
				}
				if anew, err := l.look(); anew || err != nil {
					t.Errorf("a second look: %v, %v", anew, err)
				}
				if other, err := Listen(path, 0o600); err == nil && name != "its lock only" {
					t.Errorf("a second daemon listens there: %v", other.Close())
				} else if err == nil {
					_ = other.Close()
				}
				_ = os.RemoveAll(filepath.Dir(path) + "2")
				_ = os.Remove(path + "2")
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}

// What lies in the socket's place and is not ours stays there, is told of, and the socket
// is made when the place is free. Close leaves what is another's.
func TestAPlaceThatIsTaken(t *testing.T) {
	for name, c := range map[string]struct {
		take func(t *testing.T, path string) (free func())
		want string
	}{
		"another program": {func(t *testing.T, path string) func() {
			other, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = other.Close() }
		}, "another program listens on"},
		"a file": {func(t *testing.T, path string) func() {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return func() { _ = os.Remove(path) }
		}, "is not a socket"},
		"another daemon": {func(t *testing.T, path string) func() {
			_ = os.Remove(path + ".lock")
			other, err := Listen(path, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = other.Close() }
		}, "another approver listens there"},
		"a folder of everybody": {func(t *testing.T, path string) func() {
			if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			return func() { _ = os.Chmod(filepath.Dir(path), 0o700) }
		}, "can be written by others"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(tempDir(t), "s.sock")
			l := listen(t, path, 0o600)
			echoes(t, l)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			free := c.take(t, path)
			before, _ := os.Lstat(path)
			anew, err := l.look()
			if anew || err == nil || !strings.Contains(err.Error(), c.want) || l.Lost() == nil {
				t.Errorf("%v, %v", anew, err)
			}
			if after, err := os.Lstat(path); before != nil && (err != nil || !os.SameFile(before, after)) {
				t.Errorf("what was there is gone: %v", err)
			}
			free()
			if anew, err := l.look(); !anew || err != nil || l.Lost() != nil {
				t.Errorf("when the place is free: %v, %v", anew, err)
			}
			if err := connects(path); err != nil {
				t.Error(err)
			}
			_ = os.Remove(path)
			free = c.take(t, path)
			defer free()
			before, _ = os.Lstat(path)
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(path); before != nil && err != nil {
				t.Errorf("Close removed what is another's: %v", err)
			}
			if anew, err := l.look(); anew || err != nil {
				t.Errorf("after Close: %v, %v", anew, err)
			}
		})
	}
}

// Keep tells of a loss once, and of its end.
func TestKeepTellsOnce(t *testing.T) {
	var out bytes.Buffer
	path := filepath.Join(tempDir(t), "s.sock")
	l := listen(t, path, 0o600)
	if err := errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Keep(ctx, slog.New(slog.NewTextHandler(&out, nil))) }()
	time.Sleep(2*keepEvery + keepEvery/2)
	_ = os.Remove(path)
	time.Sleep(keepEvery + keepEvery/2)
	cancel()
	<-ended
	if said := out.String(); strings.Count(said, "THE SOCKET IS LOST") != 1 ||
		strings.Count(said, "it was made anew") != 1 ||
		strings.Count(said, "\n") != 2 {
		t.Errorf("it says\n%s", said)
	}
	if c, err := net.Dial("unix", path); err != nil {
		t.Error(err)
	} else {
		_ = c.Close()
	}
	_ = syscall.Unlink(path)
}
