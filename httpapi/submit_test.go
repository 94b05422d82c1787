package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"approver.example"
	"approver.example/httpapi/wire"
)

const testCall = "0123456789abcdef0123456789abcdef"

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func me() Admit { return AdmitUIDs(uint32(os.Geteuid())) }

// run serves until the test ends, or until stop is called, which waits.
func run(t *testing.T, serve func(context.Context, net.Listener) error) (socket string, stop func() error) {
	t.Helper()
	socket = filepath.Join(tempDir(t), "s.sock")
	l := listen(t, socket, 0o600)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l) }()
	var err error
	stopped := false
	stop = func() error {
		if !stopped {
			stopped = true
			cancel()
			select {
			case err = <-ended:
			case <-time.After(30 * time.Second):
				err = errors.New("Serve does not return")
			}
		}
		return err
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return socket, stop
}

type heads map[string]string

func headers(payload, env string) heads {
	return heads{
		wire.Agent: "claude", wire.Call: testCall, wire.Deadline: "5000", wire.EnvBytes: fmt.Sprint(len(env)),
		"Content-Length": fmt.Sprint(len(env) + len(payload)),
	}
}

// post writes a request by hand, like the courier.
func post(t *testing.T, socket string, h heads, body string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	var b bytes.Buffer
	b.WriteString("POST /v1/hook HTTP/1.1\r\nHost: approver\r\nConnection: close\r\n")
	for k, v := range h {
		b.WriteString(k + ": " + v + "\r\n")
	}
	b.WriteString("\r\n" + body)
	if _, err := c.Write(b.Bytes()); err != nil && !errors.Is(err, syscall.EPIPE) { // refused before it was read
		t.Fatal(err)
	}
	return c
}

func response(t *testing.T, c net.Conn) (*http.Response, string, error) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

func TestSubmit(t *testing.T) {
	got := make(chan HookRequest, 1)
	s := &Submit{Admit: me(), Log: quiet(), Hook: func(_ context.Context, h HookRequest) HookAnswer {
		got <- h
		return HookAnswer{Stdout: []byte("{\"a\":1}\n"), Stderr: []byte("no\n")}
	}}
	socket, _ := run(t, s.Serve)
	const env = "PATH=/bin=x\x00EMPTY=\x00"
	const payload = "\x00raw \xff bytes\r\n\r\n"
	sent := headers(payload, env)
	sent[wire.Root] = "mnt:[1] 2 3"
	sent[wire.Start] = "/a%20b"
	res, body, err := response(t, post(t, socket, sent, env+payload))
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 || body != "no\n{\"a\":1}\n" || res.ContentLength != int64(len(body)) ||
		len(res.TransferEncoding) != 0 ||
		res.Header.Get(wire.Exit) != "2" || res.Header.Get(wire.StderrBytes) != "3" {
		t.Errorf("answer %+v %q", res, body)
	}
	want := HookRequest{
		Agent: "claude", CallID: testCall, Deadline: 5 * time.Second, Env: map[string]string{"PATH": "/bin=x", "EMPTY": ""},
		Payload: []byte(payload), Root: "mnt:[1] 2 3", Start: "/a b",
		Peer: approver.Peer{Known: true, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), PID: int32(os.Getpid())},
	}
	if h := <-got; !reflect.DeepEqual(h, want) {
		t.Errorf("request\n%+v\nwant\n%+v", h, want)
	}
}

func TestSubmitSilentAnswer(t *testing.T) {
	s := &Submit{Admit: me(), Log: quiet(),
		Hook: func(context.Context, HookRequest) HookAnswer { return HookAnswer{ExitZero: true} }}
	socket, _ := run(t, s.Serve)
	res, body, err := response(t, post(t, socket, headers("", ""), ""))
	if err != nil || res.StatusCode != 200 || body != "" || res.Header.Get("Content-Length") != "0" ||
		res.Header.Get(wire.Exit) != "0" || res.Header.Get(wire.StderrBytes) != "0" {
		t.Errorf("%+v %q %v", res, body, err)
	}
}

