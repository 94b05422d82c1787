package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"approver.example/httpapi/wire"
)

// A plainDoor answers requests that have exactly the form that the courier writes, one for each
// connection. A connection on which anything else comes, or more, goes to net/http with all that was
// read of it. net/http alone would cost most of what a call that passes costs.
type plainDoor struct {
	net.Listener // of all connections
	submit       *Submit
	base         context.Context //nolint:containedctx // ends with the server, as http.Server.BaseContext
	rest         *handedOver

	mu   sync.Mutex
	open map[*counted]struct{} // the connections that are served here; nil once they are cut

	workers sync.WaitGroup
	// Goroutines that wait for a connection: their stacks have grown, which is much of the work of a new one.
	next  chan *counted
	idle  atomic.Int32
	ended chan struct{} // closed when no connection comes any more
}

// maxIdle bounds the goroutines that wait for a connection.
const maxIdle = 64

func newPlainDoor(base context.Context, s *Submit, l net.Listener) *plainDoor {
	return &plainDoor{Listener: l, submit: s, base: base, open: map[*counted]struct{}{},
		rest: &handedOver{addr: l.Addr(), conns: make(chan net.Conn), closed: make(chan struct{})},
		next: make(chan *counted), ended: make(chan struct{})}
}

// Accept serves every connection that comes, and returns when the listener fails.
func (d *plainDoor) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		own, ok := c.(*counted)
		if !ok {
			return c, nil
		}
		if !d.begin(own) {
			return nil, errors.Join(net.ErrClosed, own.Close())
		}
		select {
		case d.next <- own:
		default:
			d.workers.Go(func() { d.work(own) })
		}
	}
}

// work serves a connection, and then others until there are enough that wait for one.
func (d *plainDoor) work(c *counted) {
	for {
		d.serve(c)
		if d.idle.Add(1) > maxIdle {
			d.idle.Add(-1)
			return
		}
		select {
		case c = <-d.next:
			d.idle.Add(-1)
		case <-d.ended:
			return
		}
	}
}

// begin reports false if the connections were cut.
func (d *plainDoor) begin(c *counted) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		return false
	}
	d.open[c] = struct{}{}
	return true
}

func (d *plainDoor) end(c *counted) {
	d.mu.Lock()
	delete(d.open, c)
	d.mu.Unlock()
}

// cut closes all connections, and returns when nothing is served any more. It is called once, when Accept
// is not any more.
func (d *plainDoor) cut() {
	_ = d.rest.Close()
	d.mu.Lock()
	open := d.open
	d.open = nil
	for c := range open {
		_ = c.Close()
	}
	d.mu.Unlock()
	close(d.ended)
	d.workers.Wait()
}

var plainHeads = sync.Pool{New: func() any { return new([maxPlainHead]byte) }}

// serve answers a connection and closes it, or hands it over.
func (d *plainDoor) serve(c *counted) {
	defer d.end(c)
	hands := false
	defer func() {
		if p := recover(); p != nil { // as net/http does; the Hook's own are an answer
			hands = false
			d.submit.Log.Error("a request failed, so its connection was cut", "panic", p, "stack", string(debug.Stack()))
		}
		if !hands {
			_ = c.Close()
		}
	}()
	buf := plainHeads.Get().(*[maxPlainHead]byte)
	defer plainHeads.Put(buf)
	if c.ahead, hands = d.first(c, buf[:]); hands {
		d.rest.give(c)
	}
}

// first answers the first request of a connection. It returns what net/http has to read first if the
// connection goes on there.
func (d *plainDoor) first(c *counted, buf []byte) (ahead []byte, hands bool) {
	_ = c.SetReadDeadline(time.Now().Add(headTime))
	n, end := 0, -1
	for end < 0 {
		m, err := c.UnixConn.Read(buf[n:])
		n += m
		end = bytes.Index(buf[:n], []byte("\r\n\r\n"))
		switch {
		case end >= 0:
		case err != nil:
			return nil, false
		case n == len(buf) || !bytes.HasPrefix(buf[:n], []byte(plainStart)[:min(n, len(plainStart))]):
			return bytes.Clone(buf[:n]), true
		}
	}
	head, ok := parsePlain(string(buf[:end+2]))
	if !ok || int64(n-end-4) > head.length {
		return bytes.Clone(buf[:n]), true
	}
	c.of.remove(c) // until its head is whole, a connection gives way to those of others
	return d.respond(c, buf, head, buf[end+4:n])
}

