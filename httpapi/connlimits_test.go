package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"approver.example"
)

// watched is a resolver whose watches last until their peer goes.
func watched() Resolver {
	return funcs{watch: func(ctx context.Context, _ approver.Peer, _ func(json.RawMessage) error) error {
		<-ctx.Done()
		return nil
	}}
}

// serveTo serves on a socket that every user may reach.
func serveTo(t *testing.T, dir string, serve func(context.Context, net.Listener) error) string {
	t.Helper()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s.sock")
	l := listen(t, socket, 0o666)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l) }()
	t.Cleanup(func() { cancel(); <-ended })
	return socket
}

// The story: on an isolated machine with approvers of its own, everybody can connect to the
// resolve socket. An agent's user, who may not use it, asked on 6000 connections and kept
// each open after its refusal: the daemon could open no file any more, calls of others
// took 17 seconds, and the operator's freeze was refused. Who is not admitted is now
// turned away as it connects, whatever it does, and holds nothing.
func TestStrangersTakeNoPlaceOnTheResolveSocket(t *testing.T) {
	var log bytes.Buffer
	debug := &slog.HandlerOptions{Level: slog.LevelDebug} // the stranger is the test's own user
	s := &Resolve{Admit: AdmitUIDs(uint32(os.Geteuid()) + 1), Log: slog.New(slog.NewTextHandler(&log, debug)),
		Resolver: watched(), Operator: operator{}}
	socket, stop := run(t, s.Serve)
	for name, ask := range map[string]string{
		"silent": "", "health": "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n",
		"a watch":      "GET /v1/watch HTTP/1.1\r\nHost: x\r\n\r\n",
		"an operation": "POST /v1/operate/freeze HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
		"an answer":    "POST /v1/answer HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
		"half a body":  "POST /v1/answer HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n{",
		"half a head":  "GET /v1/health HT",
		"keep-alive":   "GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
		"a method":     "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"an upgrade":   "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
		"http/2":       "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"no http":      "\x16\x03\x01\x02\x00\x01\x00", "blank lines": "\r\n\r\n\r\n",
		"expect": "POST /v1/answer HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n",
	} {
		for range 10 {
			c, err := net.Dial("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close() // the stranger never does
			_, _ = io.WriteString(c, ask)
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			answer, err := io.ReadAll(c)
			if ended := err == nil || errors.Is(err, syscall.ECONNRESET); !ended ||
				!strings.HasPrefix(string(answer), "HTTP/1.1 403 Forbidden\r\n") {
				t.Fatalf("%s: %q, %v", name, answer, err)
			}
		}
	}
	if n := s.open(); n != 0 {
		t.Errorf("strangers hold %d places", n)
	}
	_ = stop()
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("the log tells of it %d times: %s", n, &log)
	}
}

// An approver of the machine opens every watch that they may, and asks on more. They are
// turned away, in words; root, the daemon's own user and another approver are let in.
func TestOneApproverDoesNotTakeEveryPlace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it needs a second user, so it runs as root")
	}
	dir := tempDir(t)
	s := &Resolve{Admit: AdmitUIDs(0, 65534), Log: quiet(), Resolver: watched(), Operator: operator{}, MaxConns: 3,
		MaxConnsEach: 3}
	socket := serveTo(t, dir, s.Serve)
	for range 3 { // those of others
		if err := s.conns.take(4711, 1, 3, 3); err != nil {
			t.Fatal(err)
		}
	}
	if got := asOther(t, dir, socket); !strings.Contains(got,
		"too many connections are open (of all users together, at most 3)") {
		t.Errorf("an approver: %s", got)
	}
	var out struct{ Frozen bool }
	if err := (ResolveClient{Socket: socket}).Operate(t.Context(), "freeze", struct{}{}, &out); err != nil || !out.Frozen {
		t.Errorf("root's freeze: %+v, %v", out, err)
	}
	// Nor does one of root's take all that root has: what asks nothing makes room.
	for range 3 {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if err := (ResolveClient{Socket: socket}).Operate(t.Context(), "freeze", struct{}{}, &out); err != nil {
		t.Errorf("root's freeze beside idle connections: %v", err)
	}
	for range 3 {
		s.conns.give(4711, 1)
	}
	if got := asOther(t, dir, socket); !strings.HasPrefix(got, "HTTP/1.1 404 ") {
		t.Errorf("an approver, when there is room: %s", got)
	}
}

// Watches of one user are bounded, and each that ends makes room for the next.
func TestWatchesAreBounded(t *testing.T) {
	s := &Resolve{Admit: me(), Log: quiet(), Resolver: watched(), Operator: operator{}, MaxConnsEach: 4}
	socket, _ := run(t, s.Serve)
	watch := func() net.Conn {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_, _ = io.WriteString(c, "GET /v1/watch HTTP/1.1\r\nHost: approver\r\n\r\n")
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		return c
	}
	begins := func(c net.Conn) string {
		head := make([]byte, len("HTTP/1.1 200"))
		_, _ = io.ReadFull(c, head)
		return string(head)
	}
	var open []net.Conn
	for range 4 {
		c := watch()
		if got := begins(c); got != "HTTP/1.1 200" {
			t.Fatal(got)
		}
		open = append(open, c)
	}
	if got := begins(watch()); got != "HTTP/1.1 503" {
		t.Errorf("a watch too many: %s", got)
	}
	_ = open[0].Close()
	for end := time.Now().Add(10 * time.Second); s.open() == 4 && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if got := begins(watch()); got != "HTTP/1.1 200" {
		t.Errorf("after one ended: %s", got)
	}
}

// On the submit socket, too, the daemon's own user and root are not kept out by all others.
func TestOthersDoNotKeepRootOutOfTheSubmitSocket(t *testing.T) {
	s := &Submit{Admit: me(), Log: quiet(), MaxConns: 2,
		Hook: func(context.Context, HookRequest) HookAnswer { return HookAnswer{ExitZero: true} }}
	socket, _ := run(t, s.Serve)
	for range 2 {
		if err := s.conns.take(4711, 1, 2, 2); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := askOnce(socket); err != nil || !strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Errorf("%q, %v", got, err)
	}
	for range 2 {
		s.conns.give(4711, 1)
	}
}

// Where a process may open few files, both sockets together leave more than a quarter of
// them to the store, the audit and the chats.
func TestConnectionsLeaveFilesForTheRest(t *testing.T) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) })
	for _, limit := range []uint64{256, 1024, 4096, was.Cur} {
		if limit > was.Cur {
			continue
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: was.Max}); err != nil {
			t.Skip(err)
		}
		submit, resolve := share(submitConns, 2), share(resolveConns, 8)
		own := share(submitConnsEach, 16) + share(resolveConnsEach, 32) // of the daemon's user, or of root
		if submit < 1 || resolve < 1 || submit+resolve+own > int64(limit)*3/4 {
			t.Errorf("of %d files: %d, %d, %d", limit, submit, resolve, own)
		}
	}
	if share(submitConns, 1<<40) != 1 {
		t.Error("none is no door")
	}
}
