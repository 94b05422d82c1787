package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents/blocking"
	"approver.example/httpapi"
)

// hook is the built program.
var hook string

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	if path := os.Getenv(listenAt); path != "" {
		letGo(path)
	}
	dir, err := os.MkdirTemp("", "ap")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	hook = filepath.Join(dir, "approver-hook")
	if out, err := exec.Command("go", "build", "-o", hook, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return m.Run()
}

type answerFunc = func(context.Context, httpapi.HookRequest) httpapi.HookAnswer

func pass(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
	return httpapi.HookAnswer{ExitZero: true}
}

func allow(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
	return httpapi.HookAnswer{ExitZero: true, Stdout: []byte("{\"allow\":1}\n")}
}

// daemon serves until the test ends and returns its socket.
func daemon(tb testing.TB, answer answerFunc) string {
	tb.Helper()
	return ackingDaemon(tb, make(chan struct{}, 64), answer)
}

// ackingDaemon is a daemon that tells of acknowledgments.
func ackingDaemon(tb testing.TB, acked chan<- struct{}, answer answerFunc) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "ap")
	if err != nil {
		tb.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	l, err := httpapi.Listen(socket, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	s := &httpapi.Submit{Hook: answer, Admit: httpapi.AdmitUIDs(uint32(os.Geteuid())), Log: slog.New(slog.DiscardHandler)}
	s.Ack = func(context.Context, approver.Peer, string) error { acked <- struct{}{}; return nil }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
		_ = os.RemoveAll(dir)
	})
	return socket
}

type process struct {
	*exec.Cmd
	out, err bytes.Buffer
}

func start(t *testing.T, socket string, stdin io.Reader, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(hook, append([]string{"--agent", "claude", "--socket", socket}, args...)...)}
	p.Env = []string{"PATH=/bin", "GIT_DIR=/x"}
	p.Stdin, p.Stdout, p.Stderr = stdin, &p.out, &p.err
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// end waits and returns the exit code, -1 for a signal.
func (p *process) end(t *testing.T) int {
	t.Helper()
	err := p.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

// blocked asserts Claude's whole blocking answer.
func (p *process) blocked(t *testing.T, want string) {
	t.Helper()
	exit := p.end(t)
	reason := strings.TrimSuffix(p.err.String(), "\n")
	a := blocking.For("claude", "PreToolUse", reason)
	if exit != 2 || p.out.String() != string(a.Stdout) || !strings.Contains(reason, want) {
		t.Errorf("exit %d\nstdout %s\nstderr %s\nwant a block with %q", exit, &p.out, &p.err, want)
	}
}

func TestProcess(t *testing.T) {
	got := make(chan httpapi.HookRequest, 1)
	socket := daemon(t, func(_ context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
		got <- h
		return httpapi.HookAnswer{Stdout: []byte("{\"a\":1}\n"), Stderr: []byte("why\n")}
	})
	p := start(t, socket, strings.NewReader("payload"))
	if exit := p.end(t); exit != 2 || p.out.String() != "{\"a\":1}\n" || p.err.String() != "why\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", exit, &p.out, &p.err)
	}
	if h := <-got; string(h.Payload) != "payload" || fmt.Sprint(h.Env) != "map[GIT_DIR:/x PATH:/bin]" ||
		h.Peer.PID != int32(p.Process.Pid) {
		t.Errorf("the daemon got %+v", h)
	}
	p = start(t, daemon(t, pass), nil)
	if exit := p.end(t); exit != 0 || p.out.Len()+p.err.Len() != 0 {
		t.Errorf("exit %d, stdout %q, stderr %q", exit, &p.out, &p.err)
	}
	start(t, "/nonexistent/s", nil, "--connect-timeout", "0s").blocked(t, "approver is not running")
	start(t, socket, nil, "--frobnicate").blocked(t, `"--frobnicate" is not known`)
	start(t, socket, nil, "--help").blocked(t, `"--help" is not known`)
	if out, err := exec.Command(hook, "--help").Output(); err != nil || !strings.Contains(string(out), "Example:") {
		t.Errorf("--help: %v, %s", err, out)
	}
	if out, err := exec.Command(hook, "--version").Output(); err != nil ||
		!strings.HasSuffix(string(out), "go version -m "+hook+"\n") {
		t.Errorf("--version: %v, %s", err, out)
	}
}

