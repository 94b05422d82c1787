package redistest

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// A Fault is what a Proxy does to the connections through it.
type Fault uint8

// The faults.
const (
	NoFault Fault = iota // all passes
	Refuse               // what connects is closed at once
	Stall                // bytes wait for the end of the fault, as at a server that hangs
	// Swallow takes bytes and passes none on. What was connected then stays half-open when the fault is
	// over: nothing ever arrives on it. So it is behind a router that forgot its connections.
	Swallow
)

// A Proxy stands between clients and a server, and can be a bad network. All methods are safe for
// concurrent use.
type Proxy struct {
	Addr string

	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu      sync.Mutex
	fault   Fault
	changed chan struct{} // closed when fault changes
	delay   time.Duration // of each answer
	text    string        // of the command whose answer is lost
	nth     int           // how many of them come before
	lost    int
	links   map[*link]bool
	closed  bool
}

// A link is one connection of a client, and ours to the server.
type link struct {
	client, server net.Conn
	dead           bool // half-open
	doomed         bool // its next answer is lost
	ended          chan struct{}
	end            sync.Once
}

func (l *link) close() {
	l.end.Do(func() {
		close(l.ended)
		_ = l.client.Close()
		if l.server != nil {
			_ = l.server.Close()
		}
	})
}

// StartProxy starts a proxy before a server, on a free port. The caller must Close it.
func StartProxy(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{Addr: listener.Addr().String(), target: target, listener: listener, changed: make(chan struct{}),
		links: map[*link]bool{}}
	p.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.serve(client) })
		}
	})
	return p, nil
}

// Set begins a fault, and ends the one before.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	close(p.changed)
	p.changed = make(chan struct{})
	for l := range p.links {
		l.dead = l.dead || f == Swallow
	}
}

// Delay has each answer come so much later.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// LoseAnswer loses the answer to the nth command from now on that holds a text, with its connection. The
// server has done what it was told. The first one is 0.
func (p *Proxy) LoseAnswer(text string, nth int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.nth = text, nth
}

// Lost is how many answers were lost so far.
func (p *Proxy) Lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// Close ends the proxy and all connections through it.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Cut()
	p.running.Wait()
	return err
}

// serve carries one connection.
func (p *Proxy) serve(client net.Conn) {
	l := &link{client: client, ended: make(chan struct{})}
	defer l.close()
	p.mu.Lock()
	p.links[l] = true
	l.dead = p.fault == Swallow
	refused := p.fault == Refuse || p.closed
	dead := l.dead
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.links, l)
	}()
	if refused {
		return
	}
	if !dead {
		server, err := net.DialTimeout("tcp", p.target, time.Second)
		if err != nil {
			return
		}
		p.mu.Lock()
		l.server = server
		p.mu.Unlock()
		select {
		case <-l.ended: // it was cut meanwhile
			_ = server.Close()
			return
		default:
		}
		p.running.Go(func() { p.carry(l, client, server, false) })
	}
	p.carry(l, l.server, client, true)
}

// carry copies one direction of a connection until its end.
func (p *Proxy) carry(l *link, to, from net.Conn, command bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil && !command && p.isDead(l) {
			return // the client does not hear of it
		}
		if err != nil {
			l.close()
			return
		}
		passes, goesOn := p.pass(l, buf[:n], command)
		if goesOn && passes {
			_, err = to.Write(buf[:n])
		}
		if !goesOn || err != nil {
			l.close()
			return
		}
	}
}

func (p *Proxy) isDead(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return l.dead
}

// pass decides what becomes of bytes, and whether their connection goes on.
func (p *Proxy) pass(l *link, b []byte, command bool) (passes, goesOn bool) {
	p.mu.Lock()
	for p.fault == Stall && !l.dead {
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-l.ended:
			return false, false
		}
		p.mu.Lock()
	}
	defer p.mu.Unlock()
	switch {
	case l.dead:
		return false, true
	case command && p.text != "" && bytes.Contains(b, []byte(p.text)):
		if p.nth--; p.nth < 0 {
			p.text, l.doomed = "", true
		}
	case !command && l.doomed:
		p.lost++
		return false, false
	case !command && p.delay > 0:
		delay := p.delay
		p.mu.Unlock()
		time.Sleep(delay)
		p.mu.Lock()
	}
	return true, true
}
