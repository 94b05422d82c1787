package slacktest

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	deliveries = 3        // of one envelope
	mostAck    = 20 << 10 // bytes; a larger acknowledgement is dropped
	findSocket = 10 * time.Second
)

// A conn is one Socket Mode connection.
type conn struct {
	ws   *websocket.Conn
	mu   sync.Mutex // for writing
	gone chan struct{}
}

func (c *conn) write(v any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.ws.SetWriteDeadline(time.Now().Add(5 * time.Second))
	return c.ws.WriteJSON(v)
}

// An envelope is one event on its way to the app.
type envelope struct {
	id      string
	kind    string
	payload any
	rich    bool                      // the acknowledgement may carry a payload
	sent    chan struct{}             // closed when it was written once
	acked   chan struct{}             // closed by the acknowledgement
	once    sync.Once                 // guards sent
	onAck   func(raw json.RawMessage) // called with the lock held; nil raw: never acknowledged
}

func (s *Server) serveLink(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	s.mu.Lock()
	_, ok := s.triggers[ticket]
	delete(s.triggers, ticket)
	s.mu.Unlock()
	if !ok {
		http.Error(w, "bad ticket", http.StatusForbidden)
		return
	}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &conn{ws: ws, gone: make(chan struct{})}
	hello := reply{"type": "hello", "debug_info": reply{"host": "applink-1", "approximate_connection_time": 18060}}
	if !s.opts.NoAppID {
		hello["connection_info"] = reply{"app_id": AppID}
	}
	s.mu.Lock()
	select {
	case <-s.stop:
		s.mu.Unlock()
		_ = ws.Close()
		return
	default:
	}
	s.opened++
	hello["num_connections"] = len(s.conns) + 1
	s.Note("socket opened")
	s.wg.Go(func() { s.read(c) })
	s.wg.Go(func() { s.ping(c) })
	s.mu.Unlock()
	// The greeting is the first frame: no envelope is sent before it.
	if c.write(hello) != nil {
		_ = ws.Close()
		return
	}
	s.mu.Lock()
	s.conns = append(s.conns, c)
	s.mu.Unlock()
}

func (s *Server) read(c *conn) {
	defer s.lost(c)
	for {
		_, raw, err := c.ws.ReadMessage()
		if err != nil {
			return
		}
		var a struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		bad := json.Unmarshal(raw, &a) != nil
		s.mu.Lock()
		e := s.waiting[a.ID]
		switch {
		case bad:
			s.Note("frame that is no acknowledgement: %d bytes", len(raw))
		case len(raw) >= mostAck:
			s.Note("ack dropped: %d bytes", len(raw))
		case e == nil:
			s.Note("ack of nothing %s", a.ID)
		default:
			s.Note("ack %s %s", e.kind, e.id)
			delete(s.waiting, a.ID)
			if a.Payload == nil || !e.rich {
				a.Payload = json.RawMessage("{}")
			}
			if e.onAck != nil {
				e.onAck(a.Payload)
			}
			close(e.acked)
		}
		s.mu.Unlock()
	}
}

// lost forgets a connection.
func (s *Server) lost(c *conn) {
	_ = c.ws.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = slices.DeleteFunc(slices.Clone(s.conns), func(other *conn) bool { return other == c })
	close(c.gone)
	s.Note("socket closed")
}

func (s *Server) ping(c *conn) {
	tick := time.NewTicker(s.opts.PingInterval)
	defer tick.Stop()
	for {
		if c.ws.WriteControl(websocket.PingMessage, []byte("Ping from applink-1"), time.Now().Add(time.Second)) != nil {
			return
		}
		select {
		case <-tick.C:
		case <-c.gone:
			return
		case <-s.stop:
			return
		}
	}
}

