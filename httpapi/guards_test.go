package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"approver.example"
)

// The story: each call gives its place and the bytes of its body back when it is answered.
// Had one of the two stayed taken, a user who sent enough calls in a day would have been
// kept out until the daemon was restarted.
func TestWhatACallTakesItGivesBack(t *testing.T) {
	var s Submit
	for name, take := range map[string]func(uint32, int64) (func(), error){"a call": s.hold, "a report": s.tell} {
		for range 3 {
			free, err := take(7, maxBytesEach)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := take(7, 1); err == nil {
				t.Errorf("%s: more bytes than there are", name)
			}
			if _, err := take(8, 1); err != nil {
				t.Errorf("%s: another user: %v", name, err)
			}
			free()
		}
	}
	if s.held.places.of[7] != 0 || s.held.bytes.of[7] != 0 || s.told.places.of[7] != 0 || s.told.bytes.of[7] != 0 {
		t.Errorf("left: %v %v %v %v", s.held.places.of, s.held.bytes.of, s.told.places.of, s.told.bytes.of)
	}
}

// The story: a courier's connection gave way to another one of its user, or was turned
// away, and with it what it was to tell. The daemon went on to say that nothing was heard of
// a call. Whoever counts silence as a word hears of each connection that was not taken.
func TestConnectionsThatWereNotTakenAreCounted(t *testing.T) {
	var missed atomic.Int32
	s := &Submit{Admit: me(), Log: quiet(), MaxConnsEach: 2, Missed: func() { missed.Add(1) },
		Hook: func(ctx context.Context, _ HookRequest) HookAnswer {
			<-ctx.Done()
			return HookAnswer{}
		}}
	socket, _ := run(t, s.Serve)
	dial := func(ask string) {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_, _ = io.WriteString(c, ask)
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %d open, %d missed", what, s.open(), missed.Load())
			}
		}
	}
	dial("")
	dial("")
	until("two are open", func() bool { return s.open() == 2 })
	if missed.Load() != 0 {
		t.Fatal("there was room")
	}
	dial("") // the oldest gives way
	until("one gave way", func() bool { return missed.Load() == 1 })
	const asks = "POST /v1/hook HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
	dial(asks)
	until("another gave way", func() bool { return missed.Load() == 2 })
	dial(asks)
	until("the last one gave way", func() bool { return missed.Load() == 3 })
	idle := func() bool {
		s.waiting.mu.Lock()
		defer s.waiting.mu.Unlock()
		return len(s.waiting.of) == 0
	}
	until("both ask", idle)
	dial("")
	until("one was turned away", func() bool { return missed.Load() == 4 })
}

// A connection that has been answered and is kept open asks nothing: it gives way, like one
// that never asked. One that has ended leaves nothing behind.
func TestAKeptConnectionGivesWay(t *testing.T) {
	s := &Resolve{Admit: me(), Log: quiet(), Resolver: watched(), Operator: operator{}, MaxConnsEach: 2}
	socket, _ := run(t, s.Serve)
	var open []net.Conn
	health := func() string {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(c, "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		time.Sleep(20 * time.Millisecond) // the server then waits for the next question
		return line
	}
	for i := range 6 {
		if got := health(); !strings.HasPrefix(got, "HTTP/1.1 200") {
			t.Fatalf("connection %d: %q", i, got)
		}
	}
	for _, c := range open {
		_ = c.Close()
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		s.waiting.mu.Lock()
		left := len(s.waiting.of)
		s.waiting.mu.Unlock()
		if s.open() == 0 && left == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d open, of %d users some wait", s.open(), left)
		}
	}
}

// The story: a card with a long call was more than one line of the reader takes, and the
// terminal that watched lost its connection at each such card. An event may be as long as
// the daemon makes one; what is no JSON is not handed on.
func TestWatchTakesLongEvents(t *testing.T) {
	long := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	s := &Resolve{Admit: me(), Log: quiet(),
		Resolver: funcs{watch: func(_ context.Context, _ approver.Peer,
			f func(json.RawMessage) error) error {
			return f(long)
		}}}
	socket, _ := run(t, s.Serve)
	n := 0
	err := ResolveClient{Socket: socket}.Watch(t.Context(),
		func(event json.RawMessage) error { n = len(event); return nil })
	if err != nil || n != len(long) {
		t.Errorf("%d bytes, %v", n, err)
	}

	dir := tempDir(t)
	l := listen(t, filepath.Join(dir, "odd.sock"), 0o600)
	odd := &http.Server{ReadHeaderTimeout: time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "{\"a\":1}\nno json\n")
		})}
	go func() { _ = odd.Serve(l) }()
	defer odd.Close()
	n = 0
	err = ResolveClient{Socket: l.Addr().String()}.Watch(t.Context(), func(json.RawMessage) error { n++; return nil })
	if err == nil || n != 1 || !strings.Contains(err.Error(), "not JSON") {
		t.Errorf("%d events, %v", n, err)
	}
}

// The story: a socket was taken for a stale one while its daemon was too busy to accept, and
// was removed: couriers then reached nobody, and the daemon did not know. Only one that
// nobody listens on is cleared away. A folder of somebody else is no place for a socket.
func TestWhatIsNotClearedAway(t *testing.T) {
	dir := tempDir(t)
	busy := filepath.Join(dir, "busy.sock")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: busy}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	for range 4 { // its queue is full
		if c, err := net.DialTimeout("unix", busy, 100*time.Millisecond); err == nil {
			defer c.Close()
		}
	}
	if l, err := Listen(busy, 0o600); err == nil {
		_ = l.Close()
		t.Error("a busy socket was taken over")
	}
	if _, err := os.Lstat(busy); err != nil {
		t.Errorf("a busy socket was removed: %v", err)
	}
	if err := checkFolder(busy); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("no folder: %v", err)
	}
	if os.Geteuid() != 0 {
		return
	}
	foreign := filepath.Join(dir, "foreign")
	if err := errors.Join(os.Mkdir(foreign, 0o755), os.Chown(foreign, 4711, 4711)); err != nil {
		t.Fatal(err)
	}
	if l, err := Listen(filepath.Join(foreign, "s.sock"), 0o600); err == nil ||
		!strings.Contains(err.Error(), "belongs to uid 4711") {
		if err == nil {
			_ = l.Close()
		}
		t.Errorf("a folder of somebody else: %v", err)
	}
}

// What serve would say of the place of a socket, check says without making anything.
func TestCheckListenMakesNothing(t *testing.T) {
	dir := tempDir(t)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	loose := filepath.Join(dir, "loose")
	if err := errors.Join(os.Mkdir(loose, 0o700), os.Chmod(loose, 0o777)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "new.sock"): "", filepath.Join(dir, "not", "there.sock"): "",
		file: "is not a socket", filepath.Join(loose, "s.sock"): "can be written by others", dir + "//s.sock": "write it as",
		filepath.Join(file, "s.sock"): "not a directory",
	} {
		err := CheckListen(path)
		if (err == nil) != (want == "") || err != nil && !bytes.Contains([]byte(err.Error()), []byte(want)) {
			if want != "not a directory" || err == nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "not")); err == nil {
		t.Error("it made a folder")
	}
}
