package webhooks

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const secretOfTest = "the-secret-of-the-platform-of-this-test"

// A fakeHook takes what has the secret, and signs nothing.
type fakeHook struct {
	secret Secret
	take   func(context.Context, []byte) Answer

	mu      sync.Mutex
	genuine int
	refused []string
}

func (h *fakeHook) Head(header http.Header) error {
	switch header.Get("X-Secret") {
	case "":
		return ErrUnsigned
	case "late": // refused only once the body is read
		return nil
	}
	return h.Verify(header, nil)
}

func (h *fakeHook) Verify(header http.Header, _ []byte) error {
	if !h.secret.Matches(header.Get("X-Secret")) {
		return errors.New("another secret")
	}
	return nil
}

func (h *fakeHook) Judged(refused error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if refused == nil {
		h.genuine++
		return
	}
	h.refused = append(h.refused, refused.Error())
}

func (h *fakeHook) Take(ctx context.Context, _ http.Header, body []byte) Answer {
	return h.take(ctx, body)
}

func (h *fakeHook) counts() (genuine, refused int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.genuine, len(h.refused)
}

// A bench is a door that is open.
type bench struct {
	*testing.T
	hook *fakeHook
	at   string
	log  *buffer
	stop func() error
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func open(t *testing.T, take func(context.Context, []byte) Answer) *bench {
	t.Helper()
	if take == nil {
		take = func(context.Context, []byte) Answer { return Answer{Body: "taken"} }
	}
	b := &bench{T: t, log: &buffer{}, hook: &fakeHook{secret: NewSecret(secretOfTest), take: take}}
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.at = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	door := NewDoor(map[string]Hook{"hook": b.hook}, slog.New(slog.NewTextHandler(b.log, nil)))
	go func() { ended <- door.Serve(ctx, l) }()
	b.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := b.stop(); err != nil {
			t.Errorf("Serve returned %v", err)
		}
	})
	return b
}

// send sends a request on a connection of its own.
func (b *bench) send(method, path, secret string, body io.Reader) (status int, said string) {
	b.Helper()
	req, err := http.NewRequest(method, "http://"+b.at+path, body)
	if err != nil {
		b.Fatal(err)
	}
	if secret != "" {
		req.Header.Set("X-Secret", secret)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		b.Errorf("%s %s: %v", method, path, err)
		return 0, ""
	}
	defer resp.Body.Close()
	all, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(all)
}

