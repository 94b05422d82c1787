package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/httpapi/wire"
)

// plainHeadOf is a head as the courier writes it.
func plainHeadOf(more string) string {
	return plainStart + "Host: approver\r\nContent-Type: application/octet-stream\r\nContent-Length: 2\r\n" +
		wire.Agent + ": claude\r\n" + wire.Call + ": " + testCall + "\r\n" + wire.Deadline + ": 5000\r\n" + more +
		wire.EnvBytes + ": 0\r\n"
}

// The heads that the courier writes are read here, and every other form is left to net/http.
func TestPlainHeads(t *testing.T) {
	all := wire.Park + ": 1000\r\n" + wire.Event + ": PreToolUse\r\n" + wire.Cut + ": 1\r\n" + wire.Alone + ": 1\r\n" +
		wire.Root + ": mnt:[1] 2 3\r\n" + wire.Start + ": /a%20b\r\n"
	for name, head := range map[string]string{"few": plainHeadOf(""), "all": plainHeadOf(all),
		"close": plainHeadOf("Connection: close\r\n")} {
		p, ok := parsePlain(head)
		if !ok || p.length != 2 || p.header.Get(wire.Call) != testCall || p.closes != (name == "close") {
			t.Errorf("%s: %+v, %v", name, p, ok)
		}
	}
	few := plainHeadOf("")
	for name, head := range map[string]string{
		"empty":              "",
		"another method":     strings.Replace(few, "POST", "PUT", 1),
		"another path":       strings.Replace(few, "/v1/hook", "/v1/ack", 1),
		"HTTP/1.0":           strings.Replace(few, "HTTP/1.1", "HTTP/1.0", 1),
		"no host":            strings.Replace(few, "Host: approver\r\n", "", 1),
		"another host":       strings.Replace(few, "Host: approver", "Host: x", 1),
		"two hosts":          plainHeadOf("Host: approver\r\n"),
		"no length":          strings.Replace(few, "Content-Length: 2\r\n", "", 1),
		"two lengths":        plainHeadOf("Content-Length: 2\r\n"),
		"a signed length":    strings.Replace(few, "Length: 2", "Length: +2", 1),
		"a negative length":  strings.Replace(few, "Length: 2", "Length: -2", 1),
		"a hex length":       strings.Replace(few, "Length: 2", "Length: 0x2", 1),
		"a huge length":      strings.Replace(few, "Length: 2", "Length: 4294967298", 1),
		"chunked":            plainHeadOf("Transfer-Encoding: chunked\r\n"),
		"expect":             plainHeadOf("Expect: 100-continue\r\n"),
		"upgrade":            plainHeadOf("Connection: Upgrade\r\n"),
		"an agent twice":     plainHeadOf(wire.Agent + ": codex\r\n"),
		"lower case":         plainHeadOf(strings.ToLower(wire.Event) + ": PreToolUse\r\n"),
		"unknown":            plainHeadOf("X: y\r\n"),
		"no space":           plainHeadOf(wire.Event + ":PreToolUse\r\n"),
		"two spaces":         plainHeadOf(wire.Event + ":  PreToolUse\r\n"),
		"a blank at its end": plainHeadOf(wire.Event + ": PreToolUse \r\n"),
		"a tab":              plainHeadOf(wire.Root + ": a\tb\r\n"),
		"a folded line":      plainHeadOf(wire.Event + ": Pre\r\n ToolUse\r\n"),
		"no value":           plainHeadOf(wire.Event + ": \r\n"),
		"not ASCII":          plainHeadOf(wire.Root + ": é\r\n"),
		"a bare line feed":   plainHeadOf(wire.Event + ": PreToolUse\n"),
		"half a line":        few + wire.Event + ": PreToolUse",
	} {
		if p, ok := parsePlain(head); ok {
			t.Errorf("%s: read as %+v", name, p)
		}
	}
}

