package httpapi

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// Asking adapts a connection to the daemon for net/http. The daemon answers a peer that it
// does not admit before it has read anything, and closes the connection. net/http takes such
// an answer for an error, or fails on its next write, and the reason is lost. So reads wait
// until something was written, and a write to a connection that the other end has closed
// succeeds, so that the daemon's answer can still be read.
func Asking(c net.Conn) net.Conn { return &asking{Conn: c, asked: make(chan struct{})} }

type asking struct {
	net.Conn
	asked chan struct{} // closed when something was written, or nothing will be
	once  sync.Once
}

func (a *asking) Read(p []byte) (int, error) {
	<-a.asked
	return a.Conn.Read(p)
}

func (a *asking) Write(p []byte) (int, error) {
	n, err := a.Conn.Write(p)
	a.once.Do(func() { close(a.asked) })
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return len(p), nil
	}
	return n, err
}

func (a *asking) Close() error {
	a.once.Do(func() { close(a.asked) })
	return a.Conn.Close()
}
