package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"approver.example"
)

// The child of TestTwoUsers asks as another user, and says what it was answered.
func TestMain(m *testing.M) {
	if socket := os.Getenv("APPROVER_TEST_ASK"); socket != "" {
		body, err := askOnce(socket)
		fmt.Println(body, err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// askOnce brings one call and returns the status and the text of the answer.
func askOnce(socket string) (string, error) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	h := headers("{}", "")
	text := "POST /v1/hook HTTP/1.1\r\nHost: approver\r\nConnection: close\r\n"
	for k, v := range h {
		text += k + ": " + v + "\r\n"
	}
	_, _ = io.WriteString(c, text+"\r\n{}") // who is turned away finds the answer all the same
	all, err := io.ReadAll(c)
	return string(all), err
}

// fake returns what the submit socket answers a peer, as it would over HTTP.
func fake(s *Submit, uid uint32, size int64) (status int, text string) {
	free, err := s.hold(uid, size)
	if err != nil {
		return http.StatusServiceUnavailable, err.Error()
	}
	_ = free // it waits
	return http.StatusOK, ""
}

// One user's agents hold as many calls as they may. The next of them is refused at
// once, in words; another user's is taken. Before, 1024 calls of one user shut
// everybody out.
func TestOneUserDoesNotTakeEveryPlace(t *testing.T) {
	s := &Submit{Log: quiet()}
	for i := range DefaultHeldEach {
		if status, text := fake(s, 1000, 10); status != 200 {
			t.Fatalf("call %d: %s", i, text)
		}
	}
	status, text := fake(s, 1000, 10)
	if status != 503 || !strings.Contains(text, "too many calls wait for an answer (of uid 1000, at most 256)") {
		t.Errorf("one more: %d %s", status, text)
	}
	for uid := uint32(1001); uid < 1004; uid++ {
		for range DefaultHeldEach {
			if status, text := fake(s, uid, 0); status != 200 {
				t.Fatalf("uid %d: %s", uid, text)
			}
		}
	}
	if status, text := fake(s, 1004, 0); status != 503 || !strings.Contains(text, "of all users together, at most 1024") {
		t.Errorf("beyond all: %d %s", status, text)
	}
}

// The same for memory: a user whose calls are large does not keep those of others out,
// and a call that is refused for its size holds no place.
func TestOneUserDoesNotTakeAllMemory(t *testing.T) {
	s := &Submit{Log: quiet()}
	const large = 4 << 20
	for range maxBytesEach / large {
		if status, text := fake(s, 1000, large); status != 200 {
			t.Fatal(text)
		}
	}
	before := s.held.places.inUse()
	if status, text := fake(s, 1000, 1); status != 503 || !strings.Contains(text, "too many large calls") {
		t.Errorf("one more: %d %s", status, text)
	}
	if s.held.places.inUse() != before {
		t.Error("a refused call holds a place")
	}
	if status, text := fake(s, 1001, large); status != 200 {
		t.Errorf("another user: %s", text)
	}
}

// What is given back can be taken again, and nothing is left of a user who has gone.
func TestTallyForgets(t *testing.T) {
	var n tally
	for range 3 {
		if err := n.take(7, 2, 4, 4); err != nil {
			t.Fatal(err)
		}
		if err := n.take(7, 2, 4, 4); err != nil {
			t.Fatal(err)
		}
		if err := n.take(7, 1, 4, 4); err == nil {
			t.Error("five of four")
		}
		n.give(7, 2)
		n.give(7, 2)
	}
	if n.inUse() != 0 || len(n.of) != 0 {
		t.Errorf("left: %d, %v", n.inUse(), n.of)
	}
}

// Connections that ask nothing take no place of one that does: the oldest of them is cut.
// Those that ask take no more than a user's share, and the next one's answer comes though
// nothing of it was read. When they go, there is room again.
func TestConnectionsOfOneUser(t *testing.T) {
	causes, entered := make(chan error, 8), make(chan struct{}, 8)
	s := &Submit{Admit: me(), Log: quiet(), MaxConnsEach: 3, Hook: holding(causes, entered)}
	socket, _ := run(t, s.Serve)
	silent := make([]net.Conn, 3)
	for i := range silent {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent[i] = c
		awaitConns(t, s, int64(i+1))
	}
	var held []net.Conn
	for i := range 3 {
		held = append(held, post(t, socket, headers("{}", ""), "{}"))
		select {
		case <-entered:
		case <-time.After(10 * time.Second):
			t.Fatalf("call %d found no place", i)
		}
		_ = silent[i].SetReadDeadline(time.Now().Add(time.Second))
		if _, err := silent[i].Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the silent connection %d is still there", i)
		}
	}
	got, err := askOnce(socket)
	want := fmt.Sprintf(`{"error":"too many connections are open (of uid %d, at most 3): wait until some are answered"}`,
		os.Geteuid())
	if !strings.HasPrefix(got, "HTTP/1.1 503 ") || !strings.Contains(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range held {
		_ = c.Close()
		<-causes
	}
	awaitConns(t, s, 0)
	post(t, socket, headers("{}", ""), "{}")
	<-entered
	if len(s.waiting.of) != 0 {
		t.Errorf("%d users have idle connections", len(s.waiting.of))
	}
}

func awaitConns(t *testing.T, s *Submit, n int64) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); s.open() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections, want %d", s.open(), n)
		}
	}
}

