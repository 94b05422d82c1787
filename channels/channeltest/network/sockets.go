package network

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// controlWithin bounds the writing of a frame that is not data.
const controlWithin = time.Second

// A socket is one WebSocket of the program, and the one that it is carried to.
type socket struct {
	program, platform *websocket.Conn

	mu sync.Mutex // for writing to the program
}

func (p *Proxy) open() []*socket {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*socket
	for s := range p.sockets {
		all = append(all, s)
	}
	return all
}

// Sockets returns how many WebSockets are open, and how many were opened so far.
func (p *Proxy) Sockets() (open, ever int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sockets), p.opened
}

// Say sends a message to the program on every open WebSocket, as from the platform.
func (p *Proxy) Say(message string) {
	for _, s := range p.open() {
		_ = s.write(websocket.TextMessage, []byte(message))
	}
}

// Hush makes WebSockets bring the program nothing: no message, no ping, no greeting of new ones. What the program says
// arrives.
func (p *Proxy) Hush(hush bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hushed = hush
}

func (p *Proxy) quiet() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hushed
}

// CloseSockets closes every WebSocket with a code, as the platform does.
func (p *Proxy) CloseSockets(code int) {
	for _, s := range p.open() {
		s.close(code)
	}
}

// CutSockets ends every WebSocket without a word.
func (p *Proxy) CutSockets() {
	for _, s := range p.open() {
		s.end()
	}
}

// RefuseSockets closes each new WebSocket with a code as soon as the program has said something. Zero ends that.
func (p *Proxy) RefuseSockets(code int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusal = code
}

func (p *Proxy) refused() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refusal
}

// carrySocket carries a WebSocket until one end of it has ended.
func (p *Proxy) carrySocket(w http.ResponseWriter, r *http.Request) {
	dialer := websocket.Dialer{HandshakeTimeout: 10 * time.Second}
	to := "ws://" + p.opts.Target + r.URL.RequestURI()
	platform, resp, err := dialer.DialContext(r.Context(), to, nil)
	if resp != nil {
		defer resp.Body.Close()
	}
	if err != nil {
		status := http.StatusBadGateway
		if resp != nil {
			status = resp.StatusCode
		}
		w.WriteHeader(status)
		return
	}
	defer platform.Close()
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	program, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	s := &socket{program: program, platform: platform}
	p.mu.Lock()
	p.sockets[s] = true
	p.opened++
	p.mu.Unlock()
	defer func() {
		s.end()
		p.mu.Lock()
		delete(p.sockets, s)
		p.mu.Unlock()
	}()
	p.passControls(s)
	var down sync.WaitGroup
	down.Go(func() { p.down(s) })
	p.up(s)
	s.end()
	down.Wait()
}

// passControls carries pings and pongs.
func (p *Proxy) passControls(s *socket) {
	passes := func(kind int, to *websocket.Conn, hushable bool) func(string) error {
		return func(data string) error {
			if !hushable || !p.quiet() {
				_ = to.WriteControl(kind, []byte(data), time.Now().Add(controlWithin))
			}
			return nil
		}
	}
	s.platform.SetPingHandler(passes(websocket.PingMessage, s.program, true))
	s.platform.SetPongHandler(passes(websocket.PongMessage, s.program, true))
	s.program.SetPingHandler(passes(websocket.PingMessage, s.platform, false))
	s.program.SetPongHandler(passes(websocket.PongMessage, s.platform, false))
}

// down carries what the platform says.
func (p *Proxy) down(s *socket) {
	defer s.end()
	for {
		kind, message, err := s.platform.ReadMessage()
		if err != nil {
			if ce, ok := errors.AsType[*websocket.CloseError](err); ok && !p.quiet() {
				s.close(ce.Code)
			}
			return
		}
		if p.quiet() {
			continue
		}
		if p.opts.Adapter.Down != nil {
			message = p.opts.Adapter.Down(message)
		}
		if message != nil && s.write(kind, p.rename(message)) != nil {
			return
		}
	}
}

// up carries what the program says.
func (p *Proxy) up(s *socket) {
	for {
		kind, message, err := s.program.ReadMessage()
		if err != nil {
			if ce, ok := errors.AsType[*websocket.CloseError](err); ok && ce.Code != websocket.CloseAbnormalClosure {
				_ = s.platform.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(ce.Code, ce.Text),
					time.Now().Add(controlWithin))
			}
			return
		}
		if code := p.refused(); code != 0 {
			s.close(code)
			return
		}
		if p.opts.Adapter.Up != nil {
			message = p.opts.Adapter.Up(message, func(m []byte) { _ = s.write(kind, m) })
		}
		if message != nil && s.platform.WriteMessage(kind, message) != nil {
			return
		}
	}
}

func (s *socket) write(kind int, message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.program.SetWriteDeadline(time.Now().Add(10 * time.Second))
	return s.program.WriteMessage(kind, message)
}

// close ends the WebSocket with a code. The platform hears no goodbye: for it the connection broke.
func (s *socket) close(code int) {
	if code == websocket.CloseAbnormalClosure || code == websocket.CloseNoStatusReceived {
		code = websocket.CloseGoingAway
	}
	_ = s.program.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""),
		time.Now().Add(controlWithin))
	s.end()
}

// end ends both connections without a word.
func (s *socket) end() {
	_ = s.program.NetConn().Close()
	_ = s.platform.NetConn().Close()
}
