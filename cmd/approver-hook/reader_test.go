package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"approver.example/httpapi"
)

// An ending is the two ends of a hook's standard output.
type ending struct{ agent, hook *os.File }

func pipeEnds(t *testing.T) ending {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return ending{r, w}
}

func socketEnds(t *testing.T) ending {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	return ending{os.NewFile(uintptr(fds[0]), "agent"), os.NewFile(uintptr(fds[1]), "hook")}
}

func fifoEnds(t *testing.T) ending {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	both, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ending{r, w}
}

// The story: Claude Code was killed outright while people looked at the card. Its hook,
// which has a process group of its own and a shell as its parent, lived on and held the
// question open; a yes was then "released" to nobody. The hook sees that nobody reads
// its answer any more, whatever stands between, and ends like one that was told to: its
// daemon hears that nobody waits.
//
// What only looks like it must not end the question: each story says which.
func TestTheAgentIsGone(t *testing.T) {
	closed := func(e ending) { _ = e.agent.Close() }
	shut := func(how int) func(ending) {
		return func(e ending) { _ = syscall.Shutdown(int(e.agent.Fd()), how) }
	}
	for _, c := range []struct {
		name, script string
		ends         func(*testing.T) ending
		happens      func(ending)
		gone         bool
	}{
		{"a pipe", `exec "$@"`, pipeEnds, closed, true},
		{"a socket pair, as Node makes it", `exec "$@"`, socketEnds, closed, true},
		{"a named pipe", `exec "$@"`, fifoEnds, closed, true},
		{"below a shell that waits", `"$@"; exit $?`, socketEnds, closed, true},
		{"below two shells", `sh -c '"$@"; exit $?' sh "$@"; exit $?`, pipeEnds, closed, true},
		{"in a session of its own", `exec setsid --wait "$@"`, socketEnds, closed, true},
		{"output and errors are one", `exec "$@" 2>&1`, socketEnds, closed, true},
		{"a copy of the output", `exec "$@" 3>&1 >&3`, pipeEnds, closed, true},
		{"the agent shuts both ways", `exec "$@"`, socketEnds, shut(syscall.SHUT_RDWR), true},
		{"input closed too", `exec "$@" <&-`, socketEnds, closed, true},

		{"nothing happens, a pipe", `exec "$@"`, pipeEnds, func(ending) {}, false},
		{"nothing happens, a socket", `exec "$@"`, socketEnds, func(ending) {}, false},
		{"the agent sends no more, and reads", `exec "$@"`, socketEnds, shut(syscall.SHUT_WR), false},
		{"the agent has sent something", `exec "$@"`, socketEnds, func(e ending) { _, _ = e.agent.Write([]byte("x")) },
			false},
		{"errors are closed", `exec "$@" 2>&-`, pipeEnds, func(ending) {}, false},
		{"input is closed", `exec "$@" <&-`, pipeEnds, func(ending) {}, false},
		{"the launcher ends at once", `"$@" & exit 0`, pipeEnds, func(ending) {}, false},
		{"the launcher and its shell end at once", `sh -c '"$@" & exit 0' sh "$@"; exit 0`, socketEnds, func(ending) {},
			false},
		{"the output is full", `exec "$@"`, pipeEnds, func(e ending) {
			fd := int(e.hook.Fd())
			_ = syscall.SetNonblock(fd, true)
			_, _ = syscall.Write(fd, make([]byte, 1<<20))
			_ = syscall.SetNonblock(fd, false)
		}, false},
		{"a file", `exec "$@" >out`, pipeEnds, closed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			entered, left := make(chan struct{}), make(chan error, 1)
			socket := daemon(t, func(ctx context.Context, _ httpapi.HookRequest) httpapi.HookAnswer {
				close(entered)
				<-ctx.Done()
				left <- context.Cause(ctx)
				return httpapi.HookAnswer{ExitZero: true}
			})
			e := c.ends(t)
			defer e.agent.Close()
			defer e.hook.Close()
			cmd := exec.Command("/bin/sh", "-c", c.script, "sh", hook, "--agent", "claude", "--socket", socket, "--deadline",
				"6s")
			cmd.Dir, cmd.Stdout = t.TempDir(), e.hook
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			<-entered
			time.Sleep(100 * time.Millisecond)
			c.happens(e)
			if c.gone {
				_ = e.hook.Close() // the hook's own copy is left
			}
			began := time.Now()
			select {
			case cause := <-left:
				early := time.Since(began) < 3*time.Second
				if early != c.gone || early && !errors.Is(cause, httpapi.ErrCourierGone) {
					t.Errorf("it left after %v: %v", time.Since(began), cause)
				}
			case <-time.After(30 * time.Second):
				t.Error("it never left")
			}
			if <-ended; c.gone && cmd.ProcessState.ExitCode() != 2 {
				t.Errorf("it ended with %v", cmd.ProcessState)
			}
		})
	}
}

// The story: the yes came in the moment after the agent had died, before the courier's
// next look. It said that it had the answer, and the card said so to everybody. It looks
// once more before it says so.
func TestNobodyIsThereToTakeTheYes(t *testing.T) {
	acked := make(chan struct{}, 1)
	e := socketEnds(t)
	socket := ackingDaemon(t, acked, func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
		_ = e.agent.Close()
		return httpapi.HookAnswer{ExitZero: true, Stdout: []byte("{\"allow\":1}\n"), Ack: true}
	})
	cmd := exec.Command(hook, "--agent", "claude", "--socket", socket, "--deadline", "6s")
	cmd.Stdin, cmd.Stdout = strings.NewReader("{}"), e.hook
	err := cmd.Run()
	_ = e.hook.Close()
	if cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("it ended with %v: %v", cmd.ProcessState, err)
	}
	select {
	case <-acked:
		t.Error("it said that it has the answer, and nobody reads it")
	case <-time.After(500 * time.Millisecond):
	}
}

// The story: the daemon was restarted while an approved command ran. The hook behind it
// told the model that the call was stopped, and the record that it ran was lost. Now it
// looks for the daemon as long as it may, and what it says is true: of a call that has
// run nothing says that it was stopped.
func TestAReportOutlivesARestart(t *testing.T) {
	for _, event := range []string{"PostToolUse", "PostToolUseFailure"} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			p := start(t, "/nonexistent/s", strings.NewReader("{}"), "--event", event, "--deadline", "2s", "--connect-timeout",
				"0s")
			began := time.Now()
			exit := p.end(t)
			if exit != 2 || time.Since(began) < time.Second {
				t.Errorf("exit %d after %v", exit, time.Since(began))
			}
			for _, said := range []string{p.out.String(), p.err.String()} {
				if strings.Contains(said, "stopped") || !strings.Contains(said, "has already run") ||
					!strings.Contains(said, "approver serve") {
					t.Errorf("it said %s", said)
				}
			}
			// A daemon that comes back in time hears of it.
			dir := t.TempDir()
			path := filepath.Join(dir, "s")
			got := make(chan httpapi.HookRequest, 1)
			p = start(t, path, strings.NewReader("the report"), "--event", event, "--deadline", "20s", "--connect-timeout", "0s")
			time.Sleep(time.Second)
			if err := os.Rename(daemon(t, func(_ context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
				got <- h
				return httpapi.HookAnswer{ExitZero: true}
			}), path); err != nil {
				t.Fatal(err)
			}
			if exit := p.end(t); exit != 0 {
				t.Errorf("exit %d: %s", exit, &p.err)
			}
			if h := <-got; string(h.Payload) != "the report" {
				t.Errorf("the daemon heard %q", h.Payload)
			}
		})
	}
}
