package httpapi

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"approver.example/httpapi/socketpath"
)

// Listen makes a Unix socket at path, which must be absolute, with the
// permission bits of mode, whatever the umask is.
//
// The folder is made with mode 0700 if it is missing; an existing one must
// belong to the caller or root and be writable by nobody else. An existing file at the
// path is removed only if it is a socket that nobody listens on, and while no
// other approver process holds the lock beside it (path + ".lock", which stays).
// Closing the listener removes the socket. [Listener.Keep] makes a lost socket again.
func Listen(path string, mode os.FileMode) (*Listener, error) {
	if err := checkName(path); err != nil {
		return nil, err
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	l := &Listener{path: path, mode: mode.Perm(), lock: lock}
	folder, err := os.Stat(filepath.Dir(path))
	if err == nil {
		l.folder = folder.Mode().Perm()
		err = l.bind()
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return l, nil
}

// CheckListen returns why Listen would refuse path, except that another program may be
// listening there. It creates nothing. A missing folder is no error.
func CheckListen(path string) error {
	if err := checkName(path); err != nil {
		return err
	}
	if err := checkFolder(filepath.Dir(path)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err == nil {
		err = lock.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the socket's lock: %w", err)
	}
	if info, err := os.Lstat(path); err == nil {
		return checkSocket(path, info)
	}
	return nil
}

func checkName(path string) error {
	if err := socketpath.Check(path); err != nil {
		return err
	}
	if clean := filepath.Clean(path); clean != path {
		return fmt.Errorf("the socket %s: write it as %s", path, clean)
	}
	return nil
}

// makeFolder makes or checks the folder of a socket.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the socket's folder: %w", err)
	}
	return checkFolder(dir)
}

// checkFolder refuses a folder in which others could put a socket of their own.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("the socket's folder: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case st.Uid != 0 && int(st.Uid) != os.Geteuid():
		return fmt.Errorf("the folder %s belongs to uid %d: choose one of your own for the socket", dir, st.Uid)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("the folder %s can be written by others (mode %v): choose a folder of the socket's own, or run "+
			"chmod go-w on it", dir, info.Mode().Perm())
	}
	return nil
}

// lockFile prevents two daemons from taking each other's socket for a stale one.
// The lock is released when the process ends, however it ends.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the socket's lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errors.New("another approver listens there: stop it first, or give this one another socket")
	}
	return nil, errors.Join(fmt.Errorf("the socket's lock %s: %w", name, err), f.Close())
}

func checkSocket(path string, info fs.FileInfo) error {
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is not a socket (it is %v): move it away, or choose another path", path, info.Mode())
	}
	return nil
}

// removeStale removes a stale socket at path. The error says why it must not.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the socket: %w", err)
	}
	if err := checkSocket(path, info); err != nil {
		return err
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("another program listens on %s: stop it first", path), c.Close())
	case !errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s is there and may be in use: %w", path, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("the stale socket: %w", err)
	}
	return nil
}

// bind makes the socket. Its mode is set between bind and listen: until then
// nobody can connect, so the umask never matters.
func bind(path string, mode os.FileMode) (net.Listener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close() // FileListener keeps a copy
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		return nil, fmt.Errorf("the socket %s: %w", path, os.NewSyscallError("bind", err))
	}
	l, err := open(f, path, mode)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return l, nil
}

func open(f *os.File, path string, mode os.FileMode) (net.Listener, error) {
	if err := os.Chmod(path, mode); err != nil {
		return nil, err
	}
	if err := syscall.Listen(int(f.Fd()), syscall.SOMAXCONN); err != nil {
		return nil, fmt.Errorf("the socket %s: %w", path, os.NewSyscallError("listen", err))
	}
	return net.FileListener(f)
}
