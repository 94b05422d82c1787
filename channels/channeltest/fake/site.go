package fake

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Site is the HTTP server of a platform on loopback. It misbehaves as a [Fault] says, and
// comes back at the same address, and it keeps a log.
type Site struct {
	Addr string // host and port

	handler http.Handler
	mu      sync.Mutex
	http    *http.Server  // nil while nobody can connect
	served  chan struct{} // closed when http has ended
	closed  bool
	fault   Fault
	since   time.Time
	changed chan struct{} // closed and replaced when the fault changes or the site closes
	log     []string
}

// limitedFor is how long RateLimited lasts.
const limitedFor = time.Second

// NewSite starts a site on a free port of 127.0.0.1. It panics if there is none.
func NewSite(handler http.Handler) *Site {
	s := &Site{Addr: "127.0.0.1:0", handler: handler, changed: make(chan struct{})}
	s.listen()
	return s
}

// listen starts to serve. The caller holds mu, or nobody else has s.
func (s *Site) listen() {
	var l net.Listener
	var err error
	for range 200 { // the port of a server that was just stopped may need a moment
		if l, err = net.Listen("tcp", s.Addr); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		panic("fake platform: " + err.Error())
	}
	if s.served == nil { // later it is the same, and may be read meanwhile
		s.Addr = l.Addr().String()
	}
	srv := &http.Server{Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan struct{})
	s.http, s.served = srv, done
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
}

// stop ends every connection but those that were taken over, such as WebSockets. The caller
// holds mu.
func (s *Site) stop() {
	if s.http != nil {
		_ = s.http.Close()
		<-s.served
		s.http = nil
	}
}

// Close ends the site. It returns false if it was closed before.
func (s *Site) Close() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.closed = true
	s.tell()
	s.stop()
	return true
}

// Break makes the site misbehave from now on.
func (s *Site) Break(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.fault, s.since = f, time.Now()
	s.tell()
	if f == Down {
		s.stop()
	} else if s.http == nil {
		s.listen()
	}
}

func (s *Site) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Up reports whether anybody can connect.
func (s *Site) Up() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.http != nil
}

// Fault is how the site misbehaves now, and for how long it is RateLimited.
func (s *Site) Fault() (f Fault, left time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != RateLimited {
		return s.fault, 0
	}
	if left = limitedFor - time.Since(s.since); left <= 0 {
		s.fault = Healthy
	}
	return s.fault, left
}

// Note adds a line to the log, behind the time.
func (s *Site) Note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// Log returns what the platform saw, one line each, oldest first.
func (s *Site) Log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Count returns how many lines of the log contain what.
func (s *Site) Count(what string) int {
	return len(slices.DeleteFunc(s.Log(), func(line string) bool { return !strings.Contains(line, what) }))
}

// Await polls until ok, which is called with mu held, or until the time is over or the site is
// closed. It returns what ok said last.
func (s *Site) Await(mu sync.Locker, within time.Duration, ok func() bool) bool {
	for end := time.Now().Add(within); ; time.Sleep(2 * time.Millisecond) {
		mu.Lock()
		done := ok()
		mu.Unlock()
		s.mu.Lock()
		closed := s.closed
		s.mu.Unlock()
		if done || closed || time.Now().After(end) {
			return done
		}
	}
}

// Misbehaves reports whether a fault befalls a call, and if so answers it. own has what the
// platform itself says to RateLimited, Malformed and Revoked.
func (s *Site) Misbehaves(w http.ResponseWriter, r *http.Request, own map[Fault]func(http.ResponseWriter)) bool {
	switch f, _ := s.Fault(); f {
	case Healthy:
		return false
	case Hangs, Down:
		s.hang(r)
		panic(http.ErrAbortHandler)
	case ServerError:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w,
			"<html><head><title>500 Internal Server Error</title></head><body>nginx</body></html>")
	case RateLimited, Malformed, Revoked:
		own[f](w)
	}
	return true
}

// hang waits until the site no longer hangs, or the caller gives up.
func (s *Site) hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that the caller has gone
	for {
		s.mu.Lock()
		hangs, changed := s.fault == Hangs && !s.closed, s.changed
		s.mu.Unlock()
		if !hangs {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}
