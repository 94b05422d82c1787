package network

import (
	"net"
	"sync"
	"time"
)

// A Line is what becomes of TCP connections.
type Line uint8

// The lines.
const (
	Works   Line = iota
	Refuses      // nobody listens, and connections are reset
	Resets       // every connection is reset: those that there are, and each new one when it is made
	// Silent lines are half-open: connections are accepted, and nothing arrives any more, in no direction, not
	// even their end. Those that were silent stay so when the line works again, but the platform gives them up.
	Silent
)

// A line carries TCP connections to an address.
type line struct {
	addr, to string

	mu     sync.Mutex
	state  Line
	l      net.Listener // nil while nobody listens
	pairs  map[*pair]bool
	closed bool
	all    sync.WaitGroup
}

// A pair is one connection of the program, and the one that it is carried to.
type pair struct {
	program, platform net.Conn      // platform is nil where there is none
	dead              chan struct{} // closed when nothing arrives any more
}

func newLine(to string) (*line, error) {
	c := &line{addr: "127.0.0.1:0", to: to, pairs: map[*pair]bool{}}
	if err := c.listen(); err != nil {
		return nil, err
	}
	c.addr = c.l.Addr().String()
	return c, nil
}

// listen begins to accept connections. The caller holds mu, or nobody else has c.
func (c *line) listen() error {
	var l net.Listener
	var err error
	for range 200 { // the port of a listener that was just closed may need a moment
		if l, err = net.Listen("tcp", c.addr); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return err
	}
	c.l = l
	c.all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.take(conn)
		}
	})
	return nil
}

func (c *line) take(conn net.Conn) {
	c.mu.Lock()
	state, closed := c.state, c.closed
	c.mu.Unlock()
	if closed || state == Resets || state == Refuses {
		reset(conn)
		return
	}
	p := &pair{program: conn, dead: make(chan struct{})}
	if state == Silent {
		close(p.dead)
	} else {
		to, err := net.Dial("tcp", c.to)
		if err != nil {
			_ = conn.Close()
			return
		}
		p.platform = to
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.state != state { // it changed meanwhile, and what is there was struck already
		reset(conn)
		if p.platform != nil {
			_ = p.platform.Close()
		}
		return
	}
	c.pairs[p] = true
	c.all.Go(func() { c.carry(p, p.program, p.platform) })
	if p.platform != nil {
		c.all.Go(func() { c.carry(p, p.platform, p.program) })
	}
}

// carry copies in one direction until a connection ends. A dead one is still read, as by a kernel that has the other
// end of it, and its end is told to nobody.
func (c *line) carry(p *pair, from, to net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		select {
		case <-p.dead:
			if err != nil {
				c.left(p, from)
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
			_, _ = from.Close(), to.Close()
			c.left(p, p.program)
			return
		}
	}
}

// left forgets a pair whose program has left.
func (c *line) left(p *pair, who net.Conn) {
	if who != p.program {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = p.program.Close()
	if c.state != Silent && p.platform != nil {
		_ = p.platform.Close()
	}
	if c.state != Silent {
		delete(c.pairs, p)
	}
}

func (c *line) set(state Line) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	was := c.state
	c.state = state
	if was == Silent {
		for p := range c.pairs { // the platform gives up those that are dead
			if p.isDead() && p.platform != nil {
				_ = p.platform.Close()
			}
		}
	}
	switch state {
	case Refuses:
		if c.l != nil {
			_ = c.l.Close()
			c.l = nil
		}
		c.cut()
	case Resets:
		c.cut()
	case Silent:
		for p := range c.pairs {
			if !p.isDead() {
				close(p.dead)
			}
		}
	case Works:
	}
	if state != Refuses && c.l == nil {
		return c.listen()
	}
	return nil
}

func (p *pair) isDead() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

func (c *line) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut()
}

// cut resets every connection. The caller holds mu.
func (c *line) cut() {
	for p := range c.pairs {
		reset(p.program)
		if p.platform != nil {
			reset(p.platform)
		}
		delete(c.pairs, p)
	}
}

// reset ends a connection so that its other end hears of a reset.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func (c *line) close() {
	c.mu.Lock()
	c.closed = true
	if c.l != nil {
		_ = c.l.Close()
	}
	for p := range c.pairs {
		_ = p.program.Close()
		if p.platform != nil {
			_ = p.platform.Close()
		}
	}
	c.mu.Unlock()
	c.all.Wait()
}