// Settings that change while no daemon runs are not taken: the answer is the one that
// Claude Code reads at ConfigChange.
func TestProcessBlocksChangedSettings(t *testing.T) {
	p := start(t, "/nonexistent/s", nil, "--connect-timeout", "0s", "--event", "ConfigChange", "--deadline", "8s")
	if exit := p.end(t); exit != 2 ||
		!strings.HasPrefix(p.out.String(), `{"decision":"block","reason":"approver is not running`) || p.err.Len() == 0 {
		t.Errorf("exit %d, %s%s", exit, &p.out, &p.err)
	}
}

// An agent that loses patience sends a signal. What it reads then is a block,
// and the daemon knows at once that nobody waits.
func TestProcessSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			entered, causes := make(chan struct{}), make(chan error, 1)
			socket := daemon(t, func(ctx context.Context, _ httpapi.HookRequest) httpapi.HookAnswer {
				close(entered)
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return httpapi.HookAnswer{ExitZero: true}
			})
			p := start(t, socket, nil)
			<-entered
			time.Sleep(300 * time.Millisecond) // the courier handles signals once the answer is not there at once
			if err := p.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			p.blocked(t, "stopped by a signal ("+s.String()+")")
			if cause := <-causes; !errors.Is(cause, httpapi.ErrCourierGone) {
				t.Errorf("the daemon was told %v", cause)
			}
		})
	}
}

// A stray SIGPIPE ends nothing: a broken pipe shows in the write itself.
func TestProcessSIGPIPE(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	socket := daemon(t, func(ctx context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
		close(entered)
		<-release
		return allow(ctx, h)
	})
	p := start(t, socket, nil)
	<-entered
	if err := p.Process.Signal(syscall.SIGPIPE); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	close(release)
	if exit := p.end(t); exit != 0 || p.out.String() != "{\"allow\":1}\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", exit, &p.out, &p.err)
	}
}

// brokenPipe returns the writing end of a pipe that nobody reads.
func brokenPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// The agent closed its end: whatever the answer was, the exit code blocks, and
// it is never that of a signal, which most agents take for a yes.
func TestProcessClosedOutput(t *testing.T) {
	socket := daemon(t, allow)
	run := func(stdout, stderr *os.File) (exit int, errText string) {
		t.Helper()
		var b bytes.Buffer
		cmd := exec.Command(hook, "--agent", "claude", "--socket", socket)
		cmd.Stdout = stdout
		if cmd.Stderr = &b; stderr != nil {
			cmd.Stderr = stderr
		}
		err := cmd.Run()
		var e *exec.ExitError
		if err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), b.String()
	}
	if exit, text := run(brokenPipe(t), nil); exit != 2 || !strings.Contains(text, "could not write its answer") {
		t.Errorf("stdout is a broken pipe: exit %d, stderr %q", exit, text)
	}
	if exit, _ := run(brokenPipe(t), brokenPipe(t)); exit != 2 {
		t.Errorf("both are broken pipes: exit %d", exit)
	}
	readOnly, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	if exit, text := run(readOnly, nil); exit != 2 || !strings.Contains(text, "could not write its answer") {
		t.Errorf("stdout is not open for writing: exit %d, stderr %q", exit, text)
	}
}

// The Go runtime opens the null device in place of a closed standard stream, so
// that the socket cannot take its number. Without input there is no call to
// allow; without output nobody reads the answer, and only the exit code counts.
func TestProcessClosedStreams(t *testing.T) {
	socket := daemon(t, func(_ context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
		if len(h.Payload) == 0 {
			return httpapi.HookAnswer{Stderr: []byte("no payload\n")}
		}
		return httpapi.HookAnswer{ExitZero: true}
	})
	for redirect, want := range map[string]int{"<&-": 2, "<&- >&- 2>&-": 2, ">&- 2>&-": 0} {
		cmd := exec.Command("/bin/sh", "-c", `exec "$0" --agent claude --socket "$1" `+redirect, hook, socket)
		cmd.Stdin = strings.NewReader("{}")
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit %d, want %d", redirect, got, want)
		}
	}
}
