package httpapi

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// Asking makes a connection to the daemon fit for net/http. The daemon answers whom it
// does not admit before it has read anything, and closes the connection. net/http takes
// such an answer for a fault, or fails when it then writes, and the reason is lost. So
// nothing can be read before something was written, and to write to a connection that is
// closed at the other end is no error: what the daemon said is still there to be read.
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