// An agent opens every connection that it may and asks on as many as it may. The agent
// of another user is answered, and so are people on the resolve socket: they can freeze.
func TestTwoUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it needs a second user, so it runs as root")
	}
	causes, entered := make(chan error, 8), make(chan struct{}, 8)
	s := &Submit{Admit: AdmitUIDs(0, 65534), Log: quiet(), MaxConnsEach: 6, MaxHeldEach: 2, MaxConns: 100,
		Hook: func(ctx context.Context, h HookRequest) HookAnswer {
			if h.Peer.UID == 0 {
				return holding(causes, entered)(ctx, h)
			}
			return HookAnswer{ExitZero: true}
		}}
	dir, err := os.MkdirTemp("", "two")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := openTo(t, dir, s)
	for range 2 {
		post(t, socket, headers("{}", ""), "{}")
		<-entered
	}
	res, body, err := response(t, post(t, socket, headers("{}", ""), "{}"))
	if err != nil || res.StatusCode != 503 ||
		!strings.Contains(string(body), "too many calls wait for an answer (of uid 0") {
		t.Errorf("a third: %+v %q %v", res, body, err)
	}
	for s.open() < 6 {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		time.Sleep(10 * time.Millisecond)
	}
	if got, _ := askOnce(socket); !strings.Contains(got, "too many calls wait for an answer (of uid 0") {
		t.Errorf("a connection too many: %q", got)
	}
	if got := asOther(t, dir, socket); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Errorf("another user: %q", got)
	}
	people, _ := run(t, (&Resolve{Admit: me(), Log: quiet(), Operator: operator{}}).Serve)
	var out struct{ Frozen bool }
	if err := (ResolveClient{Socket: people}).Operate(t.Context(), "freeze", struct{}{}, &out); err != nil || !out.Frozen {
		t.Errorf("freeze: %+v, %v", out, err)
	}
}

type operator struct{}

func (operator) Operate(context.Context, approver.Peer, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"frozen":true}`), nil
}

// openTo serves on a socket that every user may reach.
func openTo(t *testing.T, dir string, s *Submit) string {
	t.Helper()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s.sock")
	l := listen(t, socket, 0o666)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() { cancel(); <-ended })
	return socket
}

// asOther asks once as the user nobody, in a process of its own.
func asOther(t *testing.T, dir, socket string) string {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip("the test's own program cannot be read: ", err)
	}
	program := filepath.Join(dir, "ask")
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Dir, cmd.Env = "/", []string{"APPROVER_TEST_ASK=" + socket}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// inUse is how many are in use.
func (t *tally) inUse() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all
}

// open is how many connections are open.
func (d *connLimits) open() int64 { return d.conns.inUse() + d.own.inUse() }