// Every zero value denies: no answer of these may reach the courier as a 200.
func TestSubmitFailsClosed(t *testing.T) {
	hook := func(a HookAnswer) func(context.Context, HookRequest) HookAnswer {
		return func(context.Context, HookRequest) HookAnswer { return a }
	}
	pass := hook(HookAnswer{ExitZero: true})
	for _, tt := range []struct {
		name   string
		submit *Submit
		status int
		text   string
	}{
		{"nil Admit", &Submit{Hook: pass}, 403, "admits nobody"},
		{"another uid", &Submit{Hook: pass, Admit: AdmitUIDs(uint32(os.Geteuid()) + 1)}, 403, "may not use this socket"},
		{"no uids", &Submit{Hook: pass, Admit: AdmitUIDs()}, 403, "may not use this socket"},
		{"an Admit that says no", &Submit{Hook: pass, Admit: func(approver.Peer) error { return errors.New("not today") }},
			403, "not today"},
		{"nil Hook", &Submit{Admit: me()}, 500, "could not decide"},
		{"zero answer", &Submit{Hook: hook(HookAnswer{}), Admit: me()}, 500, "could not decide"},
		{"a block without a reason", &Submit{Hook: hook(HookAnswer{Stdout: []byte("{}")}), Admit: me()}, 500,
			"could not decide"},
		{"a huge answer", &Submit{Hook: hook(HookAnswer{ExitZero: true, Stdout: make([]byte, wire.MaxAnswer+1)}),
			Admit: me()}, 500, "could not decide"},
		{"a panic", &Submit{Hook: func(context.Context, HookRequest) HookAnswer { panic("secret detail") }, Admit: me()}, 500,
			"could not decide"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.submit.Log = quiet()
			socket, _ := run(t, tt.submit.Serve)
			res, body, err := response(t, post(t, socket, headers("{}", ""), "{}"))
			if err != nil || res.StatusCode != tt.status || !strings.Contains(body, tt.text) || res.Header.Get(wire.Exit) != "" {
				t.Errorf("%+v %q %v", res, body, err)
			}
			if strings.Contains(body, "secret detail") {
				t.Errorf("a panic's text is shown: %q", body)
			}
		})
	}
}

// holding is a Hook that waits and reports why its context ended.
func holding(causes chan<- error, entered chan<- struct{}) func(context.Context, HookRequest) HookAnswer {
	return func(ctx context.Context, _ HookRequest) HookAnswer {
		entered <- struct{}{}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return HookAnswer{Stderr: []byte("too late")}
	}
}

func TestSubmitCourierGone(t *testing.T) {
	causes, entered := make(chan error, 1), make(chan struct{}, 1)
	s := &Submit{Admit: me(), Log: quiet(), Hook: holding(causes, entered)}
	socket, _ := run(t, s.Serve)
	for _, payload := range []string{"", "{}"} {
		c := post(t, socket, headers(payload, ""), payload)
		<-entered
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-causes:
			if !errors.Is(err, ErrCourierGone) {
				t.Errorf("cause %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the Hook was not told that the courier has gone")
		}
	}
}

func TestSubmitDeadline(t *testing.T) {
	causes, entered := make(chan error, 1), make(chan struct{}, 1)
	s := &Submit{Admit: me(), Log: quiet(), Hook: holding(causes, entered)}
	socket, _ := run(t, s.Serve)
	h := headers("{}", "")
	h[wire.Deadline] = "50"
	res, body, err := response(t, post(t, socket, h, "{}"))
	if cause := <-causes; !errors.Is(cause, context.DeadlineExceeded) {
		t.Errorf("cause %v", cause)
	}
	if err != nil || res.StatusCode != 200 || body != "too late" {
		t.Errorf("%+v %q %v: what the Hook says at the deadline is still sent", res, body, err)
	}
}