// Whatever is read here is a request of the same meaning to net/http.
func FuzzPlainHead(f *testing.F) {
	f.Add(plainHeadOf(""))
	f.Add(plainHeadOf("Connection: close\r\n" + wire.Root + ": mnt:[1] 2 3\r\n"))
	f.Add(plainHeadOf("Content-Length: 02\r\n"))
	f.Fuzz(func(t *testing.T, head string) {
		p, ok := parsePlain(head)
		if !ok {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head + "\r\n")))
		if err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		same := r.Method == http.MethodPost && r.URL.Path == wire.HookPath && r.ContentLength == p.length &&
			r.Close == p.closes && len(r.TransferEncoding) == 0
		r.Header.Del("Content-Length")
		r.Header.Del("Connection")
		if !same || !reflect.DeepEqual(r.Header, p.header) {
			t.Errorf("%q:\n%+v\n%+v", head, p, r)
		}
	})
}

// A request is answered in the same way however it arrives: in one piece, byte by byte, and in a form that
// net/http reads.
func TestBothWaysAnswerAlike(t *testing.T) {
	s := &Submit{Admit: me(), Log: quiet(), MaxBody: 1 << 20, Hook: func(_ context.Context, h HookRequest) HookAnswer {
		return HookAnswer{Stdout: []byte(fmt.Sprint(len(h.Payload), h.Env)), Stderr: []byte(h.Event), ExitZero: true}
	}}
	socket, _ := run(t, s.Serve)
	answer := func(parts ...string) string {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for i, part := range parts {
			if i > 0 {
				time.Sleep(time.Millisecond)
			}
			if _, err := io.WriteString(c, part); err != nil {
				t.Fatal(err)
			}
		}
		res, body, err := response(t, c)
		if err != nil {
			t.Fatal(err)
		}
		res.Header.Del("Date")
		return fmt.Sprint(res.StatusCode, res.Header, res.Close, body)
	}
	for name, request := range map[string]string{
		"short": plainHeadOf("Connection: close\r\n"+wire.Event+": PreToolUse\r\n") + "\r\n{}",
		"large": strings.Replace(plainHeadOf("Connection: close\r\n"), "Length: 2", "Length: 100000", 1) + "\r\n" +
			strings.Repeat("x", 100000),
		"bad env": strings.Replace(plainHeadOf("Connection: close\r\n"), "Bytes: 0", "Bytes: 2", 1) + "\r\n{}",
		"too large": strings.Replace(plainHeadOf("Connection: close\r\n"), "Length: 2", "Length: 2000000", 1) + "\r\n" +
			strings.Repeat("x", 1000),
	} {
		want := answer(strings.Replace(request, "Host: approver", "Host: other", 1))
		if got := answer(request); got != want {
			t.Errorf("%s: %s\nby net/http: %s", name, got, want)
		}
		if got := answer(request[:7], request[7:50], request[50:240], request[240:]); got != want {
			t.Errorf("%s in pieces: %s\nby net/http: %s", name, got, want)
		}
	}
}

