// Package network is the way between a program and a chat platform, for tests: a proxy that
// carries HTTP and WebSockets, and makes the way go wrong when it is told to.
//
// A fake platform misbehaves as its author thought of it. The proxy stands before any platform,
// our own fakes and emulators that others wrote, and plays the same fault on each. Faults are
// on three levels: of the connections ([Proxy.SetLine], [Proxy.SetHandshake]), of single calls
// ([Rule]), and of open WebSockets ([Proxy.Say], [Proxy.Hush], [Proxy.CloseSockets]).
//
// Read network.go first, then line.go, calls.go and sockets.go.
package network

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options are what a Proxy stands before, and how it is reached.
type Options struct {
	Target string   // host and port of the platform, which speaks plain HTTP/1.1
	Names  []string // other hosts and ports by which the platform names itself
	// Authority makes the proxy speak TLS, and HTTP/2 to who wants it, with a certificate of this authority.
	// Without one it speaks plain HTTP.
	Authority *Authority
	Adapter   Adapter
}

// An Adapter fills in what an emulator lacks of its platform. Each of its functions may be nil.
type Adapter struct {
	// Answer answers a call in the place of the emulator, and reports whether it did.
	Answer func(w http.ResponseWriter, r *http.Request, body []byte) bool
	// Request returns the body that the emulator gets. It may change the path and the header too.
	Request func(r *http.Request, body []byte) []byte
	// Response returns the body that the program gets for what it sent.
	Response func(r *http.Request, sent, body []byte) []byte
	// Down returns a WebSocket message of the emulator as the program gets it. Nil drops the message.
	Down func(message []byte) []byte
	// Up returns a WebSocket message of the program as the emulator gets it. Nil drops the message. It may answer.
	Up func(message []byte, answer func([]byte)) []byte
}

// A Proxy is a way to one platform. All methods are safe for concurrent use.
type Proxy struct {
	Addr string // host and port where the program finds the platform

	opts   Options
	line   *line
	inner  *http.Server
	back   *http.Transport
	served sync.WaitGroup
	names  [][2][]byte // addresses of the platform, and of the proxy in their place

	mu        sync.Mutex
	handshake Handshake
	rules     []*Rule
	calls     []Call
	sockets   map[*socket]bool
	opened    int
	hushed    bool
	refusal   int // the close code for new sockets; zero for none
}

// New opens a way to a platform on a free port of 127.0.0.1.
func New(opts Options) (*Proxy, error) {
	p := &Proxy{opts: opts, sockets: map[*socket]bool{}, back: &http.Transport{MaxIdleConnsPerHost: 16}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	quiet := log.New(io.Discard, "", 0)
	p.inner = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet}
	if opts.Authority != nil {
		p.inner.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.certificate}
	}
	if p.line, err = newLine(l.Addr().String()); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	p.Addr = p.line.addr
	web, socket := "http://", "ws://"
	if opts.Authority != nil {
		web, socket = "https://", "wss://"
	}
	for _, name := range append([]string{opts.Target}, opts.Names...) {
		for scheme, ours := range map[string]string{"http://": web, "https://": web, "ws://": socket, "wss://": socket} {
			p.names = append(p.names, [2][]byte{[]byte(scheme + name), []byte(ours + p.Addr)})
		}
	}
	p.served.Go(func() {
		if opts.Authority != nil {
			_ = p.inner.ServeTLS(l, "", "")
			return
		}
		_ = p.inner.Serve(l)
	})
	return p, nil
}

// URL is where the program finds the platform, without a path.
func (p *Proxy) URL() string {
	if p.opts.Authority != nil {
		return "https://" + p.Addr
	}
	return "http://" + p.Addr
}

// Close ends every connection and waits for its goroutines.
func (p *Proxy) Close() {
	p.line.close()
	for _, s := range p.open() {
		s.end()
	}
	_ = p.inner.Close()
	p.served.Wait()
	p.back.CloseIdleConnections()
}

// rename writes the proxy's address in the place of the platform's.
func (p *Proxy) rename(text []byte) []byte {
	for _, n := range p.names {
		text = bytes.ReplaceAll(text, n[0], n[1])
	}
	return text
}

// A Handshake is how connections begin where the proxy speaks TLS.
type Handshake uint8

// The handshakes.
const (
	Known    Handshake = iota
	Unknown            // the certificate is of an authority that nobody knows, as behind a captive portal
	Aborted            // the server ends the handshake
	Outdated           // the certificate has expired
)

// SetHandshake says how connections begin from now on. Those that there are end.
func (p *Proxy) SetHandshake(h Handshake) {
	p.mu.Lock()
	p.handshake = h
	p.mu.Unlock()
	p.line.reset()
}

func (p *Proxy) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	h := p.handshake
	p.mu.Unlock()
	switch h {
	case Unknown:
		stranger, err := NewAuthority()
		if err != nil {
			return nil, err
		}
		return stranger.Issue(time.Now().Add(time.Hour))
	case Outdated:
		return p.opts.Authority.Issue(time.Now().Add(-time.Minute))
	case Aborted:
		return nil, errors.New("no certificate now")
	case Known:
	}
	return p.opts.Authority.usual, nil
}

// SetLine says what becomes of connections from now on.
func (p *Proxy) SetLine(state Line) error { return p.line.set(state) }

// Reset resets every connection once. New ones work.
func (p *Proxy) Reset() { p.line.reset() }

// sleep waits, but not longer than the caller does.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