// The story: people are being asked when the daemon is restarted. Were the held
// courier answered, even with a no, the call would be over. Its connection is
// cut without a byte, so it asks the next daemon.
func TestSubmitShutdownCutsWithoutAnswer(t *testing.T) {
	const n = 5
	causes, entered := make(chan error, n), make(chan struct{}, n)
	s := &Submit{Admit: me(), Log: quiet(), Hook: holding(causes, entered)}
	socket, stop := run(t, s.Serve)
	var conns []net.Conn
	for range n {
		conns = append(conns, post(t, socket, headers("{}", ""), "{}"))
		<-entered
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if len(causes) != n {
		t.Errorf("Serve returned while %d of %d Hooks ran", n-len(causes), n)
	}
	for range n {
		if err := <-causes; !errors.Is(err, ErrShuttingDown) {
			t.Errorf("cause %v", err)
		}
	}
	for _, c := range conns {
		got, err := io.ReadAll(c)
		if len(got) != 0 {
			t.Errorf("the courier was told %q (%v)", got, err)
		}
	}
	if _, err := os.Lstat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// A Hook that still answers while the daemon stops is not heard either.
func TestSubmitShutdownDropsAnswers(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s := &Submit{Admit: me(), Log: quiet(), Hook: func(ctx context.Context, _ HookRequest) HookAnswer {
		close(entered)
		<-ctx.Done()
		<-release
		return HookAnswer{ExitZero: true}
	}}
	socket, stop := run(t, s.Serve)
	c := post(t, socket, headers("{}", ""), "{}")
	<-entered
	done := make(chan error, 1)
	go func() { done <- stop() }()
	select {
	case err := <-done:
		t.Fatalf("Serve returned while a Hook runs: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(c); len(got) != 0 {
		t.Errorf("the courier was told %q", got)
	}
}

// noClose serves h as serve does, but on shutdown it only cancels: what keeps an
// answer back must be the handler itself, for it may be just about to write.
func noClose(t *testing.T, h http.Handler) (socket string, cancel context.CancelCauseFunc) {
	t.Helper()
	base, cancel := context.WithCancelCause(context.Background())
	socket = filepath.Join(tempDir(t), "s.sock")
	srv := &http.Server{Handler: h, BaseContext: func(net.Listener) context.Context { return base }, ConnContext: withPeer,
		ReadHeaderTimeout: headTime}
	l := listen(t, socket, 0o600)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-ended
	})
	return socket, cancel
}

func TestHandlersKeepAnswersBack(t *testing.T) {
	entered := make(chan struct{})
	s := &Submit{Admit: me(), Log: quiet(), Hook: func(ctx context.Context, _ HookRequest) HookAnswer {
		close(entered)
		<-ctx.Done()
		return HookAnswer{ExitZero: true}
	}}
	socket, cancel := noClose(t, s)
	c := post(t, socket, headers("{}", ""), "{}")
	<-entered
	cancel(ErrShuttingDown)
	if res, body, err := response(t, c); err == nil {
		t.Errorf("the courier was told %+v %q", res, body)
	}
	w := &Resolve{Admit: me(), Log: quiet(),
		Resolver: funcs{watch: func(ctx context.Context, _ approver.Peer, emit func(json.RawMessage) error) error {
			if err := emit(json.RawMessage("1")); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		}}}
	socket, cancel = noClose(t, w)
	err := ResolveClient{Socket: socket}.Watch(t.Context(), func(json.RawMessage) error {
		cancel(ErrShuttingDown)
		return nil
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a watch that the shutdown ended: %v", err)
	}
}

func TestSubmitMaxHeld(t *testing.T) {
	causes, entered := make(chan error, 3), make(chan struct{}, 3)
	s := &Submit{Admit: me(), Log: quiet(), Hook: holding(causes, entered), MaxHeld: 2}
	socket, _ := run(t, s.Serve)
	first := post(t, socket, headers("{}", ""), "{}")
	post(t, socket, headers("{}", ""), "{}")
	<-entered
	<-entered
	res, body, err := response(t, post(t, socket, headers("{}", ""), "{}"))
	if err != nil || res.StatusCode != 503 {
		t.Errorf("%+v %q %v", res, body, err)
	}
	_ = first.Close()
	<-causes
	deadline := time.Now().Add(30 * time.Second)
	for s.held.places.inUse() > 1 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	post(t, socket, headers("{}", ""), "{}")
	<-entered // a place is free again
}

// getHealth asks the daemon behind either socket how it is.
func getHealth(ctx context.Context, socket string) (h Health, err error) {
	err = call(ctx, socket, nil, http.MethodGet, healthPath, nil, func(res *http.Response) error {
		return readJSON(res.Body, &h)
	})
	return h, err
}

func TestSubmitRoutes(t *testing.T) {
	s := &Submit{Admit: me(), Log: quiet()}
	socket, _ := run(t, s.Serve)
	if h, err := getHealth(t.Context(), socket); err != nil || h != (Health{"ok", "submit", os.Getpid()}) {
		t.Errorf("%+v, %v", h, err)
	}
	// What the resolve socket offers is not here.
	if _, err := (ResolveClient{Socket: socket}).Answer(t.Context(), []byte("{}")); !errors.Is(err, ErrRefused) {
		t.Errorf("an answer on the submit socket: %v", err)
	}
	if err := (ResolveClient{Socket: socket}).Watch(t.Context(), nil); !errors.Is(err, ErrRefused) {
		t.Errorf("a watch on the submit socket: %v", err)
	}
}

// Over anything but a local socket the kernel names no peer, and nobody is
// admitted.
func TestNoPeerNoEntry(t *testing.T) {
	s := &Submit{Admit: func(approver.Peer) error { return nil }, Log: quiet(),
		Hook: func(context.Context, HookRequest) HookAnswer { return HookAnswer{ExitZero: true} }}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				return nil, err
			}
			return Asking(c), nil // the answer comes before the question
		}}}
	res, err := client.Get("http://" + l.Addr().String() + healthPath)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 403 {
		t.Errorf("status %d", res.StatusCode)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServeTellsOfABrokenListener(t *testing.T) {
	l := listen(t, filepath.Join(tempDir(t), "s"), 0o600)
	_ = l.Close()
	if err := (&Submit{Log: quiet()}).Serve(t.Context(), l); err == nil {
		t.Error("no error")
	}
}
