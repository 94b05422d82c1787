package httpapi

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
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

// connLimits bound the connections of one socket. The zero value has none open.
type connLimits struct {
	conns    tally
	own      tally // of root and of the daemon's own user
	waiting  idle  // those on which nothing is asked now
	refusals refusalLog
}

// A bounded listener accepts only who is admitted, and only so many connections at once,
// in all and of each uid. One beyond that takes the place of the oldest one of its uid
// that has not asked anything yet. Where there is none, it is answered and closed at once.
//
// Root and the daemon's own user have rooms of their own, which all others together
// cannot fill: whoever runs the machine can always look and freeze.
type bounded struct {
	net.Listener
	*connLimits
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
			l.refusals.refuse(l.log, peer, l.name, err)
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
		l.refusals.tell(l.log, peer, "too many connections", err)
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
func (d *connLimits) counted(uc *net.UnixConn, peer approver.Peer, room *tally) *counted {
	c := &counted{UnixConn: uc, peer: peer, of: &d.waiting}
	c.gone = func() {
		d.waiting.end(c)
		room.give(peer.UID, 1)
	}
	c.of.add(c)
	return c
}

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
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Connection: close\r\n\r\n%s", status, http.StatusText(status), len(body), body)
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

// An idle set has the connections on which nothing is asked now, by uid, the oldest
// first. The zero value is empty.
type idle struct {
	mu sync.Mutex
	of map[uint32][]*counted
}

func (i *idle) add(c *counted) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if c.closed {
		return
	}
	if i.of == nil {
		i.of = map[uint32][]*counted{}
	}
	i.of[c.peer.UID] = append(i.of[c.peer.UID], c)
}

// end removes a connection for good.
func (i *idle) end(c *counted) {
	i.mu.Lock()
	c.closed = true
	i.mu.Unlock()
	i.remove(c)
}

// remove reports whether the connection was there.
func (i *idle) remove(c *counted) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := i.of[c.peer.UID]
	at := slices.Index(all, c)
	if at < 0 {
		return false
	}
	if i.of[c.peer.UID] = slices.Delete(all, at, at+1); len(all) == 1 {
		delete(i.of, c.peer.UID)
	}
	return true
}

// displace closes the oldest one of a uid, which gives its place back. It reports
// whether there was one. A courier whose connection is cut comes back.
func (i *idle) displace(uid uint32) bool {
	i.mu.Lock()
	var oldest *counted
	if all := i.of[uid]; len(all) > 0 {
		oldest = all[0]
	}
	i.mu.Unlock()
	if oldest == nil || !i.remove(oldest) {
		return false
	}
	_ = oldest.Close()
	return true
}
