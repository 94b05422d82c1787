package httpapi

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A Listener owns its socket file and its lock. While Keep runs, a socket that was removed or
// replaced is made again: otherwise whoever cleans up the folder would stop every agent.
type Listener struct {
	path         string
	mode, folder os.FileMode // of the socket, and of its folder

	mu     sync.Mutex
	now    net.Listener
	file   fs.FileInfo // of the current socket
	lock   *os.File
	lost   error // why nobody can connect, as of the last check
	closed bool
	err    error // of Close
}

// keepEvery is how often Keep checks the socket.
const keepEvery = 2 * time.Second

// Accept returns the next connection, even if the socket was made again in the meantime.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		now := l.current()
		c, err := now.Accept()
		if err == nil || now == l.current() {
			return c, err
		}
	}
}

// Addr returns the address of the socket.
func (l *Listener) Addr() net.Addr { return l.current().Addr() }

func (l *Listener) current() net.Listener {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// Lost returns why nobody can connect, as of the last check by Keep; nil if they can.
func (l *Listener) Lost() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// Keep checks the socket every 2 s until ctx ends, and makes it again if it is lost. It logs
// when the socket is lost, when it is back, and each new reason why it is not.
func (l *Listener) Keep(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		anew, err := l.look()
		switch {
		case err != nil && err.Error() != said:
			said = err.Error()
			log.Error("THE SOCKET IS LOST: nobody can connect until it is back", "socket", l.path, "error", err)
		case anew:
			said = ""
			log.Warn("the socket was removed or replaced; it was made anew", "socket", l.path)
		case err == nil:
			said = ""
		}
	}
}

// look makes the socket again if it is missing or replaced. The error says why that failed.
func (l *Listener) look() (anew bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false, nil
	}
	if info, err := os.Lstat(l.path); err == nil && os.SameFile(info, l.file) {
		l.lost = nil
		return false, nil
	}
	if l.lost = l.again(); l.lost != nil {
		return false, l.lost
	}
	return true, nil
}

// again makes the folder, the lock and the socket again if they are missing. The caller holds
// mu.
func (l *Listener) again() error {
	dir := filepath.Dir(l.path)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, l.folder)); err != nil {
			return err
		}
	}
	if err := makeFolder(dir); err != nil {
		return err
	}
	name := l.path + ".lock"
	held, err := l.lock.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(name); err != nil || !os.SameFile(there, held) {
		lock, err := lockFile(name) // other processes cannot see the lock that is held any more
		if err != nil {
			return err
		}
		_ = l.lock.Close()
		l.lock = lock
	}
	return l.bind()
}

// bind makes the socket and replaces the previous one. The caller holds mu.
func (l *Listener) bind() error {
	made, err := bind(l.path, l.mode)
	if err != nil {
		return err
	}
	file, err := os.Lstat(l.path)
	if err != nil {
		return errors.Join(err, made.Close())
	}
	before := l.now
	l.now, l.file = made, file
	if before != nil {
		_ = before.Close() // Accept goes on with the new one
	}
	return nil
}

// Close removes the socket and then stops listening. It can be called more than once.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return l.err
	}
	l.closed = true
	var err error
	if info, lookErr := os.Lstat(l.path); lookErr == nil && os.SameFile(info, l.file) { // not another's socket
		err = os.Remove(l.path)
	}
	l.err = errors.Join(err, l.now.Close(), l.lock.Close())
	return l.err
}
