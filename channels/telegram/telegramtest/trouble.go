package telegramtest

import (
	"fmt"
	"net/http"
)

// A Cut is where a connection breaks.
type Cut uint8

// The cuts.
const (
	NoCut  Cut = iota
	Before     // the call is not carried out
	After      // the call is carried out, and its answer is lost
)

// A Trouble is what befalls one call. The zero value is none: the call is served.
type Trouble struct {
	// Answer is what the call is answered with instead of being carried out.
	Answer APIError
	// Page makes it a page of HTML with this status, as of a proxy, instead.
	Page int
	// Cut breaks the connection instead.
	Cut Cut
}

func (t Trouble) none() bool { return t == Trouble{} }

// FailNext makes the next call of a method fail; called again, the one after.
func (s *Server) FailNext(method string, f APIError) { s.Trouble(method, Trouble{Answer: f}) }

// Trouble says what befalls the next calls of a method, one after the other, behind
// what was said before: Trouble("sendMessage", Trouble{}, Trouble{Page: 502}) is a 502
// on the second call.
func (s *Server) Trouble(method string, of ...Trouble) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripted[method] = append(s.scripted[method], of...)
	s.notify()
}

// next takes what befalls a call; s.mu is held.
func (s *Server) next(method string) Trouble {
	if len(s.scripted[method]) == 0 {
		return Trouble{}
	}
	t := s.scripted[method][0]
	s.scripted[method] = s.scripted[method][1:]
	return t
}

// befall is the answer in the place of the service's own.
func (t Trouble) befall() error {
	switch {
	case t.Cut != NoCut:
		return errCut
	case t.Page != 0:
		return page(t.Page)
	}
	return &t.Answer
}

// A page is an answer that is no answer of the service. It is an error.
type page int

// Error names the status.
func (p page) Error() string { return fmt.Sprintf("%d %s", int(p), http.StatusText(int(p))) }

func (p page) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(int(p))
	_, _ = fmt.Fprintf(w, "<html><head><title>%v</title></head><body>nginx</body></html>", p)
}

// RefuseMarkup makes the service understand no markup of a text, as it does not understand a wrong one.
func (s *Server) RefuseMarkup(refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unmarked = refuse
}

// IgnoreTimeout makes the service answer each poll at once, as some servers do.
func (s *Server) IgnoreTimeout(ignore bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hasty = ignore
	s.notify()
}

// Delete takes a message out of a chat, as a person with the right to do so.
func (s *Server) Delete(chat int64, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.find(chat, int(parse(message))); m != nil {
		m.Deleted = true
	}
}