// respond answers a plain request. body is what has been read of its body.
func (d *plainDoor) respond(c *counted, buf []byte, head plainHead, body []byte) (ahead []byte, hands bool) {
	conn, gone := context.WithCancelCause(d.base)
	defer gone(context.Canceled)
	watch := peerWatch{c: c, gone: func() { gone(ErrCourierGone) }}
	unread := head.length - int64(len(body))
	said := d.submit.admitted(exchange{
		peer: c.peer, header: head.header, length: head.length,
		body: func() ([]byte, error) {
			whole := make([]byte, head.length)
			at := copy(whole, body)
			if unread > 0 {
				if err := c.SetReadDeadline(time.Now().Add(bodyTime)); err != nil {
					return nil, err
				}
				if _, err := io.ReadFull(c.UnixConn, whole[at:]); err != nil {
					return nil, err
				}
			}
			unread = 0
			return whole, nil
		},
		within: func(left time.Duration) (context.Context, func()) {
			ctx, cancel := context.WithTimeout(conn, left)
			watch.begin()
			return ctx, cancel
		},
	})
	ahead = watch.end()
	if context.Cause(conn) != nil {
		return nil, false // the courier must not get half an answer
	}
	closes := head.closes || said.status != http.StatusOK || unread > 0
	_ = c.SetWriteDeadline(time.Now().Add(bodyTime))
	// An error means that the courier has disconnected, and it knows that itself.
	if _, err := c.Write(appendSaid(buf[:0], said, closes)); err != nil {
		return nil, false
	}
	switch {
	case unread > 0: // the rest of the body, or the peer would lose the answer
		_ = c.CloseWrite()
		_ = c.SetReadDeadline(time.Now().Add(drainTime))
		_, _ = io.Copy(io.Discard, c.UnixConn)
		return nil, false
	case closes:
		return nil, false
	case len(ahead) > 0:
		return ahead, true
	}
	// Most couriers hang up now.
	c.of.add(c)
	_ = c.SetReadDeadline(time.Now().Add(idleTime))
	n, _ := c.UnixConn.Read(buf)
	if n == 0 {
		return nil, false
	}
	return bytes.Clone(buf[:n]), true // net/http takes it out once the next head is whole
}

// drainTime is how long a peer that was refused may go on sending.
const drainTime = 500 * time.Millisecond

// appendSaid appends an answer as net/http would write it, but for the date.
func appendSaid(b []byte, said said, closes bool) []byte {
	add := func(text string) { b = append(b, text...) }
	a, kind, failed := said.answer, "application/octet-stream", []byte(nil)
	if said.status != http.StatusOK {
		a, kind, failed = HookAnswer{}, "application/json", errorBody(said.text)
	}
	add("HTTP/1.1 " + strconv.Itoa(said.status) + " " + http.StatusText(said.status) + "\r\nContent-Type: " + kind)
	add("\r\nContent-Length: " + strconv.Itoa(len(failed)+len(a.Stderr)+len(a.Stdout)))
	if said.status == http.StatusOK {
		add("\r\n" + wire.Exit + ": " + a.exit() + "\r\n" + wire.StderrBytes + ": " + strconv.Itoa(len(a.Stderr)))
	}
	if a.asksAck() {
		add("\r\n" + wire.Ack + ": 1")
	}
	if closes {
		add("\r\nConnection: close")
	}
	add("\r\n\r\n")
	return append(append(append(b, failed...), a.Stderr...), a.Stdout...)
}

// A peerWatch notices that the peer hangs up while its call waits. A call that is answered at once
// costs no watch.
type peerWatch struct {
	c    *counted
	gone func()

	timer *time.Timer
	mu    sync.Mutex
	over  bool
	ended chan struct{} // closed when nothing is read any more
	ahead []byte        // what came instead
}

// watchAfter is how long a call waits before its peer is watched.
const watchAfter = 5 * time.Millisecond

func (w *peerWatch) begin() {
	w.ended = make(chan struct{})
	w.timer = time.AfterFunc(watchAfter, w.read)
}

func (w *peerWatch) read() {
	defer close(w.ended)
	w.mu.Lock()
	if w.over {
		w.mu.Unlock()
		return
	}
	_ = w.c.SetReadDeadline(time.Time{})
	w.mu.Unlock()
	var next [1]byte
	n, err := w.c.UnixConn.Read(next[:])
	if n > 0 {
		w.ahead = next[:n]
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && !w.over {
		w.gone()
	}
}

// end ends the watch, and returns what has been read of the next request.
func (w *peerWatch) end() []byte {
	if w.timer == nil || w.timer.Stop() {
		return nil
	}
	w.mu.Lock()
	w.over = true
	_ = w.c.SetReadDeadline(time.Unix(1, 0)) // ends the read
	w.mu.Unlock()
	<-w.ended
	return w.ahead
}

// A handedOver is the listener from which net/http gets its connections.
type handedOver struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (h *handedOver) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *handedOver) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

func (h *handedOver) Addr() net.Addr { return h.addr }

// give hands a connection over, or closes it if nobody takes it any more.
func (h *handedOver) give(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.closed:
		_ = c.Close()
	}
}