func (b *bench) genuine() (status int, said string) {
	b.Helper()
	return b.send(http.MethodPost, "/hook", secretOfTest, strings.NewReader("{}"))
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// Strangers get a status and nothing else, whatever they send, and are counted where a hook is meant. The log has one
// line about them.
func TestStrangers(t *testing.T) {
	b := open(t, nil)
	large := func() io.Reader { return strings.NewReader(strings.Repeat("x", MaxBody+1)) }
	for _, c := range []struct {
		name, method, path, secret string
		body                       io.Reader
		want                       int
	}{
		{"another method", "GET", "/hook", secretOfTest, nil, 405},
		{"no such hook", "POST", "/other<script>", secretOfTest, nil, 404},
		{"below the hook", "POST", "/hook/x", secretOfTest, nil, 404},
		{"the root", "POST", "/", secretOfTest, nil, 404},
		{"no secret", "POST", "/hook", "", strings.NewReader("{}"), 401},
		{"another secret", "POST", "/hook", secretOfTest + "x", strings.NewReader("{}"), 401},
		{"a part of the secret", "POST", "/hook", secretOfTest[:20], strings.NewReader("{}"), 401},
		{"refused by its body", "POST", "/hook", "late", strings.NewReader("{}"), 401},
		{"a large body", "POST", "/hook", secretOfTest, large(), 413},
		{"a large body of unknown length", "POST", "/hook", secretOfTest, io.MultiReader(large()), 413},
	} {
		if status, said := b.send(c.method, c.path, c.secret, c.body); status != c.want || said != "" {
			t.Errorf("%s: %d %q, want %d and nothing", c.name, status, said, c.want)
		}
	}
	if status, said := b.genuine(); status != 200 || said != `"taken"` {
		t.Errorf("the platform is told %d %s", status, said)
	}
	if genuine, refused := b.hook.counts(); genuine != 1 || refused != 6 {
		t.Errorf("%d genuine and %d refused: %v", genuine, refused, b.hook.refused)
	}
	if n := strings.Count(b.log.String(), "was refused"); n != 1 {
		t.Errorf("%d lines about strangers:\n%s", n, b.log)
	}
}

// The story: somebody opens connections and sends one byte now and then, until the daemon has no room for Telegram.
// A connection that has shown nothing makes room for the next one, and one with a genuine request never does.
func TestSlowConnectionsTakeNoRoom(t *testing.T) {
	for _, slow := range []struct{ name, sends string }{
		{"nothing", ""},
		{"half a header", "POST /hook HTTP/1.1\r\nHost: x\r\nX-Se"},
		{"half a body", "POST /hook HTTP/1.1\r\nHost: x\r\nX-Secret: late\r\nContent-Length: 4000\r\n\r\n{"},
	} {
		t.Run(slow.name, func(t *testing.T) {
			begun, release := make(chan struct{}, 10), make(chan struct{})
			b := open(t, func(_ context.Context, body []byte) Answer {
				if string(body) == "waits" {
					begun <- struct{}{}
					<-release
				}
				return Answer{Body: "taken"}
			})
			waited := make(chan string, 1)
			go func() {
				_, said := b.send(http.MethodPost, "/hook", secretOfTest, strings.NewReader("waits"))
				waited <- said
			}()
			<-begun
			for range 3 * MaxConns {
				c, err := net.Dial("tcp", b.at)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				_, _ = io.WriteString(c, slow.sends)
			}
			for range 5 {
				if status, _ := b.genuine(); status != 200 {
					t.Errorf("beside slow connections the platform is told %d", status)
				}
			}
			close(release)
			if said := <-waited; said != `"taken"` {
				t.Errorf("the request in progress was answered with %q", said)
			}
		})
	}
}

// The story: ten thousand forged requests arrive while people press buttons. Every press is taken, in the midst of
// them, and no forged one.
func TestJunkKeepsNothingOut(t *testing.T) {
	b := open(t, nil)
	stop := make(chan struct{})
	var junk sync.WaitGroup
	for range 8 {
		junk.Go(func() {
			body := strings.Repeat("x", 10_000)
			for {
				select {
				case <-stop:
					return
				default:
				}
				b.send(http.MethodPost, "/hook", "late", strings.NewReader(body))
			}
		})
	}
	eventually(t, "junk", func() bool { _, refused := b.hook.counts(); return refused > 100 })
	for i := range 50 {
		if status, _ := b.genuine(); status != 200 {
			t.Errorf("press %d is answered with %d", i, status)
		}
	}
	close(stop)
	junk.Wait()
	if genuine, _ := b.hook.counts(); genuine != 50 {
		t.Errorf("%d requests were taken", genuine)
	}
}

// A bug in the handling of one request ends neither the door nor the others.
func TestPanic(t *testing.T) {
	b := open(t, func(_ context.Context, body []byte) Answer {
		if string(body) == "bug" {
			panic("a bug")
		}
		return Answer{}
	})
	status, said := b.send(http.MethodPost, "/hook", secretOfTest, strings.NewReader("bug"))
	if status != 500 || said != "" {
		t.Errorf("a panic is told as %d %q", status, said)
	}
	if status, _ := b.genuine(); status != 200 {
		t.Errorf("after a panic: %d", status)
	}
	if !strings.Contains(b.log.String(), "a bug") {
		t.Error("the log does not have it")
	}
}

// A request in progress is answered when the daemon stops, and nobody comes in any more.
func TestServeEnds(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	b := open(t, func(context.Context, []byte) Answer { close(begun); <-release; return Answer{Status: 202} })
	told := make(chan int, 1)
	go func() { status, _ := b.genuine(); told <- status }()
	<-begun
	ended := make(chan error, 1)
	go func() { ended <- b.stop() }()
	eventually(t, "the listener to be closed", func() bool {
		c, err := net.Dial("tcp", b.at)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	close(release)
	if status := <-told; status != 202 {
		t.Errorf("the request in progress was answered with %d", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A connection serves one request after the other.
func TestConnectionIsKept(t *testing.T) {
	b := open(t, nil)
	c, err := net.Dial("tcp", b.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for i := range 3 {
		_, _ = fmt.Fprintf(c, "POST /hook HTTP/1.1\r\nHost: x\r\nX-Secret: %s\r\nContent-Length: 2\r\n\r\n{}", secretOfTest)
		resp, err := http.ReadResponse(in, nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("request %d: %v", i, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

func TestListenSaysWhereItCannot(t *testing.T) {
	b := open(t, nil)
	if _, err := Listen(t.Context(), b.at); err == nil || !strings.Contains(err.Error(), "webhooks.listen") {
		t.Errorf("%v", err)
	}
}
