package webhooks

import (
	"context"
	"net"
	"slices"
	"sync"
)

type connKey struct{}

// withConn adds a connection to the context of its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// busy notes that the connection of a request has brought a genuine one, until done is called.
func busy(ctx context.Context) (done func()) {
	c, ok := ctx.Value(connKey{}).(*conn)
	if !ok {
		return func() {}
	}
	c.of.leave(c)
	return func() { c.of.enter(c) }
}

// A room counts connections.
type room struct {
	most int

	mu    sync.Mutex
	open  int
	doubt []*conn // those that bring no genuine request now, the oldest first
}

// admit makes room for one more connection. If there is none, that which was in doubt for longest is
// closed; if all bring genuine requests, admit returns false.
func (r *room) admit(c *conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open >= r.most {
		if len(r.doubt) == 0 {
			return false
		}
		oldest := r.doubt[0]
		r.forget(oldest)
		defer oldest.Conn.Close()
	}
	r.open++
	r.doubt = append(r.doubt, c)
	return true
}

func (r *room) enter(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !c.closed {
		r.doubt = append(r.doubt, c)
	}
}

func (r *room) leave(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out(c)
}

// forget uncounts a connection, once. The lock is held.
func (r *room) forget(c *conn) {
	if c.closed {
		return
	}
	c.closed = true
	r.open--
	r.out(c)
}

// out takes a connection from those in doubt. The lock is held.
func (r *room) out(c *conn) {
	r.doubt = slices.DeleteFunc(r.doubt, func(o *conn) bool { return o == c })
}

// A conn is one connection to the door.
type conn struct {
	net.Conn
	of     *room
	closed bool // guarded by of
}

// Close closes the connection. It can be called more than once.
func (c *conn) Close() error {
	c.of.mu.Lock()
	c.of.forget(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// A bounded listener accepts a limited number of connections.
type bounded struct {
	net.Listener
	room *room
}

// Accept returns the next connection for which there is room.
func (l *bounded) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: raw, of: l.room}
		if l.room.admit(c) {
			return c, nil
		}
		_ = raw.Close()
	}
}
