package slack

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// A listened connection ends when nothing has arrived on it for some time. Slack pings each socket well within that,
// so that such a connection is dead, although nobody closed it. The library looks for pings too, but only as often as
// the time that they may take: it notices up to twice as late, and taps that come until then are lost.
type listened struct {
	net.Conn
	silence time.Duration
	timed   atomic.Bool // somebody else has set a deadline, as for a handshake
}

// dialListened makes the connections of WebSockets.
func (c *Channel) dialListened(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &listened{Conn: conn, silence: c.silence}, nil
}

// SetDeadline implements net.Conn.
func (l *listened) SetDeadline(t time.Time) error {
	l.timed.Store(!t.IsZero())
	return l.Conn.SetDeadline(t)
}

// Read implements net.Conn.
func (l *listened) Read(p []byte) (int, error) {
	if !l.timed.Load() {
		_ = l.SetReadDeadline(time.Now().Add(l.silence)) // a connection that takes none has ended
	}
	return l.Conn.Read(p)
}
