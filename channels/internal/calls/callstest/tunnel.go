// Package callstest has what tests of the way to a platform need: connections that die without
// a word, and servers that speak TLS with a certificate of one's choice.
package callstest

import (
	"net"
	"sync"
	"testing"
)

// A Tunnel carries TCP connections to a server. Its connections can die without a word: both
// ends then stay open, and nothing arrives any more. New connections work.
type Tunnel struct {
	Addr string // where it listens

	target string
	mu     sync.Mutex
	open   []net.Conn
	hole   chan struct{} // closed when the connections of now die
	made   int
	closed bool
	all    sync.WaitGroup
}

// NewTunnel opens a tunnel to an address. It ends with the test.
func NewTunnel(t testing.TB, target string) *Tunnel {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &Tunnel{Addr: l.Addr().String(), target: target, hole: make(chan struct{})}
	u.all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			u.take(conn)
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		u.mu.Lock()
		u.closed = true
		for _, conn := range u.open {
			_ = conn.Close()
		}
		u.mu.Unlock()
		u.all.Wait()
	})
	return u
}

// Die makes every present connection die without a word.
func (u *Tunnel) Die() {
	u.mu.Lock()
	defer u.mu.Unlock()
	close(u.hole)
	u.hole = make(chan struct{})
}

// Made returns how many connections were made.
func (u *Tunnel) Made() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.made
}

func (u *Tunnel) take(conn net.Conn) {
	server, err := net.Dial("tcp", u.target)
	if err != nil {
		_ = conn.Close()
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		_, _ = conn.Close(), server.Close()
		return
	}
	u.made++
	u.open = append(u.open, conn, server)
	hole := u.hole
	u.all.Go(func() { carry(conn, server, hole) })
	u.all.Go(func() { carry(server, conn, hole) })
}

// carry copies until the connection ends or dies. A dead one is still read, as by a kernel that
// has its other end, and its end is told to nobody.
func carry(from, to net.Conn, hole <-chan struct{}) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		select {
		case <-hole:
			if err != nil {
				return
			}
			continue
		default:
		}
		if n > 0 {
			if _, failed := to.Write(buf[:n]); failed != nil {
				err = failed
			}
		}
		if err != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}
