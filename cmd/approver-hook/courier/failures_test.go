package courier

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"approver.example/agents/blocking"
	"approver.example/httpapi"
)

// rawDaemon answers every connection with text, or not at all, and closes it.
func rawDaemon(t *testing.T, text string) (socket string, connections *atomic.Int64) {
	t.Helper()
	socket = filepath.Join(tempDir(t), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	connections = new(atomic.Int64)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			_, _ = c.Read(make([]byte, 64<<10))
			_, _ = io.WriteString(c, text)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return socket, connections
}

func TestRunOddAnswers(t *testing.T) {
	t.Parallel()
	for name, text := range oddReplies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, connections := rawDaemon(t, text)
			blocked(t, run(t, Courier{}, "--socket", socket, "--deadline", "5s"), "stopped")
			if n := connections.Load(); n != 1 {
				t.Errorf("%d connections: an odd answer is final", n)
			}
		})
	}
}

// A daemon that always hangs up is asked again, ever more slowly, and not past
// the deadline.
func TestRunHangingUp(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"at once": "", "in the head": "HTTP/1.1 200 OK\r\nAppro",
		"in the body": strings.TrimSuffix(reply(0, "", "{\"allow\":1}"), "}")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, connections := rawDaemon(t, text)
			o := run(t, Courier{}, "--socket", socket, "--deadline", "1s")
			says(t, o, "approver hung up without an answer (unexpected EOF) at every try within 1s, so the call was stopped; "+
				"its log says why")
			if n := connections.Load(); n < 2 || n > 8 {
				t.Errorf("%d connections in one second", n)
			}
			if o.took > 20*time.Second {
				t.Errorf("it took %v", o.took)
			}
		})
	}
}

// zeros is an endless input.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

type panicking struct{}

func (panicking) Read([]byte) (int, error)  { panic("a bug") }
func (panicking) Write([]byte) (int, error) { panic("a bug") }

// once panics at the first write only.
type once struct {
	w      io.Writer
	passed bool
}

func (o *once) Write(p []byte) (int, error) {
	if !o.passed {
		o.passed = true
		panic("a bug")
	}
	return o.w.Write(p)
}

func TestRunInput(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(tempDir(t), "s")
	sizes := make(chan int, 1)
	daemon(t, socket, func(_ context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
		sizes <- len(h.Payload)
		return httpapi.HookAnswer{ExitZero: true}
	})
	args := []string{"--socket", socket}
	blocked(t, run(t, Courier{Stdin: zeros{}}, args...), "more than 4128768 bytes")
	blocked(t, run(t, Courier{Stdin: failing{errors.New("broken disk")}}, args...),
		"could not read its input (broken disk)")
	blocked(t, run(t, Courier{Stdin: panicking{}}, args...), "a panic")
	blocked(t, run(t, Courier{Env: []string{"PATH=a", "PATH=b"}}, args...), `"PATH" occurs twice`)
	for _, n := range []int{0, 1, maxCall} {
		if o := run(t, Courier{Stdin: io.LimitReader(zeros{}, int64(n))}, args...); o.exit != 0 || o.stderr != "" {
			t.Errorf("%d bytes: %+v", n, o)
		} else if got := <-sizes; got != n {
			t.Errorf("%d of %d bytes arrived", got, n)
		}
	}
	// Input that never ends is cut off by the deadline.
	r, w := io.Pipe()
	defer w.Close()
	says(t, run(t, Courier{Stdin: r}, "--socket", socket, "--deadline", "1s"),
		"the approver hook waited 1s for the end of its input, which is the call, so the call was stopped")
}

// An allow that could not be written is not an allow.
func TestRunOutputFails(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(tempDir(t), "s")
	daemon(t, socket, func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
		return httpapi.HookAnswer{ExitZero: true, Stdout: []byte("{}\n")}
	})
	o := run(t, Courier{Stdout: failing{io.ErrClosedPipe}}, "--socket", socket)
	if o.exit != 2 || !strings.Contains(o.stderr, "could not write its answer") {
		t.Errorf("%+v", o)
	}
	o = run(t, Courier{Stdout: shortWriter{}}, "--socket", socket)
	if o.exit != 2 || !strings.Contains(o.stderr, "could not write its answer") {
		t.Errorf("%+v", o)
	}
	var out bytes.Buffer
	o = run(t, Courier{Stdout: &once{w: &out}}, "--socket", socket)
	o.stdout = out.String()
	blocked(t, o, "a panic")
}

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) - 1, nil }

// However it came about, an answer that blocks says why: an empty exit 2 lets the
// tool run in some agents.
func TestLeaveZeroAnswer(t *testing.T) {
	var stdout, stderr bytes.Buffer
	c := Courier{Stdout: &stdout, Stderr: &stderr}
	exit := c.leave(options{agent: "claude"}, blocking.Answer{})
	blocked(t, outcome{stdout: stdout.String(), stderr: stderr.String(), exit: exit}, blocking.NoReason)
}