// A connection that asks more than once goes on at net/http, which takes the acknowledgment and the next
// call.
func TestAConnectionGoesOn(t *testing.T) {
	entered := make(chan struct{}, 1)
	release := make(chan struct{})
	s := &Submit{Admit: me(), Log: quiet(), Hook: func(context.Context, HookRequest) HookAnswer {
		entered <- struct{}{}
		<-release
		return HookAnswer{ExitZero: true}
	}}
	socket, _ := run(t, s.Serve)
	request := plainHeadOf("") + "\r\n{}"
	for name, early := range map[string]bool{"after the answer": false, "before it": true} {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		send := func() {
			if _, err := io.WriteString(c, request); err != nil {
				t.Fatal(err)
			}
		}
		send()
		<-entered
		if early { // while its peer is watched
			time.Sleep(4 * watchAfter)
			send()
			time.Sleep(4 * watchAfter)
		}
		r := bufio.NewReader(c)
		for n := range 3 {
			if n > 0 && (n > 1 || !early) {
				send()
			}
			if n > 0 {
				<-entered
			}
			release <- struct{}{}
			res, err := http.ReadResponse(r, nil)
			if err != nil || res.StatusCode != http.StatusOK || res.Header.Get(wire.Exit) != "0" {
				t.Fatalf("%s, answer %d: %+v, %v", name, n, res, err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
		}
	}
}

// Two requests that come at once are two answers.
func TestTwoRequestsAtOnce(t *testing.T) {
	s := &Submit{Admit: me(), Log: quiet(),
		Hook: func(context.Context, HookRequest) HookAnswer { return HookAnswer{ExitZero: true} }}
	socket, _ := run(t, s.Serve)
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	request := plainHeadOf("") + "\r\n{}"
	if _, err := io.WriteString(c, request+request); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	r := bufio.NewReader(c)
	for n := range 2 {
		res, err := http.ReadResponse(r, nil)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("answer %d: %+v, %v", n, res, err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
	}
}

// The daemon stops while connections are in every state: silent, half sent, answered and kept. All are cut,
// and Serve returns.
func TestPlainConnectionsAreCut(t *testing.T) {
	s := &Submit{Admit: me(), Log: quiet(),
		Hook: func(context.Context, HookRequest) HookAnswer { return HookAnswer{ExitZero: true} }}
	socket, stop := run(t, s.Serve)
	var conns []net.Conn
	for _, sent := range []string{"", "POST", plainHeadOf("") + "\r\n{", plainHeadOf("") + "\r\n{}", "GET /v1/he"} {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, sent); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	if res, _, err := response(t, conns[3]); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%+v, %v", res, err)
	}
	time.Sleep(10 * time.Millisecond)
	began := time.Now()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > headTime/2 {
		t.Errorf("it took %v", took)
	}
	for i, c := range conns {
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if got, err := io.ReadAll(c); len(got) > 0 {
			t.Errorf("connection %d got %q, %v", i, got, err)
		}
	}
	if n := s.open(); n != 0 {
		t.Errorf("%d connections are counted", n)
	}
}

// A panic in a request cuts its connection, and no other.
func TestAPanicCutsOneConnection(t *testing.T) {
	var asked atomic.Int32
	s := &Submit{Log: quiet(), Hook: func(context.Context, HookRequest) HookAnswer { return HookAnswer{ExitZero: true} },
		Admit: func(p approver.Peer) error {
			if asked.Add(1) == 2 { // the first was about its connection
				panic("x")
			}
			return me()(p)
		}}
	socket, _ := run(t, s.Serve)
	for i, want := range []bool{false, true} {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, plainHeadOf("")+"\r\n{}"); err != nil {
			t.Fatal(err)
		}
		if res, _, err := response(t, c); (err == nil) != want {
			t.Errorf("connection %d: %+v, %v", i, res, err)
		}
	}
}

// The story: a byte on each of its connections, and a user had taken every place of theirs: the next courier,
// and the report of what ran, were turned away. Until its head is whole a connection gives way.
func TestHalfAHeadGivesWay(t *testing.T) {
	for name, first := range map[string]string{
		"silent": "", "P": "P", "G": "G", "most of a head": plainStart + "Host: appro",
	} {
		s := &Submit{Admit: me(), Log: quiet(), MaxConnsEach: 2, Hook: func(context.Context, HookRequest) HookAnswer {
			return HookAnswer{ExitZero: true}
		}}
		socket, _ := run(t, s.Serve)
		for range 2 {
			c, err := net.Dial("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, _ = io.WriteString(c, first)
		}
		time.Sleep(50 * time.Millisecond)
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
		head := make([]byte, len("HTTP/1.1 200"))
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.ReadFull(c, head); err != nil || string(head) != "HTTP/1.1 200" {
			t.Errorf("%s: %q, %v", name, head, err)
		}
	}
}
