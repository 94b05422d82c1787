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

// Limits of the connections of a socket, in total and per uid. A watch takes one for as long
// as it lasts, any other command one for a moment.
const (
	submitConns      = 4096
	submitConnsEach  = 512
	resolveConns     = 512
	resolveConnsEach = 128
)

// connLimits limits the connections of one socket. The zero value has none open.
type connLimits struct {
	conns    tally
	own      tally // of root and of the daemon's own user
	waiting  idle  // connections without a request in progress
	refusals refusalLog
}

// A bounded listener accepts connections only from admitted peers, and only so many at once,
// in total and per uid. A connection beyond that replaces the oldest one of its uid that has
// no request in progress. If there is none, it is answered with an error and closed.
//
// Root and the daemon's own user are counted apart from all others, who therefore cannot lock
// them out: whoever runs the machine can always look and freeze.
type bounded struct {
	net.Listener
	*connLimits
	name      string // of the socket
	admit     Admit
	all, each int64
	log       *slog.Logger
	missed    func() // called when a connection was refused or replaced; may be nil
}

// Accept returns the next connection that is admitted and within the limits.
func (l bounded) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := peerBehind(c)
		if err := l.admit.check(peer); err != nil { // a refused peer does not count
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
			l.miss() // the replaced connection may have been about to send a report
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

// counted returns a connection that is already counted in room.
func (d *connLimits) counted(uc *net.UnixConn, peer approver.Peer, room *tally) *counted {
	c := &counted{UnixConn: uc, peer: peer, of: &d.waiting}
	c.gone = func() {
		d.waiting.end(c)
		room.give(peer.UID, 1)
	}
	c.of.add(c)
	return c
}

// share returns n, or, if the process may open few files, at most 1/parts of their number: the
// store, the audit and the chats need some too.
func share(n, parts int64) int64 {
	var most syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most) != nil {
		return n
	}
	return max(1, min(n, int64(min(most.Cur, math.MaxInt32))/parts))
}

// turnAway answers a connection that is refused, and closes it, without reading its request.
func turnAway(c net.Conn, status int, why error) {
	body := fmt.Sprintf("{\"error\":%q}\n", why)
	_ = c.SetDeadline(time.Now().Add(10 * time.Millisecond)) // the buffer of a new socket takes it at once
	// If this fails, the peer gets no answer, and blocks by itself.
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Connection: close\r\n\r\n%s", status, http.StatusText(status), len(body), body)
	_ = c.Close()
}

// A counted connection is uncounted when it is closed.
type counted struct {
	*net.UnixConn
	peer approver.Peer
	of   *idle
	once sync.Once
	gone func()
	// closed is guarded by of.
	closed bool
	ahead  []byte // what has been read already
}

// Read reads what has been read already, and then the connection.
func (c *counted) Read(b []byte) (int, error) {
	if len(c.ahead) == 0 {
		return c.UnixConn.Read(b)
	}
	n := copy(b, c.ahead)
	c.ahead = c.ahead[n:]
	return n, nil
}

// Close closes the connection. It can be called more than once.
func (c *counted) Close() error {
	err := c.UnixConn.Close()
	c.once.Do(c.gone)
	return err
}

// state is told the connection's state, which says whether a request is in progress.
func (c *counted) state(s http.ConnState) {
	switch s {
	case http.StateIdle:
		c.of.add(c)
	case http.StateActive:
		c.of.remove(c)
	case http.StateNew, http.StateHijacked, http.StateClosed:
	}
}

// An idle set has the connections without a request in progress, by uid, the oldest first. The
// zero value is empty.
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

// remove removes a connection, and reports whether it was in the set.
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

// displace closes the oldest idle connection of a uid, so that it is no longer counted. It
// reports whether there was one. A courier whose connection is cut comes back.
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
