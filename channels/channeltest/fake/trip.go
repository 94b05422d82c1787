package fake

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Trip makes some calls of a platform's API go wrong, while others go well.
type Trip struct {
	Call       string        // a part of the call's name as the platform's log writes it
	Skip       int           // calls that go well before
	Times      int           // calls that go wrong; 0 is one
	Done       bool          // the call is carried out first
	Status     int           // the answer; 0 cuts the connection
	RetryAfter time.Duration // in whole seconds
	Body       string
}

// Trips are those that are still to come. The zero value has none.
type Trips struct {
	mu   sync.Mutex
	list []*Trip
}

// Add makes t come after those that were added before.
func (s *Trips) Add(t Trip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Times = max(t.Times, 1)
	s.list = append(s.list, &t)
}

// Clear makes every call go well again.
func (s *Trips) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = nil
}

// Left returns how many calls are still to go wrong.
func (s *Trips) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, t := range s.list {
		n += t.Times
	}
	return n
}

// Meet reports whether a call goes wrong, and if so answers it. well carries it out.
func (s *Trips) Meet(call string, w http.ResponseWriter, r *http.Request, well http.Handler) bool {
	s.mu.Lock()
	var t *Trip
	for _, next := range s.list {
		if next.Times > 0 && strings.Contains(call, next.Call) {
			t = next
			break
		}
	}
	if t == nil || t.Skip > 0 {
		if t != nil {
			t.Skip--
		}
		s.mu.Unlock()
		return false
	}
	t.Times--
	now := *t
	s.mu.Unlock()
	if now.Done {
		well.ServeHTTP(unheard{http.Header{}}, r)
	}
	if now.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	if now.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(now.RetryAfter/time.Second)))
	}
	w.WriteHeader(now.Status)
	_, _ = io.WriteString(w, now.Body)
	return true
}

// unheard is where the answer goes of a call whose answer is lost.
type unheard struct{ header http.Header }

func (u unheard) Header() http.Header         { return u.header }
func (u unheard) Write(b []byte) (int, error) { return len(b), nil }
func (u unheard) WriteHeader(int)             {}
