package httpapi

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"approver.example"
)

// Bounds of the connections of a socket, in all and of one uid. Watching takes one for
// as long as it lasts, and every other command one for a moment.
const (
	submitConns      = 4096
	submitConnsEach  = 512
	resolveConns     = 512
	resolveConnsEach = 128
)

// A door bounds the connections of one socket. The zero value has none open.
type door struct {
	conns   tally
	own     tally // of root and of the daemon's own user
	waiting idle  // those on which nothing is asked now
	away    awayLog
}

// A bounded listener accepts only who is admitted, and only so many connections at once,
// in all and of each uid. One beyond that takes the place of the oldest one of its uid
// that has not asked anything yet. Where there is none, it is answered and closed at once.
//
// Root and the daemon's own user have rooms of their own, which all others together
// cannot fill: whoever runs the machine can always look and freeze.
type bounded struct {
	net.Listener
	*door
	name      string // of the socket
	admit     Admit
	all, each int64
	log       *slog.Logger
	missed    func() // a connection was not taken, or gave way; nil if nobody has to know
}

// Accept returns the next connection that there is room for.
func (l bounded) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := peerBehind(c)
		if err := l.admit.check(peer); err != nil { // a stranger takes no place
			l.away.refuse(l.log, peer, l.name, err)
			turnAway(c, http.StatusForbidden, err)
			continue
		}
		uc, ok := c.(*net.UnixConn)
		if !ok {
			_ = c.Close()
			return nil, fmt.Errorf("the %s socket is not a Unix socket", l.name)
		}
		room, all := &l.conns, l.all
		if peer.UID == 0 || peer.UID == uint32(os.Geteuid()) {
			room, all = &l.own, math.MaxInt64
		}
		for {
			err = room.take(peer.UID, 1, all, l.each)
			if err == nil || !l.waiting.displace(peer.UID) {
				break
			}
			l.miss() // what the other was to ask is not known
		}
		if err == nil {
			return l.counted(uc, peer, room), nil
		}
		l.miss()
		l.away.tell(l.log, peer, "too many connections", err)
		turnAway(c, http.StatusServiceUnavailable,
			fmt.Errorf("too many connections are open (%w): wait until some are answered", err))
	}
}

func (l bounded) miss() {
	if l.missed != nil {
		l.missed()
	}
}

// counted is a connection that has taken its place in a room.
func (d *door) counted(uc *net.UnixConn, peer approver.Peer, room *tally) *counted {
	c := &counted{UnixConn: uc, peer: peer, of: &d.waiting}
	c.gone = func() {
		d.waiting.end(c)
		room.give(peer.UID, 1)
	}
	c.of.add(c)
	return c
}

// open is how many connections are open.
func (d *door) open() int64 { return d.conns.inUse() + d.own.inUse() }

// share is n, or where the process may not open many files, its parts-th part of them:
// the store, the audit and the chats need some too.
func share(n, parts int64) int64 {
	var most syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most) != nil {
		return n
	}
	return max(1, min(n, int64(min(most.Cur, math.MaxInt32))/parts))
}

// turnAway answers a connection that is not taken, without waiting for what it asks.
func turnAway(c net.Conn, status int, why error) {
	body := fmt.Sprintf("{\"error\":%q}\n", why)
	_ = c.SetDeadline(time.Now().Add(10 * time.Millisecond)) // an empty socket takes it at once
	// What fails here fails for the peer, who then blocks by itself.
	_,
		_ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: "+
		"close\r\n\r\n%s",
		status, http.StatusText(status), len(body), body)
	_ = c.Close()
}

// A counted connection gives its place back when it is closed.
type counted struct {
	*net.UnixConn
	peer approver.Peer
	of   *idle
	once sync.Once
	gone func()
	// closed is guarded by of.
	closed bool
}

// Close closes the connection. It can be called again.
func (c *counted) Close() error {
	err := c.UnixConn.Close()
	c.once.Do(c.gone)
	return err
}

// state hears of the connection's state: whether it has asked something.
func (c *counted) state(s http.ConnState) {
	switch s {
	case http.StateIdle:
		c.of.add(c)
	case http.StateActive:
		c.of.remove(c)
	case http.StateNew, http.StateHijacked, http.StateClosed:
	}
}
