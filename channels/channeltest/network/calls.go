package network

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// A Deed is what befalls a call.
type Deed uint8

// The deeds.
const (
	Pass     Deed = iota // it is carried out and answered; a Rule may delay it
	Instead              // it is not carried out: Rule.Answer is its answer
	Cut                  // it is not carried out: the connection ends
	Lose                 // it is carried out: the connection ends before the answer
	Truncate             // it is carried out: the connection ends in the middle of the answer
	Trickle              // it is carried out: the answer comes in pieces, over Rule.Over
)

// A Rule says what befalls some calls.
type Rule struct {
	Call  string // a part of the method, a space and the path; empty is every call
	Skip  int    // calls that go well before
	Times int    // calls that it befalls; 0 is all until Clear
	Deed  Deed
	Delay time.Duration // before the call is passed on
	Over  time.Duration
	// Answer is made anew for each call.
	Answer func() Answer

	met int
}

// An Answer is what a call gets in the place of the platform's own.
type Answer struct {
	Status int
	Header map[string]string
	Body   string // JSON if it begins with a brace, else HTML
}

// Always returns the same answer for each call.
func Always(a Answer) func() Answer { return func() Answer { return a } }

// Page is an answer as a proxy on the way gives it.
func Page(status int) func() Answer {
	return Always(Answer{Status: status, Body: "<html><head><title>" + strconv.Itoa(status) + " " +
		http.StatusText(status) + "</title></head><body>nginx</body></html>"})
}

// A Call is one call as the proxy saw it.
type Call struct {
	At     time.Time
	Name   string // method and path
	Status int    // 0 if it got no answer
	Struck bool   // a rule befell it
}

// Add makes a rule count from now on, behind those that were added before. The first that fits a call counts.
func (p *Proxy) Add(rules ...Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range rules {
		p.rules = append(p.rules, &r)
	}
}

// Clear takes every rule away.
func (p *Proxy) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = nil
}

// Left returns how many calls rules are still to befall, of those that have a number.
func (p *Proxy) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, r := range p.rules {
		n += max(r.Times-max(r.met-r.Skip, 0), 0)
	}
	return n
}

// Calls returns what the proxy saw, oldest first.
func (p *Proxy) Calls() []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Call(nil), p.calls...)
}

// Struck returns how many calls a rule befell.
func (p *Proxy) Struck() int {
	n := 0
	for _, c := range p.Calls() {
		if c.Struck {
			n++
		}
	}
	return n
}

// meet returns the rule that befalls a call.
func (p *Proxy) meet(call string) (Rule, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.rules {
		if !strings.Contains(call, r.Call) || r.Times > 0 && r.met >= r.Skip+r.Times {
			continue
		}
		if r.met++; r.met <= r.Skip {
			return Rule{}, false
		}
		return *r, true
	}
	return Rule{}, false
}

func (p *Proxy) note(call string, struck bool) (place int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, Call{At: time.Now(), Name: call, Struck: struck})
	return len(p.calls) - 1
}

func (p *Proxy) answered(place, status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[place].Status = status
}

// serve carries one call.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	call := r.Method + " " + r.URL.Path
	rule, struck := p.meet(call)
	place := p.note(call, struck)
	if sleep(r.Context(), rule.Delay); rule.Deed == Cut {
		panic(http.ErrAbortHandler)
	}
	if rule.Deed == Instead {
		a := rule.Answer()
		p.answered(place, a.Status)
		a.write(w)
		return
	}
	if websocket.IsWebSocketUpgrade(r) {
		p.carrySocket(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if p.opts.Adapter.Answer != nil && p.opts.Adapter.Answer(w, r, body) {
		p.answered(place, http.StatusOK)
		return
	}
	back, err := p.pass(r, body, rule.Deed)
	if err != nil || rule.Deed == Lose {
		panic(http.ErrAbortHandler)
	}
	p.answered(place, back.status)
	for name, values := range back.header {
		if name != "Content-Length" && name != "Connection" && name != "Transfer-Encoding" {
			w.Header()[name] = values
		}
	}
	if back.status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(back.body)))
	}
	w.WriteHeader(back.status)
	rule.deliver(r.Context(), w, back.body)
}

// said is what the platform answered.
type said struct {
	status int
	header http.Header
	body   []byte
}

// pass carries a call to the platform. One whose answer is to be lost is carried out even if the program gives up.
func (p *Proxy) pass(r *http.Request, body []byte, deed Deed) (said, error) {
	ctx := r.Context()
	if deed == Lose {
		ctx = context.WithoutCancel(ctx)
	}
	out := r.Clone(ctx)
	out.RequestURI, out.Host = "", p.opts.Target
	out.URL = &url.URL{Scheme: "http", Host: p.opts.Target, Path: r.URL.Path, RawPath: r.URL.RawPath,
		RawQuery: r.URL.RawQuery}
	out.Header.Del("Connection")
	out.Header.Set("Accept-Encoding", "identity")
	sent := body
	if p.opts.Adapter.Request != nil {
		body = p.opts.Adapter.Request(out, body)
	}
	out.Body, out.ContentLength, out.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	if len(body) == 0 {
		out.Body = http.NoBody
	}
	resp, err := p.back.RoundTrip(out)
	if err != nil {
		return said{}, err
	}
	defer resp.Body.Close()
	back, err := io.ReadAll(resp.Body)
	if err != nil {
		return said{}, err
	}
	if p.opts.Adapter.Response != nil {
		back = p.opts.Adapter.Response(r, sent, back)
	}
	return said{resp.StatusCode, resp.Header, p.rename(back)}, nil
}

// pieces is in how many an answer trickles.
const pieces = 8

// deliver writes the body of an answer, as far as the deed lets it.
func (r Rule) deliver(ctx context.Context, w http.ResponseWriter, body []byte) {
	flush := func() { _ = http.NewResponseController(w).Flush() }
	switch r.Deed {
	case Truncate:
		_, _ = w.Write(body[:len(body)/2])
		flush()
		panic(http.ErrAbortHandler)
	case Trickle:
		for i := range pieces {
			_, _ = w.Write(body[len(body)*i/pieces : len(body)*(i+1)/pieces])
			flush()
			sleep(ctx, r.Over/pieces)
		}
	default:
		_, _ = w.Write(body)
	}
}

func (a Answer) write(w http.ResponseWriter) {
	kind := "text/html"
	if strings.HasPrefix(a.Body, "{") {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body)
}