// Refresh asks every connection to be opened anew, as Slack does every few
// hours, and closes it soon after.
func (s *Server) Refresh() {
	s.mu.Lock()
	list := append([]*conn(nil), s.conns...)
	s.mu.Unlock()
	for _, c := range list {
		_ = c.write(reply{"type": "disconnect", "reason": "refresh_requested", "debug_info": reply{"host": "applink-1"}})
	}
}

// Drop closes every connection without a word.
func (s *Server) Drop() {
	s.mu.Lock()
	list := append([]*conn(nil), s.conns...)
	s.mu.Unlock()
	for _, c := range list {
		_ = c.ws.Close()
	}
}

// Connections returns the number of open sockets, and of all that were opened.
func (s *Server) Connections() (open, ever int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns), s.opened
}

// WaitConnections waits half a minute until n sockets are open.
func (s *Server) WaitConnections(n int) bool {
	return s.Await(&s.mu, 30*time.Second, func() bool { return len(s.conns) >= n })
}

// Deliver sends an event to the app: kind is interactive, slash_commands or
// events_api. It returns once the event was written to a socket, or after ten
// seconds without one. An event that is not acknowledged is delivered again.
func (s *Server) Deliver(kind string, payload any) (envelope string) {
	e := s.prepare(kind, payload, nil)
	s.dispatchEnvelope(e)
	return e.id
}

// Redeliver sends an event under an envelope id that was used before, as Slack
// does when an acknowledgement was lost on its way.
func (s *Server) Redeliver(id, kind string, payload any) {
	e := s.prepare(kind, payload, nil)
	e.id = id
	s.dispatchEnvelope(e)
}

func (s *Server) prepare(kind string, payload any, onAck func(json.RawMessage)) *envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &envelope{id: s.next("env-"), kind: kind, payload: payload, rich: kind != "events_api",
		sent: make(chan struct{}), acked: make(chan struct{}), onAck: onAck}
}

func (s *Server) dispatchEnvelope(e *envelope) {
	s.mu.Lock()
	select {
	case <-s.stop:
		s.mu.Unlock()
		return
	default:
	}
	s.waiting[e.id] = e
	s.wg.Go(func() { s.push(e) })
	s.mu.Unlock()
	<-e.sent
}

// push delivers until the envelope is acknowledged or given up.
func (s *Server) push(e *envelope) {
	s.mu.Lock()
	address := s.requestURL
	s.mu.Unlock()
	if address != "" {
		s.request(address, e)
		return
	}
	defer e.once.Do(func() { close(e.sent) })
	for attempt := range deliveries {
		c := s.pick()
		if c == nil {
			break
		}
		frame := reply{"type": e.kind, "envelope_id": e.id, "payload": e.payload, "accepts_response_payload": e.rich}
		if e.kind == "events_api" || attempt > 0 {
			frame["retry_attempt"], frame["retry_reason"] = attempt, ""
		}
		if attempt > 0 {
			frame["retry_reason"] = "timeout"
		}
		s.Note("envelope %s %s attempt %d", e.kind, e.id, attempt)
		if c.write(frame) == nil {
			e.once.Do(func() { close(e.sent) })
		}
		timer := time.NewTimer(s.opts.AckTimeout)
		select {
		case <-e.acked:
			timer.Stop()
			return
		case <-s.stop:
			timer.Stop()
			return
		case <-timer.C:
		}
	}
	s.giveUp(e)
}

// giveUp ends the delivery of an envelope that was not acknowledged.
func (s *Server) giveUp(e *envelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting[e.id] == e {
		delete(s.waiting, e.id)
		s.Note("envelope %s %s given up", e.kind, e.id)
		if e.onAck != nil {
			e.onAck(nil)
		}
	}
}

// pick chooses the connection for the next envelope: each in turn.
func (s *Server) pick() *conn {
	var c *conn
	s.Await(&s.mu, findSocket, func() bool {
		if len(s.conns) == 0 {
			return false
		}
		s.turn++
		c = s.conns[s.turn%len(s.conns)]
		return true
	})
	return c
}
